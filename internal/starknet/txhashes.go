package starknet

import "chainexplorer/internal/felt"

// usualHash is the hash of a transaction in the form that all have since 0.10.
type usualHash struct {
	felt.Felt
	known bool
}

// usualHashes are the hashes of a block's transactions whose rules are known, by their
// index: all at once, because that is how they are computed soonest.
func usualHashes(b *Block, chainID *felt.Felt) []usualHash {
	hashes := make([]usualHash, len(b.Transactions))
	w := workspaces.Get().(*workspace)
	hashesV3(b, chainID, hashes, &w.p, &w.q)
	hashesBefore(b, chainID, hashes, &w.a, &w.b)
	workspaces.Put(w)
	return hashes
}

// hashesV3 has those of version 3.
func hashesV3(b *Block, chainID *felt.Felt, hashes []usualHash, inner, outer *poseidon) {
	for i := range b.Transactions {
		if t := &b.Transactions[i]; t.ofV3() {
			t.addInner(inner)
		}
	}
	sums := inner.sums()
	for i := range b.Transactions {
		if t := &b.Transactions[i]; t.ofV3() {
			deployed := t.deployedAddress(&b.Receipts[i].ContractAddress)
			sums = t.addOuter(outer, chainID, &deployed, sums)
			outer.end()
		}
	}
	sums = outer.sums()
	for i := range b.Transactions {
		if b.Transactions[i].ofV3() {
			hashes[i], sums = usualHash{fromElement(&sums[0]), true}, sums[1:]
		}
	}
}

// hashesBefore has those of versions below 3.
func hashesBefore(b *Block, chainID *felt.Felt, hashes []usualHash, inner, outer *pedersen) {
	var forms []pedersenForm
	var at []int
	for i := range b.Transactions {
		t := &b.Transactions[i]
		if t.ofV3() {
			continue
		}
		deployed := t.deployedAddress(&b.Receipts[i].ContractAddress)
		if form, err := t.pedersenForm(&deployed); err == nil {
			form.addInner(inner)
			inner.end()
			forms, at = append(forms, form), append(at, i)
		}
	}
	for i, sum := range inner.sums() {
		forms[i].addOuter(outer, chainID, &sum)
		outer.end()
	}
	for i, sum := range outer.sums() {
		hashes[at[i]] = usualHash{fromElement(&sum), true}
	}
}

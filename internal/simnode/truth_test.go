package simnode_test

import (
	"math/big"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// ledger is what a reader of the events alone would know.
type ledger struct {
	t        *testing.T
	erc20    map[felt.Felt]map[felt.Felt]*big.Int
	supply   map[felt.Felt]*big.Int
	owner    map[felt.Felt]map[uint64]felt.Felt
	multi    map[felt.Felt]map[uint64]map[felt.Felt]*big.Int
	standard map[felt.Felt]simnode.Standard
	layouts  map[[2]int]int
}

func newLedger(t *testing.T, tokens []simnode.Token) *ledger {
	l := &ledger{t: t, erc20: map[felt.Felt]map[felt.Felt]*big.Int{}, supply: map[felt.Felt]*big.Int{},
		owner: map[felt.Felt]map[uint64]felt.Felt{}, multi: map[felt.Felt]map[uint64]map[felt.Felt]*big.Int{},
		standard: map[felt.Felt]simnode.Standard{}, layouts: map[[2]int]int{}}
	for _, token := range tokens {
		if token.Lie != simnode.Honest {
			continue // see TestWrongTokens
		}
		l.standard[token.Address] = token.Standard
		l.supply[token.Address] = new(big.Int)
		l.erc20[token.Address] = map[felt.Felt]*big.Int{}
		l.owner[token.Address] = map[uint64]felt.Felt{}
		l.multi[token.Address] = map[uint64]map[felt.Felt]*big.Int{}
	}
	return l
}

func u256(t *testing.T, low, high felt.Felt) *big.Int {
	t.Helper()
	v, err := felt.U256(low, high)
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(v[:])
}

func add(m map[felt.Felt]*big.Int, k felt.Felt, v *big.Int, sign int) *big.Int {
	if m[k] == nil {
		m[k] = new(big.Int)
	}
	if sign < 0 {
		return m[k].Sub(m[k], v)
	}
	return m[k].Add(m[k], v)
}

func (l *ledger) read(e *starknet.Event) {
	standard := l.standard[e.From]
	if standard == 0 || len(e.Keys) == 0 {
		return
	}
	all := append(append([]felt.Felt{}, e.Keys[1:]...), e.Data...)
	switch {
	case e.Keys[0] == contracts.SelTransfer && standard == simnode.ERC20:
		l.layouts[[2]int{len(e.Keys), len(e.Data)}]++
		v := u256(l.t, all[2], all[3])
		if all[0].IsZero() {
			l.supply[e.From].Add(l.supply[e.From], v)
		} else if add(l.erc20[e.From], all[0], v, -1).Sign() < 0 {
			l.t.Fatalf("token %s: balance of %s went below zero", e.From, all[0])
		}
		if all[1].IsZero() {
			l.supply[e.From].Sub(l.supply[e.From], v)
		} else {
			add(l.erc20[e.From], all[1], v, 1)
		}
	case e.Keys[0] == contracts.SelTransfer && standard == simnode.ERC721:
		l.layouts[[2]int{len(e.Keys), len(e.Data)}]++
		n, _ := all[2].Uint64()
		if l.owner[e.From][n] != all[0] {
			l.t.Fatalf("NFT %s/%d moved from %s, which does not own it", e.From, n, all[0])
		}
		l.owner[e.From][n] = all[1]
	case e.Keys[0] == contracts.SelTransferSingle || e.Keys[0] == contracts.SelTransferBatch:
		l.readMulti(e, all)
	}
}

func (l *ledger) readMulti(e *starknet.Event, all []felt.Felt) {
	from, to, rest := all[1], all[2], all[3:]
	ids, values := rest[:2], rest[2:]
	if e.Keys[0] == contracts.SelTransferBatch {
		n, _ := rest[0].Uint64()
		ids, values = rest[1:1+2*n], rest[2+2*n:]
	}
	l.layouts[[2]int{len(e.Keys), -len(ids)}]++
	for i := 0; i < len(ids); i += 2 {
		n, _ := ids[i].Uint64()
		v := u256(l.t, values[i], values[i+1])
		if l.multi[e.From][n] == nil {
			l.multi[e.From][n] = map[felt.Felt]*big.Int{}
		}
		if !from.IsZero() && add(l.multi[e.From][n], from, v, -1).Sign() < 0 {
			l.t.Fatalf("ERC-1155 %s/%d: balance of %s went below zero", e.From, n, from)
		}
		if to.IsZero() {
			continue
		}
		add(l.multi[e.From][n], to, v, 1)
	}
}

// compare holds the ledger against the chain's ground truth after a block.
func (l *ledger) compare(c *simnode.Chain, n uint64) {
	t := l.t
	t.Helper()
	for token, balances := range l.erc20 {
		if l.standard[token] != simnode.ERC20 {
			continue
		}
		if got := c.SupplyAt(token, n); got.Cmp(l.supply[token]) != 0 {
			t.Errorf("block %d: supply of %s is %s, events say %s", n, token, got, l.supply[token])
		}
		sum, holders := new(big.Int), 0
		for holder, want := range balances {
			if got := c.BalanceAt(token, holder, n); got.Cmp(want) != 0 {
				t.Errorf("block %d: %s of %s is %s, events say %s", n, holder, token, got, want)
			}
			if want.Sign() > 0 {
				holders++
			}
			sum.Add(sum, want)
		}
		if sum.Cmp(l.supply[token]) != 0 {
			t.Errorf("block %d: balances of %s add up to %s, supply is %s", n, token, sum, l.supply[token])
		}
		list := c.Holders(token, n)
		if len(list) != holders {
			t.Errorf("block %d: %d holders of %s, events say %d", n, len(list), token, holders)
		}
		for i := 1; i < len(list); i++ {
			if list[i].Balance.Cmp(list[i-1].Balance) > 0 {
				t.Errorf("holders of %s are not in order", token)
			}
		}
	}
	for token, owners := range l.owner {
		for number, want := range owners {
			if got := c.OwnerAt(token, number, n); got != want {
				t.Errorf("block %d: NFT %s/%d belongs to %s, events say %s", n, token, number, got, want)
			}
		}
	}
	for token, numbers := range l.multi {
		for number, balances := range numbers {
			for holder, want := range balances {
				if got := c.MultiBalanceAt(token, number, holder, n); got.Cmp(want) != 0 {
					t.Errorf("block %d: %s of %s/%d is %s, events say %s", n, holder, token, number, got, want)
				}
			}
		}
	}
}

// checkTruth replays the events and compares at some blocks and at the head.
func checkTruth(t *testing.T, c *simnode.Chain) *ledger {
	t.Helper()
	head, _ := c.Head()
	checkMessages(t, c)
	checkPool(t, c)
	checkClasses(t, c)
	l := newLedger(t, c.Tokens(head))
	nonces := map[felt.Felt]uint64{}
	for n := uint64(0); n <= head; n++ {
		b := c.BlockAt(n)
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				l.read(&b.Receipts[i].Events[j])
			}
			tx := &b.Transactions[i]
			if ref, ok := c.TransactionByHash(tx.Hash); !ok || ref.Block.Number != n || ref.Index != i {
				t.Fatalf("transaction %d of block %d is not found by its hash", i, n)
			}
			if tx.HasNonce && tx.Type != starknet.L1Handler && tx.Type != starknet.DeployAccount {
				if want := felt.FromUint64(nonces[tx.Sender]); tx.Nonce != want {
					t.Fatalf("block %d, transaction %d: nonce %s, want %s", n, i, tx.Nonce, want)
				}
				nonces[tx.Sender]++
			}
			if tx.Type == starknet.DeployAccount {
				nonces[b.Receipts[i].ContractAddress] = 1
			}
		}
		if n == head || n == head/2 || n == 1 {
			l.compare(c, n)
			for a, want := range nonces {
				if got, ok := c.NonceAt(a, n); !ok || got != want {
					t.Errorf("block %d: nonce of %s is %d, want %d", n, a, got, want)
				}
			}
		}
	}
	return l
}

// checkClasses replays the declarations of the state diffs.
func checkClasses(t *testing.T, c *simnode.Chain) {
	t.Helper()
	head, _ := c.Head()
	compiled := map[felt.Felt]felt.Felt{}
	for n := range head + 1 {
		d := c.StateUpdateAt(n).Diff
		for _, x := range append(slices.Clone(d.Declared), d.Migrated...) {
			compiled[x.ClassHash] = x.CompiledClassHash
		}
		for _, h := range d.DeprecatedDeclared {
			compiled[h] = felt.Zero
		}
	}
	classes := c.Classes(head)
	if len(classes) != len(compiled) {
		t.Errorf("%d classes are known, %d were declared", len(classes), len(compiled))
	}
	for _, class := range classes {
		want, ok := compiled[class.Hash]
		if got, _ := c.CompiledHashAt(class.Hash, head); !ok || got != want {
			t.Errorf("class %q compiles to %s, state diffs say %s", class.Name, got, want)
		}
	}
}

func TestTruthEqualsEvents(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	for seed := range uint64(4) {
		c := simnode.New(simnode.Config{Seed: seed, Blocks: 400, EventsPerTx: 6})
		l := checkTruth(t, c)
		for _, layout := range [][2]int{{1, 4}, {3, 2}, {5, 0}, {1, -2}, {4, -2}, {1, -4}, {4, -4}} {
			if l.layouts[layout] == 0 {
				t.Errorf("seed %d: no event of layout %v", seed, layout)
			}
		}
	}
}

// TestGrown: a grown chain has the accounts and tokens of a long one soon, and its truth is that of its events.
func TestGrown(t *testing.T) {
	count := func(grown bool) (accounts, tokens int) {
		c := simnode.New(simnode.Config{Seed: 4, Blocks: 120, Grown: grown})
		if grown {
			checkTruth(t, c)
		}
		return len(c.Accounts(119)), len(c.Tokens(119))
	}
	accounts, tokens := count(false)
	more, moreTokens := count(true)
	if more < 5*accounts || moreTokens < tokens+15 {
		t.Errorf("%d accounts and %d tokens, and of a grown chain %d and %d", accounts, tokens, more, moreTokens)
	}
}

// TestWrongTokens: each wrong token disagrees with its own events, in its own way.
func TestWrongTokens(t *testing.T) {
	const last = 59
	c := simnode.New(simnode.Config{Seed: 2, Blocks: last + 1})
	for _, token := range c.Tokens(last) {
		if token.Lie == simnode.Honest {
			continue
		}
		balances, supply := map[felt.Felt]*big.Int{}, new(big.Int)
		for n := range uint64(last + 1) {
			b := c.BlockAt(n)
			for i := range b.Receipts {
				for _, e := range b.Receipts[i].Events {
					if e.From != token.Address || e.Keys[0] != contracts.SelTransfer {
						continue
					}
					all := append(append([]felt.Felt{}, e.Keys[1:]...), e.Data...)
					v := u256(t, all[2], all[3])
					add(balances, all[0], v, -1)
					add(balances, all[1], v, 1)
				}
			}
		}
		supply.Neg(balances[felt.Zero])
		delete(balances, felt.Zero)
		negative, differ, sum := 0, 0, new(big.Int)
		for holder, b := range balances {
			if b.Sign() < 0 {
				negative++
			}
			if c.BalanceAt(token.Address, holder, last).Cmp(b) != 0 {
				differ++
			}
			sum.Add(sum, c.BalanceAt(token.Address, holder, last))
		}
		sameSupply := supply.Cmp(c.SupplyAt(token.Address, last)) == 0
		if differ == 0 || (token.Lie == simnode.Overdrawn) != (negative > 0) || sameSupply == (token.Lie == simnode.Rebasing) ||
			sum.Cmp(c.SupplyAt(token.Address, last)) != 0 {
			t.Errorf("%s: %d balances differ, %d negative, supply %s (events %s), balances add up to %s",
				token.Symbol, differ, negative, c.SupplyAt(token.Address, last), supply, sum)
		}
	}
	lies := map[simnode.Lie]int{}
	for _, token := range c.Tokens(last) {
		lies[token.Lie]++
	}
	for _, f := range []simnode.Lie{simnode.Silent, simnode.Overdrawn, simnode.Rebasing} {
		if lies[f] != 1 {
			t.Errorf("%d tokens of lie %d", lies[f], f)
		}
	}
}

// The state diff says the same as the events and receipts.
func TestStateDiffFollowsTruth(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 6, Blocks: 150})
	for n := range uint64(150) {
		d := &c.StateUpdateAt(n).Diff
		for _, x := range append(d.Deployed, toDeployed(d.Replaced)...) {
			if class, ok := c.ClassAt(x.Address, n); !ok || class.Hash != x.ClassHash {
				t.Errorf("block %d: class of %s is not the one in the diff", n, x.Address)
			}
		}
		for _, x := range d.Replaced {
			if before, ok := c.ClassAt(x.Address, n-1); !ok || before.Hash == x.ClassHash {
				t.Errorf("block %d: %s was not replaced", n, x.Address)
			}
		}
		for _, x := range d.Declared {
			if _, ok := c.ClassByHash(x.ClassHash, n); !ok {
				t.Errorf("block %d: class %s is not known", n, x.ClassHash)
			}
			if _, ok := c.ClassByHash(x.ClassHash, n-1); ok && n > 0 {
				t.Errorf("block %d: class %s was there before", n, x.ClassHash)
			}
		}
		for _, x := range d.Nonces {
			if got, _ := c.NonceAt(x.Address, n); felt.FromUint64(got) != x.Nonce {
				t.Errorf("block %d: nonce of %s differs", n, x.Address)
			}
		}
		if n >= 10 {
			one := d.Storage[0]
			if one.Address != felt.FromUint64(1) || one.Entries[0].Value != c.BlockAt(n-10).Hash {
				t.Errorf("block %d does not keep the hash of block %d", n, n-10)
			}
		}
		for _, s := range d.Storage {
			for i := 1; i < len(s.Entries); i++ {
				if s.Entries[i].Key == s.Entries[i-1].Key {
					t.Errorf("block %d: cell %s of %s is written twice", n, s.Entries[i].Key, s.Address)
				}
			}
		}
	}
}

func toDeployed(rs []starknet.ReplacedClass) (out []starknet.DeployedContract) {
	for _, r := range rs {
		out = append(out, starknet.DeployedContract(r))
	}
	return out
}

func TestFeesArePaid(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 1, Blocks: 100})
	for n := uint64(1); n < 100; n++ {
		b := c.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			if tx.Type == starknet.L1Handler {
				if !r.ActualFee.IsZero() || r.MessageHash != starknet.MessageToL2Hash(tx) {
					t.Errorf("block %d: L1 handler has a fee or a wrong message hash", n)
				}
				continue
			}
			token := contracts.STRK
			if v, _ := tx.PlainVersion(); v < 3 {
				token = contracts.ETH
			}
			e := r.Events[len(r.Events)-1]
			if e.From != token || e.Keys[0] != contracts.SelTransfer || len(e.Keys) != 1 || len(e.Data) != 4 ||
				e.Data[1] != contracts.Sequencer || e.Data[2] != r.ActualFee || r.ActualFee.IsZero() {
				t.Errorf("block %d, transaction %d: the last event is not the fee", n, i)
			}
			if r.Execution == starknet.Reverted && (len(r.Events) != 1 || r.RevertReason == "" || len(r.MessagesSent) > 0) {
				t.Errorf("block %d, transaction %d: a reverted transaction did something", n, i)
			}
		}
	}
}

// A short chain has one of everything.
func TestShortChainHasEverything(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 20, Blocks: 70})
	type kind struct {
		typ     starknet.TxType
		version uint64
	}
	kinds := map[kind]int{}
	var reverted, revertedHandlers, sent, replaced, migrated, proofs, legacyHandlers int
	emitted := map[felt.Felt]int{}
	for n := range uint64(70) {
		b, d := c.BlockAt(n), c.StateUpdateAt(n).Diff
		replaced, migrated = replaced+len(d.Replaced), migrated+len(d.Migrated)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			v, _ := tx.PlainVersion()
			kinds[kind{tx.Type, v}]++
			if r.Execution == starknet.Reverted {
				reverted++
				if tx.Type == starknet.L1Handler {
					revertedHandlers++
				}
			}
			if len(tx.ProofFacts) > 0 {
				proofs++
				if tx.Type != starknet.Invoke || v != 3 || len(tx.ProofFacts) != 9 {
					t.Errorf("block %d, transaction %d: %d proof facts on version %d", n, i, len(tx.ProofFacts), v)
				}
			}
			if tx.EntryPointSelector == contracts.SelFnHandleDeposit {
				legacyHandlers++
			}
			sent += len(r.MessagesSent)
			for _, e := range r.Events {
				if len(e.Keys) > 0 {
					emitted[e.Keys[0]]++
				}
			}
		}
	}
	for _, k := range []kind{{starknet.Invoke, 0}, {starknet.Invoke, 1}, {starknet.Invoke, 3}, {starknet.Declare, 0}, {starknet.Declare, 1},
		{starknet.Declare, 2}, {starknet.Declare, 3}, {starknet.Deploy, 0}, {starknet.DeployAccount, 1}, {starknet.DeployAccount, 3}, {starknet.L1Handler, 0}} {
		if kinds[k] == 0 {
			t.Errorf("no %v of version %d", k.typ, k.version)
		}
	}
	for name, n := range map[string]int{"reverted": reverted, "reverted L1 handlers": revertedHandlers, "messages to L1": sent,
		"replaced classes": replaced, "migrated classes": migrated, "proof facts": proofs, "legacy deposits": legacyHandlers} {
		if n == 0 {
			t.Errorf("no %s", name)
		}
	}
	for _, name := range []string{"Transfer", "Approval", "TransferSingle", "TransferBatch", "ContractDeployed", "Upgraded", "PairCreated", "Swap",
		"Mint", "Sync", "PoolInitialized", "Swapped", "DepositHandled", "deposit_handled", "WithdrawInitiated", "ViewingKeySet",
		"EncNoteCreated", "Deposit", "ImplementationReplaced"} {
		if emitted[felt.Selector(name)] == 0 {
			t.Errorf("no %s event", name)
		}
	}
}

package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// A local node begins with contracts that no state diff deploys: tokens, a
// deployer and accounts with money. Of some the first block's diff has storage,
// of others there is nothing before somebody uses them. On such a chain, and on no
// other, the contracts that a block uses are noted with it, and when the index has
// caught up the node is asked for the class of each that no diff deployed. What it
// says is true of the whole history: a class that no diff set never changed.

// originSource is a Source that knows the classes of contracts.
type originSource interface {
	// ClassHashAt returns the class of a contract at a block; false when there
	// is no contract.
	ClassHashAt(ctx context.Context, block BlockRef, address felt.Felt) (felt.Felt, bool, error)
}

// ClassHashAt asks by the block's hash.
func (n *Nodes) ClassHashAt(ctx context.Context, block BlockRef, address felt.Felt) (felt.Felt, bool, error) {
	return n.Pool.ClassHashAt(ctx, contractcall.Block{Number: block.Number, Hash: block.Hash}, address)
}

// askOrigins is how many contracts are asked for between two rounds.
const askOrigins = 64

// origins is what is under way about such contracts.
type origins struct {
	active bool // the chain has them
	// noted are contracts of which the store has a note, or has settled one.
	noted hashSet
	// wanted says that the store may have contracts to ask for.
	wanted bool
	rest   time.Time // until when nothing is asked
}

// unexplained lists the contracts whose storage the first block changes and that
// it does not deploy.
func unexplained(b *starknet.Block, d *starknet.StateDiff) (out []felt.Felt) {
	if b.Number != 0 {
		return nil
	}
	for i := range d.Storage {
		a := d.Storage[i].Address
		if !slices.ContainsFunc(d.Deployed, func(c starknet.DeployedContract) bool { return c.Address == a }) {
			out = append(out, a)
		}
	}
	return out
}

// usedBy calls use with the contracts that a block's transactions and state diff
// name, some more than once.
func usedBy(b *explorer.Block, use func(felt.Felt)) {
	for i := range b.State.Nonces {
		use(b.State.Nonces[i].Address)
	}
	for i := range b.State.Replaced {
		use(b.State.Replaced[i].Address)
	}
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		if to, ok := t.To(r.ContractAddress); ok {
			use(to)
		}
		if t.Type == starknet.Invoke {
			calls, _ := starknet.AccountCalls(t.Calldata)
			for _, c := range calls {
				use(c.To)
			}
		}
		for j := range r.Events {
			use(r.Events[j].From)
		}
	}
}

// noteOrigins adds notes of contracts that a block uses to the batch.
func (x *Indexer) noteOrigins(b *batch, p *prepared) {
	if len(p.unexplained) > 0 {
		x.origins.active = true
	}
	if _, able := x.Source.(originSource); !able || !x.origins.active || x.NoClasses {
		return
	}
	note := func(address felt.Felt) {
		if x.origins.noted.has(address) {
			return
		}
		x.origins.noted.add(address)
		x.origins.wanted = true
		b.ops.Put(contract.WantedKey(address), []byte{})
	}
	for _, a := range p.unexplained {
		note(a)
	}
	usedBy(p.block, note)
}

// loadOrigins learns from the store whether the chain has such contracts.
func (x *Indexer) loadOrigins(ctx context.Context, r store.Reader) (err error) {
	x.origins.active, err = contract.HasOrigins(ctx, r)
	x.origins.wanted = x.origins.active
	x.origins.noted = hashSet{} // what was noted and not committed is noted again
	return err
}

// settleOrigins asks for the classes of some contracts that were noted, if the
// index is where the node is. It must not run beside a round.
func (x *Indexer) settleOrigins(ctx context.Context, head BlockRef) error {
	if !x.origins.wanted || time.Now().Before(x.origins.rest) || !x.state.HasHead || head.Number != x.state.Head.Number || head.Hash != x.state.Head.Hash {
		return nil
	}
	source, able := x.Source.(originSource)
	if !able {
		return nil
	}
	var wanted []felt.Felt
	var deployed []contract.Identity
	err := x.Store.View(ctx, func(r store.Reader) (err error) {
		if wanted, err = contract.WantedOrigins(ctx, r, askOrigins); err != nil || len(wanted) == 0 {
			return err
		}
		deployed, err = contract.Identities(ctx, r, wanted)
		return err
	})
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		x.origins.wanted = false
		return nil
	}
	b := &store.Batch{Epoch: x.lease.Epoch}
	var classes []felt.Felt
	for i, a := range wanted {
		b.Delete(contract.WantedKey(a))
		if deployed[i].Deployment != nil || deployed[i].Current != nil {
			continue // a diff tells
		}
		hash, found, err := source.ClassHashAt(ctx, head, a)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the block went, or the node: blocks do not wait for this
			x.Logger.Warn("the class of a contract cannot be had now and is asked for again later", "contract", a, "err", err)
			x.origins.rest = time.Now().Add(x.L1Interval)
			return nil
		}
		if !found {
			continue // such as the first addresses, which the protocol writes to
		}
		b.Put(contract.OriginKey(a), contract.EncodeOrigin(hash))
		classes = append(classes, hash)
	}
	if err := x.putOriginClasses(ctx, b, classes, head.Number); err != nil {
		return err
	}
	if err := x.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("commit the classes of %d contracts: %w", len(classes), err)
	}
	if len(classes) > 0 {
		x.Logger.Info("found contracts that were there before the first block", "contracts", len(classes))
	}
	return nil
}

// putOriginClasses adds the classes that the store does not have.
func (x *Indexer) putOriginClasses(ctx context.Context, b *store.Batch, hashes []felt.Felt, number uint64) error {
	if len(hashes) == 0 {
		return nil
	}
	arrange.By(hashes, felt.Felt.Cmp)
	hashes = slices.Compact(hashes)
	mentioned := make([]class.Mention, len(hashes))
	for i := range hashes {
		mentioned[i].Hash = hashes[i]
	}
	stored, err := x.storedClasses(ctx, mentioned)
	if err != nil {
		return err
	}
	for i, m := range mentioned {
		if stored[i] {
			continue
		}
		got, err := x.fetchClass(ctx, m, number, x.Verify != VerifyOff)
		if err != nil {
			return err
		}
		row := classRow{m.Hash, got}
		row.put(b)
	}
	return nil
}

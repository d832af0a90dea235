package metadata

import (
	"context"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

const (
	// sweepClasses is how many classes of the directory are looked at in one step.
	sweepClasses = 100
	// sweepInstances is how many contracts of one class are asked that never moved a
	// token: the oldest. Anybody can deploy millions of them.
	sweepInstances = 64
)

// sweep queues contracts that are tokens by the entry points of their class and
// have not moved one yet: the known ones first, then the directory of classes, a
// part at a time, over and over. Nothing is due when it runs, so that it takes
// nothing from tokens that are used. A step is two scans and four GetMany, and a
// scan for each class of tokens.
func (j *Job) sweep(ctx context.Context, commit job.Commit) (more bool, err error) {
	if j.Now().Before(j.rest) {
		return false, nil
	}
	b := &store.Batch{}
	var next *class.Place
	err = j.Store.View(ctx, func(r store.Reader) error {
		var tokens []felt.Felt
		if j.swept == nil {
			if tokens, err = deployed(ctx, r, j.Known); err != nil {
				return err
			}
		}
		var list []*class.Summary
		if list, next, err = class.List(ctx, r, class.ByOrigin, j.swept, sweepClasses); err != nil {
			return err
		}
		more, err := instances(ctx, r, list)
		if err != nil {
			return err
		}
		return queue(ctx, r, b, append(tokens, more...))
	})
	if err != nil {
		return false, err
	}
	queued := b.Len() > 0
	if queued {
		if err := commit(ctx, b); err != nil {
			return false, err
		}
	}
	if j.swept = next; next == nil {
		j.rest = j.Now().Add(j.Sweep)
	}
	return queued || next != nil, nil
}

// deployed keeps the addresses that have a contract. One GetMany.
func deployed(ctx context.Context, r store.Reader, addresses []felt.Felt) (out []felt.Felt, err error) {
	list, err := contract.Identities(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Current != nil {
			out = append(out, addresses[i])
		}
	}
	return out, nil
}

// instances lists the oldest contracts of those of the classes that are tokens.
func instances(ctx context.Context, r store.Reader, classes []*class.Summary) (out []felt.Felt, err error) {
	hashes := make([]felt.Felt, len(classes))
	for i, c := range classes {
		hashes[i] = c.Hash
	}
	abis, _, err := class.ABIsOf(ctx, r, hashes) // one that cannot be read tells nothing
	if err != nil {
		return nil, err
	}
	for i, a := range abis {
		if a == nil || a.Token == abi.EmitterUnknown {
			continue
		}
		list, _, err := class.InstancesOf(ctx, r, hashes[i], class.ByOldest, nil, sweepInstances)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			out = append(out, c.Address)
		}
	}
	return out, nil
}

// queue puts tokens into the queue that were never in it.
func queue(ctx context.Context, r store.Reader, b *store.Batch, tokens []felt.Felt) error {
	known, err := token.MetadataOf(ctx, r, tokens)
	if err != nil {
		return err
	}
	for i, m := range known {
		if m == nil {
			b.Put(token.MetadataKey(tokens[i]), (&token.Metadata{}).Encode())
			b.Put(token.QueueKey(0, tokens[i]), nil)
		}
	}
	return nil
}

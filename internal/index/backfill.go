package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// backfill fetches classes of blocks that were indexed without
// them, or by a program that kept less of a class: it goes once through all
// classes that blocks name, and asks for those of which something is missing.
// Where it ends early it goes on from there, and after a restart it passes over
// what is there: that is one read for each hundred of classes. Those that no node
// could give are left to missing.
type backfill struct {
	x     *Indexer
	after *store.Key // how far it has come
	found int
}

// How many classes are looked at, and asked for, before what was found is stored.
const (
	backfillLook  = 256
	backfillStore = 32
)

// Run goes through the classes and then waits: what blocks name from now on is
// fetched with them.
func (j *backfill) Run(ctx context.Context, commit Commit) error {
	for {
		wanted, last, head, err := j.look(ctx)
		if err != nil {
			return err
		}
		for len(wanted) > 0 {
			n := min(backfillStore, len(wanted))
			if err := j.fetch(ctx, wanted[:n], head, commit); err != nil {
				return err
			}
			wanted = wanted[n:]
		}
		if last == nil {
			break
		}
		j.after = last
	}
	if j.found > 0 {
		j.x.Logger.Info("all classes of earlier blocks were asked for", "fetched", j.found)
	}
	<-ctx.Done()
	return ctx.Err()
}

// look finds the next classes of which something is missing. last is nil when
// there are no more classes.
func (j *backfill) look(ctx context.Context) (wanted []felt.Felt, last *store.Key, head uint64, err error) {
	err = j.x.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil || !state.HasHead {
			return err
		}
		head = state.Head.Number
		var hashes []felt.Felt
		for e, err := range r.Walk(ctx, class.Summaries, j.after) {
			if err != nil {
				return err
			}
			hashes = append(hashes, felt.Felt(e.Partition))
			if len(hashes) == backfillLook {
				end := hashes[backfillLook-1]
				last = &store.Key{Table: class.Summaries, Partition: end[:]}
				break
			}
		}
		wanted, err = incomplete(ctx, r, hashes)
		return err
	})
	if err != nil {
		err = fmt.Errorf("look for classes that are missing: %w", err)
	}
	return wanted, last, head, err
}

// incomplete are the classes that have no row, or one of another version, or
// nothing about what can be called.
func incomplete(ctx context.Context, r store.Reader, hashes []felt.Felt) (out []felt.Felt, err error) {
	keys := make([]store.Key, 0, 2*len(hashes))
	for _, h := range hashes {
		keys = append(keys, class.ABIKey(h), class.InterfaceKey(h))
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, h := range hashes {
		known, iface := values[2*i], values[2*i+1]
		if known != nil {
			a, err := class.DecodeABI(known)
			if err == nil && a.Status.Wanted() {
				continue // asked for again in any case
			}
			if err == nil && iface != nil {
				if _, err = class.DecodeInterface(iface); err == nil {
					continue
				}
			}
		}
		out = append(out, h)
	}
	return out, nil
}

// fetch asks for classes and stores what came of it. A node that fails ends it,
// after what it gave before is stored.
func (j *backfill) fetch(ctx context.Context, hashes []felt.Felt, head uint64, commit Commit) error {
	var rows []classRow
	var failure error
	for _, h := range hashes {
		got, err := j.ask(ctx, h, head)
		if err != nil {
			failure = err
			break
		}
		rows = append(rows, classRow{h, got})
	}
	if len(rows) == 0 {
		return failure
	}
	b := &store.Batch{}
	for i := range rows {
		rows[i].put(b)
	}
	if err := commit(ctx, b); err != nil {
		return fmt.Errorf("commit %d classes: %w", len(rows), err)
	}
	for i := range rows {
		j.x.classes.learn(rows[i].hash)
	}
	j.found += len(rows)
	j.x.Logger.Info("fetched classes of earlier blocks", "classes", len(rows), "total", j.found, "through", rows[len(rows)-1].hash)
	return failure
}

// ask fetches a class. One that is not to be had, or false, is noted as
// missing.
func (j *backfill) ask(ctx context.Context, hash felt.Felt, head uint64) (*fetched, error) {
	release, err := j.x.classes.turn(ctx)
	if err != nil {
		return nil, err
	}
	got, err := j.x.askClass(ctx, class.Mention{Hash: hash}, head, j.x.verifyLate())
	release()
	var lie *VerifyError
	if errors.As(err, &lie) {
		j.x.Logger.Error("a class is not what its hash says, and is noted as missing", "class", hash, "err", err)
	}
	if lie != nil || errors.Is(err, ErrNotFound) {
		got, err = &fetched{abi: &class.ABI{Status: class.Absent, Block: head}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("class %s: %w", hash, err)
	}
	j.x.Metrics.classes.WithLabelValues(got.abi.Status.String()).Inc()
	return got, nil
}

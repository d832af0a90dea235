package census

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// build makes a generation for the first token that needs one.
func (j *Job) build(ctx context.Context, commit job.Commit, s *seen) (done bool, err error) {
	final, ok := s.state.FinalizedBlock(j.Depth)
	if !ok || j.behind(s.state.Head.Number) {
		return false, nil
	}
	for _, t := range j.tokens(s) {
		g := s.newest(t)
		switch {
		case s.latest[t].First > final: // nothing of it is final yet
		case g == nil, g.Status == census.Revoked,
			final > g.AsOf && s.latest[t].Latest > g.AsOf && j.aged(s.now, g.Published):
			return true, j.generation(ctx, commit, s, t, g)
		}
	}
	return false, nil
}

// aged says whether a generation is old enough for the next one, by the time when it was
// published. One that lies that far ahead was published by a clock that was wrong, and
// would otherwise be the last for as long.
func (j *Job) aged(now, published uint64) bool {
	rebuild := uint64(j.Rebuild.Seconds())
	return now >= published+rebuild || published >= now+rebuild
}

// behind says that the finalized block of the index is not that of the chain.
func (j *Job) behind(head uint64) bool {
	if j.Tip == nil {
		return false
	}
	tip, ok := j.Tip()
	return ok && tip > head+j.Depth
}

// generation builds, checks and publishes one.
func (j *Job) generation(ctx context.Context, commit job.Commit, s *seen, t felt.Felt, before *census.Generation) error {
	begun := j.Now()
	g := &census.Generation{Token: t, Status: census.Building, Total: new(big.Int)}
	if before != nil && before.Status == census.Published {
		g.Previous = &census.Previous{ID: before.ID, AsOf: before.AsOf, Holders: before.Holders, Total: before.Total}
	}
	if err := j.begin(ctx, commit, g); err != nil {
		return err
	}
	defer j.progress(g, Ended, 0, 0)
	if err := j.gather(ctx, commit, g); err != nil {
		return fmt.Errorf("generation %d of %s: %w", g.ID, t, err)
	}
	samples, err := j.order(ctx, g)
	if err != nil {
		return fmt.Errorf("generation %d of %s: %w", g.ID, t, err)
	}
	j.progress(g, Asking, uint64(len(samples)), 0)
	j.judge(ctx, g, samples)
	now := j.Now()
	g.Status, g.Published, g.Expires = census.Published, uint64(now.Unix()), uint64(now.Add(j.Retention).Unix())
	if err := j.put(ctx, commit, g); err != nil {
		return err
	}
	j.Logger.Info("counted the holders of a token", "token", t, "generation", g.ID, "block", g.AsOf, "holders", g.Holders,
		"verdict", g.Verdict, "reason", g.Reason, "took", now.Sub(begun))
	return nil
}

// begin takes an id and leaves a mark, by which a later run finds the rows
// should this one be killed.
func (j *Job) begin(ctx context.Context, commit job.Commit, g *census.Generation) error {
	err := j.Store.View(ctx, func(r store.Reader) error {
		b, err := r.Get(ctx, census.NextKey)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		g.ID, err = census.DecodeNext(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("next generation: %w", err)
	}
	b := &store.Batch{}
	b.Put(census.NextKey, census.EncodeNext(g.ID+1))
	b.Put(census.GenerationKey(g.Token, g.ID), g.Encode())
	if err := commit(ctx, b); err != nil {
		return fmt.Errorf("begin generation %d of %s: %w", g.ID, g.Token, err)
	}
	return nil
}

// maxBalance is the first amount that is too large for a balance.
var maxBalance = new(big.Int).Lsh(big.NewInt(1), 8*census.BalanceSize)

// gather streams the balances as of the finalized block of one view into rows.
func (j *Job) gather(ctx context.Context, commit job.Commit, g *census.Generation) error {
	partition := census.HolderPartition(g.Token, g.ID)
	return j.Store.View(ctx, func(r store.Reader) error {
		expected, err := j.pin(ctx, r, g)
		if err != nil {
			return err
		}
		b := &store.Batch{}
		told := j.Now()
		j.progress(g, Gathering, 0, expected)
		for h, err := range token.Holders(ctx, r, g.Token, g.AsOf, nil) {
			if err != nil {
				return err
			}
			n := h.Amount.Big()
			switch {
			case n.Sign() == 0:
				continue
			case n.Sign() < 0 || n.Cmp(maxBalance) >= 0:
				g.Wrong++
				continue
			}
			g.Holders++
			g.Total.Add(g.Total, n)
			var balance [census.BalanceSize]byte
			n.FillBytes(balance[:])
			place := census.PlaceOf(balance, h.Holder)
			b.Put(store.Key{Table: census.Holders, Partition: partition, Sort: place[:]}, census.AppendHolder(nil, h.Block))
			if b.Len() >= j.Chunk {
				if err := commit(ctx, b); err != nil {
					return err
				}
				b = &store.Batch{}
				j.progress(g, Gathering, g.Holders, max(expected, g.Holders))
				told = j.tell(g, told)
			}
		}
		if b.Len() == 0 {
			return nil
		}
		return commit(ctx, b)
	})
}

// pin chooses the block: the finalized one of this view. It returns how many
// holders there are at the head, which will not be far off.
func (j *Job) pin(ctx context.Context, r store.Reader, g *census.Generation) (expected uint64, err error) {
	state, err := chain.Read(ctx, r)
	if err != nil {
		return 0, err
	}
	final, ok := state.FinalizedBlock(j.Depth)
	if !ok {
		return 0, errors.New("the chain went back below the finalized block")
	}
	at, err := block.Get(ctx, r, final)
	if err != nil {
		return 0, err
	}
	g.AsOf, g.Hash, g.Timestamp = at.Number, at.Hash, at.Timestamp
	totals, _, err := token.TotalsOf(ctx, r, g.Token)
	g.Malformed = totals.Malformed
	return totals.Holders, err
}

// order reads the rows as they are ranked, for the digest and the metrics, and
// picks those that are held against the contract.
func (j *Job) order(ctx context.Context, g *census.Generation) (samples []census.Holder, err error) {
	picked := pick(g, g.Hash, j.Samples)
	digest, tally := sha256.New(), census.NewTally(g.Holders, g.Total)
	var after *census.Place
	var line []byte
	balance, rank := new(big.Int), uint64(0)
	for {
		var rows []census.Holder
		err := j.Store.View(ctx, func(r store.Reader) (err error) {
			rows, err = census.Page(ctx, r, g.Token, g.ID, after, j.Chunk)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rank++
			line = census.AppendLine(line[:0], rank, &rows[i], balance) // sets balance
			digest.Write(line)                                          //nolint:errcheck // a hash never fails
			tally.Add(balance)
			if picked[rank] {
				samples = append(samples, rows[i])
			}
		}
		j.progress(g, Ranking, rank, g.Holders)
		if len(rows) < j.Chunk {
			break
		}
		after = &rows[len(rows)-1].Place
	}
	if rank != g.Holders {
		return nil, fmt.Errorf("%d rows of %d holders", rank, g.Holders)
	}
	digest.Sum(g.Digest[:0])
	g.Metrics = tally.Done()
	return samples, nil
}

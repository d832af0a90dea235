package census

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// callTime bounds one round of questions to a node.
const callTime = 30 * time.Second

// pick chooses ranks to be sampled: half of them the largest, who are those that
// something hidden moves by, and half from all over the list, by a seed.
func pick(g *census.Generation, seed felt.Felt, n int) map[uint64]bool {
	out := map[uint64]bool{}
	if g.Holders <= uint64(n) {
		for r := range g.Holders {
			out[r+1] = true
		}
		return out
	}
	for r := range uint64(n / 2) {
		out[r+1] = true
	}
	rng := rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[16:]), binary.BigEndian.Uint64(seed[24:])^g.ID))
	for len(out) < n {
		out[1+rng.Uint64N(g.Holders)] = true
	}
	return out
}

// errNotAsked says that there is no answer to judge by.
var errNotAsked = errors.New("the contract does not answer")

// reported asks a contract for its supply and for balances, at one block hash.
func (j *Job) reported(ctx context.Context, g *census.Generation, holders []census.Holder) (supply *big.Int, balances []*big.Int, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var calls []contractcall.Call
	for _, name := range contractcall.TotalSupply {
		calls = append(calls, contractcall.Call{Contract: g.Token, Selector: name})
	}
	for i := range holders {
		for _, name := range contractcall.BalanceOf {
			calls = append(calls, contractcall.Call{Contract: g.Token, Selector: name, Calldata: []felt.Felt{holders[i].Address()}})
		}
	}
	results, err := j.Node.CallAt(ctx, contractcall.Block{Number: g.AsOf, Hash: g.Hash}, calls)
	if err != nil {
		return nil, nil, err
	}
	either := func(pair []contractcall.Result) (*big.Int, error) {
		for i := range pair {
			if pair[i].Fault == contractcall.None {
				if n, ok := contractcall.Amount(pair[i].Values); ok {
					return n, nil
				}
			}
		}
		return nil, errNotAsked
	}
	if supply, err = either(results[:2]); err != nil {
		return nil, nil, err
	}
	for i := range holders {
		n, err := either(results[2+2*i : 4+2*i])
		if err != nil {
			return nil, nil, err
		}
		balances = append(balances, n)
	}
	return supply, balances, nil
}

// judge holds a generation against the contract.
func (j *Job) judge(ctx context.Context, g *census.Generation, samples []census.Holder) {
	g.Verdict, g.Reason = census.NotRun, ""
	if g.Wrong > 0 {
		g.Verdict, g.Reason, g.Checked = census.AuditFailed, fmt.Sprintf("%d balances are impossible", g.Wrong), uint64(j.Now().Unix())
		return
	}
	supply, balances, err := j.reported(ctx, g, samples)
	switch {
	case errors.Is(err, errNotAsked):
		g.Verdict, g.Reason = census.Unavailable, "the contract does not tell its supply or balances"
		return
	case err != nil:
		j.tried[g.ID] = j.Now()
		j.Logger.Warn("a holder generation could not be held against the chain yet", "token", g.Token, "generation", g.ID, "err", err)
		return
	}
	g.Supply, g.Sampled, g.Checked = supply, uint64(len(samples)), uint64(j.Now().Unix())
	j.audited[g.ID] = j.Now()
	if reason := disagreement(g, supply, samples, balances); reason != "" {
		g.Verdict, g.Reason = census.AuditFailed, reason
		return
	}
	g.Verdict = census.Certified
}

// disagreement says in what the chain and a generation differ.
func disagreement(g *census.Generation, supply *big.Int, samples []census.Holder, balances []*big.Int) string {
	if supply.Cmp(g.Total) != 0 {
		return fmt.Sprintf("balances add up to %s, the contract reports a supply of %s", g.Total, supply)
	}
	for i, n := range balances {
		raw := samples[i].Balance()
		if have := new(big.Int).SetBytes(raw[:]); have.Cmp(n) != 0 {
			return fmt.Sprintf("%s has %s by its transfers, and %s by the contract", samples[i].Address(), have, n)
		}
	}
	return ""
}

// certify judges generations that could not be judged when they were made, and
// samples certified ones again.
func (j *Job) certify(ctx context.Context, commit job.Commit, s *seen) (done bool, err error) {
	now := j.Now()
	for _, t := range j.tokens(s) {
		g := s.newest(t)
		if g == nil || g.Status != census.Published {
			continue
		}
		switch {
		case g.Verdict == census.NotRun && now.Sub(j.tried[g.ID]) >= j.Retry:
			samples, err := j.sample(ctx, g, g.Hash)
			if err != nil {
				return false, err
			}
			if j.judge(ctx, g, samples); g.Verdict == census.NotRun {
				return false, nil // the node is away: later
			}
			return true, j.put(ctx, commit, g)
		case g.Verdict == census.Certified && now.Sub(j.audited[g.ID]) >= j.Audit && now.Sub(j.tried[g.ID]) >= j.Retry:
			return j.audit(ctx, commit, g)
		}
	}
	return false, nil
}

// audit takes another sample of a certified generation.
func (j *Job) audit(ctx context.Context, commit job.Commit, g *census.Generation) (done bool, err error) {
	seed := felt.Keccak(binary.BigEndian.AppendUint64(g.Digest[:], uint64(j.Now().UnixNano()))) // another one every time
	samples, err := j.sample(ctx, g, seed)
	if err != nil {
		return false, err
	}
	supply, balances, err := j.reported(ctx, g, samples)
	if err != nil {
		j.tried[g.ID] = j.Now()
		j.Logger.Warn("a holder generation could not be sampled again", "token", g.Token, "generation", g.ID, "err", err)
		return false, nil
	}
	j.audited[g.ID] = j.Now()
	if reason := disagreement(g, supply, samples, balances); reason != "" {
		j.Logger.Error("a later sample disagrees with a holder generation, which is revoked", "token", g.Token, "generation", g.ID, "reason", reason)
		g.Status, g.Reason = census.Revoked, reason
		return true, j.put(ctx, commit, g)
	}
	g.Checked, g.Sampled = uint64(j.Now().Unix()), uint64(len(samples))
	return true, j.put(ctx, commit, g)
}

// sample reads the picked rows of a generation. Rows are not kept by rank, so it
// counts: it scans from the first holder on, in chunks of bounded memory, up to the
// last that was picked, which in a long list is near its end. An audit costs as many
// rows as the list has, half an hour apart for each token.
func (j *Job) sample(ctx context.Context, g *census.Generation, seed felt.Felt) (out []census.Holder, err error) {
	picked := pick(g, seed, j.Samples)
	var after *census.Place
	for rank := uint64(0); rank < g.Holders; {
		var rows []census.Holder
		err := j.Store.View(ctx, func(r store.Reader) (err error) {
			rows, err = census.Page(ctx, r, g.Token, g.ID, after, j.Chunk)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if rank++; picked[rank] {
				out = append(out, rows[i])
			}
		}
		if len(rows) < j.Chunk || len(out) == len(picked) {
			break
		}
		after = &rows[len(rows)-1].Place
	}
	return out, nil
}

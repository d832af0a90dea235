package recheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// perKind is how many samples of a kind are taken of a block, and classSamples how
// many classes, which are large.
const (
	perKind      = 2
	classSamples = 1
)

// States answers about contracts at a block; node.Pool does.
type States interface {
	CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error)
	ClassHashAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error)
	NonceAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error)
}

// balance is what the index says that a holder has after a block. exact says that
// the index claims it: somebody found that the token's transfers tell all.
type balance struct {
	token.Pair
	amount token.Amount
	exact  bool
}

// value is a class hash or a nonce of a contract.
type value struct{ address, want felt.Felt }

// claims are the samples of a block: what the index says.
type claims struct {
	at       contractcall.Block
	balances []balance
	hashes   []value
	nonces   []value
	classes  []felt.Felt
}

// sampled picks n at random, by the block: a block that is looked at again is
// asked for the same.
func sampled[T any](list []T, n int, rng *rand.Rand) []T {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(n, len(list))]
}

// claimsOf picks samples of what the index made of a block.
func claimsOf(ctx context.Context, r store.Reader, b *explorer.Block, known *registry.Chain) (c claims, err error) {
	c.at = contractcall.Block{Number: b.Number, Hash: b.Hash}
	rng := rand.New(rand.NewPCG(binary.BigEndian.Uint64(b.Hash[16:]), binary.BigEndian.Uint64(b.Hash[24:])))
	if c.balances, err = balancesOf(ctx, r, b, known, rng); err != nil {
		return c, err
	}
	if c.hashes, err = hashesOf(ctx, r, b, rng); err != nil {
		return c, err
	}
	c.nonces = sampled(noncesOf(b), perKind, rng)
	var declared []felt.Felt
	for i := range b.State.Declared {
		declared = append(declared, b.State.Declared[i].ClassHash)
	}
	c.classes = sampled(append(declared, b.State.DeprecatedDeclared...), classSamples, rng)
	return c, nil
}

// balancesOf samples those whom the block's transfers concern. A balance below zero
// says that not all was seen, and is nothing to compare.
func balancesOf(ctx context.Context, r store.Reader, b *explorer.Block, known *registry.Chain, rng *rand.Rand) (out []balance, err error) {
	var pairs []token.Pair
	seen := map[token.Pair]bool{}
	var list []transfer.Transfer
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			list, _ = transfer.Append(list[:0], &b.Receipts[i].Events[j])
			for _, t := range list {
				for _, holder := range []felt.Felt{t.From, t.To} {
					if p := (token.Pair{Token: t.Token, Holder: holder}); !holder.IsZero() && !seen[p] {
						seen[p] = true
						pairs = append(pairs, p)
					}
				}
			}
		}
	}
	pairs = sampled(pairs, perKind, rng)
	tokens := make([]felt.Felt, len(pairs))
	for i := range pairs {
		tokens[i] = pairs[i].Token
	}
	kinds, err := token.Kinds(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	ids, err := contract.Identities(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	for i, p := range pairs {
		t, there := known.Token(p.Token)
		if kinds[i] != transfer.ERC20 && !there {
			continue // of NFTs transfers do not add up to an amount
		}
		have, err := token.BalanceAt(ctx, r, p.Token, p.Holder, b.Number)
		if err != nil {
			return nil, err
		}
		if have.Amount.Sign() >= 0 {
			// The first balances of a contract from before the first block are not known.
			out = append(out, balance{p, have.Amount, t.Census.Qualified && !ids[i].Origin})
		}
	}
	return out, nil
}

// hashesOf samples contracts that the block made, changed, or ran.
func hashesOf(ctx context.Context, r store.Reader, b *explorer.Block, rng *rand.Rand) (out []value, err error) {
	var changed, ran []felt.Felt
	for i := range b.State.Deployed {
		changed = append(changed, b.State.Deployed[i].Address)
	}
	for i := range b.State.Replaced {
		changed = append(changed, b.State.Replaced[i].Address)
	}
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			ran = append(ran, b.Receipts[i].Events[j].From)
		}
	}
	arrange.By(ran, felt.Felt.Cmp)
	ran = slices.Compact(ran)
	list := append(sampled(changed, perKind, rng), sampled(ran, perKind, rng)...) // changes first
	for _, address := range list[:min(perKind, len(list))] {
		c, found, err := contract.ClassesAt(ctx, r, address, b.Number)
		if err != nil {
			return nil, err
		}
		if found { // else the index says nothing of it
			out = append(out, value{address, c.After})
		}
	}
	return out, nil
}

// noncesOf tells the nonces that senders have after a block: one more than that of
// their last transaction. Those of version 0 have none.
func noncesOf(b *explorer.Block) (out []value) {
	for i := range b.Transactions {
		tx := &b.Transactions[i]
		nonce, fits := tx.Nonce.Uint64()
		if tx.Sender.IsZero() || !tx.HasNonce || tx.Version.IsZero() || !fits {
			continue
		}
		v := value{tx.Sender, felt.FromUint64(nonce + 1)}
		if at := slices.IndexFunc(out, func(o value) bool { return o.address == v.address }); at >= 0 {
			out[at] = v
		} else {
			out = append(out, v)
		}
	}
	return out
}

// Sampled is what came of the samples of a block.
type Sampled struct {
	Agree       map[audit.Kind]uint64
	Unanswered  uint64
	Unqualified uint64
	// Kind and Mismatch tell the first that contradicts the index.
	Kind     audit.Kind
	Mismatch string
}

func (s *Sampled) judge(kind audit.Kind, mismatch string) {
	switch {
	case mismatch == "":
		s.Agree[kind]++
	case s.Mismatch == "":
		s.Kind, s.Mismatch = kind, mismatch
	}
}

// classReader is Node.Class.
type classReader = func(ctx context.Context, number uint64, hash felt.Felt) (raw []byte, node string, err error)

// ask holds the samples against the node. The error is that of ctx: what a node
// cannot tell is counted.
func (c *claims) ask(ctx context.Context, class classReader, states States) (s Sampled, err error) {
	s.Agree = map[audit.Kind]uint64{}
	c.askBalances(ctx, states, &s)
	for _, q := range []struct {
		kind audit.Kind
		name string
		list []value
		read func(context.Context, contractcall.Block, felt.Felt) (felt.Felt, bool, error)
	}{{audit.ClassHashes, "class", c.hashes, states.ClassHashAt}, {audit.Nonces, "nonce", c.nonces, states.NonceAt}} {
		for _, v := range q.list {
			got, found, err := q.read(ctx, c.at, v.address)
			switch {
			case err != nil:
				s.Unanswered++
			case !found:
				s.judge(q.kind, fmt.Sprintf("block %d: contract %s has the %s %s by the index, and does not exist by the node", c.at.Number, v.address, q.name, v.want))
			case got != v.want:
				s.judge(q.kind, fmt.Sprintf("block %d: contract %s has the %s %s by the index, and %s by the node", c.at.Number, v.address, q.name, v.want, got))
			default:
				s.judge(q.kind, "")
			}
		}
	}
	for _, hash := range c.classes {
		switch _, _, err := class(ctx, c.at.Number, hash); {
		case errors.Is(err, index.ErrNotFound):
			s.judge(audit.Classes, fmt.Sprintf("block %d: class %s is declared by the index, and does not exist by the node", c.at.Number, hash))
		case err != nil:
			s.Unanswered++
		default:
			s.judge(audit.Classes, "")
		}
	}
	return s, ctx.Err()
}

// askBalances asks for all balances in one batch, each in both spellings.
func (c *claims) askBalances(ctx context.Context, states States, s *Sampled) {
	var calls []contractcall.Call
	for i := range c.balances {
		for _, name := range contractcall.BalanceOf {
			calls = append(calls, contractcall.Call{Contract: c.balances[i].Token, Selector: name, Calldata: []felt.Felt{c.balances[i].Holder}})
		}
	}
	if len(calls) == 0 {
		return
	}
	results, err := states.CallAt(ctx, c.at, calls)
	if err != nil {
		s.Unanswered += uint64(len(c.balances))
		return
	}
	n := len(contractcall.BalanceOf)
	for i := range c.balances {
		b := &c.balances[i]
		answers := results[n*i : n*i+n]
		at := slices.IndexFunc(answers, func(r contractcall.Result) bool {
			_, ok := contractcall.Amount(r.Values)
			return r.Fault == contractcall.None && ok
		})
		if at < 0 {
			s.Unanswered++
			continue
		}
		got, _ := contractcall.Amount(answers[at].Values)
		switch same := got.Cmp(b.amount.Big()) == 0; {
		case same:
			s.judge(audit.Balances, "")
		case b.exact:
			s.judge(audit.Balances, fmt.Sprintf("block %d: %s has %s of token %s by its transfers, and %s by the contract", c.at.Number, b.Holder, b.amount, b.Token, got))
		default:
			s.Unqualified++
		}
	}
}

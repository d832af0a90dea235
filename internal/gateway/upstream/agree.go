package upstream

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet/jsonscan"
)

// This file holds what nodes say of settled blocks against the index, as far as the
// index can tell. A result that names another block, or has another number of its
// transactions or traces, is no answer; one that says less than it could is passed on
// and not kept.

// namesBlock lists the methods whose results say which block they are of.
var namesBlock = map[string]bool{
	"starknet_getBlockWithReceipts":  true,
	"starknet_getBlockWithTxHashes":  true,
	"starknet_getBlockWithTxs":       true,
	"starknet_getStateUpdate":        true,
	"starknet_getTransactionReceipt": true,
}

// countsBlock lists those whose results are as many as the transactions of the block.
var countsBlock = map[string]bool{
	"starknet_getBlockTransactionCount": true,
	"starknet_traceBlockTransactions":   true,
}

// said is what a result says of its place, at the top level.
type said struct {
	status      string
	hash        felt.Felt
	number      uint64
	transaction felt.Felt

	hashed, numbered, named bool
}

// read reads a result that is an object. What is there twice is an error: readers
// differ in which of the two counts.
func read(result []byte) (t said, err error) {
	sc := jsonscan.New(result)
	once := func(seen *bool) {
		if *seen {
			sc.Fail(errors.New("there twice"))
		}
		*seen = true
	}
	for more := sc.OpenObject(); more; more = sc.NextMember() {
		switch string(sc.Key()) {
		case "status", "finality_status":
			t.status = string(sc.String())
		case "block_hash":
			if once(&t.hashed); !readFelt(&sc, &t.hash) {
				sc.Fail(errors.New("block_hash is no hash"))
			}
		case "block_number":
			once(&t.numbered)
			t.number = sc.Uint64()
		case "transaction_hash":
			if once(&t.named); !readFelt(&sc, &t.transaction) {
				sc.Fail(errors.New("transaction_hash is no hash"))
			}
		default:
			sc.Skip()
		}
	}
	sc.End()
	return t, sc.Err()
}

// unfit says why a result is no answer to the question, so that another node is asked:
// it is null, which no method gives, it names another chain than the one that this
// address serves, or the index contradicts it.
func (u *Upstream) unfit(ctx context.Context, q *question, result []byte) error {
	name := q.method.Name
	switch {
	case string(result) == "null":
		return fmt.Errorf("%s: null is no result", name)
	case q.about.kind == everywhere && !u.ofTheChain(result):
		return fmt.Errorf("%s: another chain", name)
	case u.index != nil && (namesBlock[name] || countsBlock[name]):
		return u.contradicts(ctx, q, result)
	}
	return nil
}

// contradicts says why a result cannot be of the block that it was asked for: that
// block is settled, and has another hash, number or count of transactions. When the
// index cannot tell it is nil: that is never a reason to refuse an answer.
func (u *Upstream) contradicts(ctx context.Context, q *question, result []byte) (wrong error) {
	err := chain.View(ctx, u.index, func(r explorer.Reader, s *chain.State) error {
		if s.Rewinding || !s.HasHead {
			return nil
		}
		if ok, err := u.standsFast(ctx, r, s, q.about); !ok || err != nil {
			return err
		}
		if countsBlock[q.method.Name] {
			b, err := blockAt(ctx, r, q.about)
			if err != nil {
				return err
			}
			// What cannot be counted is not held against the index: a trace has a check of its own.
			if n, err := counted(q.method.Name, result); err == nil && n != b.Transactions {
				wrong = fmt.Errorf("%s: %d, and block %d has %d transactions", q.method.Name, n, b.Number, b.Transactions)
			}
			return nil
		}
		t, err := read(result)
		if err != nil {
			wrong = fmt.Errorf("%s: %w", q.method.Name, err)
			return nil
		}
		number, hash, err := placeOf(ctx, r, q.about)
		switch {
		case err != nil:
			return err
		case t.numbered && t.number != number:
			wrong = fmt.Errorf("of block %d, asked for %d", t.number, number)
		case t.hashed && t.hash != hash:
			wrong = fmt.Errorf("block %d has the hash %s, not %s", number, hash, t.hash)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errUnknown) {
		u.log.Debug("an answer is not held against the index", "method", q.method.Name, "error", err)
	}
	return wrong
}

func placeOf(ctx context.Context, r explorer.Reader, about subject) (number uint64, hash felt.Felt, err error) {
	if number, err = numberOf(ctx, r, about); err == nil {
		hash, err = block.HashOf(ctx, r, number)
	}
	return number, hash, err
}

func blockAt(ctx context.Context, r explorer.Reader, about subject) (*block.Summary, error) {
	number, err := numberOf(ctx, r, about)
	if err != nil {
		return nil, err
	}
	b, err := block.Get(ctx, r, number)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", number, err)
	}
	return b, nil
}

// agrees says whether a result about something that is settled says all that the index
// can tell of it, and the same.
func agrees(ctx context.Context, r explorer.Reader, s *chain.State, q *question, result []byte) (bool, error) {
	switch name := q.method.Name; {
	case namesBlock[name]:
		return placed(ctx, r, s, q, result)
	case name == "starknet_getTransactionByHash":
		t, err := read(result)
		return err == nil && t.named && t.transaction == q.about.hash, nil
	case countsBlock[name]:
		b, err := blockAt(ctx, r, q.about)
		if err != nil {
			return false, err
		}
		n, err := counted(name, result)
		return err == nil && n == b.Transactions, nil
	}
	return true, nil
}

// placed says whether a result names the block that the index has, and, where it tells
// a status, the last one: that L1 has accepted the block, which the index says too.
func placed(ctx context.Context, r explorer.Reader, s *chain.State, q *question, result []byte) (bool, error) {
	t, err := read(result)
	if err != nil || !t.hashed {
		return false, nil // an answer that says less is not kept
	}
	number, hash, err := placeOf(ctx, r, q.about)
	if err != nil || t.hash != hash || t.numbered && t.number != number {
		return false, err
	}
	switch q.method.Keep {
	case method.OfTransactionStatus:
		if !t.named || t.transaction != q.about.hash {
			return false, nil
		}
	case method.OfBlockStatus:
	default:
		return true, nil
	}
	return t.numbered && t.status == "ACCEPTED_ON_L1" && s.HasL1 && number <= s.L1.Number, nil
}

// counted is how many transactions a result counts, or traces.
func counted(name string, result []byte) (n uint64, err error) {
	sc := jsonscan.New(result)
	list := func() {
		for more := sc.OpenArray(); more; more = sc.NextElement() {
			sc.Skip()
			n++
		}
	}
	switch {
	case name == "starknet_getBlockTransactionCount":
		n = sc.Uint64()
	case len(result) > 0 && result[0] == '[':
		list()
	default:
		for more := sc.OpenObject(); more; more = sc.NextMember() {
			if string(sc.Key()) == "traces" {
				list()
			} else {
				sc.Skip()
			}
		}
	}
	sc.End()
	return n, sc.Err()
}

// ofTheChain says whether a result that never changes, the chain's id, is that of the
// chain that the nodes were chosen for, if that is known.
func (u *Upstream) ofTheChain(result []byte) bool {
	var told felt.Felt
	sc := jsonscan.New(result)
	if !readFelt(&sc, &told) {
		return false
	}
	id, known := u.nodes.Chain()
	return !known || told == id
}

package main

import (
	"bufio"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// peer is a program that keeps the same chain and answers the same queries, in a
// process of its own: see the folder juno. It reads gob values of peerMessage and
// answers each query with a peerAnswer.
type peer struct {
	command *exec.Cmd
	pipe    io.WriteCloser
	buffer  *bufio.Writer
	in      *gob.Encoder
	out     *gob.Decoder
}

// The types of the streams. Felts are 32 bytes each, one after the other.
type (
	peerMessage struct {
		Block *peerBlock
		Query *peerQuery
	}
	peerBlock struct {
		Number, Timestamp uint64
		Hash, Parent      []byte
		Txs               []peerTx
	}
	peerTx struct {
		Hash, Sender, Fee   []byte
		Calldata, Signature []byte
		Events              []peerEvent
	}
	peerEvent struct{ From, Keys, Data []byte }
	peerQuery struct {
		Emitters []byte
		Keys     [][]byte
		From, To uint64
		Limit    int
	}
	peerAnswer struct {
		Took   time.Duration
		Places []explorer.Place
		Err    string
	}
)

func startPeer(ctx context.Context, program, dir string) (*peer, error) {
	p := &peer{command: exec.CommandContext(ctx, program, dir)}
	p.command.Stderr = os.Stderr
	var err error
	if p.pipe, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	p.buffer = bufio.NewWriterSize(p.pipe, 1<<20)
	p.in, p.out = gob.NewEncoder(p.buffer), gob.NewDecoder(out)
	return p, nil
}

func (p *peer) stop() {
	_ = p.pipe.Close()
	_ = p.command.Wait()
}

// add hands over a block; every transaction becomes an invocation.
func (p *peer) add(b *starknet.Block) error {
	out := &peerBlock{Number: b.Number, Timestamp: b.Timestamp, Hash: b.Hash[:], Parent: b.ParentHash[:], Txs: make([]peerTx, len(b.Transactions))}
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		to := &out.Txs[i]
		*to = peerTx{Hash: t.Hash[:], Sender: t.Sender[:], Fee: r.ActualFee[:], Calldata: flat(t.Calldata), Signature: flat(t.Signature)}
		for j := range r.Events {
			e := &r.Events[j]
			to.Events = append(to.Events, peerEvent{From: e.From[:], Keys: flat(e.Keys), Data: flat(e.Data)})
		}
	}
	return p.in.Encode(peerMessage{Block: out})
}

func flat(fs []felt.Felt) []byte {
	out := make([]byte, 0, len(fs)*felt.Size)
	for i := range fs {
		out = append(out, fs[i][:]...)
	}
	return out
}

func (p *peer) ask(q *event.Query) (a peerAnswer, err error) {
	out := &peerQuery{Emitters: flat(q.Emitters), From: q.From, To: q.To, Limit: q.Limit}
	for i, values := range q.Keys {
		if len(values) > 0 {
			for len(out.Keys) <= i {
				out.Keys = append(out.Keys, nil)
			}
			out.Keys[i] = flat(values)
		}
	}
	if err := p.in.Encode(peerMessage{Query: out}); err != nil {
		return a, err
	}
	if err := p.buffer.Flush(); err != nil {
		return a, err
	}
	if err := p.out.Decode(&a); err != nil {
		return a, fmt.Errorf("the peer's answer: %w", err)
	}
	if a.Err != "" {
		return a, fmt.Errorf("the peer says: %s", a.Err)
	}
	return a, nil
}

// ascending turns a query around: the peer knows only the oldest first. What was
// asked for the newest events below a block asks for the oldest above its mirror.
func ascending(q event.Query, head uint64) event.Query {
	from := head - min(q.To, head)
	q.From, q.To, q.Order, q.Limit = from, head-q.From, event.Asc, pageSize
	return q
}

// measurePeer asks both for the same pages and compares the answers and their times.
func (b *bench) measurePeer(ctx context.Context, queries []event.Query, head uint64) error {
	ours, theirs := &sample{}, &sample{}
	for i, q := range queries {
		q = ascending(q, head)
		a, err := b.peer.ask(&q)
		if err != nil {
			return err
		}
		var page event.Page
		start := time.Now()
		err = b.engine.View(ctx, func(r store.Reader) (err error) {
			page, err = event.Search(ctx, r, q)
			return err
		})
		took := time.Since(start)
		if err != nil {
			return err
		}
		if i < len(queries)/10 { // warm
			continue
		}
		if err := same(page.Events, a.Places); err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
		ours.add(took, &page)
		theirs.times = append(theirs.times, a.Took)
		theirs.hits += len(a.Places)
	}
	fmt.Printf("%-34s p50 %7.3f  p99 %7.3f ms\n", "   oldest first", ms(ours.at(0.5)), ms(ours.at(0.99)))
	fmt.Printf("%-34s p50 %7.3f  p99 %7.3f ms: %.1f and %.1f times as long\n", "   the peer, the same pages", ms(theirs.at(0.5)), ms(theirs.at(0.99)),
		ratio(theirs.at(0.5), ours.at(0.5)), ratio(theirs.at(0.99), ours.at(0.99)))
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / math.Max(float64(b), 1) }

func same(ours []event.Hit, theirs []explorer.Place) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d events against %d of the peer", len(ours), len(theirs))
	}
	for i := range ours {
		if ours[i].Place != theirs[i] {
			return fmt.Errorf("event %d is at %+v, the peer's at %+v", i, ours[i].Place, theirs[i])
		}
	}
	return nil
}

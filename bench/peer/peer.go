// Package peer starts the Juno node's store in a process of its own and hands it
// blocks of a chain, so that benchmarks can hold the product against it: see
// bench/events/juno, which is that program and has the same types.
package peer

import (
	"bufio"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// Peer is the program, running. It reads gob values of message and answers each
// query, and each order to store what it holds.
type Peer struct {
	command *exec.Cmd
	pipe    io.WriteCloser
	buffer  *bufio.Writer
	in      *gob.Encoder
	out     *gob.Decoder
}

// The types of the streams. Felts are 32 bytes each, one after the other.
type (
	message struct {
		Block *block
		Query *query
		Hold  bool // the block is kept in memory until Store
		Store bool
	}
	block struct {
		Number, Timestamp uint64
		Hash, Parent      []byte
		Txs               []tx
	}
	tx struct {
		Hash, Sender, Fee   []byte
		Calldata, Signature []byte
		Events              []eventOf
	}
	eventOf struct{ From, Keys, Data []byte }
	query   struct {
		Emitters []byte
		Keys     [][]byte
		From, To uint64
		Limit    int
	}
)

// Answer is a page of events.
type Answer struct {
	Took   time.Duration
	Places []explorer.Place
	Err    string
}

// Stored tells what it took to store the blocks that were held.
type Stored struct {
	Took, CPU time.Duration
	Bytes     uint64 // of its tables, once they are compacted
	Err       string
}

// Start runs the program, which keeps its store in dir.
func Start(ctx context.Context, program, dir string) (*Peer, error) {
	p := &Peer{command: exec.CommandContext(ctx, program, dir)}
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

// Stop ends the program.
func (p *Peer) Stop() {
	_ = p.pipe.Close()
	_ = p.command.Wait()
}

// Add hands over a block; every transaction becomes an invocation.
func (p *Peer) Add(b *starknet.Block) error { return p.in.Encode(message{Block: blockOf(b)}) }

// Hold hands over a block that is stored by Store.
func (p *Peer) Hold(b *starknet.Block) error {
	return p.in.Encode(message{Block: blockOf(b), Hold: true})
}

// Store stores the blocks that are held. What is measured begins when they are there
// as the node's own values, and ends when the last is written.
func (p *Peer) Store() (s Stored, err error) {
	if err := p.ask(message{Store: true}, &s); err != nil {
		return s, err
	}
	if s.Err != "" {
		return s, fmt.Errorf("the peer says: %s", s.Err)
	}
	return s, nil
}

func blockOf(b *starknet.Block) *block {
	out := &block{Number: b.Number, Timestamp: b.Timestamp, Hash: b.Hash[:], Parent: b.ParentHash[:], Txs: make([]tx, len(b.Transactions))}
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		to := &out.Txs[i]
		*to = tx{Hash: t.Hash[:], Sender: t.Sender[:], Fee: r.ActualFee[:], Calldata: flat(t.Calldata), Signature: flat(t.Signature)}
		for j := range r.Events {
			e := &r.Events[j]
			to.Events = append(to.Events, eventOf{From: e.From[:], Keys: flat(e.Keys), Data: flat(e.Data)})
		}
	}
	return out
}

func flat(fs []felt.Felt) []byte {
	out := make([]byte, 0, len(fs)*felt.Size)
	for i := range fs {
		out = append(out, fs[i][:]...)
	}
	return out
}

// Ask asks for a page of events, oldest first.
func (p *Peer) Ask(q *event.Query) (a Answer, err error) {
	out := &query{Emitters: flat(q.Emitters), From: q.From, To: q.To, Limit: q.Limit}
	for i, values := range q.Keys {
		if len(values) > 0 {
			for len(out.Keys) <= i {
				out.Keys = append(out.Keys, nil)
			}
			out.Keys[i] = flat(values)
		}
	}
	if err := p.ask(message{Query: out}, &a); err != nil {
		return a, err
	}
	if a.Err != "" {
		return a, fmt.Errorf("the peer says: %s", a.Err)
	}
	return a, nil
}

func (p *Peer) ask(m message, answer any) error {
	if err := p.in.Encode(m); err != nil {
		return err
	}
	if err := p.buffer.Flush(); err != nil {
		return err
	}
	if err := p.out.Decode(answer); err != nil {
		return fmt.Errorf("the peer's answer: %w", err)
	}
	return nil
}

// Command juno is the peer of the benchmarks of events and of ingest: it keeps the blocks that it
// reads from its standard input in a store of the Juno node, as the node itself
// does, and answers queries with the node's own event filter. It is a module of
// its own, so that the product does not depend on Juno's packages.
//
// Started by bench/events and bench/ingest with -peer. Input and output are
// streams of gob values; see bench/peer, which holds the same types.
package main

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/NethermindEth/juno/blockchain"
	"github.com/NethermindEth/juno/blockchain/networks"
	"github.com/NethermindEth/juno/core"
	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/juno/db"
	"github.com/NethermindEth/juno/db/pebblev2"
	_ "github.com/NethermindEth/juno/encoder/registry" // the node's own types in its store
)

// Felts are 32 bytes each, one after the other.

type message struct {
	Block *block
	Query *query
	Hold  bool // the block is kept in memory until Store
	Store bool
}

type stored struct {
	Took, CPU time.Duration
	Bytes     uint64
	Err       string
}

type block struct {
	Number, Timestamp uint64
	Hash, Parent      []byte
	Txs               []tx
}

type tx struct {
	Hash, Sender, Fee   []byte
	Calldata, Signature []byte
	Events              []event
}

type event struct{ From, Keys, Data []byte }

type query struct {
	Emitters []byte
	Keys     [][]byte
	From, To uint64
	Limit    int
}

type answer struct {
	Took   time.Duration
	Places []place
	Err    string
}

type place struct {
	Block   uint64
	Tx, Log uint32
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "juno:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: juno DIR")
	}
	// A cache of the size that the product's store has by default.
	store, err := pebblev2.New(os.Args[1], pebblev2.WithCacheSize(256))
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // measured already
	in := gob.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	out := gob.NewEncoder(os.Stdout)
	w := &writer{store: store}
	var chain *blockchain.Blockchain
	for {
		var m message
		if err := in.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if m.Hold {
			w.hold(m.Block)
			continue
		}
		if m.Store {
			if err := out.Encode(w.storeHeld()); err != nil {
				return err
			}
			continue
		}
		if m.Block != nil {
			if err := w.add(m.Block); err != nil {
				return fmt.Errorf("block %d: %w", m.Block.Number, err)
			}
			continue
		}
		if chain == nil { // the blocks are all there
			if err := w.finish(); err != nil {
				return err
			}
			network := networks.Sepolia
			chain = blockchain.New(store, &network)
		}
		if err := out.Encode(ask(chain, m.Query)); err != nil {
			return err
		}
	}
}

// writer stores blocks as the node's state backend does, without the state.
type writer struct {
	store  db.KeyValueStore
	filter *core.RunningEventFilter
	batch  db.Batch
	blocks int
	held   []*nodeBlock
}

// blocksABatch are written at once, so that not every block waits for the disk.
const blocksABatch = 50

// nodeBlock is a block as the node's own values.
type nodeBlock struct {
	header   *core.Header
	txs      []core.Transaction
	receipts []*core.TransactionReceipt
}

func (w *writer) add(b *block) error { return w.put(valuesOf(b)) }

func valuesOf(b *block) *nodeBlock {
	txs, receipts := make([]core.Transaction, len(b.Txs)), make([]*core.TransactionReceipt, len(b.Txs))
	events := 0
	for i := range b.Txs {
		txs[i], receipts[i] = transaction(&b.Txs[i])
		events += len(receipts[i].Events)
	}
	zero := &felt.Zero
	return &nodeBlock{&core.Header{
		Hash: one(b.Hash), ParentHash: one(b.Parent), Number: b.Number, Timestamp: b.Timestamp, GlobalStateRoot: zero, SequencerAddress: zero,
		TransactionCount: uint64(len(txs)), EventCount: uint64(events), ProtocolVersion: "0.14.0",
		L1GasPriceETH: zero, L1GasPriceSTRK: zero,
		L1DataGasPrice: &core.GasPrice{PriceInWei: zero, PriceInFri: zero}, L2GasPrice: &core.GasPrice{PriceInWei: zero, PriceInFri: zero},
	}, txs, receipts}
}

// put writes a block with what the node derives from it.
func (w *writer) put(b *nodeBlock) error {
	if w.filter == nil {
		first := core.NewAggregatedFilter(0)
		w.filter = core.NewRunningEventFilterHot(w.store, &first, 0)
	}
	if w.batch == nil {
		w.batch = w.store.NewBatch()
	}
	header, zero := b.header, &felt.Zero
	header.EventsBloom = core.EventsBloom(b.receipts)
	if err := core.WriteBlockHeader(w.batch, header); err != nil {
		return err
	}
	if err := core.WriteTransactionsAndReceipts(w.batch, header.Number, b.txs, b.receipts); err != nil {
		return err
	}
	commitments := &core.BlockCommitments{TransactionCommitment: zero, EventCommitment: zero, ReceiptCommitment: zero, StateDiffCommitment: zero}
	if err := core.WriteBlockCommitment(w.batch, header.Number, commitments); err != nil {
		return err
	}
	if err := core.WriteChainHeight(w.batch, header.Number); err != nil {
		return err
	}
	if err := w.filter.InsertWithBatch(w.batch, header.EventsBloom, header.Number); err != nil {
		return err
	}
	if w.blocks++; w.blocks%blocksABatch == 0 {
		return w.write()
	}
	return nil
}

func (w *writer) write() error {
	if w.batch == nil {
		return nil
	}
	b := w.batch
	w.batch = nil
	return b.Write()
}

func (w *writer) finish() error {
	if err := w.write(); err != nil {
		return err
	}
	return w.filter.Write()
}

func transaction(t *tx) (core.Transaction, *core.TransactionReceipt) {
	version := new(core.TransactionVersion).SetUint64(3)
	body := &core.InvokeTransaction{
		TransactionHash: one(t.Hash), CallData: many(t.Calldata), TransactionSignature: many(t.Signature),
		Version: version, Nonce: &felt.Zero, SenderAddress: one(t.Sender),
	}
	receipt := &core.TransactionReceipt{Fee: one(t.Fee), FeeUnit: core.STRK, TransactionHash: body.TransactionHash}
	for _, e := range t.Events {
		receipt.Events = append(receipt.Events, &core.Event{From: one(e.From), Keys: many(e.Keys), Data: many(e.Data)})
	}
	return body, receipt
}

func one(b []byte) *felt.Felt { return new(felt.Felt).SetBytes(b) }

func many(b []byte) []*felt.Felt {
	out := make([]*felt.Felt, 0, len(b)/32)
	for ; len(b) > 0; b = b[32:] {
		out = append(out, one(b[:32]))
	}
	return out
}

// ask answers one query. What is measured is the library call, from a new filter
// to a page.
func ask(chain *blockchain.Blockchain, q *query) (a answer) {
	var emitters []felt.Address
	for _, f := range many(q.Emitters) {
		emitters = append(emitters, felt.Address(*f))
	}
	keys := make([][]felt.Felt, len(q.Keys))
	for i := range q.Keys {
		for _, f := range many(q.Keys[i]) {
			keys[i] = append(keys[i], *f)
		}
	}
	start := time.Now()
	found, err := page(chain, emitters, keys, q)
	a.Took = time.Since(start)
	if err != nil {
		a.Err = err.Error()
		return a
	}
	for _, e := range found {
		a.Places = append(a.Places, place{*e.BlockNumber, uint32(e.TransactionIndex), uint32(e.EventIndex)})
	}
	return a
}

func page(chain *blockchain.Blockchain, emitters []felt.Address, keys [][]felt.Felt, q *query) ([]blockchain.FilteredEvent, error) {
	nothingPending := func() (blockchain.PreConfirmedReader, error) { return nil, errors.New("no blocks are pending") }
	filter, err := chain.EventFilter(emitters, keys, nothingPending)
	if err != nil {
		return nil, err
	}
	defer filter.Close() //nolint:errcheck // it does nothing
	if err := filter.SetRangeEndBlockByNumber(blockchain.EventFilterFrom, q.From); err != nil {
		return nil, err
	}
	if err := filter.SetRangeEndBlockByNumber(blockchain.EventFilterTo, q.To); err != nil {
		return nil, err
	}
	found, _, err := filter.Events(nil, uint64(q.Limit))
	return found, err
}

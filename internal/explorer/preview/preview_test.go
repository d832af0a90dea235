package preview_test

import (
	"slices"
	"testing"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/preview"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// world is an indexed chain, and what is known of it.
type world struct {
	chain  *simnode.Chain
	head   uint64
	known  *registry.Chain
	engine pebble.Engine
}

var schemas = decoded.NewCache(1 << 20)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{chain: simnode.New(simnode.Config{Seed: 5, Blocks: 40})}
	var err error
	w.engine = pebbletest.Open(t, catalog.Tables())
	x, err := index.New(index.Options{Store: w.engine, Source: simsource.Source{Chain: w.chain}, Verify: index.VerifyOff})
	if err != nil {
		t.Fatal(err)
	}
	w.head, _ = w.chain.Head()
	if err := x.RunTo(t.Context(), w.head); err != nil {
		t.Fatal(err)
	}
	entries, err := registry.Builtin().With("SN_SEPOLIA", w.chain.Network().Registry())
	if err != nil {
		t.Fatal(err)
	}
	w.known = entries.Chain("SN_SEPOLIA")
	return w
}

func (w *world) of(t *testing.T, exchanges bool, hashes ...felt.Felt) (out []*preview.Preview) {
	t.Helper()
	err := w.engine.View(t.Context(), func(r store.Reader) (err error) {
		out, err = preview.Of(t.Context(), r, hashes, preview.Options{Known: w.known, Schemas: schemas, Exchanges: exchanges})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOf: previews of every transaction of a chain say what the blocks do, in the
// order in which they are asked for, and nothing of what is not there.
func TestOf(t *testing.T) {
	w := newWorld(t)
	c, head, known := w.chain, w.head, w.known
	of := func(exchanges bool, hashes ...felt.Felt) []*preview.Preview { return w.of(t, exchanges, hashes...) }
	var moved, signed, bridged, exchanged int
	for n := range head + 1 {
		b := c.BlockAt(n)
		hashes := []felt.Felt{felt.FromUint64(77)}
		for i := range b.Transactions {
			hashes = append(hashes, b.Transactions[i].Hash)
		}
		hashes = append(hashes, hashes[len(hashes)-1])
		list := of(true, hashes...)
		if list[0] != nil || len(list) != len(hashes) || list[len(list)-1] != list[len(list)-2] {
			t.Fatalf("block %d: %d previews of %d hashes", n, len(list), len(hashes))
		}
		for i, p := range list[1 : len(list)-1] {
			all := transfer.Of(b.Receipts[i].Events)
			if p.Hash != b.Transactions[i].Hash || p.Block != n || p.TransferCount != len(all) || len(p.Transfers) != min(len(all), preview.MaxTransfers) ||
				p.Minted != slices.ContainsFunc(all, func(x transfer.Numbered) bool { return x.From.IsZero() }) ||
				p.Burnt != slices.ContainsFunc(all, func(x transfer.Numbered) bool { return x.To.IsZero() }) {
				t.Errorf("block %d, transaction %d: %+v", n, i, p)
			}
			calls, byAccount := decoded.CallsOf(p.Record)
			if p.ByAccount != byAccount || p.CallCount != len(calls) || len(p.Calls) != min(len(calls), preview.MaxCalls) || (len(p.Targets) > 0) != (byAccount && len(calls) > 0) {
				t.Errorf("block %d, transaction %d: calls %+v", n, i, p)
			}
			for _, call := range slices.Concat(p.Calls, p.Exchanges) {
				if call.CallResult == nil || call.Selector != calls[call.Index].Selector {
					t.Errorf("block %d, transaction %d: call %d is %+v", n, i, call.Index, call)
				}
			}
			for _, call := range p.Exchanges {
				if l, ok := known.Label(call.To); !ok || l.Kind != "dex" {
					t.Errorf("block %d, transaction %d: %s is no exchange", n, i, call.To)
				}
			}
			moved, signed, bridged, exchanged = moved+len(p.Transfers), signed+len(p.Targets), bridged+len(p.Bridges(known)), exchanged+len(p.Exchanges)
			if q := of(false, p.Hash); len(p.Exchanges) > 0 && len(q[0].Exchanges) != 0 {
				t.Errorf("exchange calls that were not asked for: %+v", q[0].Exchanges)
			}
		}
	}
	if moved == 0 || signed == 0 || bridged == 0 || exchanged == 0 {
		t.Errorf("the chain has %d transfers, %d targets, %d bridges, %d exchange calls", moved, signed, bridged, exchanged)
	}
}

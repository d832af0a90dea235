package index_test

import (
	"context"
	"math/big"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// TestClassesAndEvents indexes a chain over sockets, forks it, and each time
// holds every class at every block and every decoded event against the chain.
func TestClassesAndEvents(t *testing.T) {
	if index.Raced {
		t.Skip("the goroutines of a shorter test: run without the race detector")
	}
	c := simnode.New(simnode.Config{Seed: 35, Blocks: 130, L1Lag: 30})
	failing := []simnode.Fault{{Kind: simnode.FaultTruncate, Probability: 0.1}, {Kind: simnode.FaultRPCError, Code: -32603, Probability: 0.1}}
	src := serve(t, c, starknet.V010, nil, failing)
	e := openMem(t)
	runTo(t, e, src, 129)
	checkClasses(t, e, c, 129)
	c.Fork(60)
	c.Extend(20)
	runTo(t, e, src, 149)
	checkClasses(t, e, c, 149)
	total := checkEvents(t, e, c, 149)
	t.Logf("events: %+v", total)
	if total.decoded < 1500 || total.decoded*10 < total.events*8 || total.nameOnly == 0 || total.unknown == 0 ||
		total.inUpgrade == 0 || total.inUpgradeDecoded == 0 || total.inUpgradeNameOnly == 0 {
		t.Errorf("the chain was too quiet to prove anything: %+v", total)
	}
	report, err := fsck.Check(t.Context(), fsck.Options{Store: e, Scratch: openMem(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("fsck: %s", p)
	}
	if report.Rows["class_missing"] != 0 || report.Rows["class_abi"] < 20 || report.Rows["contract_class"] < 50 || report.Rows["class"] < 20 {
		t.Errorf("rows: %v", report.Rows)
	}
}

// checkClasses asks for every contract at every block, in pages.
func checkClasses(t *testing.T, e store.Engine, c *simnode.Chain, last uint64) {
	t.Helper()
	var pairs []contract.At
	seen := map[felt.Felt]bool{felt.FromUint64(12345): true}
	for n := range last + 1 {
		for _, d := range c.StateUpdateAt(n).Diff.Deployed {
			seen[d.Address] = true
		}
	}
	for a := range seen {
		for n := range last + 1 {
			pairs = append(pairs, contract.At{Address: a, Block: n})
		}
	}
	replaced := 0
	err := e.View(t.Context(), func(r store.Reader) error {
		for page := range slices.Chunk(pairs, 100) {
			got, err := contract.ClassesAtMany(t.Context(), r, page)
			if err != nil {
				return err
			}
			for i, at := range page {
				after, there := c.ClassAt(at.Address, at.Block)
				if (got[i] != nil) != there || there && got[i].After != after.Hash {
					t.Fatalf("contract %s after block %d: %+v, want %+v", at.Address, at.Block, got[i], after)
				}
				if !there {
					continue
				}
				var before *contracts.Class
				if at.Block > 0 {
					before, _ = c.ClassAt(at.Address, at.Block-1)
				}
				if (got[i].Before != nil) != (before != nil) || before != nil && *got[i].Before != before.Hash {
					t.Fatalf("contract %s before block %d: %+v, want %+v", at.Address, at.Block, got[i], before)
				}
				if got[i].ChangedInBlock != (before != after) {
					t.Fatalf("contract %s in block %d: %+v", at.Address, at.Block, got[i])
				}
				if before != nil && before != after {
					replaced++
				}
			}
		}
		for _, want := range c.Classes(last) {
			abis, errs, err := class.ABIsOf(t.Context(), r, []felt.Felt{want.Hash})
			if err != nil || errs[0] != nil {
				t.Fatal(err, errs)
			}
			if !reflect.DeepEqual(abis[0], class.Materialize(&want.Class)) {
				t.Errorf("class %s is %+v", want.Name, abis[0])
			}
			d, found, err := class.Declared(t.Context(), r, want.Hash)
			if err != nil {
				return err
			}
			if found && (d.Kind == class.Cairo0) != want.Cairo0() {
				t.Errorf("class %s was declared as %s", want.Name, d.Kind)
			}
			if _, declared := c.ClassByHash(want.Hash, d.Block); found && !declared {
				t.Errorf("class %s was not declared at block %d", want.Name, d.Block)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if replaced < 5 {
		t.Errorf("only %d classes were replaced", replaced)
	}
}

// seen counts what events came to.
type seen struct {
	events, decoded, nameOnly, unknown             int
	inUpgrade, inUpgradeDecoded, inUpgradeNameOnly int
}

// checkEvents decodes every event of the chain and holds the results against
// the classes that the contracts played.
func checkEvents(t *testing.T, e store.Engine, c *simnode.Chain, last uint64) (total seen) {
	t.Helper()
	var events []decoded.Event
	for n := range last + 1 {
		b := c.BlockAt(n)
		for i := range b.Receipts {
			for _, ev := range b.Receipts[i].Events {
				events = append(events, decoded.Event{Block: n, Address: ev.From, Keys: ev.Keys, Data: ev.Data})
			}
		}
	}
	schemas := map[felt.Felt]*abi.Schema{}
	read := func(c *contracts.Class, ev *decoded.Event) abi.Result {
		if schemas[c.Hash] == nil {
			s, err := abi.Parse(&c.Class)
			if err != nil {
				t.Fatal(err)
			}
			schemas[c.Hash] = s
		}
		return abi.Decode(schemas[c.Hash], ev.Keys, ev.Data)
	}
	cache := decoded.NewCache(200 << 10) // too small for all classes
	err := e.View(t.Context(), func(r store.Reader) error {
		for page := range slices.Chunk(events, 100) {
			got, degraded, err := decoded.Decode(t.Context(), r, cache, nil, page)
			if err != nil || degraded {
				t.Fatalf("degraded %t, %v", degraded, err)
			}
			for i := range page {
				ev, g := &page[i], &got[i]
				checkPayload(t, ev, g)
				after, _ := c.ClassAt(ev.Address, ev.Block)
				before := after
				if ev.Block > 0 {
					if b, there := c.ClassAt(ev.Address, ev.Block-1); there {
						before = b
					}
				}
				total.add(g, before != after)
				want, other := read(after, ev), read(before, ev)
				switch {
				case before != after:
					if g.ClassHash != nil {
						t.Fatalf("block %d of an upgrade names class %s", ev.Block, g.ClassHash)
					}
					if g.Status == abi.Decoded && g.FieldsSource == abi.ClassABI && !(reflect.DeepEqual(g.Result, want) && reflect.DeepEqual(want, other)) {
						t.Fatalf("block %d: %+v, by the class before %+v, after %+v", ev.Block, g.Result, other, want)
					}
					if g.Status != abi.Unknown && want.Status != abi.Unknown && other.Status != abi.Unknown && (g.Name != want.Name || g.Name != other.Name) {
						t.Fatalf("block %d: named %s, by the class before %s, after %s", ev.Block, g.Name, other.Name, want.Name)
					}
				case g.ClassHash == nil || *g.ClassHash != after.Hash:
					t.Fatalf("block %d: class %v, want %s", ev.Block, g.ClassHash, after.Hash)
				case want.Status != abi.Unknown && !reflect.DeepEqual(g.Result, want):
					t.Fatalf("block %d, class %s: %+v, want %+v", ev.Block, after.Name, g.Result, want)
				case want.Status == abi.Unknown && g.NameSource == abi.ClassABI:
					t.Fatalf("block %d, class %s has no such event: %+v", ev.Block, after.Name, g.Result)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

func (s *seen) add(g *decoded.Result, upgrade bool) {
	s.events++
	switch g.Status {
	case abi.Decoded:
		s.decoded++
	case abi.NameOnly:
		s.nameOnly++
	default:
		s.unknown++
	}
	if upgrade {
		s.inUpgrade++
		if g.Status == abi.Decoded {
			s.inUpgradeDecoded++
		}
		if g.Status == abi.NameOnly {
			s.inUpgradeNameOnly++
		}
	}
}

// checkPayload writes an event out again from its name and fields.
func checkPayload(t *testing.T, ev *decoded.Event, g *decoded.Result) {
	t.Helper()
	if g.Name != "" && !slices.Contains(ev.Keys, felt.Selector(g.Name)) {
		t.Fatalf("block %d: %s is not the name of an event with keys %v", ev.Block, g.Name, ev.Keys)
	}
	if g.Status != abi.Decoded {
		return
	}
	again := map[abi.FieldSource][]felt.Felt{abi.FromKey: slices.Clone(ev.Keys), abi.FromData: slices.Clone(ev.Data)}
	for source := range again {
		clear(again[source])
	}
	again[abi.FromKey][0] = felt.Selector(g.Name)
	for _, f := range g.Fields {
		raw := f.RawValues
		if f.Kind == abi.KindU256 {
			n, ok := new(big.Int).SetString(f.NumericValue.String(), 10)
			if !ok {
				t.Fatalf("field %+v", f)
			}
			low, high := new(big.Int), new(big.Int)
			low.And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
			high.Rsh(n, 128)
			raw = []felt.Felt{fromBig(t, low), fromBig(t, high)}
		}
		for i, at := range f.OriginIndexes {
			again[f.Source][at] = raw[i]
		}
	}
	if !slices.Equal(again[abi.FromKey], ev.Keys) || !slices.Equal(again[abi.FromData], ev.Data) {
		t.Fatalf("block %d: %s reads back as %v, want %v and %v", ev.Block, g.Name, again, ev.Keys, ev.Data)
	}
}

func fromBig(t *testing.T, n *big.Int) felt.Felt {
	t.Helper()
	f, err := felt.FromBytes(n.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// finding tells when a class that was missing is committed.
type finding struct {
	pebble.Engine
	found chan int
}

func (f *finding) Commit(ctx context.Context, b *store.Batch) error {
	err := f.Engine.Commit(ctx, b)
	n := 0
	for _, op := range b.Ops() {
		if op.Table == class.Missing && op.Delete {
			n++
		}
	}
	if n > 0 && err == nil {
		f.found <- n
	}
	return err
}

// TestNodeWithoutClasses: a node that fails when it is asked for classes is
// indexed without them, and they are filled in when it answers again.
func TestNodeWithoutClasses(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 36, Blocks: 60})
	n := simnode.NewNode(c, simnode.NodeConfig{Version: starknet.V010})
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultRPCError, Method: "starknet_getClass", Code: -32603})
	srv := httptest.NewServer(n)
	t.Cleanup(srv.Close)
	pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, BackoffBase: time.Millisecond, BackoffMax: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	e := &finding{Engine: openMem(t), found: make(chan int, 1000)}
	got := runTo(t, e, &index.Nodes{Pool: pool}, 59)

	rows := func(table *store.Table) (n int) {
		err := e.View(t.Context(), func(r store.Reader) error {
			for _, err := range r.Walk(t.Context(), table, nil) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	missing := rows(class.Missing)
	if missing < 20 || missing != rows(class.ABIs) {
		t.Fatalf("%d classes are missing of %d", missing, rows(class.ABIs))
	}
	n.Faults().Clear()
	x, err := index.New(index.Options{Store: e, Source: &index.Nodes{Pool: pool}, Unverified: index.UnverifiedStore, PollInterval: time.Millisecond, L1Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	for left := missing; left > 0; {
		select {
		case n := <-e.found:
			left -= n
		case err := <-ended:
			t.Fatalf("the run ended with %v", err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if rows(class.Missing) != 0 {
		t.Errorf("%d classes are still missing", rows(class.Missing))
	}
	checkClasses(t, e, c, 59)
	if want := runTo(t, openMem(t), serve(t, c, starknet.V010, nil), 59); got.Head != want.Head {
		t.Errorf("head is %+v, with classes %+v", got.Head, want.Head)
	}
}

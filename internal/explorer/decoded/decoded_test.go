package decoded_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var f = felt.FromUint64

// flat is a class with events of the first Cairo 1 compilers, one per line:
// a name and the types of its members.
func flat(events string) *starknet.Class {
	return &starknet.Class{Sierra: &starknet.SierraClass{ABI: `[` + events + `]`}}
}

func eventOf(name, label, typ string) string {
	return `{"type":"event","name":"` + name + `","inputs":[{"name":"` + label + `","type":"` + typ + `"}]}`
}

const (
	number = "core::integer::u64"
	bare   = "core::felt252"
)

// The classes of the tests. E is read the same by one and two, has another
// label in three, does not fit in four, and is not in five.
var (
	one     = flat(eventOf("E", "v", number) + "," + eventOf("OnlyOne", "v", number))
	two     = flat(eventOf("E", "v", number))
	three   = flat(eventOf("E", "w", number))
	four    = flat(eventOf("E", "v", "(core::felt252, core::felt252)"))
	five    = flat(eventOf("F", "v", bare))
	six     = flat(eventOf("E", "v", number) + "," + eventOf("F", "v", bare))
	classes = map[uint64]*starknet.Class{1: one, 2: two, 3: three, 4: four, 5: five, 6: six}
)

// diff is one block's changes: contract and class, by kind.
type diff struct{ deployed, replaced map[uint64]uint64 }

// fill stores the history of contracts and the classes, except those without.
func fill(t *testing.T, history map[uint64]diff, without ...uint64) pebble.Engine {
	t.Helper()
	e := pebbletest.Open(t, slices.Concat(contract.Subject{}.Tables(), contract.Enrichment(), class.Enrichment()))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	for n, d := range history {
		b := &explorer.Block{}
		b.Number = n
		for a, c := range d.deployed {
			b.State.Deployed = append(b.State.Deployed, starknet.DeployedContract{Address: f(a), ClassHash: f(c)})
		}
		for a, c := range d.replaced {
			b.State.Replaced = append(b.State.Replaced, starknet.ReplacedClass{Address: f(a), ClassHash: f(c)})
		}
		b.State.Sort()
		rows := &explorer.Rows{}
		if err := (contract.Subject{}).Project(b, rows); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
	}
	for h, c := range classes {
		batch.Put(class.ABIKey(f(h)), class.Materialize(c).Encode())
	}
	cat := contracts.Classes()
	for _, c := range cat.All() {
		batch.Put(class.ABIKey(c.Hash), class.Materialize(&c.Class).Encode())
	}
	for _, h := range without {
		batch.Put(class.ABIKey(f(h)), (&class.ABI{Status: class.Absent, Block: 1}).Encode())
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e
}

// broken is a view whose look-ups fail.
type broken struct {
	store.Reader
	scan, many, names error
	gets              int // of classes
}

func (b *broken) Scan(ctx context.Context, r store.Range) iter.Seq2[store.Row, error] {
	if b.scan != nil {
		return func(yield func(store.Row, error) bool) { yield(store.Row{}, b.scan) }
	}
	return b.Reader.Scan(ctx, r)
}

func (b *broken) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	if ks[0].Table == class.ABIs {
		b.gets++
	}
	if b.names != nil && ks[0].Table == class.Names {
		return nil, b.names
	}
	if b.many != nil && ks[0].Table == class.ABIs {
		return nil, b.many
	}
	return b.Reader.GetMany(ctx, ks)
}

func event(address, block uint64, name string, data ...uint64) decoded.Event {
	e := decoded.Event{Block: block, Address: f(address), Keys: []felt.Felt{felt.Selector(name)}}
	for _, d := range data {
		e.Data = append(e.Data, f(d))
	}
	return e
}

// TestUpgrades is the rule for events in and around the block of an upgrade.
func TestUpgrades(t *testing.T) {
	// Contract 100+10a+b goes from class a to class b in block 5; 200 is
	// deployed in block 5, 201 deployed and replaced there; 202 is replaced by
	// its own class.
	start, upgrade := diff{deployed: map[uint64]uint64{202: 1}}, diff{deployed: map[uint64]uint64{200: 1, 201: 1}, replaced: map[uint64]uint64{201: 5, 202: 1}}
	upgrade.replaced = map[uint64]uint64{201: 5, 202: 1}
	for a := range uint64(6) {
		for b := range uint64(6) {
			start.deployed = with(start.deployed, 100+10*(a+1)+b+1, a+1)
			upgrade.replaced = with(upgrade.replaced, 100+10*(a+1)+b+1, b+1)
		}
	}
	e := fill(t, map[uint64]diff{2: start, 5: upgrade}, 6)
	const epoch = decoded.ClassEpochUnavailable
	for _, c := range []struct {
		name   string
		event  decoded.Event
		status abi.Status
		event0 string // its name
		source abi.Source
		reason abi.Reason
		class  uint64 // 0 for none
		noName decoded.NameReason
	}{
		{"before the upgrade", event(115, 4, "E", 7), abi.Decoded, "E", abi.ClassABI, "", 1, ""},
		{"after it", event(115, 6, "E", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 5, ""},
		{"after it, an event of the new class", event(115, 6, "F", 7), abi.Decoded, "F", abi.ClassABI, "", 5, ""},
		{"before it, an event of the new class", event(115, 4, "F", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 1, ""},
		{"in its block, both read it the same", event(112, 5, "E", 7), abi.Decoded, "E", abi.ClassABI, "", 0, ""},
		{"in its block, other labels", event(113, 5, "E", 7), abi.NameOnly, "E", abi.ClassABI, abi.SelectorOnlyAttribution, 0, ""},
		{"in its block, one does not fit", event(114, 5, "E", 7), abi.NameOnly, "E", abi.ClassABI, abi.SelectorOnlyAttribution, 0, ""},
		{"in its block, neither fits", event(114, 5, "E", 7, 8, 9), abi.NameOnly, "E", abi.ClassABI, abi.PayloadShapeMismatch, 0, ""},
		{"in its block, one does not know it", event(115, 5, "E", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch},
		{"in its block, neither knows it", event(115, 5, "G", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch},
		{"in its block, one ABI is missing", event(116, 5, "E", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch},
		{"the ABI is missing", event(161, 4, "E", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 6, ""},
		{"in the block of the deployment", event(200, 5, "E", 7), abi.Decoded, "E", abi.ClassABI, "", 1, ""},
		{"before the deployment", event(200, 4, "E", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch},
		{"deployed and replaced in one block", event(201, 5, "E", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch},
		{"replaced by its own class", event(202, 5, "E", 7), abi.Decoded, "E", abi.ClassABI, "", 1, ""},
		{"a contract that never was, a standard event", event(999, 5, "Upgraded", 7), abi.Decoded, "Upgraded", abi.CuratedSelector, "", 0, ""},
		{"an event that the class leaves to the standards", event(115, 4, "Upgraded", 7), abi.Decoded, "Upgraded", abi.CuratedSelector, "", 1, ""},
		{"the same in the block of the upgrade", event(115, 5, "Upgraded", 7), abi.Decoded, "Upgraded", abi.CuratedSelector, "", 0, ""},
		{"without keys", decoded.Event{Block: 4, Address: f(115)}, abi.Unknown, "", "", abi.SchemaUnavailable, 1, ""},
	} {
		err := e.View(t.Context(), func(r store.Reader) error {
			got, degraded, err := decoded.Decode(t.Context(), r, decoded.NewCache(1<<20), nil, []decoded.Event{c.event})
			if err != nil || degraded {
				t.Fatalf("%s: degraded %t, %v", c.name, degraded, err)
			}
			g := got[0]
			if g.Status != c.status || g.Name != c.event0 || g.NameSource != c.source || g.UnavailableReason != c.reason || g.NameUnavailableReason != c.noName {
				t.Errorf("%s: %+v", c.name, g)
			}
			if (g.ClassHash == nil) != (c.class == 0) || g.ClassHash != nil && *g.ClassHash != f(c.class) {
				t.Errorf("%s: class %v, want %d", c.name, g.ClassHash, c.class)
			}
			if (g.Status == abi.Decoded) != (len(g.Fields) > 0) {
				t.Errorf("%s: %d fields", c.name, len(g.Fields))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func with(m map[uint64]uint64, k, v uint64) map[uint64]uint64 {
	if m == nil {
		m = map[uint64]uint64{}
	}
	m[k] = v
	return m
}

// TestTokenKind: an amount and an id look the same in one key and four data;
// the entry points of the class tell them apart, and nothing else does.
func TestTokenKind(t *testing.T) {
	doors := func(names ...string) *starknet.Class {
		c := &starknet.SierraClass{ABI: "[]"}
		for _, n := range names {
			c.EntryPoints.External = append(c.EntryPoints.External, starknet.EntryPoint{Selector: felt.Selector(n)})
		}
		return &starknet.Class{Sierra: c}
	}
	classes[11], classes[12], classes[13] = doors("transfer", "decimals", "totalSupply"), doors("ownerOf"), doors("anything")
	defer func() { delete(classes, 11); delete(classes, 12); delete(classes, 13) }()
	e := fill(t, map[uint64]diff{1: {deployed: map[uint64]uint64{1: 11, 2: 12, 3: 13}}})
	err := e.View(t.Context(), func(r store.Reader) error {
		var events []decoded.Event
		for a := range uint64(3) {
			events = append(events, event(a+1, 4, "Transfer", 5, 6, 7, 0))
		}
		got, _, err := decoded.Decode(t.Context(), r, decoded.NewCache(1<<20), nil, events)
		if err != nil {
			return err
		}
		for i, label := range []string{"value", "token_id"} {
			if g := got[i]; g.Status != abi.Decoded || g.FieldsSource != abi.CuratedSelector || g.Fields[2].Label != label {
				t.Errorf("contract %d: %+v", i+1, g)
			}
		}
		if got[2].Status != abi.NameOnly || got[2].Name != "Transfer" {
			t.Errorf("contract 3: %+v", got[2])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDegraded: a look-up that fails leaves its events unknown and says so; the
// page is answered, unless nobody waits for it.
func TestDegraded(t *testing.T) {
	e := fill(t, map[uint64]diff{1: {deployed: map[uint64]uint64{1: 1, 2: 21}}})
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	b.Put(class.ABIKey(f(21)), []byte{9})
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	events := []decoded.Event{event(1, 4, "E", 7), event(2, 4, "Upgraded", 7), event(3, 4, "Upgraded", 7)}
	boom := errors.New("boom")
	err = e.View(t.Context(), func(r store.Reader) error {
		for _, c := range []struct {
			name   string
			reader broken
			want   [3]abi.Status
		}{
			{"a row that cannot be read", broken{}, [3]abi.Status{abi.Decoded, abi.Unknown, abi.Decoded}},
			{"classes cannot be read", broken{many: boom}, [3]abi.Status{abi.Unknown, abi.Unknown, abi.Decoded}},
			{"histories cannot be read", broken{scan: boom}, [3]abi.Status{abi.Unknown, abi.Unknown, abi.Unknown}},
		} {
			c.reader.Reader = r
			got, degraded, err := decoded.Decode(t.Context(), &c.reader, decoded.NewCache(1<<20), nil, events)
			if err != nil || !degraded {
				t.Errorf("%s: degraded %t, %v", c.name, degraded, err)
			}
			for i := range got {
				if got[i].Status != c.want[i] || got[i].Status == abi.Unknown && (got[i].Fields != nil || got[i].UnavailableReason == "") {
					t.Errorf("%s: event %d is %+v", c.name, i, got[i])
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := decoded.Decode(ctx, &c.reader, decoded.NewCache(1<<20), nil, events); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: canceled: %v", c.name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCache: classes are read once while they fit, one that is missing is read
// again, and the answers do not depend on the size of the cache.
func TestCache(t *testing.T) {
	history := diff{deployed: map[uint64]uint64{}}
	var events []decoded.Event
	for a := range uint64(6) {
		history.deployed[a+1] = a + 1
		events = append(events, event(a+1, 4, "E", 7), event(a+1, 9, "E", 8))
	}
	e := fill(t, map[uint64]diff{1: history})
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, c := range []struct{ size, reads int }{{1 << 20, 1}, {600, 3}, {0, 3}} {
			reader, cache := &broken{Reader: r}, decoded.NewCache(c.size)
			for range 3 {
				got, degraded, err := decoded.Decode(t.Context(), reader, cache, nil, events)
				if err != nil || degraded {
					t.Fatalf("degraded %t, %v", degraded, err)
				}
				for i, want := range []abi.Status{abi.Decoded, abi.Decoded, abi.Decoded, abi.NameOnly, abi.Unknown, abi.Decoded} {
					if got[2*i].Status != want || got[2*i+1].Status != want {
						t.Errorf("size %d, contract %d: %s", c.size, i+1, got[2*i].Status)
					}
				}
			}
			if reader.gets != c.reads {
				t.Errorf("size %d: %d reads of classes, want %d", c.size, reader.gets, c.reads)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	missing := fill(t, map[uint64]diff{1: history}, 1)
	cache := decoded.NewCache(1 << 20)
	for _, c := range []struct {
		engine store.Engine
		want   abi.Status
	}{{missing, abi.Unknown}, {e, abi.Decoded}} {
		err := c.engine.View(t.Context(), func(r store.Reader) error {
			got, _, err := decoded.Decode(t.Context(), r, cache, nil, events[:1])
			if err == nil && got[0].Status != c.want {
				t.Errorf("%s, want %s", got[0].Status, c.want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNames: an event that no schema knows has the name that other classes give
// its selector, unless that is the name of a group, or the class is in doubt.
func TestNames(t *testing.T) {
	e := fill(t, map[uint64]diff{1: {deployed: map[uint64]uint64{1: 1, 5: 5, 6: 5, 7: 9}}, 4: {replaced: map[uint64]uint64{6: 1}}}, 9)
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	for _, c := range []*starknet.Class{one, two, {Sierra: &starknet.SierraClass{ABI: `[
		{"type":"event","name":"m::Alone","kind":"struct","members":[]},
		{"type":"event","name":"m::Inner","kind":"enum","variants":[{"name":"Leaf","type":"m::Alone","kind":"nested"}]},
		{"type":"event","name":"m::Event","kind":"enum","variants":[{"name":"Alone","type":"m::Alone","kind":"nested"},
			{"name":"OnlyOne","type":"m::Inner","kind":"nested"}]}]`}}} {
		class.Materialize(c).PutNames(b)
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	events := []decoded.Event{
		event(1, 9, "E", 7),       // by its class
		event(5, 9, "E", 7),       // by other classes
		event(5, 9, "Alone", 1),   //
		event(5, 9, "OnlyOne", 1), // the name of a group in the last class
		event(5, 9, "Strange", 1), // nobody's
		event(6, 4, "Alone", 1),   // in the block of an upgrade
		event(7, 9, "E", 7),       // of a class that is missing
		event(8, 9, "E", 7),       // of no contract
		{Block: 9, Address: f(5)}, // without keys
	}
	want := []abi.Status{abi.Decoded, abi.NameOnly, abi.NameOnly, abi.Unknown, abi.Unknown, abi.Unknown, abi.NameOnly, abi.NameOnly, abi.Unknown}
	err = e.View(t.Context(), func(r store.Reader) error {
		got, degraded, err := decoded.Decode(t.Context(), r, decoded.NewCache(1<<20), nil, events)
		if err != nil || degraded {
			t.Fatalf("degraded %t, %v", degraded, err)
		}
		for i, g := range got {
			if g.Status != want[i] {
				t.Errorf("event %d is %s, want %s", i, g.Status, want[i])
			}
			if g.Status == abi.NameOnly && (g.NameSource != abi.SelectorUnique || felt.Selector(g.Name) != events[i].Keys[0] || g.UnavailableReason != abi.SelectorOnlyAttribution || g.NameUnavailableReason != "") {
				t.Errorf("event %d is %+v", i, g)
			}
		}
		if got[7].ClassHash != nil || *got[6].ClassHash != f(9) {
			t.Errorf("classes are %v and %v", got[7].ClassHash, got[6].ClassHash)
		}
		got, degraded, err = decoded.Decode(t.Context(), &broken{Reader: r, names: errors.New("broken")}, decoded.NewCache(1<<20), nil, events)
		if err != nil || !degraded || got[0].Status != abi.Decoded || got[1].Status != abi.Unknown {
			t.Errorf("without the dictionary: degraded %t, %v, %s and %s", degraded, err, got[0].Status, got[1].Status)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

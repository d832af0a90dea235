package class_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/record"
)

// world is a store with the directory, and what should be in it.
type world struct {
	t      *testing.T
	engine pebble.Engine
	epoch  uint64

	classes map[felt.Felt]*class.Summary
	current map[felt.Felt]class.Instance // by address; of has the class
	of      map[felt.Felt]felt.Felt
}

func newWorld(t *testing.T) *world {
	e := pebbletest.Open(t, class.Directory{}.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, engine: e, epoch: lease.Epoch, classes: map[felt.Felt]*class.Summary{},
		current: map[felt.Felt]class.Instance{}, of: map[felt.Felt]felt.Felt{}}
}

// add runs the projection as the write path does, and counts by itself.
func (w *world) add(b *explorer.Block) {
	w.t.Helper()
	batch := &store.Batch{Epoch: w.epoch}
	err := w.engine.View(w.t.Context(), func(r store.Reader) error {
		rows := &explorer.Rows{}
		if err := explorer.Follow(w.t.Context(), []explorer.Plan{class.Directory{}.Plan(b)}, r.GetMany, rows); err != nil {
			return err
		}
		for _, op := range rows.Ops() {
			if op.Delete {
				batch.Delete(op.Key)
			} else {
				batch.Put(op.Key, op.Value)
			}
		}
		return nil
	})
	if err == nil {
		err = w.engine.Commit(w.t.Context(), batch)
	}
	if err != nil {
		w.t.Fatalf("block %d: %v", b.Number, err)
	}
	w.count(b)
}

func (w *world) class(hash felt.Felt, n uint64) *class.Summary {
	s := w.classes[hash]
	if s == nil {
		s = &class.Summary{Hash: hash, Origin: n}
		w.classes[hash] = s
	}
	return s
}

func (w *world) count(b *explorer.Block) {
	declare := func(hash felt.Felt, k class.Kind) {
		if s := w.class(hash, b.Number); !s.WasDeclared {
			s.WasDeclared, s.Declared, s.Kind = true, b.Number, k
		}
	}
	for _, d := range b.State.Declared {
		declare(d.ClassHash, class.Sierra)
	}
	for _, h := range b.State.DeprecatedDeclared {
		declare(h, class.Cairo0)
	}
	start := map[felt.Felt]class.Instance{}
	had := map[felt.Felt]felt.Felt{}
	give := func(address, hash felt.Felt) {
		if _, seen := start[address]; !seen {
			start[address], had[address] = w.current[address], w.of[address]
		}
		s := w.class(hash, b.Number)
		if old, ok := w.of[address]; ok {
			if old == hash {
				return
			}
			w.classes[old].Instances--
		}
		w.of[address] = hash
		s.Instances++
		s.Ever++
		w.current[address] = class.Instance{Address: address, Since: b.Number}
		if had[address] == hash { // it left and came back inside the block
			w.current[address] = start[address]
		}
	}
	for _, d := range b.State.Deployed {
		give(d.Address, d.ClassHash)
	}
	for _, d := range b.State.Replaced {
		give(d.Address, d.ClassHash)
	}
}

func hashes(list []*class.Summary) (out []felt.Felt) {
	for _, s := range list {
		out = append(out, s.Hash)
	}
	return out
}

// check compares all lists, with pages of every size.
func (w *world) check(limit int) {
	w.t.Helper()
	var all []*class.Summary
	for _, s := range w.classes {
		all = append(all, s)
	}
	declared := func(s *class.Summary) uint64 {
		if s.WasDeclared {
			return s.Declared + 1
		}
		return 0
	}
	orders := map[class.Sort]func(a, b *class.Summary) int{
		class.ByInstances: func(a, b *class.Summary) int {
			return cmp.Or(cmp.Compare(b.Instances, a.Instances), b.Hash.Cmp(a.Hash))
		},
		class.ByDeclared: func(a, b *class.Summary) int {
			return cmp.Or(cmp.Compare(declared(b), declared(a)), b.Hash.Cmp(a.Hash))
		},
		class.ByOrigin: func(a, b *class.Summary) int { return cmp.Or(cmp.Compare(a.Origin, b.Origin), a.Hash.Cmp(b.Hash)) },
	}
	ctx := w.t.Context()
	err := w.engine.View(ctx, func(r store.Reader) error {
		for o, order := range orders {
			slices.SortFunc(all, order)
			var got []*class.Summary
			for after := (*class.Place)(nil); ; {
				page, next, err := class.List(ctx, r, o, after, limit)
				if err != nil {
					return err
				}
				if len(page) > limit || next != nil && len(page) < limit {
					w.t.Fatalf("order %d: a page of %d with limit %d", o, len(page), limit)
				}
				got = append(got, page...)
				if after = next; next == nil {
					break
				}
			}
			if !reflect.DeepEqual(got, all) {
				w.t.Fatalf("order %d: %v, want %v", o, hashes(got), hashes(all))
			}
		}
		for _, s := range all {
			if err := w.instances(r, s, limit); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) instances(r store.Reader, s *class.Summary, limit int) error {
	ctx := w.t.Context()
	var want []class.Instance
	for address, hash := range w.of {
		if hash == s.Hash {
			want = append(want, w.current[address])
		}
	}
	for o, order := range map[class.InstanceSort]func(a, b class.Instance) int{
		class.ByAddress: func(a, b class.Instance) int { return a.Address.Cmp(b.Address) },
		class.ByNewest: func(a, b class.Instance) int {
			return cmp.Or(cmp.Compare(b.Since, a.Since), b.Address.Cmp(a.Address))
		},
	} {
		slices.SortFunc(want, order)
		var got []class.Instance
		for after := (*class.Instance)(nil); ; {
			page, more, err := class.InstancesOf(ctx, r, s.Hash, o, after, limit)
			if err != nil {
				return err
			}
			got = append(got, page...)
			if !more {
				break
			}
			after = &page[len(page)-1]
		}
		if !slices.Equal(got, want) || uint64(len(want)) != s.Instances {
			w.t.Fatalf("instances of %s in order %d: %v, want %v", s.Hash, o, got, want)
		}
	}
	return nil
}

// TestDirectory: for random histories the counts and lists are those of a count
// by hand, whatever happens inside one block.
func TestDirectory(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t)
		f := func(n int) felt.Felt { return felt.FromUint64(uint64(n)<<40 + 1) }
		deployed := 0
		for n := range uint64(60) {
			b := &explorer.Block{}
			b.Number = n
			for range rng.IntN(3) {
				b.State.Declared = append(b.State.Declared, starknet.DeclaredClass{ClassHash: f(rng.IntN(8))})
			}
			if rng.IntN(4) == 0 {
				b.State.DeprecatedDeclared = append(b.State.DeprecatedDeclared, f(8+rng.IntN(4)))
			}
			for range rng.IntN(4) {
				deployed++
				b.State.Deployed = append(b.State.Deployed, starknet.DeployedContract{Address: f(1000 + deployed), ClassHash: f(rng.IntN(14))})
			}
			for _, i := range rng.Perm(deployed)[:min(deployed, rng.IntN(5))] {
				b.State.Replaced = append(b.State.Replaced, starknet.ReplacedClass{Address: f(1001 + i), ClassHash: f(rng.IntN(14))})
			}
			b.State.Sort()
			w.add(b)
			if n%20 == 19 {
				w.check(1 + rng.IntN(9))
			}
		}
		if len(w.classes) < 10 || deployed < 40 {
			t.Errorf("seed %d: %d classes, %d contracts", seed, len(w.classes), deployed)
		}
	}
}

// TestInterfaces: every entry point of the simulated classes has its name and
// parameters, and reads back.
func TestInterfaces(t *testing.T) {
	kinds := map[class.Mutability]int{}
	for _, c := range contracts.Classes().All() {
		i := class.InterfaceOf(&c.Class)
		points := starknet.EntryPoints{}
		if c.Cairo0() {
			points = c.Class.Cairo0.EntryPoints
		} else {
			points = c.Class.Sierra.EntryPoints
		}
		if len(i.External) != len(points.External) || len(i.Constructors) != len(points.Constructor) || len(i.L1Handlers) != len(points.L1Handler) || i.TypesTruncated {
			t.Errorf("%s: %d, %d and %d doors", c.Name, len(i.External), len(i.L1Handlers), len(i.Constructors))
		}
		for k, d := range i.External {
			name, ok := c.Function(d.Selector)
			if !ok || d.Name != name || d.Selector != points.External[k].Selector {
				t.Errorf("%s: door %d is %s", c.Name, k, d.Name)
			}
			kinds[d.Mutability]++
		}
		if again, err := class.DecodeInterface(i.Encode()); err != nil || !reflect.DeepEqual(again, i) {
			t.Errorf("%s reads back as %+v, %v", c.Name, again, err)
		}
	}
	if kinds[class.View] == 0 || kinds[class.Changing] == 0 || kinds[class.Unsaid] == 0 {
		t.Errorf("mutabilities are %v", kinds)
	}
}

// TestHugeInterfaces: what is too much is cut and said to be.
func TestHugeInterfaces(t *testing.T) {
	text := []byte(`[`)
	for i := range 3000 {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"type":"struct","name":"m::S`...)
		text = append(text, felt.FromUint64(uint64(i)).String()...)
		text = append(text, `","members":[{"name":"a","type":"core::felt252"},{"name":"b","type":"core::integer::u256"}]}`...)
	}
	text = append(text, ']')
	i := class.InterfaceOf(&starknet.Class{Sierra: &starknet.SierraClass{ABI: string(text)}})
	if !i.TypesTruncated || len(i.Types) < 1000 || len(i.Types) >= 3000 || len(i.Encode()) > 1<<18 {
		t.Errorf("%d types in %d bytes, truncated %t", len(i.Types), len(i.Encode()), i.TypesTruncated)
	}
	bare := class.InterfaceOf(&starknet.Class{Sierra: &starknet.SierraClass{ABI: "nonsense", EntryPoints: starknet.EntryPoints{
		External: []starknet.EntryPoint{{Selector: felt.FromUint64(5)}}}}})
	if len(bare.External) != 1 || bare.External[0].Name != "" || bare.External[0].Mutability != class.Unsaid {
		t.Errorf("without an ABI: %+v", bare)
	}
}

func FuzzDecodeInterface(f *testing.F) {
	for _, c := range contracts.Classes().All() {
		f.Add(class.InterfaceOf(&c.Class).Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := class.DecodeInterface(b)
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := class.DecodeInterface(i.Encode())
		if err != nil || !reflect.DeepEqual(i, again) {
			t.Fatalf("second round differs: %v", err)
		}
	})
}

package class_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/record"
)

// TestMaterialize reads the classes of the simulated chain.
func TestMaterialize(t *testing.T) {
	cat := contracts.Classes()
	tokens := map[*contracts.Class]abi.Emitter{
		cat.ERC20Keyed: abi.EmitterERC20, cat.ERC20Middle: abi.EmitterERC20, cat.ERC20Legacy: abi.EmitterERC20, cat.ERC20Next: abi.EmitterERC20,
		cat.TokenImpl: abi.EmitterERC20, cat.TokenImpl2: abi.EmitterERC20, cat.Pair: abi.EmitterERC20,
		cat.ERC721Keyed: abi.EmitterERC721, cat.ERC721Legacy: abi.EmitterERC721,
		cat.ERC1155Keyed: abi.EmitterERC1155, cat.ERC1155Legacy: abi.EmitterERC1155,
	}
	for _, c := range cat.All() {
		a := class.Materialize(&c.Class)
		account := c == cat.Account || c == cat.AccountNext || c == cat.AccountCairo0
		if a.Status != class.Ready || a.Account != account || a.Proxy != (c == cat.Proxy) || a.Token != tokens[c] || (a.Kind == class.Cairo0) != c.Cairo0() {
			t.Errorf("%s: %s %s, account %t, proxy %t, token %d", c.Name, a.Status, a.Kind, a.Account, a.Proxy, a.Token)
		}
		schema, err := abi.Parse(&c.Class)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := abi.Load(a.Schema)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if string(loaded.Encode()) != string(schema.Encode()) {
			t.Errorf("%s: the stored schema differs", c.Name)
		}
		if again, err := class.DecodeABI(a.Encode()); err != nil || !reflect.DeepEqual(again, a) {
			t.Errorf("%s: reads back as %+v, %v", c.Name, again, err)
		}
	}
}

func TestUselessABIs(t *testing.T) {
	points := starknet.EntryPoints{External: []starknet.EntryPoint{{Selector: felt.Selector("ownerOf")}}}
	for _, c := range []struct {
		class starknet.Class
		want  class.Status
	}{
		{starknet.Class{Sierra: &starknet.SierraClass{ABI: "nonsense", EntryPoints: points}}, class.Unparsable},
		{starknet.Class{Sierra: &starknet.SierraClass{EntryPoints: points}}, class.NoABI},
		{starknet.Class{Cairo0: &starknet.Cairo0Class{EntryPoints: points}}, class.NoABI},
		{starknet.Class{Cairo0: &starknet.Cairo0Class{ABI: []byte(`{}`), EntryPoints: points}}, class.Unparsable},
		{starknet.Class{Cairo0: &starknet.Cairo0Class{ABI: []byte(`[]`), EntryPoints: points}}, class.Ready},
	} {
		a := class.Materialize(&c.class)
		if a.Status != c.want || a.Token != abi.EmitterERC721 {
			t.Errorf("%+v: %s, token %d", c.class, a.Status, a.Token)
		}
		if again, err := class.DecodeABI(a.Encode()); err != nil || !reflect.DeepEqual(again, a) {
			t.Errorf("reads back as %+v, %v", again, err)
		}
	}
	both := starknet.EntryPoints{External: []starknet.EntryPoint{{Selector: felt.Selector("ownerOf")}, {Selector: felt.Selector("balance_of_batch")}}}
	if a := class.Materialize(&starknet.Class{Sierra: &starknet.SierraClass{EntryPoints: both}}); a.Token != abi.EmitterUnknown {
		t.Errorf("two standards at once are token %d", a.Token)
	}
}

// TestDeclared: the first declaration counts, also of a class that is declared
// twice in one block or again later.
func TestDeclared(t *testing.T) {
	e := pebbletest.Open(t, append(class.Subject{}.Tables(), class.Enrichment()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f := felt.FromUint64
	batch := &store.Batch{Epoch: lease.Epoch}
	for n, d := range map[uint64]starknet.StateDiff{
		3: {Declared: []starknet.DeclaredClass{{ClassHash: f(1), CompiledClassHash: f(0xabcdefabcdef)}}, DeprecatedDeclared: []felt.Felt{f(2), f(2)}},
		7: {DeprecatedDeclared: []felt.Felt{f(2), f(3)}},
	} {
		b := &explorer.Block{State: d}
		b.Number = n
		rows := &explorer.Rows{}
		if err := (class.Subject{}).Project(b, rows); err != nil {
			t.Fatal(err)
		}
		if len(rows.Ops()) != 2 {
			t.Errorf("block %d has %d rows", n, len(rows.Ops()))
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
	}
	absent := &class.ABI{Status: class.Absent, Block: 9}
	batch.Put(class.ABIKey(f(3)), absent.Encode())
	batch.Put(class.MissingKey(f(3)), class.EncodeMissing(9))
	batch.Put(class.ABIKey(f(4)), []byte{1, 99})
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		for hash, want := range map[uint64]class.Declaration{
			1: {Block: 3, Kind: class.Sierra, Compiled: f(0xabcdefabcdef)}, 2: {Block: 3, Kind: class.Cairo0}, 3: {Block: 7, Kind: class.Cairo0}, 4: {},
		} {
			d, found, err := class.Declared(t.Context(), r, f(hash))
			if err != nil || d != want || found != (hash != 4) {
				t.Errorf("class %d: %+v %t %v", hash, d, found, err)
			}
		}
		abis, errs, err := class.ABIsOf(t.Context(), r, []felt.Felt{f(4), f(3), f(1)})
		if err != nil || !errors.Is(errs[0], record.ErrCorrupt) || errs[1] != nil || !reflect.DeepEqual(abis[1], absent) || abis[2] != nil || errs[2] != nil {
			t.Errorf("got %v, %v, %v", abis, errs, err)
		}
		three := f(3)
		for after, want := range map[*felt.Felt]int{nil: 1, &three: 0} {
			if got, err := class.AbsentAfter(t.Context(), r, after, 5); err != nil || len(got) != want {
				t.Errorf("missing after %v: %v, %v", after, got, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOf: each class of a block once, with what the block says of it.
func TestOf(t *testing.T) {
	f := felt.FromUint64
	b := &explorer.Block{State: starknet.StateDiff{
		Declared:           []starknet.DeclaredClass{{ClassHash: f(1)}},
		DeprecatedDeclared: []felt.Felt{f(2)},
		Deployed:           []starknet.DeployedContract{{Address: f(10), ClassHash: f(1)}, {Address: f(11), ClassHash: f(3)}, {Address: f(12)}},
		Replaced:           []starknet.ReplacedClass{{Address: f(13), ClassHash: f(3)}, {Address: f(14), ClassHash: f(4)}},
	}}
	want := []class.Mention{{Hash: f(1), Kind: class.Sierra}, {Hash: f(2), Kind: class.Cairo0}, {Hash: f(3)}, {Hash: f(4)}}
	if got := class.Of(b); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if got := class.Of(&explorer.Block{}); got != nil {
		t.Errorf("an empty block names %v", got)
	}
}

func FuzzDecodeABI(f *testing.F) {
	for _, c := range contracts.Classes().All() {
		f.Add(class.Materialize(&c.Class).Encode())
	}
	f.Add((&class.ABI{Status: class.Absent, Block: 300}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := class.DecodeABI(b)
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := class.DecodeABI(a.Encode())
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("second round differs: %v", err)
		}
	})
}

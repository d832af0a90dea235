package decoded_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// callable is a class with functions, one per line: name and types.
func callable(functions ...string) *starknet.Class {
	c := &starknet.SierraClass{}
	var items []string
	for _, f := range functions {
		kind, parts := "function", strings.Split(f, " ")
		list := &c.EntryPoints.External
		if rest, ok := strings.CutPrefix(parts[0], "l1:"); ok {
			kind, parts[0], list = "l1_handler", rest, &c.EntryPoints.L1Handler
		} else if parts[0] == "constructor" {
			kind, list = "constructor", &c.EntryPoints.Constructor
		}
		*list = append(*list, starknet.EntryPoint{Selector: felt.Selector(parts[0])})
		var inputs []string
		for _, p := range parts[1:] {
			name, typ, _ := strings.Cut(p, ":")
			inputs = append(inputs, `{"name":"`+name+`","type":"`+typ+`"}`)
		}
		items = append(items, `{"type":"`+kind+`","name":"`+parts[0]+`","inputs":[`+strings.Join(inputs, ",")+`]}`)
	}
	c.ABI = "[" + strings.Join(items, ",") + "]"
	return &starknet.Class{Sierra: c}
}

const u64 = ":core::integer::u64"

// The classes of calls: run is read the same by 1 and 2, has another label in 3;
// only 1 has own_1, and the dictionary knows far from 4 alone. 5 was never had.
var callClasses = map[uint64]*starknet.Class{
	1: callable("run v"+u64, "own_1 v"+u64, "transfer v"+u64, "l1:take from:core::felt252 v"+u64, "constructor key:core::felt252"),
	2: callable("run v"+u64, "blob v:core::array::Array::<core::felt252>"),
	3: callable("run w" + u64),
	4: callable("far v"+u64, "list v:core::array::Array::<core::bool>"),
}

// callWorld has contract 10+n of class n since block 2, and in block 5 the
// contracts 102, 103, 104 go from class 1 to that of their last digit, 200 is
// deployed by the transaction 1 and 201 by nobody knows which. 105 goes from 5 to 1
// in block 3, and 300 from 1 to 2 in block 9.
func callWorld(t *testing.T) pebble.Engine {
	t.Helper()
	e := pebbletest.Open(t, slices.Concat(contract.Subject{}.Tables(), contract.Enrichment(), class.Enrichment()))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	for _, d := range []struct {
		block              uint64
		deployed, replaced map[uint64]uint64
	}{
		{2, map[uint64]uint64{11: 1, 12: 2, 13: 3, 14: 4, 15: 5, 102: 1, 103: 1, 104: 1, 105: 5, 300: 1}, nil},
		{3, nil, map[uint64]uint64{105: 1}},
		{5, map[uint64]uint64{200: 1, 201: 1}, map[uint64]uint64{102: 2, 103: 3, 104: 4}},
		{9, nil, map[uint64]uint64{300: 2}},
	} {
		b := &explorer.Block{}
		b.Number = d.block
		for a, c := range d.deployed {
			b.State.Deployed = append(b.State.Deployed, starknet.DeployedContract{Address: f(a), ClassHash: f(c)})
		}
		for a, c := range d.replaced {
			b.State.Replaced = append(b.State.Replaced, starknet.ReplacedClass{Address: f(a), ClassHash: f(c)})
		}
		b.State.Sort()
		if d.block == 5 {
			b.Transactions = []starknet.Transaction{{Type: starknet.Invoke}, {Type: starknet.DeployAccount}}
			b.Receipts = []starknet.Receipt{{}, {ContractAddress: f(200)}}
		}
		rows := &explorer.Rows{}
		if err := errors.Join(contract.Subject{}.Project(b, rows), contract.Subject{}.Plan(b).Follow(nil, rows)); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
	}
	for h, c := range callClasses {
		batch.Put(class.ABIKey(f(h)), class.Materialize(c).Encode())
		i := class.InterfaceOf(c)
		batch.Put(class.InterfaceKey(f(h)), i.Encode())
		i.PutNames(batch)
	}
	batch.Put(class.ABIKey(f(5)), (&class.ABI{Status: class.Absent, Block: 1}).Encode())
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e
}

func call(to, block uint64, function string, calldata ...uint64) decoded.Call {
	c := decoded.Call{Block: block, Tx: 1, To: f(to), Selector: felt.Selector(function)}
	for _, d := range calldata {
		c.Calldata = append(c.Calldata, f(d))
	}
	return c
}

// TestCalls is the rule of names and arguments, in and around upgrades too.
func TestCalls(t *testing.T) {
	e := callWorld(t)
	handler, early, construct := call(11, 4, "take", 1, 7), call(200, 5, "own_1", 7), call(999, 4, "constructor", 7)
	handler.Kind, early.Tx = abi.L1Handler, 0
	named := f(1)
	construct.Kind, construct.Class = abi.Constructor, &named
	const epoch = decoded.CallClassUnavailable
	for _, c := range []struct {
		name    string
		call    decoded.Call
		status  abi.Status
		method  string
		source  abi.Source
		reason  abi.Reason
		class   uint64 // 0 for none
		noName  decoded.NameReason
		settled bool
	}{
		{"plain", call(11, 4, "own_1", 7), abi.Decoded, "own_1", abi.ClassABI, "", 1, "", true},
		{"does not fit", call(11, 4, "own_1", 7, 8), abi.NameOnly, "own_1", abi.ClassABI, abi.PayloadShapeMismatch, 1, "", true},
		{"a handler", handler, abi.Decoded, "take", abi.ClassABI, "", 1, "", true},
		{"a handler's name as a function", call(11, 4, "take", 1, 7), abi.NameOnly, "take", abi.SelectorUnique, abi.SelectorOnlyAttribution, 1, "", false},
		{"a constructor, by the transaction's class", construct, abi.Decoded, "constructor", abi.ClassABI, "", 1, "", true},
		{"not of the class, well known", call(12, 4, "transfer", 7), abi.NameOnly, "transfer", abi.CuratedSelector, abi.SelectorOnlyAttribution, 2, "", true},
		{"of the class and well known", call(11, 4, "transfer", 7), abi.Decoded, "transfer", abi.ClassABI, "", 1, "", true},
		{"not of the class, of another", call(11, 4, "far", 7), abi.NameOnly, "far", abi.SelectorUnique, abi.SelectorOnlyAttribution, 1, "", false},
		{"of no class", call(11, 4, "nowhere", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 1, "", false},
		{"a class that was not had", call(15, 4, "own_1", 7), abi.NameOnly, "own_1", abi.SelectorUnique, abi.SelectorOnlyAttribution, 5, "", false},
		{"no contract", call(99, 4, "run", 7), abi.NameOnly, "run", abi.SelectorUnique, abi.SelectorOnlyAttribution, 0, "", false},
		{"no contract, no name", call(99, 4, "nowhere", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch, false},
		{"before there was one", call(11, 1, "own_1", 7), abi.NameOnly, "own_1", abi.SelectorUnique, abi.SelectorOnlyAttribution, 0, "", false},
		{"before an upgrade", call(103, 4, "run", 7), abi.Decoded, "run", abi.ClassABI, "", 1, "", true},
		{"after it", call(103, 6, "run", 7), abi.Decoded, "run", abi.ClassABI, "", 3, "", true},
		{"after it, a function that is gone", call(103, 6, "own_1", 7), abi.NameOnly, "own_1", abi.SelectorUnique, abi.SelectorOnlyAttribution, 3, "", false},
		{"in its block, both read it the same", call(102, 5, "run", 7), abi.Decoded, "run", abi.ClassABI, "", 0, "", true},
		{"in its block, other labels", call(103, 5, "run", 7), abi.NameOnly, "run", abi.ClassABI, abi.SelectorOnlyAttribution, 0, "", true},
		{"in its block, only the old one has it", call(104, 5, "own_1", 7), abi.NameOnly, "own_1", abi.SelectorUnique, abi.SelectorOnlyAttribution, 0, "", false},
		{"in its block, only the new one has it", call(104, 5, "far", 7), abi.NameOnly, "far", abi.SelectorUnique, abi.SelectorOnlyAttribution, 0, "", false},
		{"in its block, no name", call(104, 5, "nowhere", 7), abi.Unknown, "", "", abi.SchemaUnavailable, 0, epoch, false},
		{"in the block of the deployment", call(200, 5, "own_1", 7), abi.Decoded, "own_1", abi.ClassABI, "", 1, "", true},
		{"there, in front of it", early, abi.NameOnly, "own_1", abi.SelectorUnique, abi.SelectorOnlyAttribution, 0, "", false},
		{"there, by nobody knows which", call(201, 5, "own_1", 7), abi.Decoded, "own_1", abi.ClassABI, "", 1, "", true},
		{"an older class that was not had", call(105, 2, "run", 7), abi.NameOnly, "run", abi.SelectorUnique, abi.SelectorOnlyAttribution, 5, "", false},
		{"the class before one that is newer than the call", call(300, 6, "own_1", 7), abi.Decoded, "own_1", abi.ClassABI, "", 1, "", true},
	} {
		err := e.View(t.Context(), func(r store.Reader) error {
			got, degraded, err := decoded.Calls(t.Context(), r, decoded.NewCache(1<<20), []decoded.Call{c.call}, decoded.Options{Arguments: 1 << 20})
			if err != nil || degraded {
				t.Fatalf("%s: degraded %t, %v", c.name, degraded, err)
			}
			g := got[0]
			hash := uint64(0)
			if g.ClassHash != nil {
				hash, _ = g.ClassHash.Uint64()
			}
			if g.Status != c.status || g.Name != c.method || g.NameSource != c.source || g.UnavailableReason != c.reason || hash != c.class ||
				g.NameUnavailableReason != c.noName || g.Settled != c.settled {
				t.Errorf("%s: %+v of class %d\nwant %+v", c.name, g, hash, c)
			}
			if (g.Fields != nil) != (c.status == abi.Decoded) {
				t.Errorf("%s: fields %+v", c.name, g.Fields)
			}
			names, _, err := decoded.Calls(t.Context(), r, decoded.NewCache(1<<20), []decoded.Call{c.call}, decoded.Options{})
			if n := names[0]; err != nil || n.Name != g.Name || n.NameSource != g.NameSource || n.Fields != nil || n.Settled != g.Settled {
				t.Errorf("%s: by name alone %+v, %v", c.name, n, err)
			}
			// Without histories a class is told or it is not, and never another one.
			blind, _, err := decoded.Calls(t.Context(), scanless{r}, decoded.NewCache(1<<20), []decoded.Call{c.call}, decoded.Options{Arguments: 1 << 20, NoHistory: true})
			if err != nil {
				t.Fatal(err)
			}
			n := blind[0]
			if same := n.ClassHash != nil && hash != 0 && *n.ClassHash == *g.ClassHash; n.Name != g.Name || n.ClassHash != nil && !same ||
				n.ClassHash == nil && (n.NameSource == abi.ClassABI || n.Fields != nil || n.Settled && n.NameSource != abi.CuratedSelector) {
				t.Errorf("%s: without history %+v", c.name, n)
			}
			if told := n.ClassHash != nil; told != (hash != 0) && !slices.Contains([]uint64{102, 103, 104, 105, 300}, small(c.call.To)) {
				t.Errorf("%s: without history class %v", c.name, n.ClassHash)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallBudget: arguments end with the budget, names do not, and calls that
// share their calldata are not read over and over.
func TestCallBudget(t *testing.T) {
	e := callWorld(t)
	calls := []decoded.Call{call(11, 4, "own_1", 1), call(11, 4, "own_1", 2), call(12, 4, "blob", append([]uint64{1000}, make([]uint64, 1000)...)...), call(11, 4, "own_1", 3)}
	for range 5000 {
		calls = append(calls, calls[2])
	}
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, c := range []struct {
			budget  int
			decoded string // of the first four
		}{{1 << 30, "yyyy"}, {100_000, "yyyy"}, {60_000, "yynn"}, {500, "ynnn"}, {100, "nnnn"}, {0, "nnnn"}} {
			got, _, err := decoded.Calls(t.Context(), r, decoded.NewCache(1<<20), calls, decoded.Options{Arguments: c.budget})
			if err != nil {
				return err
			}
			for i := range got {
				if yes := got[i].Status == abi.Decoded; i < 4 && yes != (c.decoded[i] == 'y') || got[i].Name != "own_1" && got[i].Name != "blob" ||
					!yes && got[i].UnavailableReason != decoded.BudgetExhausted {
					t.Fatalf("budget %d: call %d is %s %q %s", c.budget, i, got[i].Status, got[i].Name, got[i].UnavailableReason)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// scanless fails whoever scans.
type scanless struct{ store.Reader }

func (scanless) Scan(context.Context, store.Range) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) { yield(store.Row{}, errors.New("scanned")) }
}

func small(f felt.Felt) uint64 {
	n, _ := f.Uint64()
	return n
}

// counting counts round trips.
type counting struct {
	store.Reader
	gets int
	fail map[*store.Table]bool
}

func (c *counting) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	c.gets++
	if c.fail[ks[0].Table] {
		return nil, errors.New("broken")
	}
	return c.Reader.GetMany(ctx, ks)
}

// TestCallCost: a page takes the same few round trips whatever its size, and
// fewer once classes are cached; what cannot be read leaves names and says so.
func TestCallCost(t *testing.T) {
	e := callWorld(t)
	var page []decoded.Call
	for i := range uint64(400) {
		page = append(page, call(11+i%4, 4+i%7*10, []string{"own_1", "run", "far", "nowhere"}[i%4], i))
	}
	err := e.View(t.Context(), func(r store.Reader) error {
		reader, cache := &counting{Reader: r}, decoded.NewCache(1<<20)
		for _, want := range []int{3, 2, 2} {
			reader.gets = 0
			if _, degraded, err := decoded.Calls(t.Context(), reader, cache, page, decoded.Options{Arguments: 1 << 20}); err != nil || degraded || reader.gets != want {
				t.Errorf("%d reads, want %d; degraded %t, %v", reader.gets, want, degraded, err)
			}
		}
		for _, table := range []*store.Table{contract.Currents, class.ABIs, class.Names} {
			reader := &counting{Reader: r, fail: map[*store.Table]bool{table: true}}
			got, degraded, err := decoded.Calls(t.Context(), reader, decoded.NewCache(1<<20), append(page, call(11, 4, "transfer", 1)), decoded.Options{Arguments: 1 << 20})
			if err != nil || !degraded {
				t.Errorf("%s cannot be read: degraded %t, %v", table.Name, degraded, err)
				continue
			}
			last := got[len(got)-1]
			if last.Name != "transfer" || (last.Status == abi.Decoded) != (table == class.Names) {
				t.Errorf("%s cannot be read: %+v", table.Name, last)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := decoded.Calls(ctx, r, cache, page, decoded.Options{Arguments: 1 << 20}); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCallsOf is what the types of transactions call.
func TestCallsOf(t *testing.T) {
	v := func(n uint64) felt.Felt { return f(n) }
	list := []felt.Felt{f(1), f(7), f(8), f(1), f(9)}
	for _, c := range []struct {
		name      string
		tx        starknet.Transaction
		want      string // contracts, kinds and calldata
		byAccount bool
	}{
		{"multicall", starknet.Transaction{Type: starknet.Invoke, Version: v(3), Sender: f(5), Calldata: list}, "7 0 1", true},
		{"no list", starknet.Transaction{Type: starknet.Invoke, Version: v(3), Sender: f(5), Calldata: list[:4]}, "5 0 4", false},
		{"no calls", starknet.Transaction{Type: starknet.Invoke, Version: v(1), Sender: f(5), Calldata: []felt.Felt{f(0)}}, "", true},
		{"version 0", starknet.Transaction{Type: starknet.Invoke, ContractAddress: f(6), EntryPointSelector: f(8), Calldata: list}, "6 0 5", false},
		{"handler", starknet.Transaction{Type: starknet.L1Handler, ContractAddress: f(6), EntryPointSelector: f(8), Calldata: list}, "6 1 5", false},
		{"account", starknet.Transaction{Type: starknet.DeployAccount, Version: v(3), ClassHash: f(3), ConstructorCalldata: list[:2]}, "4 2 2", false},
		{"deploy", starknet.Transaction{Type: starknet.Deploy, ClassHash: f(3), ConstructorCalldata: list[:3]}, "4 2 3", false},
		{"declare", starknet.Transaction{Type: starknet.Declare, Version: v(3), Sender: f(5)}, "", false},
	} {
		r := &transaction.Record{Position: explorer.Position{Block: 9, Index: 2}, Transaction: c.tx, Receipt: starknet.Receipt{ContractAddress: f(4)}}
		calls, byAccount := decoded.CallsOf(r)
		var got []string
		for _, k := range calls {
			to, _ := k.To.Uint64()
			got = append(got, string([]byte{'0' + byte(to), ' ', '0' + byte(k.Kind), ' ', '0' + byte(len(k.Calldata))}))
			if k.Block != 9 || k.Tx != 2 || (k.Class != nil) != (k.Kind == abi.Constructor) {
				t.Errorf("%s: %+v", c.name, k)
			}
		}
		if strings.Join(got, " ") != c.want || byAccount != c.byAccount {
			t.Errorf("%s: %q %t, want %q %t", c.name, got, byAccount, c.want, c.byAccount)
		}
	}
}

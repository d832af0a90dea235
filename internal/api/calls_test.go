package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// calledOf is a call as the chain has it.
type calledOf struct {
	to, selector felt.Felt
	data         []felt.Felt
	kind         string           // as the ABI has it
	class        *contracts.Class // that the transaction names
}

// doorsOf are the entry points of a class by kind and selector, each with its
// name and the names of its arguments, from the text of its ABI.
func doorsOf(c *contracts.Class) map[string][]string {
	type item struct {
		Type, Name string
		Inputs     []struct{ Name, Type string }
		Items      json.RawMessage
	}
	out := map[string][]string{}
	var read func(text []byte)
	read = func(text []byte) {
		var items []item
		if err := json.Unmarshal(text, &items); err != nil {
			panic(err)
		}
		for _, i := range items {
			switch i.Type {
			case "interface":
				read(i.Items)
			case "function", "l1_handler", "constructor":
				names := []string{i.Name}
				for _, in := range i.Inputs {
					if strings.HasSuffix(in.Type, "*") { // a pointer stands for its length, too
						names[len(names)-1] = in.Name
						continue
					}
					names = append(names, in.Name)
				}
				out[i.Type+felt.Selector(i.Name).String()] = names
			}
		}
	}
	if c.Cairo0() {
		read(c.Class.Cairo0.ABI)
	} else {
		read([]byte(c.Class.Sierra.ABI))
	}
	return out
}

var catalogueDoors = sync.OnceValue(func() map[felt.Felt]map[string][]string {
	out := map[felt.Felt]map[string][]string{}
	for _, c := range contracts.Classes().All() {
		out[c.Hash] = doorsOf(c)
	}
	return out
})

// called lists what a transaction calls by itself, and whether an account signed it.
func (o *oracle) called(b *starknet.Block, i int) (calls []calledOf, signed bool) {
	t := &b.Transactions[i]
	switch {
	case t.Type == starknet.Invoke && t.Version.IsZero():
		return []calledOf{{t.ContractAddress, t.EntryPointSelector, t.Calldata, "function", nil}}, false
	case t.Type == starknet.Invoke:
		for _, c := range signedCalls(t) {
			calls = append(calls, calledOf{c.to, c.selector, c.data, "function", nil})
		}
		return calls, true
	case t.Type == starknet.L1Handler:
		return []calledOf{{t.ContractAddress, t.EntryPointSelector, t.Calldata, "l1_handler", nil}}, false
	case t.Type == starknet.DeployAccount || t.Type == starknet.Deploy:
		class, _ := o.Chain.ClassByHash(t.ClassHash, o.head())
		return []calledOf{{b.Receipts[i].ContractAddress, felt.Selector("constructor"), t.ConstructorCalldata, "constructor", class}}, false
	}
	return nil, false
}

// wantMethod is what a call is named, and the class that ran. A class that the
// block set leaves open what only its place in the block would tell.
func (o *oracle) wantMethod(n uint64, c *calledOf) object {
	out := object{"to": c.to, "selector": c.selector, "calldataLen": len(c.data), "methodName": anything, "methodNameSource": anything, "methodNameUnavailableReason": anything,
		"callTimeClassHash": nil, "contractAlias": nil, "classAlias": nil}
	for _, doors := range catalogueDoors() { // a selector has one name
		if d := doors[c.kind+c.selector.String()]; d != nil {
			out["methodName"], out["methodNameUnavailableReason"] = d[0], nil
		}
	}
	if l, ok := o.Registry.Label(c.to); ok {
		out["contractAlias"] = l.Name
	} else if t, ok := o.Registry.Token(c.to); ok {
		out["contractAlias"] = t.Name
	}
	class, there := c.class, c.class != nil
	if !there {
		class, there = o.Chain.ClassAt(c.to, n)
		if !there {
			return out
		}
		before, had := (*contracts.Class)(nil), false
		if n > 0 {
			before, had = o.Chain.ClassAt(c.to, n-1)
		}
		if !had || before.Hash != class.Hash {
			out["callTimeClassHash"], out["classAlias"] = anything, anything
			return out
		}
	}
	out["callTimeClassHash"] = class.Hash
	if name, ok := o.Registry.ClassName(class.Hash); ok {
		out["classAlias"] = name
	}
	if catalogueDoors()[class.Hash][c.kind+c.selector.String()] != nil {
		out["methodNameSource"] = "class_abi"
	}
	return out
}

// wantPreviewed is wantMethod as a preview has it, which looks into no history.
func (o *oracle) wantPreviewed(n uint64, c *calledOf) object {
	out := o.wantMethod(n, c)
	for at := n; at <= o.head() && c.class == nil; at++ {
		if slices.ContainsFunc(o.Chain.StateUpdateAt(at).Diff.Replaced, func(r starknet.ReplacedClass) bool { return r.Address == c.to }) {
			with(out, object{"methodNameSource": anything, "callTimeClassHash": nil, "classAlias": nil})
		}
	}
	return out
}

// wantCall is a call of a transaction. What of it is decoded is compared by
// TestCallArguments.
func (o *oracle) wantCall(n uint64, c *calledOf, room int) object {
	out := o.wantMethod(n, c)
	with(out, object{"calldata": felts(c.data[:min(len(c.data), room)]), "calldataTruncated": len(c.data) > room, "decodingStatus": anything,
		"decodedArguments": anything, "decodedArgumentsSource": anything, "decodedArgumentsUnavailableReason": anything})
	return out
}

// wantPrimary fills in what a list shows of a transaction's first call.
func (o *oracle) wantPrimary(out object, b *starknet.Block, i int, method func(uint64, *calledOf) object) {
	out["primaryMethod"], out["primaryMethodSource"] = nil, nil
	if calls, _ := o.called(b, i); len(calls) > 0 {
		m := method(b.Number, &calls[0])
		out["primaryMethod"], out["primaryMethodSource"] = m["methodName"], m["methodNameSource"]
	}
}

// wantTxCalls fills in what a transaction calls.
func (o *oracle) wantTxCalls(out object, b *starknet.Block, i int) {
	out["entryPoint"], out["callDecodingDegraded"] = nil, false
	calls, signed := o.called(b, i)
	room, rows := 1024, []object{}
	for k := range calls {
		rows = append(rows, o.wantCall(b.Number, &calls[k], room))
		room -= min(room, len(calls[k].data))
	}
	switch {
	case signed:
		out["accountCallCount"], out["accountCalls"] = len(rows), rows
	case len(rows) > 0:
		out["entryPoint"] = rows[0]
	}
}

// TestCallArguments reads every transaction of a chain and holds what was decoded
// of its calls against the ABIs of the classes, and against the calldata.
func TestCallArguments(t *testing.T) {
	skipRaced(t)
	o := &oracle{world: newWorld(t, 60), checks: map[string]int{}}
	count, odd := map[string]int{}, map[string]int{}
	for n := range o.head() + 1 {
		b := o.Chain.BlockAt(n)
		for i := range b.Transactions {
			var tx struct {
				AccountCalls []wireCall
				EntryPoint   *wireCall
			}
			o.Get("/tx/"+b.Transactions[i].Hash.String(), &tx)
			rows := tx.AccountCalls
			if tx.EntryPoint != nil {
				rows = append(rows, *tx.EntryPoint)
			}
			calls, _ := o.called(b, i)
			if len(rows) != len(calls) {
				t.Fatalf("transaction %d of block %d: %d calls, want %d", i, n, len(rows), len(calls))
			}
			for k := range rows {
				o.checkCall(fmt.Sprintf("call %d of transaction %d of block %d", k, i, n), &rows[k], &calls[k])
				count[calls[k].kind+" "+rows[k].DecodingStatus+" "+rows[k].MethodNameSource]++
				if rows[k].MethodNameSource == "class_abi" && rows[k].DecodingStatus != "decoded" {
					odd[rows[k].MethodName]++
				}
			}
		}
	}
	t.Log(count, odd)
	for name := range odd {
		// The simulated chain passes these other calldata than their ABIs say.
		if !slices.Contains([]string{"__execute__", "apply_actions", "mint", "update_position"}, name) {
			t.Errorf("%s is in the ABI and not decoded", name)
		}
	}
	for _, kind := range []string{"function decoded class_abi", "l1_handler decoded class_abi", "constructor decoded class_abi", "function name_only curated_selector"} {
		if count[kind] == 0 {
			t.Errorf("there is no %s among %v", kind, count)
		}
	}
}

// TestFunctionDictionary: the index has the name of every function of every class
// that was declared, and of nothing else.
func TestFunctionDictionary(t *testing.T) {
	w := newWorld(t, 12)
	head, _ := w.Chain.Head()
	var selectors []felt.Felt
	var names []string
	for _, c := range w.Chain.Classes(head) {
		for _, door := range doorsOf(c) {
			if !strings.HasSuffix(door[0], "default__") { // the doors of a proxy stand under no name's selector
				selectors, names = append(selectors, felt.Selector(door[0])), append(names, door[0])
			}
		}
	}
	selectors, names = append(selectors, felt.Selector("nobody_has_this"), felt.Zero), append(names, "", "")
	err := w.Engine.View(t.Context(), func(r store.Reader) error {
		got, err := class.FunctionNamesOf(t.Context(), r, selectors)
		if !slices.Equal(got, names) {
			t.Errorf("names are\n%v\nwant\n%v", got, names)
		}
		return err
	})
	if err != nil || len(names) < 100 {
		t.Errorf("%d names, %v", len(names), err)
	}
}

type wireCall struct {
	DecodingStatus, MethodName, MethodNameSource string
	DecodedArguments                             *[]struct {
		Label     string
		Source    string
		RawValues []felt.Felt
	}
	CallTimeClassHash *felt.Felt
}

func (o *oracle) checkCall(what string, got *wireCall, c *calledOf) {
	o.T.Helper()
	if (got.DecodedArguments != nil) != (got.DecodingStatus == "decoded") {
		o.T.Errorf("%s is %s with arguments %v", what, got.DecodingStatus, got.DecodedArguments)
	}
	if got.DecodedArguments == nil {
		return
	}
	var labels []string
	var data []felt.Felt
	for _, a := range *got.DecodedArguments {
		top, _, _ := strings.Cut(strings.ReplaceAll(a.Label, "[", "."), ".")
		if len(labels) == 0 || labels[len(labels)-1] != top {
			labels = append(labels, top)
		}
		data = append(data, a.RawValues...)
		if a.Source != "data" {
			o.T.Errorf("%s: %s stands in %s", what, a.Label, a.Source)
		}
	}
	if !slices.Equal(data, c.data) {
		o.T.Errorf("%s: arguments are of %v, the calldata is %v", what, data, c.data)
	}
	if got.CallTimeClassHash == nil {
		return // two classes agree
	}
	class, _ := o.Chain.ClassByHash(*got.CallTimeClassHash, o.head())
	if want := doorsOf(class)[c.kind+c.selector.String()]; want == nil || want[0] != got.MethodName || !slices.Equal(want[1:], labels) {
		o.T.Errorf("%s: %s%v, the ABI has %v", what, got.MethodName, labels, want)
	}
}

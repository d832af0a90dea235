package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// classTruth is what the state diffs of the chain tell of classes, counted by hand.
type classTruth struct {
	classes map[felt.Felt]*countedClass
	epochs  map[felt.Felt][]epoch // by contract, oldest first
}

type countedClass struct {
	hash             felt.Felt
	origin, declared uint64
	wasDeclared      bool
	cairo0           bool
	compiled         felt.Felt
	ever             int
	instances        map[felt.Felt]uint64
}

type epoch struct {
	block  uint64
	change string
	class  felt.Felt
}

func (o *oracle) classTruth(head uint64) *classTruth {
	t := &classTruth{map[felt.Felt]*countedClass{}, map[felt.Felt][]epoch{}}
	for n := range head + 1 {
		d := o.Chain.StateUpdateAt(n).Diff
		get := func(h felt.Felt) *countedClass {
			c := t.classes[h]
			if c == nil {
				c = &countedClass{hash: h, origin: n, instances: map[felt.Felt]uint64{}}
				t.classes[h] = c
			}
			return c
		}
		for _, x := range d.Declared {
			if c := get(x.ClassHash); !c.wasDeclared {
				c.wasDeclared, c.declared, c.compiled = true, n, x.CompiledClassHash
			}
		}
		for _, h := range d.DeprecatedDeclared {
			if c := get(h); !c.wasDeclared {
				c.wasDeclared, c.declared, c.cairo0 = true, n, true
			}
		}
		give := func(address, hash felt.Felt, change string) {
			if list := t.epochs[address]; len(list) > 0 {
				delete(t.classes[list[len(list)-1].class].instances, address)
			}
			c := get(hash)
			c.instances[address] = n
			c.ever++
			t.epochs[address] = append(t.epochs[address], epoch{n, change, hash})
		}
		for _, x := range d.Deployed {
			give(x.Address, x.ClassHash, "deployed")
		}
		for _, x := range d.Replaced {
			give(x.Address, x.ClassHash, "replaced")
		}
	}
	return t
}

func (o *oracle) catalogueClass(hash felt.Felt, head uint64) *contracts.Class {
	o.T.Helper()
	c, ok := o.Chain.ClassByHash(hash, head)
	if !ok {
		o.T.Fatalf("the chain does not know class %s", hash)
	}
	return c
}

func (o *oracle) wantFacts(hash felt.Felt, head uint64, row object) object {
	a := class.Materialize(&o.catalogueClass(hash, head).Class)
	row["abiStatus"], row["isAccount"], row["isProxy"], row["tokenKind"] = "fetched", a.Account, a.Proxy, nil
	for e, name := range map[abi.Emitter]string{abi.EmitterERC20: "erc20", abi.EmitterERC721: "erc721", abi.EmitterERC1155: "erc1155"} {
		if a.Token == e {
			row["tokenKind"] = name
		}
	}
	return unproven(row)
}

// unproven is what is said of the source of a class that has no receipt.
func unproven(row object) object {
	row["verificationTier"] = "abi_declared"
	for _, name := range []string{"Source", "Provider", "EvidenceDigest", "ObservedAtIso", "ClaimCount"} {
		row["verification"+name] = nil
	}
	return row
}

func (o *oracle) timeOf(n uint64) string { return iso(o.Chain.BlockAt(n).Timestamp) }

func (o *oracle) wantClass(c *countedClass, head uint64) object {
	kind := "sierra"
	if o.catalogueClass(c.hash, head).Cairo0() {
		kind = "cairo0"
	}
	row := object{"classHash": c.hash, "classKind": kind, "originBlock": c.origin, "originAtIso": o.timeOf(c.origin), "declaredBlock": nil, "declaredAtIso": nil,
		"instanceCount": len(c.instances), "everInstanceCount": c.ever}
	if c.wasDeclared {
		row["declaredBlock"], row["declaredAtIso"] = c.declared, o.timeOf(c.declared)
	}
	return o.wantFacts(c.hash, head, row)
}

// classes compares the directory, every class with its instances, and contracts
// with their histories and entry points.
func (o *oracle) classes(head uint64) {
	o.T.Helper()
	t := o.classTruth(head)
	var all []*countedClass
	for _, c := range t.classes {
		all = append(all, c)
	}
	declared := func(c *countedClass) uint64 {
		if c.wasDeclared {
			return c.declared + 1
		}
		return 0
	}
	for name, order := range map[string]func(a, b *countedClass) int{
		"": func(a, b *countedClass) int {
			return cmp.Or(cmp.Compare(len(b.instances), len(a.instances)), b.hash.Cmp(a.hash))
		},
		"&sort=declared_at_desc": func(a, b *countedClass) int {
			return cmp.Or(cmp.Compare(declared(b), declared(a)), b.hash.Cmp(a.hash))
		},
		"&sort=origin_asc": func(a, b *countedClass) int {
			return cmp.Or(cmp.Compare(a.origin, b.origin), a.hash.Cmp(b.hash))
		},
	} {
		slices.SortFunc(all, order)
		want := []object{}
		for _, c := range all {
			want = append(want, o.wantClass(c, head))
		}
		for _, limit := range []int{3, 100} {
			o.sameList("classes"+name, want, o.nested("listClasses", "classes?"+name, "limit", "cursor", nil, limit))
		}
	}
	slices.SortFunc(all, func(a, b *countedClass) int { return a.hash.Cmp(b.hash) })
	for i, c := range all {
		if i%4 == int(head%4) {
			o.class(c, head)
		}
	}
	o.contractClasses(t, head)
	o.missing("getClass", chainID+"/class/0x123")
	o.missing("listContractClasses", chainID+"/contract/0x123/classes")
	o.missing("getContractEntrypoints", chainID+"/contract/0x123/entrypoints")
}

// nested walks a list that stands below a field of the answer.
func (o *oracle) nested(op, path, limitName, cursorName string, field func(json.RawMessage) page, limit int) (out []json.RawMessage) {
	o.T.Helper()
	if field == nil {
		field = func(text json.RawMessage) (p page) {
			if err := json.Unmarshal(text, &p); err != nil {
				o.T.Fatal(err)
			}
			return p
		}
	}
	next := ""
	for {
		full := fmt.Sprintf("%s/%s&%s=%d%s", chainID, path, limitName, limit, next)
		r := o.Do(http.MethodGet, "/v1/"+full, o.Key)
		if r.StatusCode != http.StatusOK {
			o.T.Fatalf("GET %s: %d %s", full, r.StatusCode, r.Body)
		}
		o.checked(op, full, r)
		p := field(r.Body)
		if len(p.Items) > limit {
			o.T.Fatalf("GET %s: %d items", full, len(p.Items))
		}
		out = append(out, p.Items...)
		if p.NextCursor == nil {
			return out
		}
		next = "&" + cursorName + "=" + url.QueryEscape(*p.NextCursor)
	}
}

func (o *oracle) class(c *countedClass, head uint64) {
	o.T.Helper()
	type instance struct {
		address felt.Felt
		since   uint64
	}
	var list []instance
	for a, n := range c.instances {
		list = append(list, instance{a, n})
	}
	field := func(text json.RawMessage) page {
		var d struct{ Instances page }
		if err := json.Unmarshal(text, &d); err != nil {
			o.T.Fatal(err)
		}
		return d.Instances
	}
	for _, order := range []string{"newest_desc", "address_asc"} {
		slices.SortFunc(list, func(a, b instance) int {
			if order == "address_asc" {
				return a.address.Cmp(b.address)
			}
			return cmp.Or(cmp.Compare(b.since, a.since), b.address.Cmp(a.address))
		})
		want := []object{}
		for _, in := range list {
			want = append(want, object{"contractAddress": in.address, "sinceBlock": in.since, "sinceIso": o.timeOf(in.since)})
		}
		got := o.nested("getClass", "class/"+c.hash.String()+"?instanceSort="+order, "instanceLimit", "instanceCursor", field, 2+len(list)/3)
		o.sameList("instances of "+c.hash.String(), want, got)
		if order == "address_asc" {
			whole := o.wantClass(c, head)
			whole["chainId"], whole["compiledClassHash"] = chainID, nil
			if c.wasDeclared && !c.cairo0 {
				whole["compiledClassHash"] = c.compiled
			}
			whole["instances"] = object{"items": want[:min(len(want), 100)], "nextCursor": nil}
			if len(want) <= 100 {
				o.same("getClass", chainID+"/class/"+c.hash.Padded()+"?instanceLimit=1000", whole)
			}
		}
	}
}

func (o *oracle) contractClasses(t *classTruth, head uint64) {
	o.T.Helper()
	var all []felt.Felt
	for a := range t.epochs {
		all = append(all, a)
	}
	slices.SortFunc(all, felt.Felt.Cmp)
	for i, a := range all {
		list := t.epochs[a]
		if len(list) == 1 && i%11 != int(head%11) {
			continue
		}
		want := []object{}
		for k := len(list) - 1; k >= 0; k-- {
			row := object{"classHash": list[k].class, "change": list[k].change, "current": k == len(list)-1, "fromBlock": list[k].block, "fromIso": o.timeOf(list[k].block), "toBlock": nil, "toIso": nil}
			if k < len(list)-1 {
				row["toBlock"], row["toIso"] = list[k+1].block, o.timeOf(list[k+1].block)
			}
			want = append(want, o.wantFacts(list[k].class, head, row))
		}
		path := "contract/" + a.String() + "/classes"
		for _, limit := range []int{1, 25} {
			o.sameList(path, want, o.nested("listContractClasses", path+"?", "limit", "cursor", nil, limit))
		}
		for k, e := range list {
			o.entrypoints(a, e.class, fmt.Sprint(e.block), e.block, list, k, head)
		}
		last := list[len(list)-1]
		o.entrypoints(a, last.class, "latest", head, list, len(list)-1, head)
		if first := list[0].block; first > 0 {
			o.missing("getContractEntrypoints", fmt.Sprintf("%s/contract/%s/entrypoints?block_tag=%d", chainID, a, first-1))
		}
	}
}

func (o *oracle) entrypoints(address, hash felt.Felt, tag string, number uint64, list []epoch, k int, head uint64) {
	o.T.Helper()
	if k+1 < len(list) && list[k+1].block == number {
		return // the block ended with another
	}
	b := o.Chain.BlockAt(number)
	want := wantInterface(o.T, o.catalogueClass(hash, head))
	for name, v := range (object{"chainId": chainID, "contractAddress": address, "classHash": hash, "requestedBlockTag": tag, "blockTag": b.Hash,
		"blockNumber": number, "finalityStatus": b.Status.String(), "abiTypesTruncated": false}) {
		want[name] = v
	}
	o.same("getContractEntrypoints", fmt.Sprintf("%s/contract/%s/entrypoints?block_tag=%s", chainID, address, tag), want)
}

// wantInterface reads the ABI's text without the product's parser.
func wantInterface(t *testing.T, c *contracts.Class) object {
	t.Helper()
	type param struct{ Name, Type string }
	type item struct {
		Type, Name        string
		Inputs, Outputs   []param
		Members, Variants []param
		Items             []json.RawMessage
		StateMutability   string
		SierraMutability  string `json:"state_mutability"`
	}
	text, points := "", &starknet.EntryPoints{}
	if c.Cairo0() {
		text, points = string(c.Class.Cairo0.ABI), &c.Class.Cairo0.EntryPoints
	} else {
		text, points = c.Class.Sierra.ABI, &c.Class.Sierra.EntryPoints
	}
	params := func(list []param) []object {
		out := []object{}
		for _, p := range list {
			o := object{"name": nil, "type": p.Type}
			if p.Name != "" {
				o["name"] = p.Name
			}
			out = append(out, o)
		}
		return out
	}
	functions, types := map[string]object{}, []object{}
	var read func(text []byte)
	read = func(text []byte) {
		var it item
		if err := json.Unmarshal(text, &it); err != nil {
			t.Fatal(err)
		}
		for _, inner := range it.Items {
			read(inner)
		}
		selector := felt.Selector(it.Name)
		if it.Name == "__default__" || it.Name == "__l1_default__" {
			selector = felt.Zero
		}
		var mutability any
		if m := it.StateMutability + it.SierraMutability; m != "" && it.Type == "function" {
			mutability = m
		}
		switch it.Type {
		case "function", "constructor", "l1_handler":
			functions[it.Type+selector.String()] = object{"selector": selector, "name": it.Name, "stateMutability": mutability,
				"inputs": params(it.Inputs), "outputs": params(it.Outputs)}
		case "struct":
			types = append(types, object{"name": it.Name, "kind": "struct", "members": params(it.Members)})
		case "enum":
			types = append(types, object{"name": it.Name, "kind": "enum", "members": params(it.Variants)})
		}
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		read(it)
	}
	doors := func(list []starknet.EntryPoint, kind string) []object {
		out := []object{}
		for _, p := range list {
			f, ok := functions[kind+p.Selector.String()]
			if !ok {
				f = object{"selector": p.Selector, "name": nil, "stateMutability": nil, "inputs": []object{}, "outputs": []object{}}
			}
			out = append(out, f)
		}
		return out
	}
	return object{"external": doors(points.External, "function"), "constructor": doors(points.Constructor, "constructor"),
		"l1Handler": doors(points.L1Handler, "l1_handler"), "abiTypes": types}
}

// TestClassCursorsAcrossForks: a cursor whose block is gone is refused, one that
// depends on no block goes on.
func TestClassCursorsAcrossForks(t *testing.T) {
	o := &oracle{world: newWorld(t, 44), checks: map[string]int{}}
	head, _ := o.Chain.Head()
	paths := map[string]int{ // by how they end
		"classes?limit=1&sort=declared_at_desc": http.StatusBadRequest,
		"classes?limit=1&sort=instances_desc":   http.StatusOK,
		"classes?limit=1&sort=origin_asc":       http.StatusOK, // the first block stays
	}
	busy, newest := felt.Felt{}, 0
	for h, c := range o.classTruth(head).classes {
		if len(c.instances) > newest {
			busy, newest = h, len(c.instances)
		}
	}
	paths["class/"+busy.String()+"?instanceLimit=1&instanceSort=newest_desc"] = http.StatusBadRequest
	paths["class/"+busy.String()+"?instanceLimit=1&instanceSort=address_asc"] = http.StatusOK
	next := map[string]string{}
	for path := range paths {
		r := o.Do(http.MethodGet, "/v1/"+chainID+"/"+path, o.Key)
		var p struct {
			page
			Instances *page
		}
		if err := json.Unmarshal(r.Body, &p); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
		name, cursor := "&cursor=", p.NextCursor
		if p.Instances != nil {
			name, cursor = "&instanceCursor=", p.Instances.NextCursor
		}
		next[path] = path + name + url.QueryEscape(*cursor)
	}
	o.fork(40)
	for path, status := range paths {
		r := o.Do(http.MethodGet, "/v1/"+chainID+"/"+next[path], o.Key)
		if r.StatusCode != status || status == http.StatusBadRequest && r.Envelope().Code != kernel.CodeInvalidCursor {
			t.Errorf("GET %s after a fork: %d %s", path, r.StatusCode, r.Body)
		}
	}
}

// TestClassesToCome: what was not fetched is said to be missing, and no such answer
// is kept.
func TestClassesToCome(t *testing.T) {
	w := newWorld(t, 30)
	head, _ := w.Chain.Head()
	c, ok := w.Chain.ClassAt(contracts.STRK, head)
	if !ok {
		t.Fatal("no fee token")
	}
	lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string, status int) reply {
		t.Helper()
		r := w.Do(http.MethodGet, "/v1/"+chainID+"/"+path, w.Key)
		if r.StatusCode != status {
			t.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
		return r
	}
	change := func(edit func(b *store.Batch)) {
		t.Helper()
		b := &store.Batch{Epoch: lease.Epoch}
		edit(b)
		if err := w.Engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	one, points := "class/"+c.Hash.String(), "contract/"+contracts.STRK.String()+"/entrypoints"
	change(func(b *store.Batch) {
		b.Delete(class.ABIKey(c.Hash))
		b.Delete(class.InterfaceKey(c.Hash))
	})
	for status, row := range map[string]*class.ABI{"missing": {Status: class.Absent}, "unverified": {Status: class.Unverified}} {
		change(func(b *store.Batch) { b.Put(class.ABIKey(c.Hash), row.Encode()) })
		var d api.ClassDetail
		if err := json.Unmarshal(ask(one, http.StatusOK).Body, &d); err != nil {
			t.Fatal(err)
		}
		if d.ABIStatus != status || d.VerificationTier != "unverified" || d.IsAccount != nil || d.TokenKind != nil {
			t.Errorf("a %s class is %+v", status, d)
		}
	}
	if r := ask(points, http.StatusServiceUnavailable); r.Header.Get("Retry-After") != "30" {
		t.Errorf("Retry-After is %q", r.Header.Get("Retry-After"))
	}
	change(func(b *store.Batch) {
		b.Put(class.ABIKey(c.Hash), class.Materialize(&c.Class).Encode())
		b.Put(class.InterfaceKey(c.Hash), class.InterfaceOf(&c.Class).Encode())
	})
	if body := string(ask(one, http.StatusOK).Body); !strings.Contains(body, `"abiStatus":"fetched"`) {
		t.Errorf("the class came, the answer is %s", body)
	}
	ask(points, http.StatusOK)
	for _, tag := range []string{"pending", "pre_confirmed", "x", "0xx"} {
		if r := ask(points+"?block_tag="+tag, http.StatusBadRequest); !strings.Contains(r.Envelope().Message, "block_tag") {
			t.Errorf("block_tag=%s: %s", tag, r.Body)
		}
	}
}

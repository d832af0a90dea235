package abi_test

// Real classes and blocks, as the modules that we depend on keep them for their
// own tests: read where the module cache has them.

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

var moduleDir = sync.OnceValue(func() map[string]string {
	dirs := map[string]string{}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}",
		"github.com/NethermindEth/juno", "github.com/NethermindEth/starknet.go").Output()
	if err != nil {
		return dirs
	}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[filepath.Base(path)] = dir
	}
	return dirs
})

func moduleFiles(t testing.TB, module string, patterns ...string) []string {
	t.Helper()
	dir := moduleDir()[module]
	if dir == "" {
		t.Fatalf("module %s is not in the module cache", module)
	}
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no %v", module, patterns)
	}
	return files
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
}

type realClass struct {
	name   string
	sierra bool
	abi    []byte
}

// realClasses are all classes of the fixtures, by network and hash where the
// name is one.
func realClasses(t testing.TB) []realClass {
	t.Helper()
	files := append(moduleFiles(t, "juno", "clients/feeder/testdata/*/class/*.json"),
		moduleFiles(t, "starknet.go", "hash/testData/*.contract_class.json", "contracts/testData/*.json", "account/testData/*.sierra.json")...)
	var out []realClass
	for _, file := range files {
		var c struct {
			Program json.RawMessage `json:"sierra_program"`
			ABI     json.RawMessage `json:"abi"`
		}
		readJSON(t, file, &c)
		if len(c.ABI) == 0 {
			continue
		}
		rc := realClass{sierra: c.Program != nil, abi: c.ABI}
		rc.name = filepath.Base(filepath.Dir(filepath.Dir(file))) + "/" + strings.TrimSuffix(filepath.Base(file), ".json")
		if c.ABI[0] == '"' {
			var text string
			if err := json.Unmarshal(c.ABI, &text); err != nil {
				t.Fatal(err)
			}
			rc.abi = []byte(text)
		}
		out = append(out, rc)
	}
	return out
}

func (c *realClass) parse(t testing.TB) *abi.Schema {
	t.Helper()
	parse := abi.ParseCairo0
	if c.sierra {
		parse = abi.ParseSierra
	}
	s, err := parse(c.abi)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return s
}

func TestRealClasses(t *testing.T) {
	names := map[string][]string{} // of events, by the end of the class's name
	functions, events := 0, 0
	for _, c := range realClasses(t) {
		s := c.parse(t)
		functions += len(s.Functions())
		for e := range s.Events() {
			events++
			names[c.name] = append(names[c.name], e.Name)
			if e.Path[len(e.Path)-1] != felt.Selector(e.Name) {
				t.Errorf("%s: path of %s is %v", c.name, e.Name, e.Path)
			}
			// No real class has an event of an unsupported shape: one felt too
			// many is only ever a mismatch.
			if r := abi.Decode(s, e.Path, make([]felt.Felt, 40)); r.UnavailableReason != abi.PayloadShapeMismatch && r.Status != abi.Decoded {
				t.Errorf("%s: %s is %s for %s", c.name, e.Name, r.Status, r.UnavailableReason)
			}
		}
		stored := s.Encode()
		if loaded, err := abi.Load(stored); err != nil || string(loaded.Encode()) != string(stored) {
			t.Errorf("%s: stored form: %v", c.name, err)
		}
		for _, f := range s.Functions() {
			if got, ok := s.Function(f.Kind, f.Selector); !ok || got.Name != f.Name {
				t.Errorf("%s: function %s is not found under its selector", c.name, f.Name)
			}
		}
	}
	t.Log(functions, "functions", events, "events of", len(names), "classes with events")
	for class, want := range map[string]string{
		"sepolia/0x3cc90db763e736ca9b6c581ea4008408842b1a125947ab087438676a7e40b7b":     "Approval ApprovalForAll OwnershipTransferStarted OwnershipTransferred Transfer Upgraded",
		"integration/0x6d8ede036bb4720e6f348643221d8672bf4f0895622c32c11e57460b3b7dffc": "Approval Transfer",
		"mainnet/0x1efa8f84fd4dff9e2902ec88717cf0dafc8c188f80c3450615944a469428f7f":     "AdminChanged Upgraded",
		"goerli/0x1338d85d3e579f6944ba06c005238d145920afeb32f94e3a1e234d21e1e9292":      "simple_event",
	} {
		slices.Sort(names[class])
		if got := strings.Join(names[class], " "); got != want {
			t.Errorf("%s has events %s, want %s", class, got, want)
		}
	}
	if functions < 400 || events < 45 {
		t.Errorf("%d functions and %d events", functions, events)
	}
}

type realEvent struct {
	From felt.Felt   `json:"from_address"`
	Keys []felt.Felt `json:"keys"`
	Data []felt.Felt `json:"data"`
}

// realEvents are the events of all fixture blocks of a network, and the classes
// that contracts were deployed with.
func realEvents(t testing.TB, network string) (events []realEvent, class map[felt.Felt]felt.Felt) {
	t.Helper()
	base := "clients/feeder/testdata/" + network
	class = map[felt.Felt]felt.Felt{}
	for _, file := range moduleFiles(t, "juno", base+"/state_update/*.json", base+"/block/*.json") {
		var f struct {
			Diff struct {
				Deployed []struct {
					Address felt.Felt `json:"address"`
					Class   felt.Felt `json:"class_hash"`
				} `json:"deployed_contracts"`
			} `json:"state_diff"`
			Receipts []struct {
				Events []realEvent `json:"events"`
			} `json:"transaction_receipts"`
		}
		readJSON(t, file, &f)
		for _, d := range f.Diff.Deployed {
			class[d.Address] = d.Class
		}
		for _, r := range f.Receipts {
			events = append(events, r.Events...)
		}
	}
	return events, class
}

// The contracts that the test network started with are of a class among the
// fixtures, an old proxy: its own events are decoded with its ABI, those of the
// implementations with the reviewed schemas or not at all.
func TestRealEventsByClass(t *testing.T) {
	schemas := map[string]*abi.Schema{}
	for _, c := range realClasses(t) {
		schemas[c.name] = c.parse(t)
	}
	events, class := realEvents(t, "sepolia")
	count := map[string]int{}
	for _, e := range events {
		s := schemas["sepolia/"+class[e.From].String()]
		if s == nil {
			continue
		}
		r := abi.Attribute(&abi.Evidence{Schema: s, Emitter: abi.EmitterERC20}, e.Keys, e.Data)
		checkCover(t, r, e.Keys, e.Data)
		count[string(r.Status)+" "+string(r.NameSource)+" "+r.Name]++
	}
	t.Log(count)
	if count["decoded class_abi implementation_added"] == 0 || count["decoded class_abi governor_nominated"]+count["decoded class_abi governance_accepted"] == 0 ||
		count["decoded curated_selector Transfer"] < 100 {
		t.Errorf("decoded %v", count)
	}
}

// STRK of the integration network, with the class that one fixture holds: it
// has its parties in keys. Some of the events are older, of a class that had
// them in data, and must not be decoded by this one.
func TestRealEventsOfAToken(t *testing.T) {
	var s *abi.Schema
	for _, c := range realClasses(t) {
		if strings.HasSuffix(c.name, "/0x941a2dc3ab607819fdc929bea95831a2e0c1aab2f2f34b3a23c55cebc8a040") {
			s = c.parse(t)
		}
	}
	strk := felt.MustParse("0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")
	events, _ := realEvents(t, "sepolia-integration")
	layouts := map[string]int{}
	for _, e := range events {
		if e.From != strk {
			continue
		}
		r := abi.Decode(s, e.Keys, e.Data)
		checkCover(t, r, e.Keys, e.Data)
		layouts[string(r.Status)+" "+r.Name]++
		if r.Status != abi.Decoded && (r.UnavailableReason != abi.PayloadShapeMismatch || len(e.Keys) != 1) {
			t.Errorf("%s %s %s: keys %v data %v", r.Status, r.Name, r.UnavailableReason, e.Keys, e.Data)
		}
	}
	t.Log(layouts)
	if layouts["decoded Transfer"] < 100 || layouts["name_only Transfer"] == 0 {
		t.Errorf("transfers of the token: %v", layouts)
	}
}

// All events of all fixture blocks with the reviewed schemas alone. The numbers
// are what the layouts of the field give; a schema that accepts more or less
// moves them.
func TestRealEventsByStandard(t *testing.T) {
	total := map[string]int{}
	for _, network := range []string{"mainnet", "sepolia", "sepolia-integration", "goerli", "goerli2", "integration"} {
		events, _ := realEvents(t, network)
		for _, e := range events {
			r := abi.Standard(abi.EmitterUnknown, e.Keys, e.Data)
			checkCover(t, r, e.Keys, e.Data)
			total[string(r.Status)+" "+r.Name+" "+string(r.UnavailableReason)]++
			erc20 := abi.Standard(abi.EmitterERC20, e.Keys, e.Data)
			checkCover(t, erc20, e.Keys, e.Data)
			if r.Name == "Transfer" && len(e.Keys) == 1 && len(e.Data) == 4 && (r.UnavailableReason != abi.SelectorOnlyAttribution || erc20.Status != abi.Decoded) {
				t.Errorf("ambiguous transfer: %s %s, as a token %s", r.Status, r.UnavailableReason, erc20.Status)
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(total)) {
		t.Log(total[k], k)
	}
	for k, least := range map[string]int{
		"name_only Transfer selector_only_attribution": 3000, "decoded Transfer ": 100, "decoded ContractDeployed ": 1,
		"decoded TransferSingle ": 1, "decoded TransferBatch ": 1, "decoded ApprovalForAll ": 1, "decoded OwnershipTransferred ": 1,
	} {
		if total[k] < least {
			t.Errorf("%q: %d, want at least %d", k, total[k], least)
		}
	}
}

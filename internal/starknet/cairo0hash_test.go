package starknet_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

func pack(t testing.TB, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// realCairo0 turns a class as the sequencer serves it into what a node serves.
func realCairo0(t testing.TB, path string) (*starknet.Cairo0Class, bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]json.RawMessage
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	program, ok := c["program"]
	if !ok {
		return nil, false // a Sierra class
	}
	if c["program"], err = json.Marshal(pack(t, program)); err != nil {
		t.Fatal(err)
	}
	wire, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	class, err := starknet.DecodeClass(wire)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return class.Cairo0, true
}

// TestRealCairo0Hashes computes the hashes of real classes of all ages.
func TestRealCairo0Hashes(t *testing.T) {
	skipRaced(t)
	files, err := filepath.Glob(feederPath(t, "*", "class", "0x*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no classes: %v", err)
	}
	seen, done := 0, map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if done[name] {
			continue
		}
		done[name] = true
		c, ok := realCairo0(t, file)
		if !ok {
			continue
		}
		want, err := felt.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Hash()
		if rounded(t, file) {
			// Whoever saved the file has rounded its largest numbers: then there
			// must be no hash, rather than a wrong one.
			if err == nil {
				t.Errorf("%s has rounded numbers and the hash %s", name, got)
			}
			continue
		}
		seen++
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		// Another ABI is another class.
		c.ABI = []byte(`[]`)
		if got, err := c.Hash(); err != nil || got == want {
			t.Errorf("%s with another ABI: %s, %v", name, got, err)
		}
	}
	t.Logf("%d classes", seen)
	if seen < 5 {
		t.Errorf("only %d classes", seen)
	}
}

func rounded(t *testing.T, file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`[0-9]e\+[0-9]`).Match(text)
}

// TestUselessCairo0 refuses programs that cannot be hashed.
func TestUselessCairo0(t *testing.T) {
	for name, program := range map[string]string{
		"not packed":     "{}",
		"not JSON":       pack(t, []byte("x")),
		"not an object":  pack(t, []byte("[]")),
		"no builtins":    pack(t, []byte(`{"data": []}`)),
		"no data":        pack(t, []byte(`{"builtins": []}`)),
		"a wrong felt":   pack(t, []byte(`{"builtins": [], "data": ["0xx"]}`)),
		"a hint at x":    pack(t, []byte(`{"builtins": [], "data": [], "hints": {"x": []}}`)),
		"a broken total": pack(t, []byte(`{"builtins": [], "data": [], "prime": 1.5}`)),
		"two values":     pack(t, []byte(`{"builtins": [], "data": []} {}`)),
	} {
		c := starknet.Cairo0Class{Program: program}
		if got, err := c.Hash(); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzCairo0Hash(f *testing.F) {
	f.Add([]byte(`{"builtins": ["pedersen"], "data": ["0x1"], "hints": {"10": [], "9": []}, "identifiers": {"a": {"cairo_type": "(a: felt)"}}}`), []byte(`[]`))
	f.Add([]byte(`{"builtins": [], "data": [], "attributes": [{"accessible_scopes": []}, 1]}`), []byte(`[{"name": "é\u0001"}]`))
	f.Fuzz(func(t *testing.T, program, abi []byte) {
		c := starknet.Cairo0Class{Program: pack(t, program), ABI: abi}
		a, err := c.Hash()
		b, again := c.Hash()
		if a != b || (err == nil) != (again == nil) {
			t.Fatalf("%s, %v and %s, %v", a, err, b, again)
		}
	})
}

// TestHostileCairo0Costs: what cannot be a real class is refused before it takes gigabytes or minutes, however small
// it comes over the wire.
func TestHostileCairo0Costs(t *testing.T) {
	skipRaced(t)
	program := func(field, list string) string {
		fields := map[string]string{"builtins": "[]", "data": "[]", "identifiers": "{}"}
		fields[field] = list
		return `{"builtins":` + fields["builtins"] + `,"data":` + fields["data"] + `,"identifiers":` + fields["identifiers"] + `,"hints":{},"main_scope":"m","prime":"0x1","reference_manager":{}}`
	}
	many := func(unit string, bytes int) string {
		return "[" + strings.Repeat(unit+",", bytes/(len(unit)+1)) + unit + "]"
	}
	const most = 63 << 20
	points := make([]starknet.EntryPoint, 300_000)
	for name, c := range map[string]*starknet.Cairo0Class{
		"lists":        {Program: pack(t, []byte(program("identifiers", many("[]", most))))},
		"objects":      {Program: pack(t, []byte(program("identifiers", many("{}", most))))},
		"numbers":      {Program: pack(t, []byte(program("identifiers", many("0", most))))},
		"texts":        {Program: pack(t, []byte(program("identifiers", many(`""`, most))))},
		"an ABI":       {Program: pack(t, []byte(program("data", "[]"))), ABI: json.RawMessage(many("{}", most))},
		"bytecode":     {Program: pack(t, []byte(program("data", many(`"0x0"`, 2<<20))))},
		"builtins":     {Program: pack(t, []byte(program("builtins", many(`""`, 2<<20))))},
		"entry points": {Program: pack(t, []byte(program("data", "[]"))), EntryPoints: starknet.EntryPoints{External: points[:100_000], L1Handler: points[:100_000], Constructor: points[:100_000]}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		_, err := c.Hash()
		took := time.Since(begun)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 1<<30 || took > 5*time.Second {
			t.Errorf("%s: %d MiB in %s, %v", name, used>>20, took, err)
		}
	}
	// Commas in texts, of which hints have many, are no values.
	if _, err := (&starknet.Cairo0Class{Program: pack(t, []byte(program("identifiers", many(`"`+strings.Repeat(`,[{:\\\"`, 1000)+`"`, 20<<20))))}).Hash(); err != nil {
		t.Error(err)
	}
}

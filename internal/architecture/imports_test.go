// Package architecture holds no code: its test keeps imports pointing one way.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// layers lists the packages from the bottom up. A package may import the layers
// below its own and nothing beside it. A pattern ending in /* stands for the
// folders below.
var layers = [][]string{
	{"internal/felt"},
	{"internal/registry", "internal/contractcall", "internal/backoff", "internal/durable", "docs"}, // data alone, and small tools
	{"internal/starknet/jsonscan"},
	{"internal/starknet"},
	{"internal/node", "internal/store", "internal/store/record", "internal/abi", "internal/simnode/contracts", "internal/control", "internal/web", "internal/store/postgres/pgtest", "internal/devnet"},
	{"internal/store/pebble", "internal/store/postgres", "internal/store/storetest", "internal/store/lease", "internal/store/transfer", "internal/simnode", "internal/simnode/liar", "internal/account"},
	{"internal/explorer"},
	{"internal/explorer/places"}, // lists that subjects keep
	{"internal/explorer/*"},
	{"internal/explorer/event", "internal/explorer/message"}, // ask the queries of block and transaction
	{"internal/explorer/decoded", "internal/explorer/control", "internal/explorer/market", "internal/explorer/census"}, // ask those of contract and class
	{"internal/explorer/transfer"},                           // lists events
	{"internal/explorer/token", "internal/explorer/address"}, // add transfers up
	{"internal/explorer/catalog"},
	{"internal/index", "internal/api", "internal/job"},
	{"internal/index/*", "internal/metadata", "internal/pools", "internal/census", "internal/backup"}, // metadata, pools and census are jobs beside the index
	{"internal/control"},                                                                              // the data of record: it knows no chain
	{"internal/account", "internal/label"},
	{"internal/architecture"},
	{"cmd/*", "bench/*", "scripts/*"},
}

// forbidden are imports that the layers would allow and the design does not.
var forbidden = map[string]string{
	"internal/explorer/*": "internal/node internal/store/pebble internal/store/postgres internal/simnode", // no network, no engine in the read model
	"internal/index":      "internal/store/pebble internal/store/postgres internal/simnode",               // any engine, any source
	"internal/job":        "internal/node internal/store/pebble internal/store/postgres internal/simnode", // as the index
	"internal/store":      "internal/starknet",                                                            // the store knows no chain
	"internal/api":        "internal/node internal/store/pebble internal/store/postgres internal/simnode", // reads the index, whatever keeps it
}

const module = "chainexplorer/"

func layerOf(pkg string) int {
	best := -1
	for i, l := range layers {
		for _, p := range l {
			if p == pkg {
				return i // an exact name beats a pattern
			}
			if ok, _ := path.Match(p, pkg); ok {
				best = i
			}
		}
	}
	return best
}

func TestImportsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		pkg := strings.TrimPrefix(p.ImportPath, module)
		from := layerOf(pkg)
		if from < 0 {
			t.Errorf("package %s belongs to no layer: add it to layers", pkg)
			continue
		}
		for _, imp := range p.Imports {
			dep, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			to := layerOf(dep)
			if to >= from {
				t.Errorf("%s imports %s, which is not below it", pkg, dep)
			}
			for pattern, list := range forbidden {
				if match, _ := path.Match(pattern, pkg); match && strings.Contains(" "+list+" ", " "+dep+" ") {
					t.Errorf("%s must not import %s", pkg, dep)
				}
			}
		}
	}
	if seen < 10 {
		t.Fatalf("go list found only %d packages", seen)
	}
}

package architecture

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// floor is a layer of the house. Its packages may import those of the floors below
// and, as Go keeps them from going in circles, one another.
type floor struct {
	name string
	// packages are folders; one that ends in /... stands for all below it, too.
	packages []string
}

// floors are from the ground up. A package stands on the first floor that has a
// pattern for it.
var floors = []floor{
	{"the ground: numbers, vocabulary, small tools", []string{"internal/felt", "internal/jsonrow", "internal/logs", "internal/markup", "internal/arrange", "internal/backoff", "internal/durable", "internal/edge", "internal/parquet", "internal/unpack", "internal/contractcall", "internal/registry", "internal/verification/archive/...", "internal/verification/client", "internal/verification/keyring", "internal/verification/logproof", "internal/verification/signer", "internal/verification/receipt", "internal/verification/strictjson", "internal/verification/submission", "internal/verification/sandbox/...", "internal/verification/toolchain/...", "internal/verification/cairoproject", "internal/verification/sample", "internal/relay/request", "internal/webhook/egress", "internal/traces", "internal/clientgen", "internal/get", "internal/site/shelf", "client/...", "docs"}},
	{"the chain's own words", []string{"internal/starknet/..."}},
	{"where data comes from and is kept", []string{"internal/abi", "internal/node", "internal/store/...", "internal/simnode/...", "internal/simprover", "internal/relay/upstream", "internal/devnet", "internal/control/...", "internal/account", "internal/session", "internal/label", "internal/usage", "internal/places", "internal/web", "internal/web/card", "internal/chart", "internal/verification/job", "internal/verification/revocation", "internal/verification/translog", "internal/verification/withdrawal", "internal/verification/build", "internal/relay/job", "internal/webhook"}},
	{"the read model", []string{"internal/explorer/..."}},
	{"what writes it, and what every HTTP surface stands on", []string{"internal/index/...", "internal/job/...", "internal/kernel", "internal/backup", "internal/export", "internal/verification/controller", "internal/verification/standing/...", "internal/relay", "internal/feed"}},
	{"what it answers", []string{"internal/api", "internal/site", "internal/gateway/...", "internal/me", "internal/mcp", "internal/voyager/...", "internal/signin", "internal/accountpages", "internal/web/live", "internal/web/pages", "internal/verification/publication", "internal/verification/routes", "internal/relay/routes", "internal/webhook/routes", "internal/stream"}},
	{"what is run", []string{"cmd/...", "bench/...", "scripts/...", "internal/architecture", "internal/servertest", "internal/tstest", "internal/web/walk"}},
}

// rule keeps an import out of some packages, or inside them.
type rule struct {
	why string
	// imports are import paths, ours without the module; with /... all below, too.
	imports []string
	// only are the packages that may import them; never those that must not.
	only, never []string
}

var rules = []rule{
	{why: "the read model has no network and knows no engine",
		imports: []string{"net/http", "internal/node", "internal/simnode/...", "internal/store/pebble", "internal/store/postgres"},
		never:   []string{"internal/explorer/..."}},
	{why: "the indexer and the jobs work with any engine and any source",
		imports: []string{"internal/store/pebble", "internal/store/postgres", "internal/simnode/..."},
		never:   []string{"internal/index", "internal/job"}},
	{why: "a request is answered from the index, whatever keeps it, or by the nodes that it is given",
		imports: []string{"internal/store/pebble", "internal/store/postgres", "internal/simnode/..."},
		never:   []string{"internal/kernel", "internal/api", "internal/site", "internal/gateway/..."}},
	{why: "the indexer and the gateway, with what asks for it, know the pool of nodes; a route is given what it asks",
		imports: []string{"internal/node"},
		only:    []string{"internal/gateway", "internal/gateway/upstream", "internal/index", "internal/servertest", "cmd/...", "bench/..."}},
	{why: "a route asks the read model, which alone knows how rows are kept",
		imports: []string{"internal/store/..."},
		never:   []string{"internal/api", "internal/web/pages", "internal/voyager"}},
	{why: "the store knows no chain",
		imports: []string{"internal/starknet/...", "internal/felt"},
		never:   []string{"internal/store", "internal/store/pebble", "internal/store/postgres"}},
	{why: "data of record lives apart from the index",
		imports: []string{"internal/store/...", "internal/explorer/..."},
		never:   []string{"internal/control", "internal/account", "internal/session", "internal/label", "internal/usage", "internal/places", "internal/verification/job", "internal/verification/revocation", "internal/verification/translog", "internal/verification/withdrawal", "internal/webhook"}},
	{why: "what strangers hand over for verification is read without a file system and a network, and believed without the service",
		imports: []string{"os", "net", "net/http", "internal/store/...", "internal/control"},
		never:   []string{"internal/verification/archive", "internal/verification/logproof", "internal/verification/receipt", "internal/verification/strictjson", "internal/verification/submission"}},
	{why: "who holds a signing key reads nothing but its own files, and talks to nobody but over its socket",
		imports: []string{"net/http", "internal/store/...", "internal/control", "internal/kernel"},
		never:   []string{"internal/verification/keyring", "internal/verification/signer"}},
	{why: "what reads a stranger's project is given its tree, and starts nothing",
		imports: []string{"os", "os/exec", "net", "net/http"},
		never:   []string{"internal/verification/cairoproject"}},
	{why: "what callers hand over to be proven holds their private keys: it is read without anything that keeps or sends it",
		imports: []string{"os", "net", "net/http", "log/slog", "encoding/json", "internal/store/...", "internal/control"},
		never:   []string{"internal/relay/request"}},
	{why: "one package per engine knows it",
		imports: []string{"github.com/cockroachdb/pebble/..."},
		only:    []string{"internal/store/pebble", "bench/store"}},
	{why: "one package knows the form of the files that others analyze",
		imports: []string{"internal/parquet"},
		only:    []string{"internal/export"}},
	{why: "SQL is for the database of record and for one engine",
		imports: []string{"github.com/jackc/pgx/...", "modernc.org/sqlite/...", "github.com/pressly/goose/..."},
		only:    []string{"internal/store/postgres/...", "internal/control", "cmd/chainexplorer"}},
	{why: "the framework of routes stays behind the kernel and what is registered with it",
		imports: []string{"github.com/danielgtaylor/huma/..."},
		only:    []string{"internal/kernel", "internal/api", "internal/site", "internal/gateway/...", "internal/verification/routes", "internal/relay/routes", "internal/webhook/routes", "internal/stream"}},
	{why: "hashes and wire types are our own; others' are for comparison",
		imports: []string{"github.com/NethermindEth/..."},
		only:    []string{"client/rpc", "internal/devnet", "bench/ingest"}},
	{why: "one folder knows the field and the curve",
		imports: []string{"github.com/consensys/gnark-crypto/..."},
		only:    []string{"internal/starknet/..."}},
	{why: "one package asks a provider who people are",
		imports: []string{"github.com/coreos/go-oidc/...", "golang.org/x/oauth2/..."},
		only:    []string{"internal/signin"}},
	{why: "one package knows how collectors are told",
		imports: []string{"go.opentelemetry.io/..."},
		only:    []string{"internal/traces"}},
	{why: "only a command reads its command line",
		imports: []string{"flag", "github.com/alecthomas/kong/..."},
		only:    []string{"internal/get", "cmd/...", "bench/...", "scripts/...", "internal/store/postgres/pgtest", "internal/devnet"}},
}

// matches says whether a folder or import path is meant by a pattern.
func matches(pattern, name string) bool {
	if base, all := strings.CutSuffix(pattern, "/..."); all {
		return name == base || strings.HasPrefix(name, base+"/")
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// floorOf returns the number of a package's floor, -1 when it has none.
func floorOf(pkg string) int {
	return slices.IndexFunc(floors, func(f floor) bool { return matchesAny(f.packages, pkg) })
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from := floorOf(p.name)
		if from < 0 {
			t.Errorf("package %s stands on no floor: add its folder to one", p.name)
			continue
		}
		for _, imp := range p.imports {
			if dep, ours := strings.CutPrefix(imp, module); ours {
				if to := floorOf(dep); to > from {
					t.Errorf("%s, on the floor of %s, imports %s from above, from the floor of %s", p.name, floors[from].name, dep, floors[to].name)
				}
			}
		}
	}
}

func TestImportsObeyTheRules(t *testing.T) {
	used := make([]bool, len(rules))
	for _, p := range packages(t) {
		for _, imp := range p.imports {
			name := strings.TrimPrefix(imp, module)
			for i, r := range rules {
				if !matchesAny(r.imports, name) {
					continue
				}
				used[i] = true
				if matchesAny(r.never, p.name) || r.only != nil && !matchesAny(r.only, p.name) {
					t.Errorf("%s imports %s: %s", p.name, name, r.why)
				}
			}
		}
	}
	for i, r := range rules {
		if !used[i] {
			t.Errorf("nobody imports what this rule is about, so that it is dead: %s", r.why)
		}
	}
	all := packages(t)
	for _, r := range rules {
		for _, pattern := range slices.Concat(r.only, r.never) {
			if !slices.ContainsFunc(all, func(p pkg) bool { return matches(pattern, p.name) }) {
				t.Errorf("there is no package %s, which a rule names: %s", pattern, r.why)
			}
		}
	}
	for _, f := range floors {
		for _, pattern := range f.packages {
			if !slices.ContainsFunc(all, func(p pkg) bool { return matches(pattern, p.name) }) {
				t.Errorf("there is no package %s, which the floor of %s names", pattern, f.name)
			}
		}
	}
}

package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

// testOnly are modules and packages that tests, benchmarks and linters use and
// that have no business in the program.
var testOnly = []string{
	"github.com/NethermindEth/starknet.go",
	"github.com/chromedp/chromedp",
	"github.com/google/go-cmp",
	"github.com/google/pprof",
	"github.com/parquet-go",
	"github.com/santhosh-tekuri/jsonschema",
	"github.com/standard-webhooks/standard-webhooks",
	"github.com/stretchr/testify",
	"honnef.co/go/tools",
	"net/http/httptest",
	"testing",
	module + "internal/control/controltest",
	module + "internal/index/simsource",
	module + "internal/index/sim",
	module + "internal/servertest",
	module + "internal/store/pebble/pebbletest",
	module + "internal/store/postgres/pgtest",
	module + "internal/store/storetest",
	module + "internal/tstest",
	module + "internal/verification/archive/archivetest",
	module + "internal/verification/sandbox/sandboxtest",
	module + "internal/verification/standing/standingtest",
	module + "internal/verification/toolchain/toolchaintest",
	module + "internal/web/walk",
}

// keptOut is what the program once held of others' and does without: whoever builds it
// for the first time waits for every package of them.
var keptOut = []string{
	"github.com/felixge/httpsnoop",
	"github.com/grpc-ecosystem/grpc-gateway",
	"go.opentelemetry.io/otel/exporters",
	"go.opentelemetry.io/proto",
	"google.golang.org/genproto",
	"google.golang.org/grpc",
}

// TestTheProgramHoldsNoSourcesOfC: where there is a C compiler, whoever builds the program
// for the first time waits for every one of them.
func TestTheProgramHoldsNoSourcesOfC(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{range .CFiles}}{{$.ImportPath}}/{{.}} {{end}}{{end}}",
		module+"cmd/chainexplorer")
	list.Env = append(list.Environ(), "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if sources := strings.Fields(string(out)); len(sources) > 0 {
		t.Errorf("the program has sources of C: %v", sources)
	}
}

// TestTheProgramHoldsNothingNeedless looks at every package that is linked into the program.
func TestTheProgramHoldsNothingNeedless(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"cmd/chainexplorer").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Fatalf("go list found only %d packages", len(linked))
	}
	for why, list := range map[string][]string{"which is for tests": testOnly, "which takes long to compile, for little": keptOut} {
		for _, pkg := range linked {
			for _, bad := range list {
				if pkg == bad || strings.HasPrefix(pkg, bad+"/") {
					t.Errorf("the program links %s, %s", pkg, why)
				}
			}
		}
	}
}

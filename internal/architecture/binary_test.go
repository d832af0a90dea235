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
	module + "internal/store/postgres/pgtest",
	module + "internal/store/storetest",
	module + "internal/tstest",
	module + "internal/verification/archive/archivetest",
	module + "internal/verification/sandbox/sandboxtest",
	module + "internal/verification/standing/standingtest",
	module + "internal/verification/toolchain/toolchaintest",
	module + "internal/web/walk",
}

// TestTheProgramHoldsNothingOfTheTests looks at every package that is linked into the program.
func TestTheProgramHoldsNothingOfTheTests(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"cmd/chainexplorer").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Fatalf("go list found only %d packages", len(linked))
	}
	for _, pkg := range linked {
		for _, bad := range testOnly {
			if pkg == bad || strings.HasPrefix(pkg, bad+"/") {
				t.Errorf("the program links %s, which is for tests", pkg)
			}
		}
	}
}

package devnet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	junofelt "github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/contracts"
	"github.com/NethermindEth/starknet.go/hash"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// Compile makes the class of a contract from its Cairo source: path is that of
// the contract in the crates of the project in dir.
func Compile(t testing.TB, dir, path string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "class.json")
	cmd := exec.CommandContext(t.Context(), toolchaintest.Find(t, filepath.Join("cairo-2.20.0", "bin", "starknet-compile")), "--contract-path", path, dir, out)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", path, err, text)
	}
	class, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return class
}

// compiledHash is the hash of what a class compiles to, which a declaration must
// name. The node alone can compile it, and does so at its start for the class of
// its accounts. That must have the functions of one, so two of the entry points
// are given their names, and in what comes back they get their own again: the
// names are no part of the code.
func compiledHash(t testing.TB, source []byte) *junofelt.Felt {
	t.Helper()
	var class map[string]any
	if err := json.Unmarshal(source, &class); err != nil {
		t.Fatal(err)
	}
	external := class["entry_points_by_type"].(map[string]any)["EXTERNAL"].([]any)
	disguise := []felt.Felt{felt.Selector("__execute__"), felt.Selector("__validate__")}
	if len(external) < len(disguise) {
		t.Fatalf("a class of %d functions cannot pass for that of an account", len(external))
	}
	own := map[felt.Felt]felt.Felt{}
	for i, name := range disguise {
		point := external[i].(map[string]any)
		own[name] = felt.MustParse(point["selector"].(string))
		point["selector"] = name
	}
	slices.SortFunc(external, func(a, b any) int { return selectorOf(a).Cmp(selectorOf(b)) })
	disguised, err := json.Marshal(class)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, disguised, 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, "--accounts", "1", "--account-class-custom", file)
	defer n.stop()
	n.loadAccounts(t)
	var at felt.Felt
	n.Call(t, "starknet_getClassHashAt", map[string]any{"block_id": "latest", "contract_address": n.Accounts[0].Address}, &at)
	var casm contracts.CasmClass
	n.Call(t, "starknet_getCompiledCasm", map[string]any{"class_hash": at}, &casm)
	points := casm.EntryPointsByType.External
	for i := range points {
		if name, hidden := own[ours(points[i].Selector)]; hidden {
			points[i].Selector = peer(name)
		}
	}
	slices.SortFunc(points, func(a, b contracts.CasmEntryPoint) int { return a.Selector.Cmp(b.Selector) })
	compiled, err := hash.CompiledClassHashV2(&casm)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func selectorOf(point any) felt.Felt {
	switch s := point.(map[string]any)["selector"].(type) {
	case string:
		return felt.MustParse(s)
	case felt.Felt:
		return s
	}
	return felt.Zero
}

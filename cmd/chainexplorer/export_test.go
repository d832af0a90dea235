package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"chainexplorer/docs"
	"chainexplorer/internal/export"
	"chainexplorer/internal/simnode"
)

// exportWorld is a chain with forks behind it, what its service answered, and its data
// directory, which nobody uses any more.
type exportWorld struct {
	chain *simnode.Chain
	data  string
	head  uint64
	// answers are of the API, by path.
	answers map[string]map[string]any
	// pairs are tokens and holders whose balances were asked for.
	pairs [][2]string
}

// newExportWorld serves a chain, lets it fork, and asks what the files will be held against.
func newExportWorld(t *testing.T) *exportWorld {
	t.Helper()
	x := &exportWorld{chain: simnode.New(simnode.Config{Seed: 71, Blocks: 50, L1Lag: 30}), data: filepath.Join(t.TempDir(), "data"), answers: map[string]map[string]any{}}
	srv := httptest.NewServer(simnode.NewNode(x.chain, simnode.NodeConfig{}))
	defer srv.Close()
	r := startServe(t, "--node", srv.URL, "--data", x.data)
	control := filepath.Join(x.data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	head, _ := x.chain.Head()
	r.untilHead(key, head)
	x.chain.Fork(9)
	x.chain.Extend(14)
	x.head, _ = x.chain.Head()
	r.untilHead(key, x.head)

	ask := func(path string) {
		t.Helper()
		var answer map[string]any
		if err := json.Unmarshal(r.get("/v1/SN_SEPOLIA/"+path, key, http.StatusOK), &answer); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		x.answers[path] = answer
	}
	for _, n := range []uint64{0, 45, x.head} {
		ask(fmt.Sprintf("block/%d", n))
		ask("tx/" + x.chain.BlockAt(n).Transactions[0].Hash.String())
	}
	for _, k := range x.chain.Tokens(x.head) {
		if k.Lie != simnode.Honest || k.Standard != simnode.ERC20 && k.Standard != simnode.ERC721 || len(x.pairs) > 16 {
			continue
		}
		holders := x.chain.Holders(k.Address, x.head)
		if len(holders) > 0 {
			ask("token/" + k.Address.String())
		}
		for _, h := range holders[:min(3, len(holders))] {
			x.pairs = append(x.pairs, [2]string{k.Address.String(), h.Address.String()})
			ask(fmt.Sprintf("token/%s/balance-of/%s", k.Address, h.Address))
		}
	}
	stdout, stderr, code := output(t, "admin", "export", "--data", x.data, "--dir", filepath.Join(x.data, "..", "used"))
	if code == 0 || !strings.Contains(stderr, "in use by another process") || !strings.Contains(stderr, "admin backup --operator") {
		t.Errorf("beside a running process export ended with %d:\n%s%s", code, stdout, stderr)
	}
	r.stop()
	return x
}

// args are those of an export to the head.
func (x *exportWorld) args(dir string) []string {
	return []string{"admin", "export", "--data", x.data, "--dir", dir, "--to", "latest", "--blocks-per-file", "8"}
}

func sameFolders(t *testing.T, got, want string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "diff", "-rq", got, want).CombinedOutput()
	if err != nil {
		t.Errorf("the exports differ: %v\n%s", err, out)
	}
}

// TestExport exports a chain through the command, and lets another database read it.
func TestExport(t *testing.T) {
	t.Parallel() // it waits for processes
	x := newExportWorld(t)
	dir := filepath.Join(t.TempDir(), "out")
	stdout, stderr, code := output(t, append(x.args(dir), "--json")...)
	var view exportView
	if err := json.Unmarshal([]byte(stdout), &view); err != nil || code != 0 {
		t.Fatalf("export ended with %d:\n%s%s", code, stdout, stderr)
	}
	if view.Chain != "SN_SEPOLIA" || view.Last != x.head || view.Written != 8*8+1 || len(view.Families) != 9 || !strings.Contains(stderr, "a fork may undo") {
		t.Errorf("export says %s%s", stdout, stderr)
	}
	t.Run("killed", func(t *testing.T) { x.killed(t, dir) })
	t.Run("of a backup", func(t *testing.T) {
		folder, again := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "again")
		if stdout, stderr, code := output(t, "admin", "backup", "--data", x.data, "--to", folder); code != 0 {
			t.Fatalf("backup ended with %d:\n%s%s", code, stdout, stderr)
		}
		args := x.args(again)
		args[slices.Index(args, "--data")+1] = folder
		if stdout, stderr, code := output(t, append(args, "--chain", "SN_SEPOLIA", "--parallel", "1")...); code != 0 || !strings.Contains(stdout, "65 written, 0 kept, 0 undone") {
			t.Fatalf("export of a backup ended with %d:\n%s%s", code, stdout, stderr)
		}
		sameFolders(t, again, dir)
	})
	t.Run("refused", func(t *testing.T) { x.refused(t, dir) })
	t.Run("full disk", func(t *testing.T) { x.fullDisk(t) })
	t.Run("DuckDB", func(t *testing.T) { x.query(t, dir) })
}

// killed kills exports in the middle, and finds the same bytes in the end.
func (x *exportWorld) killed(t *testing.T, want string) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, files := range []int{1, 24, 40} {
		cmd := sameBinary(t, append(x.args(dir), "--parallel", "1")...) // files tell the version
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "files", func() bool {
			m, err := export.ReadManifest(dir)
			return err == nil && len(m.Files) >= files
		})
		cmd.Process.Kill() //nolint:errcheck // checked by the wait status
		err := cmd.Wait()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
			t.Fatalf("the export ended by itself: %v", err)
		}
	}
	// As one that is killed while it writes what it has done.
	if err := os.WriteFile(filepath.Join(dir, ".export.json.42"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := x.args(dir)
	stdout, stderr, code := output(t, args[:slices.Index(args, "--blocks-per-file")]...) // it keeps what it began with
	if code != 0 || strings.Contains(stdout, " 0 kept") {
		t.Fatalf("export ended with %d:\n%s%s", code, stdout, stderr)
	}
	sameFolders(t, dir, want)
}

// refused are mistakes, after which everything is as it was.
func (x *exportWorld) refused(t *testing.T, dir string) {
	before, err := os.ReadFile(filepath.Join(dir, "export.json"))
	if err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"give --to latest":              {"--data", x.data, "--dir", filepath.Join(t.TempDir(), "new")},
		"which index?":                  {"--dir", dir},
		"want the number of a block":    {"--data", x.data, "--dir", dir, "--to", "head"},
		`there is no family "gas"`:      {"--data", x.data, "--dir", dir, "--family", "blocks,gas"},
		`there is no family ""`:         {"--data", x.data, "--dir", dir, "--family", ""},
		"--blocks-per-file must be":     {"--data", x.data, "--dir", dir, "--blocks-per-file", "0"},
		"which cannot change":           {"--data", x.data, "--dir", dir, "--to", "latest", "--blocks-per-file", "16"},
		"is not finalized":              {"--data", x.data, "--dir", dir, "--finality-depth", "9", "--to", strconv.FormatUint(x.head, 10)},
		"not of SN_MAIN":                {"--data", filepath.Join(x.data, "SN_SEPOLIA"), "--chain", "SN_MAIN", "--dir", dir},
		"holds no index":                {"--data", t.TempDir(), "--dir", dir},
		"is not empty":                  {"--data", x.data, "--dir", x.data, "--to", "latest"},
		"--finality-depth must be":      {"--data", x.data, "--dir", dir, "--finality-depth", "0"},
		"1 to 16 ranges are written at": {"--data", x.data, "--dir", dir, "--to", "latest", "--parallel", "17"},
	} {
		if stdout, stderr, code := output(t, append([]string{"admin", "export"}, args...)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v ended with %d, want %q:\n%s%s", args, code, want, stdout, stderr)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "export.json")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("export.json was changed: %v", err)
	}
}

// fullDisk exports until nothing fits any more: what is there is whole, and the export goes
// on when there is room.
func (x *exportWorld) fullDisk(t *testing.T) {
	disk := smallDisk(t, "4")
	dir := filepath.Join(disk, "out")
	makeRoom := fill(t, disk, 600)
	stdout, stderr, code := output(t, x.args(dir)...)
	if code == 0 || !strings.Contains(stderr, "no space left on device") || !strings.Contains(stderr, "give the same command again") {
		t.Errorf("on a full disk export ended with %d:\n%s%s", code, stdout, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	makeRoom()
	if stdout, stderr, code := output(t, x.args(dir)...); code != 0 {
		t.Errorf("with room export ended with %d:\n%s%s", code, stdout, stderr)
	}
}

// duckDB runs queries.
func duckDB(t *testing.T, queries []string) (answers [][][]*string) {
	t.Helper()
	tool, err := filepath.Abs(filepath.Join("..", "..", ".tools", "duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "duckdb", "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(tool, "requirements.txt")); err != nil || !bytes.Equal(got, want) {
		t.Skip("DuckDB is not there in the version of requirements.txt: make tools installs it where it can")
	}
	input, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(tool, "bin", "python"), filepath.Join("testdata", "duckdb", "query.py"))
	cmd.Stdin = bytes.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("DuckDB: %v\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(queries) {
		t.Fatalf("DuckDB answered %d of %d queries: %v", len(answers), len(queries), err)
	}
	return answers
}

// query lets DuckDB read the files, and holds what it says against the API and the chain.
func (x *exportWorld) query(t *testing.T, dir string) {
	from := func(query string) string { return strings.ReplaceAll(query, "DIR", dir) }
	guide, err := docs.Files.ReadFile("export.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(guide), "\n## DuckDB\n")
	text, _, more := strings.Cut(text, "\n## ")
	if !found || !more {
		t.Fatal("docs/export.md has no chapter on DuckDB")
	}
	var queries []string
	for _, part := range strings.Split(text, "```sql\n")[1:] {
		sql, _, _ := strings.Cut(part, "\n```")
		queries = append(queries, from(sql))
	}
	documented := len(queries)
	if documented < 5 {
		t.Fatalf("docs/export.md has %d queries", documented)
	}
	queries = append(queries,
		from(`SELECT (SELECT count(*) FROM 'DIR/blocks/*.parquet'), (SELECT count(*) FROM 'DIR/transactions/*.parquet'), (SELECT count(*) FROM 'DIR/events/*.parquet'),
			(SELECT count(*) FROM 'DIR/messages/*.parquet'), (SELECT sum(event_count) FROM 'DIR/blocks/*.parquet')`),
		from(`SELECT actual_fee_unit, sum(actual_fee::BIGNUM), sum(actual_fee_e0), sum(actual_fee_e26), sum(actual_fee_e52) FROM 'DIR/transactions/*.parquet' GROUP BY 1 ORDER BY 1`),
		from(`SELECT token_address, count(*), sum(amount_e52), sum(amount_e26), sum(amount_e0), sum(amount::BIGNUM) FROM 'DIR/transfers/*.parquet' GROUP BY 1`),
		from(`SELECT b.token_address, b.holder_address, any_value(t.standard), sum(b.amount_change::BIGNUM), sum(b.units_change),
			sum(b.amount_change_e52), sum(b.amount_change_e26), sum(b.amount_change_e0)
			FROM 'DIR/balances/*.parquet' b JOIN 'DIR/tokens/*.parquet' t USING (token_address) GROUP BY 1, 2`),
		from(`SELECT block_number, block_hash, parent_hash, state_root, tx_count, event_count, epoch(timestamp)::BIGINT, l2_gas_price_fri FROM 'DIR/blocks/*.parquet'`),
		from(`SELECT tx_hash, tx_type, execution_status, nonce, from_address, to_address, actual_fee, actual_fee_unit, array_to_string(calldata, ' ') FROM 'DIR/transactions/*.parquet'`),
		from(`SELECT tx_hash, string_agg(address || ' ' || array_to_string(keys, ',') || ' ' || array_to_string(data, ','), ';' ORDER BY log_index) FROM 'DIR/events/*.parquet' GROUP BY 1`),
	)
	answers := duckDB(t, queries)
	for i, rows := range answers[:documented] {
		if len(rows) == 0 {
			t.Errorf("a query of docs/export.md finds nothing:\n%s", queries[i])
		}
	}
	own := answers[documented:]
	x.checkTotals(t, own[0][0], own[1])
	x.checkTokens(t, own[2], own[3])
	x.checkSamples(t, own[4], own[5], own[6])
}

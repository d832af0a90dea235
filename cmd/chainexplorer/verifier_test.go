package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control"
	sandboxed "chainexplorer/internal/verification/build"
	verification "chainexplorer/internal/verification/job"
	shipped "chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/sandbox/sandboxtest"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// TestVerificationWithoutToolchain: a service that can build nothing has the routes, takes
// no job, and says why where the operator looks.
func TestVerificationWithoutToolchain(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd := program(t, "serve", "--listen=127.0.0.1:0", "--data", data, "--node", simulated(t, "SN_MAIN", 3), "--verification-builds", "2", "--verification-build-memory", "1GiB")
	cmd.Env = append(cmd.Env, "CHAINEXPLORER_VERIFICATION_BUILD_TIME=7m")
	r := start(t, cmd)
	db := data + "/control.db"
	succeed(t, db, "workspace", "create", "acme")
	key := keyText.FindString(succeed(t, db, "key", "create", "--workspace", "acme"))
	until(t, "the reason", func() bool {
		_, text := r.once("/readyz", "")
		return strings.Contains(text, "--verification-toolchains")
	})
	out := describedWorker(t, db)
	for _, want := range []string{"not taken: no toolchain is configured", "toolchains      none", "builds at once  2", "memory          1024 MiB", "time            7m0s", "processes       64"} {
		if !strings.Contains(out, want) {
			t.Errorf("the operator does not see %q: %s", want, out)
		}
	}
	pack := `{"selectedClassHash":"0x1","uploadDigest":"sha256:` + strings.Repeat("ab", 32) + `","uploadByteLength":5,"toolchainPolicyId":"service-exact-v25","packageName":"p","buildProfile":"release",
		"targetName":"t","targetKind":"starknet-contract","artifactId":"a","modulePath":"p::c","sourceVisibility":"private","retentionPolicyId":"private-24h-v1"}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/v1/SN_MAIN/verification-jobs", strings.NewReader(pack))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Service-Api-Key": {key}, "Idempotency-Key": {"k"}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	var e struct{ Code, Message string }
	if err := json.NewDecoder(res.Body).Decode(&e); err != nil || res.StatusCode != http.StatusServiceUnavailable || e.Code != "verifier_dispatch_failed" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %+v, %v", res.StatusCode, e, err)
	}
	r.get("/v1/SN_MAIN/verification-jobs/vrf_abcdefghijklmnopqrstuvwx", key, http.StatusNotFound)
	r.stop()
}

// describedWorker is what an operator sees of a worker, once it has told its settings.
func describedWorker(t *testing.T, db string) (out string) {
	t.Helper()
	until(t, "the worker's settings", func() bool {
		out = succeed(t, db, "verification", "worker")
		return strings.Contains(out, "builds at once")
	})
	return out
}

func TestAdminVerification(t *testing.T) {
	db := t.TempDir() + "/control.db"
	succeed(t, db, "workspace", "create", "acme")
	if out := succeed(t, db, "verification", "jobs", "--json"); out != "[]\n" {
		t.Errorf("printed %s", out)
	}
	if _, errs, code := output(t, "admin", "verification", "worker", "--control", db); code != exitFailure || !strings.Contains(errs, "no worker has ever") {
		t.Errorf("no worker: %d %s", code, errs)
	}
	if out := succeed(t, db, "verification", "pause", "--reason", "a new disk"); !strings.Contains(out, "a new disk") {
		t.Errorf("printed %s", out)
	}
	d, err := control.Open(t.Context(), control.Options{Path: db})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // the test is over
	repo := verification.New(d, verification.Options{})
	if err := repo.Announce(t.Context(), verification.Chain, "w", ""); err != nil {
		t.Fatal(err)
	}
	if err := repo.Describe(t.Context(), verification.Chain, "w", `{"buildsAtOnce":3,"memoryBytes":1073741824}`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"w", "not taken: the operator has paused the intake: a new disk", "builds at once  3", "1024 MiB"} {
		if out := succeed(t, db, "verification", "worker"); !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if out := succeed(t, db, "verification", "worker", "--json"); !strings.Contains(out, `"available": false`) || !strings.Contains(out, `"buildsAtOnce": 3`) {
		t.Errorf("printed %s", out)
	}
	// One job that is damaged does not hide the others.
	succeed(t, db, "workspace", "create", "other")
	for _, name := range []string{"acme", "other"} {
		if err := d.Update(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO verification_job (id, workspace_id, chain_id, idempotency_key, package, package_digest, state, active, upload_bytes, upload_expires_at, created_at, updated_at)
				SELECT 'vrf_' || name, id, 'SN_MAIN', 'k', '{}', '', 'queued', 1, 1, 1, 1, 1 FROM workspace WHERE name = $1`, name)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if out := succeed(t, db, "verification", "jobs"); strings.Count(out, "queued, damaged") != 2 {
		t.Errorf("printed %s", out)
	}
	if out := succeed(t, db, "verification", "jobs", "--json"); strings.Count(out, `"damage": "`) != 2 {
		t.Errorf("printed %s", out)
	}
	// What another worker is set up by is not known by that.
	if err := repo.Announce(t.Context(), verification.Chain, "w2", ""); err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, db, "verification", "worker", "--json"); !strings.Contains(out, `"settings": null`) {
		t.Errorf("printed %s", out)
	}
	if err := repo.Available(t.Context(), verification.Chain); err == nil || !strings.Contains(err.Error(), "a new disk") {
		t.Errorf("paused: %v", err)
	}
	succeed(t, db, "verification", "resume")
	if err := repo.Available(t.Context(), verification.Chain); err != nil {
		t.Errorf("resumed: %v", err)
	}
	for _, args := range [][]string{{"jobs", "--state", "sleeping"}, {"jobs", "--limit", "0"}, {"pause", "--reason", " "}} {
		if out, _, code := output(t, append(append([]string{"admin", "verification"}, args...), "--control", db)...); code == 0 {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// TestVerifierFlags: what a build may use is checked before anything runs.
func TestVerifierFlags(t *testing.T) {
	for _, c := range []struct{ flag, value, says string }{
		{"builds", "0", "1 to 16"}, {"builds", "17", "1 to 16"}, {"build-user", "0", "not root's"}, {"build-time", "10ms", "1s to 1h"}, {"build-time", "2h", "1s to 1h"},
		{"build-cpus", "0", "0.1 to 256"}, {"build-cpus", "NaN", "0.1 to 256"}, {"build-memory", "1MiB", "64MiB"}, {"build-memory", "3", "is not a size"}, {"build-processes", "2", "8 to 4096"},
		{"build-space", "4GiB", "of which it is a part"}, {"build-output", "17MiB", "1MiB to 16MiB"}, {"build-text", "1KiB", "64KiB"},
		{"cgroup", "/nowhere", "no such folder"}, {"scratch", "/nowhere", "no such folder"},
	} {
		for _, command := range [][]string{{"serve", "--data", t.TempDir(), "--node", "http://127.0.0.1:1"}, {"worker", "--store", "postgres://127.0.0.1:1/x", "--node", "http://127.0.0.1:1"}} {
			if out, errs, code := output(t, append(command, "--verification-"+c.flag, c.value)...); code != exitUsage || !strings.Contains(errs, c.says) || !strings.Contains(errs, "verification-"+c.flag) {
				t.Errorf("%s --verification-%s %s: %d %s%s", command[0], c.flag, c.value, code, out, errs)
			}
		}
	}
}

// TestBuildLimits: what the flags say of a build is what it gets.
func TestBuildLimits(t *testing.T) {
	t.Parallel() // it waits for compilers
	policy := toolchaintest.Policy(t)
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	source, p, err := shipped.Archive()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags verifierFlags
		code  string
	}{
		{"enough", verifierFlags{VerificationBuildMemory: 512 * mib, VerificationBuildTime: time.Minute}, ""},
		{"little memory", verifierFlags{VerificationBuildMemory: 16 * mib}, sandboxed.LimitExceeded},
		{"a small class", verifierFlags{VerificationBuildOutput: 100}, sandboxed.LimitExceeded},
	} {
		c.flags.VerificationToolchains, c.flags.VerificationScratch = policy, sandboxtest.Folder(t)
		o := c.flags.options()
		o.Sandbox.Helper = exe // that of a test is not static under the race detector
		b, err := sandboxed.New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Build(t.Context(), bytes.NewReader(source), p)
		var failure *sandboxed.Failure
		if errors.As(err, &failure) != (c.code != "") || failure != nil && failure.Code != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestToolchainOutOfReach: compilers that a build cannot get to are known before one is tried.
func TestToolchainOutOfReach(t *testing.T) {
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "policy")
	if err := os.CopyFS(dir, os.DirFS(toolchaintest.Policy(t))); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o700) // for root alone, whose builds are another user's
	if os.Geteuid() != 0 {
		mode = 0
	}
	if err := os.Chmod(filepath.Dir(dir), mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Dir(dir), 0o700) }) //nolint:errcheck // to take it away
	o := (&verifierFlags{VerificationToolchains: dir}).options()
	o.Sandbox.Helper = exe
	b, err := sandboxed.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // the test is over
	if err := b.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

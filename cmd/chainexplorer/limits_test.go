package main

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/store/postgres/pgtest"
)

// TestLimitsAcrossProcesses: two API processes on one database accept a key's
// budget between them and not one request more.
func TestLimitsAcrossProcesses(t *testing.T) {
	t.Parallel() // it waits for processes
	url := pgtest.Database(t)
	if _, stderr, code := output(t, "index", "--node", simulated(t, "SN_SEPOLIA", 5), "--store", url, "--to", "4"); code != 0 {
		t.Fatalf("index ended with %d:\n%s", code, stderr)
	}
	succeed(t, url, "workspace", "create", "small", "--plan", "free")
	key := keyText.FindString(succeed(t, url, "key", "create", "--workspace", "small"))
	// A class whose budget is within a burst, which each process counts on its own.
	limit := int64(account.Free.Policy().BatchPerMinute)
	var accepted atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		api := startProgram(t, "api", "--listen=127.0.0.1:0", "--store", url, "--chain", "SN_SEPOLIA")
		defer api.stop()
		for range 2 {
			all.Go(func() {
				for range limit {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.base+"/v1/SN_SEPOLIA/address/summaries", strings.NewReader(`{"addresses":["0x1"]}`))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("X-Service-Api-Key", key)
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					res.Body.Close() //nolint:errcheck // only the status counts
					if res.StatusCode == http.StatusOK {
						accepted.Add(1)
					} else if res.StatusCode != http.StatusTooManyRequests {
						t.Errorf("status %d", res.StatusCode)
						return
					}
				}
			})
		}
	}
	all.Wait()
	if accepted.Load() != limit {
		t.Errorf("%d requests were accepted, the limit is %d", accepted.Load(), limit)
	}
}

package api_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// TestAnswersSideBySide asks for transactions and blocks, none of which is kept, by many at once, and finds in each
// answer what it says to one who asks alone: answers are made in memory that is used again.
func TestAnswersSideBySide(t *testing.T) {
	w := newWorld(t, 30, func(o *options) { o.CacheBytes = 1 })
	key := w.LimitedKey(account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, BatchPerMinute: 1e9})
	ask := func(path string) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		if err != nil {
			return "", err
		}
		req.Header.Set(kernel.HeaderKey, key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close() //nolint:errcheck // it was read
		body, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d: %s", res.StatusCode, body)
		}
		return string(body), err
	}
	var paths, alone []string
	for n := range uint64(30) {
		paths = append(paths, fmt.Sprintf("/v1/%s/block/%d", chainID, n))
		for _, tx := range w.Chain.BlockAt(n).Transactions {
			paths = append(paths, fmt.Sprintf("/v1/%s/tx/%s", chainID, tx.Hash))
		}
	}
	for _, path := range paths {
		answer, err := ask(path)
		if err != nil {
			t.Fatalf("GET %s: %v", path, err)
		}
		alone = append(alone, answer)
	}
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			for i := range paths {
				k := (i*7 + n*31) % len(paths)
				if answer, err := ask(paths[k]); err != nil || answer != alone[k] {
					t.Errorf("GET %s beside others: %v, %.200s", paths[k], err, answer)
					return
				}
			}
		})
	}
	all.Wait()
}

package verification

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/routes"
	"chainexplorer/internal/verification/sample"
)

// BenchmarkHidden asks about the job of another workspace and about one that does not exist, in turn, over HTTP.
// "apart" is how often the first takes longer than the second, of all pairs: 0.5 when nobody can tell them apart,
// with a standard error of 0.018 for 500 requests each. Run it with -benchtime 500x.
func BenchmarkHidden(b *testing.B) {
	data, p, err := sample.Archive()
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range databases {
		b.Run(kind.name, func(b *testing.B) {
			db, accounts, jobs, spaces := desk(b, kind.at(b), 2)
			j, _, err := jobs.Create(b.Context(), job.Request{Actor: "key", WorkspaceID: spaces[0].ID, Chain: job.Chain, IdempotencyKey: "k", Package: p})
			if err != nil {
				b.Fatal(err)
			}
			key, err := accounts.CreateKey(b.Context(), account.NewKey{WorkspaceID: spaces[1].ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
			if err != nil {
				b.Fatal(err)
			}
			secret := db.CursorSecret()
			k, err := kernel.New(kernel.Options{Keys: account.NewAuthenticator(accounts, nil), Cursors: kernel.NewCursors(secret[:]), Address: "127.0.0.1:1"})
			if err != nil {
				b.Fatal(err)
			}
			routes.New(k, routes.Options{Jobs: jobs, Chains: []string{job.Chain}})
			server := httptest.NewServer(k)
			defer server.Close()
			ask := func(method, path string, body []byte) time.Duration {
				req, err := http.NewRequestWithContext(b.Context(), method, server.URL+"/v1/"+job.Chain+"/verification-jobs/"+path, bytes.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("X-Service-Api-Key", key.Plaintext)
				if body != nil {
					req.Header.Set("Content-Type", "application/gzip")
				}
				start := time.Now()
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, res.Body)
				took := time.Since(start)
				res.Body.Close() //nolint:errcheck // read to its end
				if err != nil || res.StatusCode != http.StatusNotFound {
					b.Fatalf("%d, %v", res.StatusCode, err)
				}
				return took
			}
			absent := "vrf_" + strings.Repeat("q", len(j.ID)-4)
			for _, c := range []struct {
				name, method, path string
				body               []byte
			}{{"look", http.MethodGet, "", nil}, {"cancel", http.MethodPost, "/cancel", nil}, {"receipt", http.MethodGet, "/receipt", nil}, {"upload", http.MethodPut, "/source", data}} {
				b.Run(c.name, func(b *testing.B) {
					var theirs, nobodys []time.Duration
					for b.Loop() {
						theirs = append(theirs, ask(c.method, j.ID+c.path, c.body))
						nobodys = append(nobodys, ask(c.method, absent+c.path, c.body))
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(apart(theirs, nobodys), "apart")
					b.ReportMetric(micros(theirs), "foreign-us")
					b.ReportMetric(micros(nobodys), "absent-us")
				})
			}
		})
	}
}

// apart is the share of pairs of which the first is the longer one; equal ones count half.
func apart(first, second []time.Duration) float64 {
	n := 0.0
	for _, a := range first {
		for _, b := range second {
			switch {
			case a > b:
				n++
			case a == b:
				n += 0.5
			}
		}
	}
	return n / float64(len(first)*len(second))
}

// micros is the median.
func micros(list []time.Duration) float64 {
	list = slices.Sorted(slices.Values(list))
	return float64(list[len(list)/2].Nanoseconds()) / 1e3
}

// Command democheck starts the demo as a new user would, waits until it is
// ready, signs in by the link that it printed, and calls every route and page that
// the service publishes, with the key that it printed.
//
//	go run ./scripts/democheck            start 'go run ./cmd/chainexplorer demo' here and check it
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "democheck:", err)
		os.Exit(1)
	}
}

var (
	keyLine  = regexp.MustCompile(`API key\s+(svc_\S+)`)
	baseLine = regexp.MustCompile(`Pages\s+(http://\S+?)/?$`)
	dataLine = regexp.MustCompile(`Data\s+(\S+)`)
	curlLine = regexp.MustCompile(`^\s+curl -H 'X-Service-Api-Key: (\S+)' '?([^']+)'?$`)
)

func run(ctx context.Context) (err error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/chainexplorer", "demo", "--listen=127.0.0.1:0", "--interval=1s")
	// The group is ended as a whole: go run starts a child of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it may have ended
		if werr := cmd.Wait(); err == nil && werr != nil {
			var exit *exec.ExitError
			if !errors.As(werr, &exit) {
				err = werr
			}
		}
	}()
	d, err := readGreeting(out)
	if err != nil {
		return err
	}
	go io.Copy(io.Discard, out) //nolint:errcheck // until it ends
	if len(d.curls) < 3 {
		return fmt.Errorf("the demo printed %d curl lines", len(d.curls))
	}
	for _, url := range d.curls {
		if err := d.expect(ctx, url, http.StatusOK); err != nil {
			return err
		}
	}
	if err := d.signIn(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(d.data); err != nil {
		return fmt.Errorf("the demo names its data directory: %w", err)
	}
	chains, err := d.chains(ctx)
	if err != nil {
		return err
	}
	n := 0
	for i, chain := range chains {
		if err := d.verified(ctx, chain); err != nil {
			return err
		}
		m, err := d.everyOperation(ctx, chain, i == 0)
		if err != nil {
			return err
		}
		n += m
	}
	for _, page := range []string{"/", "/docs", "/docs/api", "/llms.txt", "/.well-known/api-catalog", "/service-openapi.yaml", "/healthz", "/readyz"} {
		if err := d.expect(ctx, d.base+page, http.StatusOK); err != nil {
			return err
		}
		n++
	}
	fmt.Printf("democheck: the demo is ready, the blocks of %s are verified, and %d routes and pages answer\n", strings.Join(chains, " and "), n+len(d.curls))
	return nil
}

type demo struct {
	base, key, link, data string
	curls                 []string
}

func readGreeting(out io.Reader) (*demo, error) {
	d := &demo{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		fmt.Println("  | " + linkLine.ReplaceAllString(keyLine.ReplaceAllString(line, "API key  (shown)"), "Sign in  (shown)"))
		if m := linkLine.FindStringSubmatch(line); m != nil {
			d.link = m[1]
		}
		if m := keyLine.FindStringSubmatch(line); m != nil {
			d.key = m[1]
		}
		if m := dataLine.FindStringSubmatch(line); m != nil {
			d.data = m[1]
		}
		if m := baseLine.FindStringSubmatch(line); m != nil {
			d.base = m[1]
		}
		if m := curlLine.FindStringSubmatch(line); m != nil {
			d.curls = append(d.curls, m[2])
		}
		if strings.HasPrefix(line, "Stop with") {
			return d, nil
		}
	}
	return nil, errors.New("the demo ended before it was ready")
}

func (d *demo) fetch(ctx context.Context, url string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Service-Api-Key", d.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

func (d *demo) expect(ctx context.Context, url string, want int) error {
	status, body, err := d.fetch(ctx, url)
	if err == nil && (status != want || len(body) == 0) {
		err = fmt.Errorf("GET %s: %d, want %d: %.300s", url, status, want, body)
	}
	return err
}

// await is expect for what may still be made ready when the demo has just begun,
// such as a census.
func (d *demo) await(ctx context.Context, url string, want int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		status, _, err := d.fetch(ctx, url)
		if err != nil || status != http.StatusServiceUnavailable {
			return d.expect(ctx, url, want)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("GET %s: still %d", url, status)
		}
	}
}

// verified waits until the auditor has been at work, and finds that the hashes of
// every block were recomputed, once while indexing and some once more.
func (d *demo) verified(ctx context.Context, chain string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		var s struct {
			IndexedBlockSpan int
			Verification     struct {
				VerifiedBlocks, NotCheckedBlocks, UnverifiedBlocks, UnknownBlocks int
				Audit                                                             *struct{ VerifiedBlocks, UnprovedBlocks, Mismatches int }
			}
		}
		if err := d.read(ctx, "/v1/"+chain+"/status", &s); err != nil {
			return err
		}
		v := s.Verification
		if v.VerifiedBlocks == 0 || v.NotCheckedBlocks+v.UnverifiedBlocks+v.UnknownBlocks > 0 {
			return fmt.Errorf("of %d blocks %d are verified, %d not checked, %d unverified, %d unknown", s.IndexedBlockSpan, v.VerifiedBlocks, v.NotCheckedBlocks, v.UnverifiedBlocks, v.UnknownBlocks)
		}
		if a := v.Audit; a != nil && a.UnprovedBlocks+a.Mismatches > 0 {
			return fmt.Errorf("the auditor disputes the demo's chain: %+v", *a)
		} else if a != nil && a.VerifiedBlocks > 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.New("the auditor has done nothing")
		}
	}
}

// The token of every chain, and a function of it.
const (
	feeToken         = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
	decimalsSelector = "0x4c4fb1ab068f6039d5780c68dd0fa2f8742cceb3426d19667778ca7f3518a9"
)

// everyOperation calls each GET of the OpenAPI document with values from the chain. Of the
// first chain, it calls those that belong to none as well, and all by their other address.
func (d *demo) everyOperation(ctx context.Context, chain string, first bool) (int, error) {
	_, doc, err := d.fetch(ctx, d.base+"/service-openapi.json")
	if err != nil {
		return 0, err
	}
	var spec struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(doc, &spec); err != nil {
		return 0, fmt.Errorf("OpenAPI document: %w", err)
	}
	values, err := d.samples(ctx, chain)
	if err != nil {
		return 0, err
	}
	fill := strings.NewReplacer(values...)
	hour := time.Now().UTC().Truncate(time.Hour)
	query := map[string]string{"/v1/{chain}/search": "?q=10", "/v1/{chain}/block-at-timestamp": "?timestamp=" + time.Now().UTC().Format(time.RFC3339),
		"/v1/{chain}/events": "?address=" + feeToken, "/v1/{chain}/stream": "?kind=block&follow=false", "/v1/{chain}/contract/{address}/read": "?selector=" + decimalsSelector,
		"/v1/{chain}/privacy-pool/tvl/series": "?from=" + hour.Add(-3*time.Hour).Format(time.RFC3339) + "&to=" + hour.Format(time.RFC3339)}
	// Nothing is verified yet.
	want := map[string]int{"/v1/{chain}/contract/{address}/verification": http.StatusNotFound, "/v1/{chain}/verification-jobs/{jobId}": http.StatusNotFound,
		"/v1/{chain}/verification-jobs/{jobId}/receipt": http.StatusNotFound, "/v1/SN_MAIN/prove/{jobId}": http.StatusNotFound,
		"/v1/{chain}/webhooks/{webhook_id}": http.StatusNotFound, "/v1/{chain}/webhooks/{webhook_id}/dead-letters": http.StatusNotFound}
	n := 0
	for _, path := range slices.Sorted(keys(spec.Paths)) {
		text, ok := spec.Paths[path]["get"]
		if !ok || !first && !strings.Contains(path, "{chain}") {
			continue
		}
		var op struct {
			Deprecated bool
			Scope      string `json:"x-service-scope"`
		}
		if err := json.Unmarshal(text, &op); err != nil {
			return n, fmt.Errorf("OpenAPI document: %s: %w", path, err)
		}
		switch {
		case op.Scope == "session": // the demo has a key, and nobody is signed in
			want[path] = http.StatusUnauthorized
		case op.Deprecated && want[path] == 0: // a legacy view that is still there says what it knows
			want[path] = http.StatusGone
		}
		prefixes := []string{"", "/api"}
		if !first {
			prefixes = prefixes[:1]
		}
		for _, prefix := range prefixes {
			if err := d.await(ctx, d.base+prefix+fill.Replace(path)+query[path], max(want[path], http.StatusOK)); err != nil {
				return n, err
			}
			n++
		}
	}
	if n == 0 {
		return 0, errors.New("the OpenAPI document has no operations")
	}
	m, err := d.everyFeed(ctx, chain, fill)
	return n + m, err
}

// everyFeed calls the paths of the Voyager-compatible feed, which is in no OpenAPI document: docs/voyager.md lists them.
func (d *demo) everyFeed(ctx context.Context, chain string, fill *strings.Replacer) (n int, err error) {
	for _, path := range []string{"/blocks?ps=10", "/blocks/1", "/txns?p=2", "/txns?to={address}", "/txns/{tx_hash}", "/events?contract={address}", "/events?p=3", "/contracts/{address}",
		"/contracts/{address}/transfers", "/contracts/{address}/token-balances", "/contracts/{address}/erc20-tokens-held", "/classes", "/classes/{class_hash}",
		"/classes/{class_hash}/contracts", "/tokens/{token}/holders", "/messages"} {
		if err := d.await(ctx, d.base+"/"+chain+"/beta"+fill.Replace(path), http.StatusOK); err != nil {
			return n, err
		}
		n++
	}
	return n, d.expect(ctx, d.base+"/beta/contracts", http.StatusNotImplemented)
}

// samples finds values that exist for the parameters of paths.
func (d *demo) samples(ctx context.Context, chain string) ([]string, error) {
	values := []string{"{chain}", chain, "{number_or_hash}", "latest", "{address}", feeToken, "{token}", feeToken}
	for _, s := range []struct{ name, list string }{{"{tx_hash}", "txs"}, {"{message_hash}", "messages"}, {"{class_hash}", "classes"}} {
		var page struct {
			Items []struct{ TxHash, MessageHash, ClassHash string }
		}
		if err := d.read(ctx, "/v1/"+chain+"/"+s.list+"?limit=1", &page); err != nil {
			return nil, err
		}
		if len(page.Items) == 0 {
			return nil, fmt.Errorf("nothing in %s to ask for", s.list)
		}
		one := page.Items[0]
		values = append(values, s.name, map[string]string{"{tx_hash}": one.TxHash, "{message_hash}": one.MessageHash, "{class_hash}": one.ClassHash}[s.name])
	}
	return values, nil
}

// chains are those that the demo serves.
func (d *demo) chains(ctx context.Context) (ids []string, err error) {
	var list struct{ Chains []struct{ ChainID string } }
	if err := d.read(ctx, "/v1/meta/chains", &list); err != nil {
		return nil, err
	}
	for _, c := range list.Chains {
		ids = append(ids, c.ChainID)
	}
	if !slices.Contains(ids, "SN_MAIN") || len(ids) < 2 {
		return nil, fmt.Errorf("the demo serves %v", ids)
	}
	return ids, nil
}

func (d *demo) read(ctx context.Context, path string, into any) error {
	_, body, err := d.fetch(ctx, d.base+path)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

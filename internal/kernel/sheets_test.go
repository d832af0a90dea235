package kernel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// sheet registers a page whose text is what fill writes. It returns how often it was made.
func (w *world) sheet(path string, mood *atomic.Value, fill func(ctx context.Context) (string, error)) *atomic.Int64 {
	var made atomic.Int64
	p := kernel.Sheet{ID: "pageTest", Pattern: "GET " + path, Chain: chainID,
		Make: func(rw http.ResponseWriter, r *http.Request) error {
			made.Add(1)
			text, err := fill(r.Context())
			if err == nil {
				rw.Write([]byte(text)) //nolint:errcheck // a recorder never fails
			}
			return err
		},
		Refuse: func(rw http.ResponseWriter, r *http.Request, e *kernel.Error) {
			rw.WriteHeader(kernel.Codes[e.Code].Status)
			rw.Write([]byte(e.Message)) //nolint:errcheck // as above
		},
		Dress: func(h http.Header) { h.Set("Content-Type", "text/html") },
	}
	if mood != nil {
		p.Mood = func(context.Context) string { return mood.Load().(string) }
	}
	w.Server.HandleSheet(p)
	return &made
}

// TestAskAnswersAsTheAPI: what a page is handed is, encoded, what a client is sent, and
// what fails for a client fails for a page in the same words.
func TestAskAnswersAsTheAPI(t *testing.T) {
	w := sharedWorld(t, 40)
	var b api.Block
	w.Get("/block/20", &b)
	tx, from := b.Transactions[0].TxHash.String(), b.Transactions[0].FromAddress.String()
	ctx := kernel.WithRequest(t.Context(), &kernel.Request{Caller: &kernel.Caller{}})
	for _, c := range []struct {
		id    string
		query url.Values
		path  []string
	}{
		{"getBlock", nil, []string{"20"}},
		{"getBlock", url.Values{"tx_limit": {"3"}}, []string{"latest"}},
		{"listBlocks", url.Values{"limit": {"7"}}, nil},
		{"getTransaction", url.Values{"logLimit": {"2"}}, []string{tx}},
		{"getAddress", nil, []string{from}},
		{"listAddressTransactions", url.Values{"limit": {"5"}}, []string{from}},
		{"search", url.Values{"q": {"20"}}, nil},
		{"getBlock", nil, []string{"99999"}},
		{"getBlock", nil, []string{"0xzz"}},
		{"getTransaction", nil, []string{"0x1"}},
		{"listBlocks", url.Values{"limit": {"x"}}, nil},
		{"listBlocks", url.Values{"nothing": {"1"}}, nil},
		{"listBlocks", url.Values{"cursor": {"AAAA"}}, nil},
		{"getBlockAtTimestamp", nil, nil},
	} {
		path := append([]string{chainID}, c.path...)
		got, err := w.Server.Ask(ctx, c.id, c.query, path...)
		var e *kernel.Error
		if err == nil {
			asked := kernel.RequestOf(ctx).Asked()
			r := w.Do(http.MethodGet, asked[len(asked)-1].URI, w.Key)
			var text bytes.Buffer
			enc := json.NewEncoder(&text)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(got); err != nil {
				t.Fatal(err)
			}
			if r.StatusCode != http.StatusOK || !bytes.Equal(bytes.TrimSpace(text.Bytes()), r.Plain()) {
				t.Errorf("%s %v %v: a page is handed\n%s\nand a client %d\n%s", c.id, c.path, c.query, text.Bytes(), r.StatusCode, r.Plain())
			}
			continue
		}
		if !errors.As(err, &e) {
			t.Errorf("%s %v %v: %v has no code", c.id, c.path, c.query, err)
			continue
		}
		at := map[string]string{"getBlock": "/block/", "getTransaction": "/tx/", "listBlocks": "/blocks", "getBlockAtTimestamp": "/block-at-timestamp"}[c.id]
		if len(c.path) > 0 {
			at += c.path[0]
		}
		r := w.Do(http.MethodGet, "/v1/"+chainID+at+"?"+c.query.Encode(), w.Key)
		if told := r.Envelope(); told.Code != e.Code || told.Message != e.Message {
			t.Errorf("%s %v %v: a page is told %s %q, and a client %s %q", c.id, c.path, c.query, e.Code, e.Message, told.Code, told.Message)
		}
	}
}

// TestSheetsAreKept until the next block, for each mood apart, when they follow from the
// chain alone; what asked nothing, or met a failure, is made anew.
func TestSheetsAreKept(t *testing.T) {
	w := newWorld(t, 10)
	var mood atomic.Value
	mood.Store("")
	latest := func(ctx context.Context) (string, error) {
		b, err := w.Server.Ask(ctx, "getBlock", nil, chainID, "latest")
		if err != nil {
			return "", err
		}
		return b.(*api.Block).BlockHash.String(), nil
	}
	kept := w.sheet("/kept", &mood, latest)
	bare := w.sheet("/bare", nil, func(context.Context) (string, error) { return "bare", nil })
	failing := w.sheet("/failing", nil, func(ctx context.Context) (string, error) {
		if _, err := w.Server.Ask(ctx, "getBlock", nil, chainID, "999"); err == nil {
			t.Error("there is a block 999")
		}
		return latest(ctx)
	})
	lasting := w.sheet("/lasting", nil, func(ctx context.Context) (string, error) {
		kernel.RequestOf(ctx).Settle(true, true)
		b, err := w.Server.Ask(ctx, "listBlockTransactions", nil, chainID, "0")
		if err != nil {
			return "", err
		}
		return b.(*api.TxPreviewPage).Items[0].TxHash.String(), nil
	})
	look := func(path string, made *atomic.Int64, want int64) {
		t.Helper()
		for range 2 {
			if r := w.Do(http.MethodGet, path, ""); r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/html" || r.Header.Get("ETag") == "" {
				t.Fatalf("%s: %d %v", path, r.StatusCode, r.Header)
			}
		}
		if got := made.Load(); got != want {
			t.Errorf("%s was made %d times, want %d", path, got, want)
		}
	}
	look("/kept", kept, 1)
	look("/kept?x=1", kept, 2)
	mood.Store("stalled")
	look("/kept", kept, 3)
	look("/bare", bare, 2)
	look("/failing", failing, 2)
	look("/lasting", lasting, 1)
	w.Chain.Extend(1)
	w.CatchUp()
	look("/kept", kept, 4)
	look("/lasting", lasting, 2) // block 0 is not accepted on L1 here, so it lasted until the next block
}

// TestSheetsAreKeptForAMoment: what tells of names or of the clock is kept until something is
// written to the index, be it no block, and no longer than a moment. What a node told is not
// kept at all.
func TestSheetsAreKeptForAMoment(t *testing.T) {
	w := newWorld(t, 10)
	who := w.Chain.BlockAt(3).Transactions[0].Sender.String()
	asking := func(ids ...string) func(ctx context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			for _, id := range ids {
				path := []string{chainID, who}
				if id == "getStatus" {
					path = path[:1]
				}
				if _, err := w.Server.Ask(ctx, id, nil, path...); err != nil {
					return "", err
				}
			}
			return who, nil
		}
	}
	names := w.sheet("/names", nil, asking("getAddressAttribution", "discoverAssets"))
	node := w.sheet("/node", nil, asking("getAddressAttribution", "getStatus"))
	look := func(path string, made *atomic.Int64, want int64) {
		t.Helper()
		for range 2 {
			if r := w.Do(http.MethodGet, path, ""); r.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", path, r.StatusCode, r.Plain())
			}
		}
		if got := made.Load(); got != want {
			t.Errorf("%s was made %d times, want %d", path, got, want)
		}
	}
	look("/names", names, 1)
	look("/node", node, 2)
	w.Describe(felt.FromUint64(1), &class.Interface{}) // no block, and nothing of one
	look("/names", names, 2)
	w.Clock.Advance(5 * time.Second)
	look("/names", names, 3)
	w.Chain.Extend(1)
	w.CatchUp()
	look("/names", names, 4)
}

// TestSheetsSeeOneView: what a page asks is of one moment, though the chain goes on.
func TestSheetsSeeOneView(t *testing.T) {
	w := newWorld(t, 10)
	w.sheet("/pinned", nil, func(ctx context.Context) (text string, err error) {
		err = w.Routes.Pin(ctx, chainID, func(ctx context.Context, _ *api.Chain, _ explorer.Reader, state *chain.State) error {
			w.Chain.Extend(3)
			w.CatchUp()
			b, err := w.Server.Ask(ctx, "getBlock", nil, chainID, "latest")
			if err == nil && b.(*api.Block).BlockNumber != state.Head.Number {
				t.Errorf("asked at %d and answered from %d", state.Head.Number, b.(*api.Block).BlockNumber)
			}
			return err
		})
		return "seen", err
	})
	if r := w.Do(http.MethodGet, "/pinned", ""); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.Plain())
	}
}

// TestSheetsAreBounded: one address has so many pages at work and no more, and who comes
// with a key is served meanwhile.
func TestSheetsAreBounded(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 3, func(o *options) { o.MaxInFlight = 64 }) // 16 pages, 2 of an address
	release, entered := make(chan struct{}), make(chan struct{}, 8)
	w.sheet("/slow", nil, func(ctx context.Context) (string, error) {
		entered <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return "slow", nil
	})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if r := w.Do(http.MethodGet, "/slow", ""); r.StatusCode != http.StatusOK {
				t.Errorf("%d %s", r.StatusCode, r.Plain())
			}
		})
		<-entered
	}
	if r := w.Do(http.MethodGet, "/slow", ""); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a third page: %d", r.StatusCode)
	}
	if r := w.Do(http.MethodGet, statusPath, w.Key); r.StatusCode != http.StatusOK {
		t.Errorf("a key meanwhile: %d", r.StatusCode)
	}
	close(release)
	wg.Wait()
}

package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"chainexplorer/internal/account"
	"chainexplorer/internal/backoff"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/felt"
	job "chainexplorer/internal/job/webhook"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
)

func TestMain(m *testing.M) {
	os.Exit(servertest.Main(func() int { return pgtest.Main(m) }))
}

// item is what all rows have in common, as far as they have it.
type item struct {
	BlockNumber, TxIndex, LogIndex, TransferIndex uint64
}

// message is what a receiver reads.
type message struct {
	Type string
	Data struct {
		Subscription string
		Sequence     int64
		Chain        string
		Block        struct {
			Number uint64
			Hash   felt.Felt
		}
		Part     int64
		Last     *bool
		Items    []json.RawMessage
		Messages []string
	}
	id   string
	body string
}

// receiver takes messages as the guide tells receivers to: it checks the signature, drops
// what it has, and forgets what is taken back.
type receiver struct {
	t      *testing.T
	secret string
	// answer decides what is answered to a message, before it is applied: 0 is 204, and a
	// negative status cuts the connection after it was applied.
	answer func(n int, m *message) int

	mu       sync.Mutex
	requests int
	all      map[string]*message // by id
	order    []*message          // as they first came
	applied  []*message          // that were not taken back
	next     int64
	failed   bool
}

func (r *receiver) fail(format string, args ...any) {
	if !r.failed {
		r.failed = true
		r.t.Errorf(format, args...)
	}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	verifier, err := standard.NewWebhook(r.secret)
	if err == nil {
		err = verifier.Verify(body, req.Header)
	}
	m := &message{id: req.Header.Get("webhook-id"), body: string(body)}
	if err == nil {
		err = json.Unmarshal(body, m)
	}
	if err != nil {
		r.fail("a message that is none: %v", err)
		return
	}
	r.requests++
	status := 0
	if r.answer != nil {
		status = r.answer(r.requests, m)
	}
	if status > 0 && (status < 200 || status > 299) {
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		return
	}
	r.take(m)
	if status < 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) take(m *message) {
	if had := r.all[m.id]; had != nil {
		if had.body != m.body {
			r.fail("message %s has two bodies", m.id)
		}
		return
	}
	if r.all == nil {
		r.all, r.next = map[string]*message{}, 1
	}
	r.all[m.id] = m
	r.order = append(r.order, m)
	if m.Data.Sequence != r.next {
		r.fail("message %d came where %d was to come", m.Data.Sequence, r.next)
	}
	r.next = m.Data.Sequence + 1
	if len(m.body) > 400<<10 || len(m.Data.Items) > 100 {
		r.fail("a message of %d bytes, %d items", len(m.body), len(m.Data.Items))
	}
	switch m.Type {
	case "test", "finality", "fork":
	case "retracted":
		if len(r.applied) == 0 {
			r.fail("%s takes back what is not there", m.id)
			return
		}
		// In reverse order: it takes back the newest that there is.
		n := len(r.applied) - len(m.Data.Messages)
		for i, id := range m.Data.Messages {
			if n < 0 || r.applied[n+i].id != id || r.applied[n+i].Data.Block.Hash != m.Data.Block.Hash {
				r.fail("%s takes back %v, which are not the newest", m.id, m.Data.Messages)
				return
			}
		}
		r.applied = r.applied[:n]
	default:
		if n := len(r.applied); n > 0 {
			last := r.applied[n-1]
			goesOn := !*last.Data.Last && last.Data.Block == m.Data.Block && m.Data.Part == last.Data.Part+1
			if !goesOn && (last.Data.Block.Number >= m.Data.Block.Number || !*last.Data.Last || m.Data.Part != 1) {
				r.fail("part %d of block %d %s follows part %d of block %d %s", m.Data.Part, m.Data.Block.Number, m.Data.Block.Hash, last.Data.Part, last.Data.Block.Number, last.Data.Block.Hash)
			}
		}
		r.applied = append(r.applied, m)
	}
}

// items are those that count.
func (r *receiver) items(c *simnode.Chain) (out []item, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.applied {
		head, _ := c.Head()
		if m.Data.Block.Number > head || c.BlockAt(m.Data.Block.Number).Hash != m.Data.Block.Hash {
			return nil, fmt.Errorf("message %s is of block %d %s, which is not there", m.id, m.Data.Block.Number, m.Data.Block.Hash)
		}
		for _, raw := range m.Data.Items {
			var x item
			if err := json.Unmarshal(raw, &x); err != nil {
				return nil, err
			}
			if m.Type == "block" {
				x.BlockNumber = m.Data.Block.Number
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// world is a chain, its index, and webhooks of it.
type world struct {
	*servertest.World
	db     *control.DB
	hooks  *webhook.Repo
	feed   *feed.Reader
	server *httptest.Server
	mux    *http.ServeMux
	roots  *tls.Config
}

func newWorld(t *testing.T, blocks int) *world {
	t.Helper()
	return newWorldOn(t, blocks, controltest.File(t))
}

// newWorldOn has its webhooks in a database of either kind.
func newWorldOn(t *testing.T, blocks int, database string) *world {
	t.Helper()
	w := &world{mux: http.NewServeMux()}
	w.World = servertest.NewOn(t, blocks, database, func(o *servertest.Options) { w.db = o.Control() })
	w.hooks, w.feed = webhook.New(w.db, webhook.Options{}), w.Routes.Feed(servertest.ChainID)
	w.server = httptest.NewUnstartedServer(w.mux)
	w.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	w.server.StartTLS()
	t.Cleanup(w.server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(w.server.Certificate())
	w.roots = &tls.Config{RootCAs: roots}
	return w
}

func (w *world) owner() webhook.Owner {
	return webhook.Owner{Actor: "key_1", WorkspaceID: w.Space.ID, Chain: servertest.ChainID}
}

// stranger is somebody of another workspace.
func (w *world) stranger() webhook.Owner {
	w.T.Helper()
	space, err := w.Repo.CreateWorkspace(w.T.Context(), fmt.Sprint("stranger ", rand.Uint64()), account.Free)
	if err != nil {
		w.T.Fatal(err)
	}
	return webhook.Owner{Actor: "key_2", WorkspaceID: space.ID, Chain: servertest.ChainID}
}

// subscribe makes a webhook whose receiver answers at a path of its own.
func (w *world) subscribe(filter string, from uint64, answer func(n int, m *message) int) (*webhook.Subscription, *receiver) {
	w.T.Helper()
	return w.subscribeAs(w.owner(), filter, from, answer)
}

func (w *world) subscribeAs(who webhook.Owner, filter string, from uint64, answer func(n int, m *message) int) (*webhook.Subscription, *receiver) {
	w.T.Helper()
	f, err := feed.Parse([]byte(filter))
	if err != nil {
		w.T.Fatal(err)
	}
	at, err := w.feed.Before(w.T.Context(), from)
	if err != nil {
		w.T.Fatal(err)
	}
	p, err := job.PositionOf(at)
	if err != nil {
		w.T.Fatal(err)
	}
	r := &receiver{t: w.T, answer: answer}
	path := fmt.Sprintf("/%d", rand.Uint64())
	w.mux.Handle(path, r)
	s, secret, err := w.hooks.Create(w.T.Context(), webhook.Request{Owner: who, Most: webhook.Most(account.Enterprise), URL: w.server.URL + path, Kind: string(f.Kind), Filter: f.String(), From: p, FromNumber: int64(from)})
	if err != nil {
		w.T.Fatal(err)
	}
	r.secret = secret
	return s, r
}

// process delivers until it is ended, in the way that the runner lets a job work.
type process struct {
	*job.Job
	end func()
}

func (w *world) client(timeout time.Duration) *egress.Client {
	return egress.New(egress.Options{Policy: egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Roots: w.roots, Timeout: timeout, PerHost: 100})
}

func (w *world) deliver(change ...func(*job.Job)) *process {
	w.T.Helper()
	o := job.Job{Webhooks: w.hooks, Feed: w.feed, Client: w.client(time.Second), Retry: backoff.Policy{Min: time.Millisecond, Max: 10 * time.Millisecond}, Flush: 20 * time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	p := &process{Job: job.New(o)}
	ctx, cancel := context.WithCancel(w.T.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if _, err := p.Step(ctx, nil); err != nil && ctx.Err() == nil {
				w.T.Errorf("a step: %v", err)
				return
			}
		}
	}()
	p.end = func() {
		cancel()
		<-ended
		o.Client.Close()
	}
	w.T.Cleanup(p.end)
	return p
}

// until waits for something to be so.
func (w *world) until(what string, so func() (bool, error)) {
	w.T.Helper()
	var ok bool
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !w.T.Failed(); {
		if ok, err = so(); ok && err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.T.Fatalf("%s: %v", what, err)
}

// truth is what the chain itself has to tell.
func truth(c *simnode.Chain, filter string, from uint64) (out []item) {
	f, err := feed.Parse([]byte(filter))
	if err != nil {
		panic(err)
	}
	head, _ := c.Head()
	in := func(list []felt.Felt, v felt.Felt) bool { return len(list) == 0 || slices.Contains(list, v) }
	switch f.Kind {
	case feed.Blocks:
		for n := from; n <= head; n++ {
			out = append(out, item{BlockNumber: n})
		}
	case feed.Events:
		for _, e := range c.Events(simnode.EventFilter{From: from, To: head, Addresses: f.Address, Keys: f.Topics[:]}) {
			out = append(out, item{e.Block.Number, uint64(e.TxIndex), uint64(e.Index), 0})
		}
	case feed.Transfers:
		for n := from; n <= head; n++ {
			b := c.BlockAt(n)
			for i := range b.Receipts {
				for _, m := range transfer.Of(b.Receipts[i].Events) {
					if in(f.Token, m.Token) && in(f.From, m.From) && in(f.To, m.To) {
						out = append(out, item{n, uint64(i), uint64(m.Log), uint64(m.Index)})
					}
				}
			}
		}
	}
	return out
}

// same waits until a receiver has exactly what the chain has to tell.
func (w *world) same(filter string, from uint64, r *receiver) {
	w.T.Helper()
	want := truth(w.Chain, filter, from)
	w.until("what was told of "+strings.SplitN(filter, "\n", 2)[0], func() (bool, error) {
		got, err := r.items(w.Chain)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%d items, want %d", len(got), len(want))
		}
		return err == nil, err
	})
}

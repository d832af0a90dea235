// Command webhook measures what webhooks cost: deliveries per second over loopback, against
// a bare client that posts the same bytes in the same run, and what a new block costs for
// subscriptions that nothing matches.
//
//	go run ./bench/webhook
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	delivery "chainexplorer/internal/job/webhook"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
)

func main() {
	blocks := flag.Int("blocks", 200, "blocks of the chain")
	hooks := flag.Int("webhooks", 32, "webhooks that are told of every block")
	idle := flag.Int("idle", 1000, "webhooks that nothing matches")
	dir := flag.String("dir", "", "where to put the control database; default: the system's temporary directory")
	flag.Parse()
	if err := run(context.Background(), *blocks, *hooks, *idle, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "webhook:", err)
		os.Exit(1)
	}
}

// receiver takes everything.
type receiver struct {
	taken atomic.Int64
	bytes atomic.Int64
	body  atomic.Pointer[[]byte]
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.bytes.Add(int64(len(body)))
	r.body.Store(&body)
	r.taken.Add(1)
	w.WriteHeader(http.StatusNoContent)
}

func run(ctx context.Context, blocks, hooks, idle int, dir string) error {
	tmp, err := os.MkdirTemp(dir, "bench-webhook-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // temporary
	reader, err := indexed(ctx, blocks)
	if err != nil {
		return err
	}
	db, err := control.Open(ctx, control.Options{Path: filepath.Join(tmp, "control.db")})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // temporary
	space, err := account.NewRepository(db, account.Options{}).CreateWorkspace(ctx, "bench", account.Enterprise)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r := &receiver{}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go server.Serve(l)   //nolint:errcheck // until the end
	defer server.Close() //nolint:errcheck // the end
	address := "http://" + l.Addr().String() + "/"

	repo := webhook.New(db, webhook.Options{})
	start, err := delivery.PositionOf(feed.Place{})
	if err != nil {
		return err
	}
	for range hooks {
		_, _, err := repo.Create(ctx, webhook.Request{Owner: webhook.Owner{Actor: "bench", WorkspaceID: space.ID, Chain: reader.Chain}, Most: hooks, URL: address, Kind: "block", Filter: `{"kind":"block"}`, From: start})
		if err != nil {
			return err
		}
	}
	client := egress.New(egress.Options{Policy: egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	defer client.Close()
	n := int64(hooks * blocks)
	job := delivery.New(delivery.Job{Webhooks: repo, Feed: reader, Client: client})
	ending, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	begin := time.Now()
	go func() {
		for {
			if _, err := job.Step(ending, nil); err != nil {
				ended <- err
				return
			}
		}
	}()
	for r.taken.Load() < n {
		select {
		case err := <-ended:
			cancel()
			return err
		case <-time.After(time.Millisecond):
		}
	}
	took := time.Since(begin)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		return err
	}
	ours := float64(n) / took.Seconds()
	fmt.Printf("webhooks: %d messages of %d bytes to %d receivers in %v: %.0f a second\n", n, r.bytes.Load()/n, hooks, took.Round(time.Millisecond), ours)

	bare := float64(n) / post(address, *r.body.Load(), int(n), 8).Seconds()
	fmt.Printf("bare client, 8 at once, the same bytes: %.0f a second; webhooks make %.2f of that\n", bare, ours/bare)

	return look(ctx, reader, uint64(blocks-1), idle)
}

// indexed is the feed of a chain.
func indexed(ctx context.Context, blocks int) (*feed.Reader, error) {
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: blocks})
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return nil, err
	}
	x, err := index.New(index.Options{Store: engine, Source: simsource.Source{Chain: chain}, Verify: index.VerifyOff})
	if err != nil {
		return nil, err
	}
	head, _ := chain.Head()
	if err := x.RunTo(ctx, head); err != nil {
		return nil, err
	}
	return api.NewFeed(api.Chain{ID: "SN_SEPOLIA", Store: engine}), nil
}

// post sends a body n times, several at once, and nothing else.
func post(address string, body []byte, n, workers int) time.Duration {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	begin := time.Now()
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				res, err := client.Post(address, "application/json", bytes.NewReader(body)) //nolint:noctx // a benchmark
				if err != nil {
					continue
				}
				io.Copy(io.Discard, res.Body) //nolint:errcheck // nothing is in it
				res.Body.Close()              //nolint:errcheck // read
			}
		})
	}
	wg.Wait()
	return time.Since(begin)
}

// look measures what a new block costs for filters that match nothing in it.
func look(ctx context.Context, reader *feed.Reader, head uint64, idle int) error {
	at, err := reader.Before(ctx, head)
	if err != nil {
		return err
	}
	begin := time.Now()
	for i := range idle {
		f := feed.Filter{Kind: feed.Events, Address: []felt.Felt{felt.FromUint64(uint64(1_000_000 + i))}}
		if found, _, err := reader.Read(ctx, f, at, 1000, 200); err != nil || len(found) != 0 {
			return fmt.Errorf("%d found: %w", len(found), err)
		}
	}
	took := time.Since(begin)
	fmt.Printf("a new block, %d webhooks that nothing matches: %v, %v each, on one core\n", idle, took.Round(time.Microsecond), (took / time.Duration(idle)).Round(100*time.Nanosecond))
	return nil
}

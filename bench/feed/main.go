// Command feed measures what idle streams cost: how much processor time a new block takes
// for each stream that nothing of it matches, against one look at the same list of the index
// by hand, in one run on the same cores.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/stream"
)

const chainID = "SN_SEPOLIA"

func main() {
	streams := flag.Int("n", 1000, "idle streams")
	blocks := flag.Int("blocks", 20, "new blocks to measure")
	flag.Parse()
	if err := run(context.Background(), *streams, *blocks); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, streams, blocks int) error {
	c := simnode.New(simnode.Config{Seed: 7, Blocks: 200})
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // in memory
	grow := func(n int) error {
		c.Extend(n)
		x, err := index.New(index.Options{Store: engine, Source: simsource.Source{Chain: c}, Verify: index.VerifyOff})
		if err != nil {
			return err
		}
		head, _ := c.Head()
		return x.RunTo(ctx, head)
	}
	if err := grow(0); err != nil {
		return err
	}
	url, key, stop, err := serve(ctx, engine, streams)
	if err != nil {
		return err
	}
	defer stop()
	measure := func() (time.Duration, error) {
		before := spent.CPU()
		for range blocks {
			if err := grow(1); err != nil {
				return 0, err
			}
			time.Sleep(200 * time.Millisecond) // every stream has looked by then
		}
		return spent.CPU() - before, nil
	}
	alone, err := measure()
	if err != nil {
		return err
	}
	for range streams {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/"+chainID+"/stream?kind=event&address=0xdead", nil)
		if err != nil {
			return err
		}
		req.Header.Set("X-Service-Api-Key", key)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return err
		}
		defer res.Body.Close() //nolint:errcheck // until the end
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("a stream is answered %s", res.Status)
		}
	}
	together, err := measure()
	if err != nil {
		return err
	}
	limit, err := byHand(ctx, engine)
	if err != nil {
		return err
	}
	each := (together - alone) / time.Duration(streams*blocks)
	fmt.Printf("%d idle streams, %d new blocks\n  a stream and a block  %8.1f µs of a core\n  a look by hand        %8.1f µs\n  ratio                 %8.1f\n",
		streams, blocks, float64(each.Nanoseconds())/1e3, float64(limit.Nanoseconds())/1e3, float64(each)/float64(limit))
	return nil
}

// byHand is what a look costs at least: a view, the state, and one scan of the list.
func byHand(ctx context.Context, engine pebble.Engine) (time.Duration, error) {
	const looks = 2000
	before := spent.CPU()
	for range looks {
		err := chain.View(ctx, engine, func(r explorer.Reader, s *chain.State) error {
			_, err := event.Search(ctx, r, event.Query{Emitters: []felt.Felt{felt.FromUint64(0xdead)}, From: s.Head.Number, To: s.Head.Number, Order: event.Asc, Limit: 1})
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return (spent.CPU() - before) / looks, nil
}

// serve is the service with streams, and a key that may open all of them.
func serve(ctx context.Context, engine pebble.Engine, streams int) (url, key string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "bench-feed")
	if err != nil {
		return "", "", nil, err
	}
	db, err := control.Open(ctx, control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		return "", "", nil, err
	}
	repo := account.NewRepository(db, account.Options{})
	space, err := repo.CreateWorkspace(ctx, "bench", account.Enterprise)
	if err != nil {
		return "", "", nil, err
	}
	made, err := repo.CreateKey(ctx, account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		return "", "", nil, err
	}
	secret := db.CursorSecret()
	k, err := kernel.New(kernel.Options{Keys: account.NewAuthenticator(repo, nil), Cursors: kernel.NewCursors(secret[:]), Logger: slog.New(slog.NewJSONHandler(io.Discard, nil))})
	if err != nil {
		return "", "", nil, err
	}
	routes, err := api.New(k, api.Options{Chains: []api.Chain{{ID: chainID, Store: engine, Depth: 100}}})
	if err != nil {
		return "", "", nil, err
	}
	s := stream.New(k, routes, stream.Options{Streams: 8 * streams, PerAddress: streams, Every: 20 * time.Millisecond})
	srv := httptest.NewServer(k)
	return srv.URL, made.Plaintext, func() {
		s.Close()
		srv.Close()
		db.Close()        //nolint:errcheck // temporary
		os.RemoveAll(dir) //nolint:errcheck // temporary
	}, nil
}

package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
)

// TestCapabilitiesTellTheBudget: what this very request left, and how long to wait
// when that is nothing.
func TestCapabilitiesTellTheBudget(t *testing.T) {
	w := newWorld(t, 5)
	key := w.LimitedKey(account.Limits{LightPerMinute: 2, HeavyPerMinute: 7})
	ask := func(want string) {
		t.Helper()
		var out struct {
			Caller struct{ RateLimit json.RawMessage }
		}
		r := w.Do(http.MethodGet, "/v1/meta/capabilities", key)
		if err := json.Unmarshal(r.Body, &out); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Compact(&got, out.Caller.RateLimit); err != nil || got.String() != want {
			t.Errorf("%s, %v; want %s", got.String(), err, want)
		}
	}
	ask(`{"loadClass":"light","limitPerMinute":2,"remaining":1,"retryAfterSeconds":null,"lightPerMinute":2,"heavyPerMinute":7,"batchPerMinute":6000,"burst":3000,"bucketScope":"key"}`)
	w.Clock.Advance(20 * time.Second)
	ask(`{"loadClass":"light","limitPerMinute":2,"remaining":0,"retryAfterSeconds":40,"lightPerMinute":2,"heavyPerMinute":7,"batchPerMinute":6000,"burst":3000,"bucketScope":"key"}`)
}

// TestLaterVerification: the answer about a block that was kept is not sent any more
// when the block was verified since.
func TestLaterVerification(t *testing.T) {
	w := newWorld(t, 41)
	status := func() string {
		var b api.Block
		w.Get("/block/3", &b)
		return b.Verification.Status
	}
	if first, again := status(), status(); first != "not_checked" || again != first {
		t.Fatalf("%s, then %s", first, again)
	}
	w.Verify(3)
	if now := status(); now != "verified" {
		t.Errorf("%s after the block was verified", now)
	}
}

// TestKeptAnswersEndWithFork asks for an answer that was kept forever, before
// and after forks at every depth, below the finalized tier and below L1.
func TestKeptAnswersEndWithFork(t *testing.T) {
	w := newWorld(t, 60)
	for _, cut := range []int{3, 15, 45} {
		head, _ := w.Chain.Head()
		number := head - uint64(cut) + 1
		path := fmt.Sprintf("/v1/%s/block/%d", chainID, number)
		before := w.Do(http.MethodGet, path, w.Key)
		w.Do(http.MethodGet, path, w.Key)
		w.Chain.Fork(cut)
		w.Chain.Extend(1)
		w.CatchUp()
		after := w.Do(http.MethodGet, path, w.Key, "If-None-Match", before.Header.Get("ETag"))
		if d := difference(wantBlock(w.Chain.BlockAt(number), 50), after.Body); after.StatusCode != 200 || d != "" {
			t.Fatalf("after a fork of %d: %d %s", cut, after.StatusCode, d)
		}
	}
}

// TestWhileTheChainMoves reads from several goroutines while blocks and forks
// arrive. Each answer must be one that the chain gave at some moment.
func TestWhileTheChainMoves(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 45)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.readConsistently(i, n)
			}
		})
	}
	for _, cut := range []int{0, 2, 0, 14, 1, 0, 38, 3} {
		if cut > 0 {
			w.Chain.Fork(cut)
		}
		w.Chain.Extend(2)
		w.CatchUp()
	}
	stop()
	readers.Wait()
}

// try reads a route below the chain; while a fork is undone the newest blocks
// may be missing.
func (w *world) try(path string, out any) bool {
	r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key)
	if r.StatusCode == http.StatusNotFound && strings.HasPrefix(path, "/block/") {
		return false
	}
	if err := json.Unmarshal(r.Body, out); err != nil || r.StatusCode != http.StatusOK {
		w.T.Errorf("GET %s: %d %s", path, r.StatusCode, r.Body)
		return false
	}
	return true
}

func (w *world) readConsistently(reader, n int) {
	var b api.Block
	var p api.BlockPage
	var s api.Status
	if !w.try("/block/"+[]string{"latest", strconv.Itoa(5 + n%40), "44"}[(reader+n)%3], &b) || !w.try("/blocks?limit=10", &p) || !w.try("/status", &s) {
		return
	}
	truth, _ := w.Chain.BlockByHash(b.BlockHash)
	if truth == nil || truth.Number != b.BlockNumber || len(truth.Transactions) != int(b.TxCount) || truth.ParentHash != b.ParentHash {
		w.T.Errorf("block %d %s never was", b.BlockNumber, b.BlockHash)
		return
	}
	for i, tx := range b.Transactions {
		if tx.TxHash != truth.Transactions[i].Hash {
			w.T.Errorf("block %d: transaction %d is of another block", b.BlockNumber, i)
		}
	}
	for i, item := range p.Items[1:] {
		if item.BlockHash != p.Items[i].ParentHash {
			w.T.Errorf("a page mixes branches at block %d", item.BlockNumber)
		}
	}
	if head, _ := w.Chain.BlockByHash(*s.HeadBlockHash); head == nil || head.Number != *s.LatestIndexedBlockNumber || *s.IndexedBlockSpan != head.Number+1 {
		w.T.Errorf("status: head %s", s.HeadBlockHash)
	}
}

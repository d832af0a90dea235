package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/client"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
)

var strk = felt.MustParse("0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")

// between lets something happen in front of one of the requests.
type between struct {
	at   int // how many requests are let through before
	then func()
}

func (b *between) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.at--; b.at == 0 && b.then != nil {
		b.then()
	}
	return http.DefaultTransport.RoundTrip(req)
}

func open(t *testing.T, w *servertest.World, through http.RoundTripper) *client.Chain {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: w.URL, APIKey: w.Key, HTTP: &http.Client{Transport: through}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Chain(servertest.ChainID)
}

// rows are what a follower has, oldest first.
type rows struct {
	known []client.Ref
	items []client.EventRow
}

// there says whether the chain's head is followed.
func (r *rows) there(chain *simnode.Chain) bool {
	head, _ := chain.Head()
	return len(r.known) > 0 && r.known[len(r.known)-1] == client.Ref{Number: int64(head), Hash: chain.BlockAt(head).Hash.String()}
}

// upto follows until the chain's head is reached, wherever that is by then.
func (r *rows) upto(t *testing.T, chain *simnode.Chain, next func() (client.Change[client.EventRow], error, bool)) (undone int) {
	t.Helper()
	for !r.there(chain) {
		c, err, ok := next()
		if err != nil || !ok {
			t.Fatalf("after %v: %v", r.known, err)
		}
		if c.Undone {
			undone++
			if len(c.Items) > 0 {
				t.Error("items are undone and told")
			}
			r.known = slices.DeleteFunc(r.known, func(k client.Ref) bool { return k.Number > c.Upto.Number })
			r.items = slices.DeleteFunc(r.items, func(e client.EventRow) bool { return e.BlockNumber > c.Upto.Number })
			continue
		}
		for _, e := range c.Items {
			if e.BlockNumber > c.Upto.Number || len(r.known) > 0 && e.BlockNumber <= r.known[len(r.known)-1].Number {
				t.Fatalf("block %d comes with %v after %v", e.BlockNumber, c.Upto, r.known)
			}
		}
		r.known, r.items = append(r.known, c.Upto), append(r.items, c.Items...)
	}
	return undone
}

// check holds the rows against what happened.
func (r *rows) check(t *testing.T, chain *simnode.Chain, from uint64) {
	t.Helper()
	head, _ := chain.Head()
	var want, got []string
	for _, e := range chain.Events(simnode.EventFilter{From: from, To: head, Addresses: []felt.Felt{strk}}) {
		want = append(want, fmt.Sprintln(e.Block.Number, e.Block.Transactions[e.TxIndex].Hash, e.Index, texts(e.Event.Keys), texts(e.Event.Data)))
	}
	for _, e := range r.items {
		got = append(got, fmt.Sprintln(e.BlockNumber, e.TxHash, e.LogIndex, e.Keys, e.Data))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("event %d is %s, and %s happened", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d events are followed, %d happened", len(got), len(want))
	}
	if last := r.known[len(r.known)-1]; last.Hash != chain.BlockAt(uint64(last.Number)).Hash.String() {
		t.Errorf("the last block is %v", last)
	}
}

func texts(felts []felt.Felt) (out []string) {
	for _, f := range felts {
		out = append(out, f.String())
	}
	return out
}

// TestFollow goes along with a chain that forks between and during the requests: what it has
// at the end is what happened, nothing twice and nothing that was undone.
func TestFollow(t *testing.T) {
	w := servertest.New(t, 12)
	rng := rand.New(rand.NewPCG(7, 7))
	hook := &between{}
	chain := open(t, w, hook)
	q := client.SearchEventsQuery{Address: []string{strk.String()}, Limit: 7}
	from := int64(2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, stop := iter.Pull2(chain.FollowEvents(ctx, q, client.FollowOptions{From: &from, Interval: time.Millisecond, Stride: 4}))
	defer stop()
	fork := func() {
		head, _ := w.Chain.Head()
		w.Chain.Fork(min(1+rng.IntN(4), int(head)))
		w.Chain.Extend(1 + rng.IntN(2))
		w.CatchUp()
	}
	r := &rows{}
	undone := r.upto(t, w.Chain, next)
	for range 24 {
		switch rng.IntN(3) {
		case 0:
			fork()
		case 1:
			w.Chain.Extend(1 + rng.IntN(6))
			w.CatchUp()
		case 2: // while it reads
			w.Chain.Extend(3)
			w.CatchUp()
			hook.at, hook.then = 1+rng.IntN(8), fork
			undone += r.upto(t, w.Chain, next)
			hook.then = nil
		}
		undone += r.upto(t, w.Chain, next)
		r.check(t, w.Chain, 2)
	}
	if undone == 0 {
		t.Error("nothing was ever undone: the test tells nothing")
	}

	// Another process goes on from what this one knew, after one more fork.
	fork()
	again, end := iter.Pull2(chain.FollowEvents(ctx, q, client.FollowOptions{Known: r.known, Interval: time.Millisecond}))
	defer end()
	if r.upto(t, w.Chain, again) == 0 {
		t.Error("the fork in between was not told")
	}
	r.check(t, w.Chain, 2)

	for c, err := range chain.FollowEvents(t.Context(), q, client.FollowOptions{Known: []client.Ref{{Number: 3, Hash: "0x1"}}}) {
		if !errors.Is(err, client.ErrForkTooDeep) {
			t.Errorf("%+v %v", c, err)
		}
	}
}

// TestFollowKinds: blocks and transfers are followed alike, from now on and when they are
// final.
func TestFollowKinds(t *testing.T) {
	w := servertest.New(t, 15)
	chain := open(t, w, http.DefaultTransport)
	from := int64(0)
	for c, err := range chain.FollowBlocks(t.Context(), client.FollowOptions{From: &from, Finalized: true}) {
		if err != nil || len(c.Items) != 15-servertest.Depth || c.Upto.Number != 14-servertest.Depth {
			t.Errorf("%d blocks to %v: %v", len(c.Items), c.Upto, err)
		}
		for i, b := range c.Items {
			if b.BlockNumber != int64(i) || b.BlockHash != w.Chain.BlockAt(uint64(i)).Hash.String() {
				t.Errorf("block %d is %d %s", i, b.BlockNumber, b.BlockHash)
			}
		}
		break
	}
	next, stop := iter.Pull2(chain.FollowTransfers(t.Context(), client.ListTransfersQuery{}, client.FollowOptions{From: &from, Interval: time.Millisecond}))
	defer stop()
	c, err, _ := next()
	if err != nil || c.Upto.Number != 14 || len(c.Items) == 0 {
		t.Fatalf("%v: %v", c.Upto, err)
	}
	if !slices.IsSortedFunc(c.Items, func(a, b client.TransferItem) int { return int(a.BlockNumber - b.BlockNumber) }) {
		t.Error("transfers are not in order")
	}
	// Without a beginning, only what is new is told.
	hook := &between{at: 2}
	hook.then = func() {
		w.Chain.Extend(1)
		w.CatchUp()
	}
	for c, err := range open(t, w, hook).FollowBlocks(t.Context(), client.FollowOptions{Interval: time.Millisecond}) {
		if err != nil || len(c.Items) != 1 || c.Items[0].BlockNumber != 15 {
			t.Errorf("%+v %v", c, err)
		}
		break
	}
	for _, err := range chain.FollowBlocks(canceled(t), client.FollowOptions{}) {
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("%v", err)
		}
	}
}

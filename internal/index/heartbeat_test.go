package index_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

// TestHeartbeat: what the nodes say is in the store and stays up to date while
// there is no block to index, also when there is no node.
func TestHeartbeat(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 5, Blocks: 3})
	e := openMem(t)
	var asked atomic.Uint64
	heard := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	hash := felt.FromUint64(7)
	x, err := index.New(index.Options{Store: e, Source: simsource.Source{Chain: c}, Verify: index.VerifyOff, NoClasses: true, HeardInterval: time.Millisecond, Heard: func() chain.Seen {
		return chain.Seen{Head: chain.SeenHead{Heard: heard, Number: asked.Add(1), Hash: hash}, Nodes: []chain.SeenNode{{State: chain.NodeHealthy, Heard: heard, Head: 9}, {}}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	read := func() (s chain.State) {
		err := e.View(t.Context(), func(r store.Reader) (err error) {
			s, err = chain.Read(t.Context(), r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	begin := time.Now()
	var s chain.State
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if s = read(); s.HasHead && s.Head.Number == 2 && s.Seen.Head.Number > 5 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("after %d questions the store has %+v", asked.Load(), s.Seen)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	seen := s.Seen
	if seen.At.Before(begin.Truncate(time.Millisecond)) || !seen.Head.Heard.Equal(heard) || seen.Head.Hash != hash || seen.Healthy() != 1 ||
		!slices.Equal(seen.Nodes, []chain.SeenNode{{State: chain.NodeHealthy, Heard: heard, Head: 9}, {}}) {
		t.Errorf("seen: %+v", seen)
	}
}

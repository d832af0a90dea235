package index_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// counting tells how many classes each commit stored.
type counting struct {
	pebble.Engine
	stored chan int
}

func (c *counting) Commit(ctx context.Context, b *store.Batch) error {
	err := c.Engine.Commit(ctx, b)
	n := 0
	for _, op := range b.Ops() {
		if op.Table == class.Interfaces {
			n++
		}
	}
	if n > 0 && err == nil {
		c.stored <- n
	}
	return err
}

func tableRows(t *testing.T, e store.Engine, table *store.Table) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := e.View(t.Context(), func(r store.Reader) error {
		for row, err := range r.Walk(t.Context(), table, nil) {
			if err != nil {
				return err
			}
			out[string(row.Partition)+string(row.Sort)] = bytes.Clone(row.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestClassBackfill: an index that was built without classes, or by a program
// that kept less of them, is completed while it runs, also when the node fails at
// first; and nothing is asked for twice.
func TestClassBackfill(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 36, Blocks: 60})
	n := simnode.NewNode(c, simnode.NodeConfig{Version: starknet.V010})
	srv := httptest.NewServer(n)
	t.Cleanup(srv.Close)
	pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, BackoffBase: time.Millisecond, BackoffMax: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	whole := openMem(t)
	runTo(t, whole, &index.Nodes{Pool: pool}, 59)
	wantABIs, want := tableRows(t, whole, class.ABIs), tableRows(t, whole, class.Interfaces)

	e := &counting{Engine: openMem(t), stored: make(chan int, 1000)}
	runTo(t, e, &index.Nodes{Pool: pool}, 59)
	for len(e.stored) > 0 {
		<-e.stored
	}
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	// As an older program left it: nothing, half, or another version.
	b, i, spoilt := &store.Batch{Epoch: lease.Epoch}, 0, 0
	for _, cl := range c.Classes(59) {
		if _, there := wantABIs[string(cl.Hash[:])]; !there {
			continue
		}
		switch i % 4 {
		case 0:
			b.Delete(class.ABIKey(cl.Hash))
			b.Delete(class.InterfaceKey(cl.Hash))
		case 1:
			b.Delete(class.InterfaceKey(cl.Hash))
		case 2:
			b.Put(class.ABIKey(cl.Hash), []byte{99})
		case 3:
			spoilt--
		}
		i++
		spoilt++
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := e.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if spoilt < 10 {
		t.Fatalf("only %d classes are spoilt", spoilt)
	}
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultRPCError, Method: "starknet_getClass", Code: -32603, Next: 5})
	x, err := index.New(index.Options{Store: e, Source: &index.Nodes{Pool: pool}, Unverified: index.UnverifiedStore, RetryMin: time.Millisecond, RetryMax: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	for left := spoilt; left > 0; {
		select {
		case n := <-e.stored:
			left -= n
		case err := <-ended:
			t.Fatalf("the run ended with %v", err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for name, tables := range map[string][2]map[string][]byte{
		"ABI":       {tableRows(t, e, class.ABIs), wantABIs},
		"interface": {tableRows(t, e, class.Interfaces), want},
	} {
		got, want := tables[0], tables[1]
		if len(got) != len(want) || len(want) < 20 {
			t.Errorf("%d rows of %s, want %d", len(got), name, len(want))
		}
		for hash, row := range want {
			if !bytes.Equal(got[hash], row) {
				t.Errorf("%s of class %x differs", name, hash)
			}
		}
	}
	if len(e.stored) > 0 {
		t.Error("a class was stored twice")
	}
}

package index_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

// switched is a node that can be changed for another behind its address.
type switched struct {
	now   atomic.Pointer[simnode.Node]
	asked atomic.Int64 // questions for headers, about
}

func (s *switched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	if n := s.now.Load(); n != nil {
		n.ServeHTTP(w, r)
		return
	}
	http.Error(w, "away", http.StatusServiceUnavailable)
}

// TestForksWantTheQuorum: a branch that a single node shows does not replace what
// is indexed while a quorum is wanted, however long it is and however silent the
// others are. When so many have it, it does.
func TestForksWantTheQuorum(t *testing.T) {
	honest := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 2, L1Lag: 30})
	forked := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 2, L1Lag: 30})
	forked.Fork(5)
	forked.Extend(6)
	rival, ours := simnode.NewNode(forked, simnode.NodeConfig{}), simnode.NewNode(honest, simnode.NodeConfig{})
	var nodes []*switched
	var endpoints []node.Endpoint
	for range 3 {
		s := &switched{}
		s.now.Store(ours)
		srv := httptest.NewServer(s)
		t.Cleanup(srv.Close)
		nodes, endpoints = append(nodes, s), append(endpoints, node.Endpoint{URL: srv.URL})
	}
	pool, err := node.Open(t.Context(), node.Config{Nodes: endpoints, BackoffBase: time.Millisecond, BackoffMax: 10 * time.Millisecond, MaxAttempts: 2,
		HealthInterval: 50 * time.Millisecond, PollInterval: 10 * time.Millisecond, QuarantineBase: 10 * time.Millisecond, QuarantineMax: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	e := openMem(t)
	o := index.Options{Source: &index.Nodes{Pool: pool}, Quorum: 2, FinalityDepth: 10, Verify: index.VerifyOff, ForkPatience: time.Millisecond, MaxStuck: 1 << 30}
	follow(t, e, o, func(s chain.State) bool { return s.Agreed.Next == 40 })

	nodes[1].now.Store(nil)
	nodes[2].now.Store(nil)
	nodes[0].now.Store(rival)
	from := nodes[0].asked.Load()
	s := follow(t, e, o, func(s chain.State) bool { return s.Fork.Count > 0 || nodes[0].asked.Load() > from+400 })
	if s.Fork.Count != 0 || s.Head.Number != 39 || s.Head.Hash != honest.BlockAt(39).Hash {
		t.Fatalf("one node replaced indexed blocks: %+v, head %d", s.Fork, s.Head.Number)
	}
	s = follow(t, e, o, func(s chain.State) bool { return !s.Hindered.Since.IsZero() })
	if !strings.HasPrefix(s.Hindered.Reason, "The nodes do not agree from block 35 on. Of another block than the indexed one 2 would have to be sure, and it is 1.") {
		t.Errorf("it stands still, and says %q", s.Hindered.Reason)
	}

	nodes[1].now.Store(rival)
	last, _ := forked.Head()
	s = follow(t, e, o, func(s chain.State) bool { return s.Head.Number == last && s.Agreed.Next == last+1 })
	if s.Fork.Count != 1 || !s.Hindered.Since.IsZero() || s.Head.Hash != forked.BlockAt(last).Hash {
		t.Errorf("%+v", s)
	}

	// The same without a quorum: one node is enough when the others stay away.
	e = openMem(t)
	o.Quorum = 1
	for _, n := range nodes {
		n.now.Store(ours)
	}
	follow(t, e, o, func(s chain.State) bool { return s.HasHead && s.Head.Number == 39 })
	nodes[0].now.Store(rival)
	nodes[1].now.Store(nil)
	nodes[2].now.Store(nil)
	follow(t, e, o, func(s chain.State) bool { return s.Head.Number == last })
}

// TestL1MarkWantsTheQuorum: that L1 accepted a block is the word of one node, or
// of as many as are wanted; of a block that nobody has shown it is nothing.
func TestL1MarkWantsTheQuorum(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 2, L1Lag: 20})
	claim := func(number uint64) liar.Rule {
		hash := "0x77"
		if number < 40 {
			hash = c.BlockAt(number).Hash.String()
		}
		return liar.Rule{Method: headers, When: func(c liar.Call) bool { return string(c.Params) == `{"block_id":"l1_accepted"}` },
			Rewrite: func(_ liar.Call, r any) any {
				b := r.(map[string]any)
				b["block_number"], b["block_hash"] = number, hash
				return b
			}}
	}
	for name, test := range map[string]struct {
		rules  [][]liar.Rule
		quorum int
		want   uint64
	}{
		"the word of an only node":     {[][]liar.Rule{{claim(35)}}, 1, 35},
		"of a block that nobody has":   {[][]liar.Rule{{claim(1040)}}, 1, 0},
		"one of three":                 {[][]liar.Rule{{claim(35)}, nil, nil}, 2, 19},
		"one of three, far above":      {[][]liar.Rule{{claim(1040)}, nil, nil}, 2, 19},
		"two of three":                 {[][]liar.Rule{{claim(35)}, {claim(33)}, nil}, 2, 33},
		"one of two that both must be": {[][]liar.Rule{{claim(35)}, nil}, 2, 19},
	} {
		if index.Raced && name != "two of three" {
			continue // the others ask in the same way
		}
		t.Run(name, func(t *testing.T) {
			pool, proxies := liars(t, c, test.rules...)
			e := openMem(t)
			o := index.Options{Source: &index.Nodes{Pool: pool}, Quorum: test.quorum, FinalityDepth: 10, Verify: index.VerifyOff}
			told := func() (n int) {
				for _, p := range proxies {
					n += p.Told()
				}
				return n
			}
			indexed := -1
			s := follow(t, e, o, func(s chain.State) bool {
				if s.HasHead && s.Head.Number == 39 && indexed < 0 {
					indexed = told()
				}
				return indexed >= 0 && told() > indexed+10 && (test.want == 0 || s.HasL1 && s.L1.Number >= test.want)
			})
			if s.L1.Number != test.want || s.HasL1 != (test.want > 0) {
				t.Errorf("the mark is %+v, %v, want %d", s.L1, s.HasL1, test.want)
			}
		})
	}
}

package node

import (
	"errors"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
)

var errFalse = errors.New("block 7 fails verification")

func TestBlamedNodeIsNotBelieved(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		liar, honest := newNode(t, pn, "liar", 90), newNode(t, pn, "honest", 20)
		p := open(t, pn, nil, liar, honest)
		if h, err := p.Head(t.Context()); err != nil || h.Number != 90 {
			t.Fatalf("%+v, %v", h, err)
		}
		p.Blame("http://liar", errFalse)
		if h, err := p.Head(t.Context()); err != nil || h.Number != 20 {
			t.Errorf("head of a node in quarantine counts: %+v, %v", h, err)
		}
		for range 5 {
			if raw, err := p.BlockWithUpdate(t.Context(), 7); err != nil || raw.Node != "http://honest" {
				t.Fatalf("%s, %v", raw.Node, err)
			}
		}
		if _, err := p.BlockWithUpdate(t.Context(), 50); !IsNotFound(err) {
			t.Errorf("a block above the heads of those who are believed: %v", err)
		}
		s := p.Statuses()[0]
		if s.Usable() || s.Quarantine != errFalse.Error() || time.Until(s.QuarantinedUntil) != 15*time.Second || !s.Healthy {
			t.Errorf("%+v", s)
		}
		if h := p.Health(); !h.Known || h.Head.Number != 20 || time.Since(h.HeardAt) > time.Minute || h.Nodes[0].Head.Number != 90 {
			t.Errorf("%+v", h)
		}
		// Whoever names it gets it, and only whoever rules all others out gets none.
		if raw, err := p.BlockWithUpdate(t.Context(), 7, OnNode("http://liar")); err != nil || raw.Node != "http://liar" {
			t.Errorf("%s, %v", raw.Node, err)
		}
		if _, err := p.BlockWithUpdate(t.Context(), 7, NotNodes("http://liar", "http://honest")); !errors.Is(err, ErrNoOther) {
			t.Errorf("%v", err)
		}
		// The only other one in quarantine is another matter: it comes back.
		_, err := p.BlockWithUpdate(t.Context(), 7, NotNodes("http://honest"))
		if !errors.Is(err, ErrNoNode) || errors.Is(err, ErrNoOther) || !strings.Contains(err.Error(), "in quarantine: block 7 fails") {
			t.Errorf("%v", err)
		}
		time.Sleep(16 * time.Second)
		if s := p.Statuses()[0]; !s.Usable() || s.Quarantine != "" {
			t.Errorf("%+v", s)
		}
		if h, err := p.Head(t.Context()); err != nil || h.Number != 90 {
			t.Errorf("%+v, %v", h, err)
		}
	})
}

func TestQuarantineGrows(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		p := open(t, pn, nil, newNode(t, pn, "a", 20), newNode(t, pn, "b", 20))
		left := func() time.Duration { return time.Until(p.Statuses()[0].QuarantinedUntil) }
		for _, want := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
			for range 3 { // answers that were under way together are one offence
				p.Blame("http://a", errFalse)
			}
			if left() != want {
				t.Fatalf("%s, want %s", left(), want)
			}
			time.Sleep(want)
		}
		time.Sleep(31 * time.Minute)
		if p.Blame("http://a", errFalse); left() != 15*time.Second {
			t.Errorf("a long good time is not counted: %s", left())
		}
		p.Blame("http://nobody", errFalse)
	})
}

func TestOnlyNodeIsAskedInQuarantine(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		p := open(t, pn, nil, newNode(t, pn, "a", 20))
		p.Blame("http://a", errFalse)
		if _, err := p.BlockWithUpdate(t.Context(), 7); err != nil {
			t.Error(err)
		}
		if h := p.Health(); !h.Known || h.Nodes[0].Quarantine == "" {
			t.Errorf("%+v", h)
		}
		p.Pardon()
		if s := p.Statuses()[0]; s.Quarantine != "" {
			t.Errorf("pardoned: %+v", s)
		}
		two := open(t, pn, nil, newNode(t, pn, "b", 20), newNode(t, pn, "c", 20))
		two.Blame("http://b", errFalse)
		if two.Pardon(); two.Statuses()[0].Quarantine == "" {
			t.Error("one of two nodes is pardoned")
		}
	})
}

func TestHashesAt(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, forked, behind, dead, liar := newNode(t, pn, "a", 20), newNode(t, pn, "forked", 20), newNode(t, pn, "behind", 5), newNode(t, pn, "dead", 20), newNode(t, pn, "liar", 20)
		header := func(f *fakeNode) func(wireCall) string {
			return func(c wireCall) string {
				if c.Method == "starknet_getBlockWithTxHashes" && f.head >= 7 {
					return ok(c, f.headJSON(7))
				}
				return ""
			}
		}
		forked.hash = 1 << 20
		for _, f := range []*fakeNode{a, forked, behind, liar} {
			f.answer = header(f)
		}
		p := open(t, pn, nil, a, forked, behind, dead, liar)
		dead.stop()
		p.Blame("http://liar", errFalse)
		got := p.HashesAt(t.Context(), 7)
		if len(got) != 5 || !got[0].Found || got[0].Hash != felt.FromUint64(0x1007) || !got[1].Found || got[1].Hash != felt.FromUint64(0x101007) {
			t.Errorf("%+v", got)
		}
		if got[2].Found || got[2].Err != nil || got[3].Err == nil || got[4].Err == nil || got[4].Found {
			t.Errorf("%+v", got[2:])
		}
	})
}

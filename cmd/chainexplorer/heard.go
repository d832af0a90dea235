package main

import (
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/node"
)

// checkHeadMaxAge refuses an age that no head could stay below: nodes are asked
// every second or so.
func checkHeadMaxAge(d time.Duration) error {
	if d < time.Second {
		return &usageError{"--head-max-age must be at least a second"}
	}
	return nil
}

// heardBy is what the nodes of a pool said lately. It asks nobody.
func heardBy(pool *node.Pool) chain.Seen {
	out := chain.Seen{At: time.Now()}
	for _, st := range pool.Statuses() {
		n := chain.SeenNode{Heard: st.HeardAt, Head: st.Head.Number}
		switch {
		case st.Refused != nil:
			n.State = chain.NodeRefused
		case !st.QuarantinedUntil.IsZero(): // an only node is asked all the same
			n.State = chain.NodeQuarantined
		case st.Healthy:
			n.State = chain.NodeHealthy
		}
		out.Nodes = append(out.Nodes, n)
		// A node that serves another chain, or lies, tells nothing. Of the others the
		// one that is furthest counts, unless it fell silent before the rest.
		if n.State == chain.NodeRefused || n.State == chain.NodeQuarantined || n.Heard.IsZero() {
			continue
		}
		out.Peaks = append(out.Peaks, chain.SeenHead{Heard: st.PeakAt, Number: st.Peak})
		if h := &out.Head; h.Heard.IsZero() || better(n, *h) {
			*h = chain.SeenHead{Heard: n.Heard, Number: n.Head, Hash: st.Head.Hash}
		}
	}
	return out
}

// silence is how much longer than another a node may have been silent and still
// be the one whose head counts.
const silence = 15 * time.Second

func better(n chain.SeenNode, than chain.SeenHead) bool {
	switch d := n.Heard.Sub(than.Heard); {
	case d > silence:
		return true
	case d < -silence:
		return false
	default:
		return n.Head > than.Number
	}
}

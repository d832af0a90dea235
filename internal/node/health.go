package node

import "time"

// Status is what the pool knows of one node.
type Status struct {
	Node        string
	Head        Head      // zero until known
	HeardAt     time.Time // when the node last told or confirmed its head; zero until it did
	Peak        uint64    // the highest head that it told of in the last hour, if it told any
	PeakAt      time.Time // when it last told that; zero until it told a head
	SpecVersion string    // empty until known
	Healthy     bool      // it answers, every kind of request that it is asked
	Live        bool      // heads arrive by WebSocket
	Refused     error     // why the node is not used at all, or nil

	// QuarantinedUntil is when the quarantine of a node that gave a false answer
	// ends, and Quarantine what it did; both are zero outside of one.
	QuarantinedUntil time.Time
	Quarantine       string
	// Believed says whether what the node says counts. In a pool of one node it
	// does in quarantine too.
	Believed bool
}

// Usable says whether the node answers and is believed.
func (s *Status) Usable() bool { return s.Healthy && s.Believed }

// Statuses lists the nodes in the order of the configuration.
func (p *Pool) Statuses() []Status {
	now := time.Now()
	out := make([]Status, len(p.nodes))
	for i, n := range p.nodes {
		n.mu.Lock()
		out[i] = Status{Node: n.name, Head: n.head, Healthy: n.soundLocked(now), Live: n.live, Refused: n.refused,
			Peak: n.peak.number, PeakAt: n.peak.at, Believed: n.refused == nil && !p.shunnedLocked(n, now)}
		if n.headKnown {
			out[i].HeardAt = n.headTime
		}
		if n.id != nil {
			out[i].SpecVersion = n.id.spec.String()
		}
		if now.Before(n.quarantine.until) {
			out[i].QuarantinedUntil, out[i].Quarantine = n.quarantine.until, n.quarantine.reason
		}
		n.mu.Unlock()
	}
	return out
}

// Health is one look at all nodes.
type Health struct {
	Nodes []Status
	// Head is the highest head that a node told of which is neither refused nor
	// in quarantine, however long ago; HeardAt is when it was last confirmed.
	// Known is false until there is one.
	Head    Head
	HeardAt time.Time
	Known   bool
}

// Health looks at what is known; it asks nobody. A head that nobody has confirmed
// for long says little: its age is for the caller to judge.
func (p *Pool) Health() Health {
	h := Health{Nodes: p.Statuses()}
	for i := range h.Nodes {
		s := &h.Nodes[i]
		if s.HeardAt.IsZero() || !s.Believed {
			continue
		}
		// On a tie whoever spoke last shows how fresh the head is.
		if !h.Known || s.Head.Number > h.Head.Number || s.Head.Number == h.Head.Number && s.HeardAt.After(h.HeardAt) {
			h.Head, h.HeardAt, h.Known = s.Head, s.HeardAt, true
		}
	}
	return h
}

package api

import (
	"fmt"
	"time"

	"chainexplorer/internal/explorer/chain"
)

// An index is fresh as long as somebody vouches for it: a node told its head
// lately, the indexer reported lately, and the index is near that head. What a node
// said ages by this process's clock, so that it says less with every second of
// silence, whichever process asks the nodes.

const (
	// currentLag is how many blocks behind the node an index is still called current.
	currentLag = 20
	// defaultHeadMaxAge is how long what a node said of its head counts.
	defaultHeadMaxAge = time.Minute
)

// The reasons why an index is not called current.
const (
	reasonFault         = "fault"
	reasonStorage       = "storage"
	reasonNodeSilent    = "node_silent"
	reasonNodeBehind    = "node_behind"
	reasonIndexerSilent = "indexer_silent"
	reasonNodeFaulty    = "node_faulty"
	reasonBehind        = "behind"
)

// freshness is what can be said of an index's age at one moment.
type freshness struct {
	head    chain.SeenHead // the newest that a node told of, however old
	vouched time.Time      // when a node last told a head that is not below what is indexed; zero: never
	lag     *uint64        // blocks behind the head; nil unless a node vouched lately
	code    string         // why the index is not current; empty when it is
	why     string         // the same for people
	nodes   chain.Seen     // what is known of the nodes
}

func (f *freshness) current() bool { return f.code == "" }

// silent says that nobody vouches for the index any more.
func (f *freshness) silent() bool {
	return f.code == reasonNodeSilent || f.code == reasonNodeBehind || f.code == reasonIndexerSilent
}

// freshness judges a state that was read just now.
func (c *Chain) freshness(state *chain.State) freshness {
	f := freshness{head: state.Seen.Head, nodes: state.Seen, vouched: state.Seen.Head.Heard}
	if state.HasHead {
		f.vouched = state.Seen.Vouched(state.Head.Number)
	}
	if c.Heard != nil {
		own := c.Heard()
		if own.Head.Heard.After(f.head.Heard) {
			f.head = own.Head
		}
		if own.At.After(f.nodes.At) {
			f.nodes = own
		}
		vouched := own.Head.Heard
		if state.HasHead {
			vouched = own.Vouched(state.Head.Number)
		}
		if vouched.After(f.vouched) {
			f.vouched = vouched
		}
	}
	// Heads of nodes that are not believed are no evidence, however new.
	distrusted := f.nodes.Distrusted() && !c.aged(f.nodes.At)
	recent := !c.aged(f.head.Heard) && !distrusted
	// A node that went back does not make the index wrong, but vouches for nothing
	// above its head.
	if recent && state.HasHead && !c.aged(f.vouched) {
		lag := max(f.head.Number, state.Head.Number) - state.Head.Number
		f.lag = &lag
	}
	trouble := ""
	if c.Trouble != nil {
		trouble = c.Trouble()
	}
	switch reported := state.Seen.At; {
	case state.HasFault:
		f.code, f.why = reasonFault, state.Fault.Reason
	case trouble != "":
		f.code, f.why = reasonStorage, trouble
	case !reported.IsZero() && c.aged(reported) && (recent || c.Heard == nil): // a process with silent nodes knows better
		f.code, f.why = reasonIndexerSilent, "The indexer has not reported since "+instantISO(reported)+"."
	case distrusted && (state.Hindered.Since.IsZero() || state.Hindered.InStore()):
		f.code, f.why = reasonNodeFaulty, "No node is believed for now: each that answers has given an answer that cannot be true."
	case distrusted:
		f.code, f.why = reasonNodeFaulty, state.Hindered.Reason
	case f.head.Heard.IsZero():
		f.code, f.why = reasonNodeSilent, "No node has told its head yet."
	case !recent:
		f.code, f.why = reasonNodeSilent, "No node has told its head since "+instantISO(f.head.Heard)+"."
	case state.Hindered.InStore():
		f.code, f.why = reasonStorage, state.Hindered.Reason
	case !state.Hindered.Since.IsZero():
		f.code, f.why = reasonNodeFaulty, state.Hindered.Reason
	case state.HasHead && c.aged(f.vouched):
		f.code, f.why = reasonNodeBehind, fmt.Sprintf("Block %d is indexed, but nodes tell of block %d as their newest.", state.Head.Number, f.head.Number)
	case f.lag != nil && *f.lag > currentLag:
		f.code, f.why = reasonBehind, fmt.Sprintf("The index is %d blocks behind the node.", *f.lag)
	}
	return f
}

// indexing puts it into the words of the status.
func (f *freshness) indexing(state *chain.State) Indexing {
	out := Indexing{Status: "current", ReasonCode: some(f.code), Reason: some(f.why)}
	switch {
	case f.code == reasonFault || f.code == reasonStorage || f.code == reasonNodeFaulty:
		out.Status = "degraded"
	case !state.HasHead:
		out.Status = "starting"
	case f.silent():
		out.Status = "stalled"
	case f.code == reasonBehind:
		out.Status = "catching_up"
	}
	return out
}

// aged says whether what was said at a time no longer counts. A time that lies as
// far ahead is no evidence either: one of the clocks is wrong.
func (c *Chain) aged(t time.Time) bool {
	return t.IsZero() || c.now().Sub(t).Abs() > c.headMaxAge
}

func instantISO(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// StatusNodes is what is known of the nodes behind the index.
type StatusNodes struct {
	Configured *int         `json:"configured" doc:"Null while nothing is known of them."`
	Healthy    *int         `json:"healthy" doc:"How many answer and are believed; null when the observation is too old to say."`
	ObservedAt *string      `json:"observedAt" format:"date-time" doc:"When this was so."`
	Items      []StatusNode `json:"items" doc:"In the order of the configuration."`
}

// StatusNode is one node. Addresses of nodes are not published.
type StatusNode struct {
	Name            string  `json:"name" doc:"node-1 is the first of the configuration."`
	Status          string  `json:"status" enum:"healthy,failing,refused,quarantined,unknown" doc:"unknown when the observation is too old to say."`
	HeadBlockNumber *uint64 `json:"headBlockNumber" doc:"The newest head that it told of and could show; null when there was none."`
	LastHeardAt     *string `json:"lastHeardAt" format:"date-time" doc:"When it last told its head."`
}

var nodeStates = map[chain.NodeState]string{chain.NodeFailing: "failing", chain.NodeHealthy: "healthy", chain.NodeRefused: "refused", chain.NodeQuarantined: "quarantined"}

func (c *Chain) renderNodes(seen *chain.Seen) StatusNodes {
	out := StatusNodes{Items: []StatusNode{}}
	if seen.At.IsZero() {
		return out
	}
	configured, healthy, old := len(seen.Nodes), seen.Healthy(), c.aged(seen.At)
	out.Configured, out.ObservedAt = &configured, some(instantISO(seen.At))
	if !old {
		out.Healthy = &healthy
	}
	for i, n := range seen.Nodes {
		item := StatusNode{Name: fmt.Sprintf("node-%d", i+1), Status: nodeStates[n.State]}
		if old || item.Status == "" {
			item.Status = "unknown"
		}
		if !n.Heard.IsZero() {
			item.HeadBlockNumber, item.LastHeardAt = &n.Head, some(instantISO(n.Heard))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

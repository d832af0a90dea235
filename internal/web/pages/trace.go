package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// What is shown of a trace, which a node makes as long as it likes.
const (
	traceCalls = 300
	traceDepth = 24
	traceBytes = 8 << 20
	traceFelts = 16 // of a call's calldata and result
)

// invocation is a call in a node's trace. Members that a page does not show are left out.
type invocation struct {
	Contract  felt.Felt         `json:"contract_address"`
	Selector  felt.Felt         `json:"entry_point_selector"`
	Class     felt.Felt         `json:"class_hash"`
	Calldata  []felt.Felt       `json:"calldata"`
	Result    []felt.Felt       `json:"result"`
	PointType string            `json:"entry_point_type"`
	CallType  string            `json:"call_type"`
	Calls     []invocation      `json:"calls"`
	Events    []json.RawMessage `json:"events"`
	Messages  []json.RawMessage `json:"messages"`
	Reverted  bool              `json:"is_reverted"`
	Reason    string            `json:"revert_reason"`
	name      string
}

// nodeTrace is a node's trace of a transaction, by phases.
type nodeTrace struct {
	Validate  *invocation `json:"validate_invocation"`
	Construct *invocation `json:"constructor_invocation"`
	Execute   *invocation `json:"execute_invocation"`
	Handle    *invocation `json:"function_invocation"`
	Fee       *invocation `json:"fee_transfer_invocation"`
}

// traceView is the data of the page of a trace.
type traceView struct {
	*txView
	// Problem says why there is no trace.
	Problem string
	Phases  []tracePhase
	Calls   int
	Emitted int
	Sent    int
	// Cut says that there are more calls than are shown.
	Cut bool
}

// tracePhase is a part of a transaction's run.
type tracePhase struct {
	ID, Name string
	Reason   *reason
	Tree     template.HTML
}

// tracePage shows what a node says that a transaction called, beside what is indexed of it.
func tracePage(l *look) (*sheet, error) {
	t, s, err := l.transaction(1)
	if err != nil {
		return nil, err
	}
	v := &traceView{txView: t}
	hash := t.T.TxHash.String()
	s.trail = append(s.trail, web.Link{Text: s.title, Href: l.Href("tx", hash)})
	s.title, s.name, s.data, s.lasting = "Trace of transaction "+shorten(hash), "trace.html", v, false
	s.await = func() error { return v.await(contractcall.Block{Number: t.T.BlockNumber, Hash: t.T.BlockHash}) }
	return s, nil
}

// await asks the node. What fails is told on the page, beside what is known.
func (v *traceView) await(at contractcall.Block) error {
	raw, err := v.L.p.routes.Trace(v.L.ctx, v.L.served, at, v.T.TxHash)
	var e *kernel.Error
	switch {
	case errors.As(err, &e) && e.Code != kernel.CodeInternal:
		v.Problem = sentence(e.Message)
		return nil
	case err != nil:
		return err
	case raw == nil:
		v.Problem = "The node has no trace of this transaction."
		return nil
	case len(raw) > traceBytes:
		v.Problem = "The node's trace is larger than this page takes in."
		return nil
	}
	var trace nodeTrace
	if err := json.Unmarshal(raw, &trace); err != nil {
		v.Problem = "The node's trace cannot be read."
		return nil
	}
	return v.read(&trace)
}

// read names the calls of a trace by the classes that the node says ran, and draws them.
func (v *traceView) read(trace *nodeTrace) error {
	phases := []struct {
		id, name string
		run      *invocation
	}{{"validation", "Validation", trace.Validate}, {"construction", "Constructor", trace.Construct}, {"execution", "Execution", trace.Execute},
		{"handler", "Handler of the message", trace.Handle}, {"payment", "Payment of the fee", trace.Fee}}
	var shown []*invocation
	for _, p := range phases {
		if p.run != nil {
			v.walk(p.run, 0, &shown)
		}
	}
	calls := make([]decoded.Call, len(shown))
	for i, c := range shown {
		calls[i] = decoded.Call{To: c.Contract, Class: &c.Class, Selector: c.Selector, Kind: pointKinds[c.PointType]}
	}
	err := v.L.p.routes.Pin(v.L.ctx, v.L.Chain, func(ctx context.Context, c *api.Chain, r explorer.Reader, state *chain.State) error {
		names, err := v.L.p.routes.CallNames(ctx, c, r, state, calls)
		for i := range names {
			shown[i].name = names[i]
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("name the calls of a trace: %w", err)
	}
	room := traceCalls
	for _, p := range phases {
		if p.run == nil {
			continue
		}
		phase := tracePhase{ID: p.id, Name: p.name}
		if p.run.Reason != "" {
			r := reasonOf(p.run.Reason)
			phase.Reason = &r
		} else {
			var b strings.Builder
			b.WriteString(`<ol class="tree">`)
			v.draw(&b, p.run, 0, &room)
			b.WriteString(`</ol>`)
			phase.Tree = template.HTML(b.String()) //nolint:gosec // made of escaped parts
		}
		v.Phases = append(v.Phases, phase)
	}
	return nil
}

var pointKinds = map[string]abi.FunctionKind{"L1_HANDLER": abi.L1Handler, "CONSTRUCTOR": abi.Constructor}

// walk counts calls, events and messages, and collects the calls that are shown.
func (v *traceView) walk(c *invocation, depth int, shown *[]*invocation) {
	if c.Reason != "" {
		return
	}
	v.Calls++
	if v.Emitted += len(c.Events); depth < traceDepth && len(*shown) < traceCalls {
		*shown = append(*shown, c)
	} else {
		v.Cut = true
	}
	v.Sent += len(c.Messages)
	for i := range c.Calls {
		v.walk(&c.Calls[i], depth+1, shown)
	}
}

// draw writes a call and those that it made.
func (v *traceView) draw(b *strings.Builder, c *invocation, depth int, room *int) {
	if depth == traceDepth || *room == 0 {
		return
	}
	*room--
	b.WriteString(`<li>`)
	var name *string
	if c.name != "" {
		name = &c.name
	}
	v.L.named(b, name, c.Selector)
	b.WriteString(` on `)
	b.WriteString(string(v.L.Party(c.Contract)))
	b.WriteString(` <span class="soft">with class `)
	b.WriteString(string(v.L.Class(c.Class)))
	switch c.CallType {
	case "LIBRARY_CALL":
		b.WriteString(`, by a library call`)
	case "DELEGATE":
		b.WriteString(`, by a delegate call`)
	}
	if n := len(c.Events); n > 0 {
		b.WriteString(`, ` + plural(n, "event"))
	}
	b.WriteString(`</span>`)
	if c.Reverted {
		b.WriteString(` <span class="didnot">reverted</span>`)
	}
	v.L.raw(b, plural(len(c.Calldata), "felt")+" passed, "+strconv.Itoa(len(c.Result))+" returned", felts{"Calldata", head(c.Calldata, traceFelts), len(c.Calldata)}, felts{"Result", head(c.Result, traceFelts), len(c.Result)})
	if len(c.Calls) > 0 && depth+1 < traceDepth && *room > 0 {
		b.WriteString(`<ol>`)
		for i := range c.Calls {
			v.draw(b, &c.Calls[i], depth+1, room)
		}
		b.WriteString(`</ol>`)
	}
	b.WriteString(`</li>`)
}

func head[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// Badge says whose word the trace is, and whether it has as many events and messages as the
// receipt that is indexed.
func (v *traceView) Badge() template.HTML {
	sent := len(v.Told.Receipt.MessagesSent)
	if v.Emitted == v.T.LogCount && v.Sent == sent {
		return badge("soft", "the node's word, fits the receipt", "The trace is what one node says. It has as many events and messages as the receipt that is indexed: "+plural(v.Emitted, "event")+" and "+plural(v.Sent, "message")+".")
	}
	return badge("warn", "the node's word, differs from the receipt", fmt.Sprintf("The trace is what one node says. It has %s and %s, and the receipt that is indexed %s and %s: it is not of the same run.",
		plural(v.Emitted, "event"), plural(v.Sent, "message"), plural(v.T.LogCount, "event"), plural(sent, "message")))
}

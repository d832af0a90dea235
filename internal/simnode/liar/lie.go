package liar

import (
	"bytes"
	"encoding/json"
)

// request and response are the parts of the envelopes that matter here.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// parse reads one envelope or a batch of them. What is neither gives none.
func parse[T any](body []byte) (list []*T, batch bool) {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		if json.Unmarshal(trimmed, &list) != nil {
			return nil, true
		}
		return list, true
	}
	var one T
	if json.Unmarshal(body, &one) != nil {
		return nil, false
	}
	return []*T{&one}, false
}

func encode(answers []*response, batch bool) []byte {
	var v any = answers
	if !batch && len(answers) == 1 {
		v = answers[0]
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // raw messages that were parsed
	}
	return out
}

// lie applies the rules to the answers in place. It returns the first rule that
// concerns the whole exchange.
func (p *Proxy) lie(calls []*request, answers []*response) (whole *Rule) {
	byID := make(map[string]*response, len(answers))
	for _, a := range answers {
		byID[string(a.ID)] = a
	}
	for _, c := range calls {
		a := byID[string(c.ID)]
		if a == nil {
			continue // a notification
		}
		call := Call{Method: c.Method, Params: c.Params}
		call.findBlock(a.Result)
		rule := p.pick(call)
		if rule == nil {
			continue
		}
		switch {
		case rule.Code != 0:
			a.Result = nil
			a.Error = mustMarshal(map[string]any{"code": rule.Code, "message": rule.Message})
		case rule.Rewrite != nil && a.Result != nil:
			a.Result = mustMarshal(rule.Rewrite(call, tree(a.Result)))
		case whole == nil:
			whole = rule
		}
	}
	return whole
}

// pick returns the rule that fits a call, and counts.
func (p *Proxy) pick(c Call) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.asked[c.Method]; known || len(p.asked) < 1000 {
		p.asked[c.Method]++
	}
	for _, r := range p.rules {
		if r.Method != "" && r.Method != c.Method || r.Times > 0 && r.left == 0 || r.When != nil && !r.When(c) {
			continue
		}
		r.left--
		p.told++
		return &r.Rule
	}
	return nil
}

// findBlock reads the block's number from the parameters, or else from the
// honest answer.
func (c *Call) findBlock(result json.RawMessage) {
	type blockID struct {
		Number *uint64 `json:"block_number"`
	}
	candidates := []json.RawMessage{}
	var named struct {
		BlockID json.RawMessage `json:"block_id"`
	}
	var positional []json.RawMessage
	switch {
	case json.Unmarshal(c.Params, &named) == nil && named.BlockID != nil:
		candidates = append(candidates, named.BlockID)
	case json.Unmarshal(c.Params, &positional) == nil:
		candidates = append(candidates, positional...)
	}
	for _, text := range append(candidates, result) {
		var id blockID
		if json.Unmarshal(text, &id) == nil && id.Number != nil {
			c.Block, c.HasBlock = *id.Number, true
			return
		}
	}
}

// tree reads JSON with numbers as they are written.
func tree(text json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err) // it was parsed as part of the answer
	}
	return v
}

func mustMarshal(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // trees of plain values
	}
	return out
}

package api

import (
	"context"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/transaction"
)

// readCalls names the calls that the previews show, all at once.
func (p *previewer) readCalls(ctx context.Context, s *Routes, r explorer.Reader, records []*transaction.Record) error {
	p.named = map[calledAt]*decoded.CallResult{}
	var wanted []decoded.Call
	var where []calledAt
	for _, t := range records {
		if t == nil {
			continue
		}
		calls, _ := decoded.CallsOf(t)
		exchanges := 0
		for i := range calls {
			exchange := exchanges < MaxExchangeCalls && p.exchange(&calls[i])
			if exchange {
				exchanges++
			}
			at := calledAt{t.Position, i}
			if _, twice := p.named[at]; twice || !exchange && i >= maxPreviewCalls {
				continue
			}
			p.named[at] = nil
			wanted, where = append(wanted, calls[i]), append(where, at)
		}
	}
	results, _, err := decoded.Calls(ctx, r, s.schemas, wanted, decoded.Options{NoHistory: true})
	if err != nil {
		return err
	}
	for i := range results {
		p.named[where[i]] = &results[i]
	}
	return nil
}

// exchange says that a call is one of those to be shown as an exchange's.
func (p *previewer) exchange(c *decoded.Call) bool {
	l, ok := p.c.Registry.Label(c.To)
	return p.req.IncludeExchangeCalls && ok && l.Kind == "dex"
}

// calls lists what the sender signed.
func (p *previewer) calls(t *transaction.Record, out *TransactionPreview) {
	truncated := false
	out.ExchangeCallsTruncated = &truncated
	calls, byAccount := decoded.CallsOf(t)
	if len(calls) > 0 {
		first := p.named[calledAt{t.Position, 0}]
		out.MainMethod = MainMethod{some(first.Name), some(string(first.NameSource))}
	}
	if !byAccount {
		return
	}
	n := len(calls)
	out.AccountCallCount = &n
	for i := range calls {
		call := &calls[i]
		if !slices.Contains(out.SignedCallTargets, call.To) && len(out.SignedCallTargets) < maxSignedTargets {
			out.SignedCallTargets = append(out.SignedCallTargets, call.To)
		}
		named := p.named[calledAt{t.Position, i}]
		if i < maxPreviewCalls {
			out.AccountCalls = append(out.AccountCalls, PreviewCall{call.To, call.Selector, len(call.Calldata), methodContent(named), named.ClassHash, p.c.aliases(call.To, named.ClassHash)})
		}
		if !p.exchange(call) {
			continue
		}
		if len(out.ExchangeCalls) == MaxExchangeCalls {
			truncated = true
			continue
		}
		selector := call.Selector
		out.ExchangeCalls = append(out.ExchangeCalls, ExchangeCall{call.To, i, &selector, some(named.Name)})
	}
}

package pages

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
)

// write writes the page of a transaction.
func (v *txView) write(w *markup.Writer) {
	w.Put(`<h1>Transaction `)
	w.HTML(v.L.Felt(&v.T.TxHash))
	w.Put("</h1>\n" + `<p class="sentence words">`)
	w.HTML(v.Told.Words)
	w.Put("</p>\n" + `<div class="badges">`)
	w.HTML(v.L.Tier(v.T.BlockNumber))
	w.Put("</div>\n")
	v.writeReason(w)
	v.writeFacts(w)
	if len(v.Moves) > 0 {
		w.Put("<section aria-labelledby=\"transfers\">\n<h2 id=\"transfers\">Token transfers</h2>\n")
		w.HTML(v.Flow)
		w.HTML(v.Moved(v.Moves))
		v.rest(w, v.MoreMoves(), "transfers", len(v.T.TokenTransfers), "transfer")
		w.Put("\n</section>\n")
	}
	v.writeCalls(w)
	w.Put("<section aria-labelledby=\"events\">\n<h2 id=\"events\">Events</h2>\n")
	if v.T.EventDecodingDegraded {
		w.Put(`<p class="notice">Some classes could not be looked up for this page: events may lack names and values.</p>` + "\n")
	}
	if len(v.T.Logs) > 0 {
		w.HTML(v.L.LogList(v.T.Logs))
		v.rest(w, v.MoreLogs(), "events", v.T.LogCount, "event")
	} else {
		w.Put(`<p>It emitted no events.</p>`)
	}
	w.Put("\n</section>\n")
	if len(v.Rows) > 0 {
		w.Put("<section aria-labelledby=\"messages\">\n<h2 id=\"messages\">Messages between the layers</h2>\n")
		w.HTML(v.messages)
		if v.T.MessagesCoverage.Status == "partial" {
			w.Put(`<p class="soft">`)
			w.Text(v.T.MessagesCoverage.Message)
			w.Put(`</p>`)
		}
		w.Put("\n</section>\n")
	}
	v.writeFees(w)
	v.writeChanges(w)
	w.Put(`<p><a href="`)
	w.Link(v.Part("trace"))
	w.Put(`" rel="nofollow">Execution trace</a> <span class="soft">as a node tells it, on demand</span></p>`)
}

// rest leads to the page of a part that has more than is shown.
func (v *txView) rest(w *markup.Writer, more bool, part string, n int, thing string) {
	w.Put("\n")
	if !more {
		return
	}
	w.Put(`<p><a href="`)
	w.Link(v.Part(part))
	w.Put(`">All `)
	w.Text(plural(n, thing))
	w.Put(`</a></p>`)
}

// writeReason writes why it was reverted.
func (v *txView) writeReason(w *markup.Writer) {
	r := v.Reason
	if r == nil {
		return
	}
	w.Put("<section class=\"callout reason\" aria-labelledby=\"reason\">\n<h2 id=\"reason\">Reverted: <bdi>")
	w.Text(r.Short)
	w.Put("</bdi></h2>\n<p>It changed nothing")
	if v.Kind() != "L1 handler" {
		w.Put(" but the sender's nonce and the fee")
	}
	w.Put(".</p>\n<details><summary>What the node said of it</summary>\n<ol class=\"lines\">")
	for _, line := range r.Lines {
		w.Put(`<li><bdi>`)
		w.Text(line)
		w.Put(`</bdi></li>`)
	}
	w.Put(`</ol>`)
	if r.Cut {
		w.Put(`<p class="soft">It says more than is shown here.</p>`)
	}
	w.Put("</details>\n</section>\n")
}

func (v *txView) writeFacts(w *markup.Writer) {
	t := v.T
	w.Put("<dl class=\"facts\">\n")
	beginFact(w, "Status")
	w.HTML(v.Status())
	endFact(w)
	beginFact(w, "Block")
	w.HTML(v.L.Block(t.BlockNumber))
	w.Put(`, place <span data-value="`)
	w.Uint(uint64(t.TxIndex))
	w.Put(`">`)
	w.Uint(uint64(t.TxIndex))
	w.Put(`</span>`)
	endFact(w)
	beginFact(w, "Time")
	w.HTML(v.L.Time(t.TimestampISO))
	endFact(w)
	beginFact(w, "Type")
	w.Text(v.Kind())
	w.Put(`, version <span data-value="`)
	w.Felt(&t.TxVersion)
	w.Put(`">`)
	w.Text(v.Version())
	w.Put(`</span>`)
	endFact(w)
	beginFact(w, "From")
	switch {
	case t.FromAddress == nil:
		w.Put(`<span class="soft">nobody signed it</span>`)
	case v.Kind() == "L1 handler":
		w.HTML(v.L.Felt(t.FromAddress))
		w.Put(` <span class="soft">on L1</span>`)
	default:
		v.L.party(w, t.FromAddress)
	}
	endFact(w)
	beginFact(w, "Fee")
	writeFee(w, &v.Told.Receipt, v.Told.Type)
	endFact(w)
	if t.Nonce != nil {
		beginFact(w, "Nonce")
		writeUnits(w, t.Nonce)
		endFact(w)
	}
	if t.DeclaredClassHash != nil {
		beginFact(w, "Declares")
		w.Put("class ")
		v.L.shortLink(w, "/class/", t.DeclaredClassHash)
		if t.CompiledClassHash != nil {
			w.Put(", compiled to ")
			w.HTML(v.L.Felt(t.CompiledClassHash))
		}
		endFact(w)
	}
	beginFact(w, "Hash")
	w.HTML(v.L.Whole(&t.TxHash))
	endFact(w)
	w.Put("</dl>\n")
}

// writeUnits writes a number that has no point.
func writeUnits(w *markup.Writer, f *felt.Felt) { writeAmount(w, feltUnits(f), 0, true) }

func (v *txView) writeCalls(w *markup.Writer) {
	calls := v.FirstCalls()
	if len(calls) == 0 {
		return
	}
	w.Put("<section aria-labelledby=\"calls\">\n<h2 id=\"calls\">")
	if v.T.EntryPoint != nil {
		w.Put("What the protocol ran")
	} else {
		w.Put("What was signed")
	}
	w.Put("</h2>\n")
	if v.T.CallDecodingDegraded {
		w.Put(`<p class="notice">Some classes could not be looked up for this page: calls may lack names and arguments.</p>` + "\n")
	}
	w.HTML(v.L.CallList(calls, 0))
	v.rest(w, v.MoreCalls(), "calls", v.AllCalls(), "call")
	w.Put("\n</section>\n")
}

// writeFees writes the fee and what it is made of.
func (v *txView) writeFees(w *markup.Writer) {
	unit := v.unit()
	w.Put("<section aria-labelledby=\"fee\">\n<h2 id=\"fee\">Fee and resources</h2>\n<p>")
	writeFee(w, &v.Told.Receipt, v.Told.Type)
	if fee := v.T.Receipt.ActualFeeAmount; fee != nil {
		w.Put(" = ")
		writeUnits(w, fee)
		w.Put(" ")
		w.Put(unit)
	}
	w.Put(", in all.</p>\n" + `<table class="rows"><caption class="hidden">Gas used, its price in the block, and what the sender allowed</caption><thead><tr><th scope="col">Resource</th><th scope="col" class="num">Used</th><th scope="col" class="num">Price in `)
	w.Put(unit)
	w.Put(`</th><th scope="col" class="num">At most</th><th scope="col" class="num">Price at most, in `)
	w.Put(unit)
	w.Put("</th></tr></thead>\n<tbody>")
	for i := range v.Fees {
		f := &v.Fees[i]
		w.Put(`<tr><td data-label="Resource">`)
		w.Text(f.Name)
		w.Put(`</td><td class="num" data-label="Used">`)
		writeCount(w, f.Used)
		w.Put(`</td><td class="num" data-label="Price">`)
		writeUnits(w, &f.Price)
		w.Put(`</td>`)
		if f.Bound != nil {
			w.Put(`<td class="num" data-label="At most">`)
			writeCount(w, f.Bound.MaxAmount)
			w.Put(`</td><td class="num" data-label="Price at most">`)
			writeUnits(w, &f.Bound.MaxPricePerUnit)
			w.Put(`</td>`)
		} else {
			w.Put(`<td class="num" data-label="At most"><span class="soft">not bounded</span></td><td class="num" data-label="Price at most"><span class="soft">not bounded</span></td>`)
		}
		w.Put("</tr>\n")
	}
	w.Put("</tbody></table>\n")
	if v.Told.Tip > 0 {
		w.Put("<p>A tip of ")
		writeCount(w, v.Told.Tip)
		w.Put(" ")
		w.Put(unit)
		w.Put(" for each unit of L2 gas was offered.</p>")
	}
	w.Put("\n</section>\n")
}

func (v *txView) writeChanges(w *markup.Writer) {
	if len(v.Deployed)+len(v.Replaced) == 0 {
		return
	}
	w.Put("<section aria-labelledby=\"state\">\n<h2 id=\"state\">What it changed</h2>\n<ul class=\"changes\">")
	for i := range v.Deployed {
		w.Put(`<li>deployed `)
		v.L.contractChange(w, &v.Deployed[i].Address, " with class ", &v.Deployed[i].ClassHash)
		w.Put(`</li>`)
	}
	for i := range v.Replaced {
		w.Put(`<li>the block gave `)
		v.L.contractChange(w, &v.Replaced[i].Address, " the class ", &v.Replaced[i].ClassHash)
		w.Put(`; it does not tell by which of its transactions</li>`)
	}
	w.Put("</ul>\n</section>\n")
}

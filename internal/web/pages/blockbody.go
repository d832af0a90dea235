package pages

import (
	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
)

// write writes the page of a block.
func (v *blockView) write(w *markup.Writer) {
	b := v.B
	w.Put(`<div class="title"><h1>Block <span data-value="`)
	w.Uint(b.BlockNumber)
	w.Put(`">`)
	w.Group(b.BlockNumber)
	w.Put(`</span></h1>
<nav class="steps" aria-label="Neighbouring blocks">`)
	if b.BlockNumber > 0 {
		w.Put(`<a rel="prev" href="`)
		v.L.blockHref(w, b.BlockNumber-1)
		w.Put(`">← previous</a>`)
	}
	if v.Next {
		w.Put(`<a rel="next" href="`)
		v.L.blockHref(w, b.BlockNumber+1)
		w.Put(`">next →</a>`)
	} else {
		w.Put(`<span class="soft">newest</span>`)
	}
	w.Put("</nav></div>\n<div class=\"badges\">")
	w.HTML(v.L.Tier(b.BlockNumber))
	w.HTML(verifiedBadge(&b.Verification))
	w.Put("</div>\n")
	w.HTML(v.bar)
	w.Put("\n<div class=\"halves\">\n")
	v.counts(w)
	v.costs(w)
	w.Put("</div>\n<dl class=\"facts hashes\">\n")
	beginFact(w, "Hash")
	w.HTML(v.L.Whole(&b.BlockHash))
	endFact(w)
	beginFact(w, "Parent")
	v.L.shortLink(w, "/block/", &b.ParentHash)
	endFact(w)
	beginFact(w, "State root")
	w.HTML(v.L.Felt(b.StateRoot))
	endFact(w)
	w.Put(`</dl>
<section aria-labelledby="transactions">
<h2 id="transactions">Transactions</h2>
`)
	if len(v.Rows) > 0 {
		v.L.writeRows(w, "Transactions of the block, in order", v.Rows)
		w.Put("\n")
		v.Pager.write(w)
	} else {
		w.Put(`<p>The block has no transactions.</p>`)
	}
	w.Put("\n</section>\n")
	v.changes(w)
}

func (l *look) blockHref(w *markup.Writer, number uint64) {
	w.Link(l.base)
	w.Put("/block/")
	w.Uint(number)
}

// counts writes what is in the block.
func (v *blockView) counts(w *markup.Writer) {
	w.Put("<dl class=\"facts\">\n")
	beginFact(w, "Time")
	w.HTML(v.L.Time(v.B.TimestampISO))
	endFact(w)
	countFact(w, "Transactions", v.B.TxCount)
	if v.S.Reverted > 0 {
		countFact(w, "Reverted", v.S.Reverted)
	}
	countFact(w, "Events", v.B.EventCount)
	countFact(w, "Messages to L1", v.S.Messages)
	countFact(w, "State changes", v.S.StateDiffLength)
	beginFact(w, "Built by")
	if v.B.SequencerAddress != nil {
		w.HTML(v.L.Address(v.B.SequencerAddress))
	} else {
		writeUnknown(w, "The block does not say.")
	}
	endFact(w)
	w.Put("</dl>\n")
}

// costs writes what was paid in the block, and by which prices.
func (v *blockView) costs(w *markup.Writer) {
	w.Put("<dl class=\"facts\">\n")
	if len(v.Rows) > 0 {
		gas, fees := markup.Ours("Gas used"), markup.Ours("Fees paid")
		if uint64(len(v.Rows)) != v.B.TxCount {
			gas, fees = "Gas used on this page", "Fees paid on this page"
		}
		beginFact(w, gas)
		v.Sums.gas(w)
		endFact(w)
		beginFact(w, fees)
		writeAmount(w, v.Sums.Fri.String(), 18, true)
		w.Put(` <bdi class="name">STRK</bdi>`)
		if v.Sums.Wei.Sign() != 0 {
			w.Put(", ")
			writeAmount(w, v.Sums.Wei.String(), 18, true)
			w.Put(` <bdi class="name">ETH</bdi>`)
		}
		endFact(w)
	}
	for _, p := range []struct {
		name markup.Ours
		*api.GasPrice
	}{{"Price of L2 gas", v.B.L2GasPrice}, {"Price of L1 gas", v.B.L1GasPrice}, {"Price of L1 data gas", v.B.L1DataGasPrice}} {
		beginFact(w, p.name)
		if p.GasPrice == nil {
			writeUnknown(w, "")
		} else {
			writePrice(w, p.PriceInFri, "fri")
			w.Put(" · ")
			writePrice(w, p.PriceInWei, "wei")
		}
		endFact(w)
	}
	wordFact(w, "Data availability", v.B.L1DataAvailabilityMode, "The block does not say.")
	wordFact(w, "Protocol version", v.B.StarknetVersion, "The block is older than versions in blocks.")
	w.Put("</dl>\n")
}

// writePrice writes a price of gas in one unit, exactly.
func writePrice(w *markup.Writer, amount *string, unit markup.Ours) {
	units, ok := unitsOf(amount)
	if !ok {
		writeUnknown(w, "")
		return
	}
	w.Put(`<span class="amount" data-value="`)
	w.Text(units)
	w.Put(`">`)
	w.Text(grouped(units))
	w.Put(`</span> <span class="soft">`)
	w.Put(unit)
	w.Put(`</span>`)
}

// changes writes what the block changed, the first of each kind.
func (v *blockView) changes(w *markup.Writer) {
	d := v.State
	declared := d.DeprecatedDeclared
	for i := range d.Declared {
		declared = append(declared, d.Declared[i].ClassHash)
	}
	if len(d.Deployed)+len(d.Replaced)+len(declared)+len(d.Nonces) == 0 {
		return
	}
	w.Put(`<section aria-labelledby="changes">
<h2 id="changes">What it changed</h2>
<p class="soft">Storage cells are counted above and not indexed one by one.</p>
`)
	changesOf(w, `<h3>Contracts deployed: `, "</h3>\n", "\n", len(d.Deployed), func(i int) {
		v.L.contractChange(w, &d.Deployed[i].Address, " with class ", &d.Deployed[i].ClassHash)
	})
	changesOf(w, `<h3>Classes replaced: `, "</h3>\n", "\n", len(d.Replaced), func(i int) {
		v.L.contractChange(w, &d.Replaced[i].Address, " now with class ", &d.Replaced[i].ClassHash)
	})
	changesOf(w, `<h3>Classes declared: `, "</h3>\n", "\n", len(declared), func(i int) { v.L.shortLink(w, "/class/", &declared[i]) })
	changesOf(w, `<details><summary>Nonces of `, " accounts and contracts</summary>\n", "</details>\n", len(d.Nonces), func(i int) {
		v.L.party(w, &d.Nonces[i].Address)
		w.Put(" has nonce ")
		writeAmount(w, feltUnits(&d.Nonces[i].Nonce), 0, true)
	})
	w.Put("</section>")
}

func (l *look) contractChange(w *markup.Writer, address *felt.Felt, words markup.Ours, class *felt.Felt) {
	l.party(w, address)
	w.Put(words)
	l.shortLink(w, "/class/", class)
}

// changesOf lists changes of a kind, the first of n, and says how many there are.
func changesOf(w *markup.Writer, front, behind, end markup.Ours, n int, one func(i int)) {
	if n == 0 {
		return
	}
	w.Put(front)
	writeCount(w, uint64(n))
	w.Put(behind)
	w.Put(`<ul class="changes">`)
	for i := range min(n, blockChanges) {
		w.Put(`<li>`)
		one(i)
		w.Put(`</li>`)
	}
	if n > blockChanges {
		w.Put(`<li class="soft">and `)
		w.Group(uint64(n - blockChanges))
		w.Put(` more</li>`)
	}
	w.Put(`</ul>`)
	w.Put(end)
}

// beginFact begins an entry of a list of facts, and endFact ends it.
func beginFact(w *markup.Writer, name markup.Ours) {
	w.Put(`<div><dt>`)
	w.Put(name)
	w.Put(`</dt><dd>`)
}

func endFact(w *markup.Writer) { w.Put("</dd></div>\n") }

func countFact(w *markup.Writer, name markup.Ours, n uint64) {
	beginFact(w, name)
	writeCount(w, n)
	endFact(w)
}

// wordFact is a word of an answer, or unknown and why.
func wordFact(w *markup.Writer, name markup.Ours, word *string, why string) {
	beginFact(w, name)
	if word == nil {
		writeUnknown(w, why)
	} else {
		w.Text(*word)
	}
	endFact(w)
}

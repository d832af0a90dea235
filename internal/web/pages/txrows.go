package pages

import (
	"html/template"
	"math/big"
	"strings"

	"chainexplorer/internal/markup"
	"chainexplorer/internal/starknet"
)

// writeRows is a table of transactions in words. Its rows are written without a template,
// because there are many of them.
func (l *look) writeRows(w *markup.Writer, caption markup.Ours, rows []told) {
	w.Put(`<table class="rows txs"><caption class="hidden">`)
	w.Put(caption)
	w.Put(`</caption><thead><tr><th scope="col" class="num">#</th><th scope="col">What it does</th><th scope="col">Type</th><th scope="col">Status</th><th scope="col" class="num">Fee</th><th scope="col">Hash</th></tr></thead><tbody>`)
	for i := range rows {
		r := &rows[i]
		w.Put(`<tr><td class="num" data-label="#"><span data-value="`)
		w.Uint(uint64(r.Index))
		w.Put(`">`)
		w.Uint(uint64(r.Index))
		w.Put(`</span></td><td class="words" data-label="What">`)
		w.HTML(r.Words)
		w.Put(`</td><td data-label="Type">`)
		w.Text(txType(r.Type.String()))
		w.Put(`</td><td data-label="Status">`)
		w.HTML(statusWord(r.Receipt.Execution.String()))
		w.Put(`</td><td class="num" data-label="Fee"><span>`)
		writeFee(w, &r.Receipt, r.Type)
		w.Put(`</span></td><td data-label="Hash">`)
		l.shortLink(w, "/tx/", &r.Hash)
		w.Put("</td></tr>\n")
	}
	w.Put(`</tbody></table>`)
}

// txType is the type of a transaction in words.
func txType(name string) string {
	switch name {
	case "L1_HANDLER":
		return "L1 handler"
	}
	return strings.ReplaceAll(strings.ToLower(name), "_", " ")
}

// statusWord says whether a transaction did what it was to do.
func statusWord(status string) template.HTML {
	switch status {
	case "SUCCEEDED":
		return `<span class="did" data-value="SUCCEEDED">succeeded</span>`
	case "REVERTED":
		return `<span class="didnot" data-value="REVERTED">reverted</span>`
	}
	return `<span class="unknown">unknown</span>`
}

// writeFee writes what a transaction paid on this layer.
func writeFee(w *markup.Writer, r *starknet.Receipt, kind starknet.TxType) {
	if kind == starknet.L1Handler && r.ActualFee.IsZero() {
		w.Put(`<span class="soft" data-value="0">paid on L1</span>`)
		return
	}
	switch r.FeeUnit {
	case starknet.Fri:
		writeAmount(w, feltUnits(&r.ActualFee), 18, true)
		w.Put(` <bdi class="name">STRK</bdi>`)
	case starknet.Wei:
		writeAmount(w, feltUnits(&r.ActualFee), 18, true)
		w.Put(` <bdi class="name">ETH</bdi>`)
	default:
		writeAmount(w, feltUnits(&r.ActualFee), 0, false)
		w.Put(` <span class="soft">units</span>`)
	}
}

// txSums is what transactions of a list add up to.
type txSums struct {
	Fri, Wei *big.Int
	L2Gas    uint64
	L1Gas    uint64
	DataGas  uint64
}

func sumUp(rows []told) txSums {
	s := txSums{Fri: new(big.Int), Wei: new(big.Int)}
	for i := range rows {
		r := &rows[i].Receipt
		fee := new(big.Int).SetBytes(r.ActualFee[:])
		if r.FeeUnit == starknet.Fri {
			s.Fri.Add(s.Fri, fee)
		} else {
			s.Wei.Add(s.Wei, fee)
		}
		s.L2Gas, s.L1Gas, s.DataGas = s.L2Gas+r.Resources.L2Gas, s.L1Gas+r.Resources.L1Gas, s.DataGas+r.Resources.L1DataGas
	}
	return s
}

// gas writes the kinds of gas that were used, in words; what is zero is left out, because old
// receipts do not tell it.
func (s *txSums) gas(w *markup.Writer) {
	some := false
	for _, g := range []struct {
		n    uint64
		name markup.Ours
	}{{s.L2Gas, " L2 gas"}, {s.L1Gas, " L1 gas"}, {s.DataGas, " L1 data gas"}} {
		if g.n == 0 {
			continue
		}
		if some {
			w.Put(", ")
		}
		some = true
		writeCount(w, g.n)
		w.Put(g.name)
	}
	if !some {
		writeUnknown(w, "The receipts do not tell it.")
	}
}

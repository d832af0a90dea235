package pages

import (
	"html/template"
	"math/big"
	"strconv"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/web"
)

// txRow is a transaction in a list.
type txRow struct {
	*told
	Hash felt.Felt
}

// txRows are transactions in order, in words. certain says that no later look would tell
// them otherwise.
func (l *look) txRows(hashes []felt.Felt) (rows []txRow, certain bool, err error) {
	all, err := l.tell(hashes)
	if err != nil {
		return nil, false, err
	}
	certain = true
	for _, h := range hashes {
		t := all[h]
		if t == nil { // the caller has it from the same view
			continue
		}
		certain = certain && t.Certain
		rows = append(rows, txRow{t, h})
	}
	return rows, certain, nil
}

// TxRows is a table of transactions in words. Its rows are written without a template,
// because there are many of them.
func (l *look) TxRows(caption string, rows []txRow) template.HTML {
	var b strings.Builder
	b.WriteString(`<table class="rows txs"><caption class="hidden">` + template.HTMLEscapeString(caption) + `</caption><thead><tr><th scope="col" class="num">#</th><th scope="col">What it does</th><th scope="col">Type</th><th scope="col">Status</th><th scope="col" class="num">Fee</th><th scope="col">Hash</th></tr></thead><tbody>`)
	for i := range rows {
		r := &rows[i]
		index := strconv.FormatUint(uint64(r.Index), 10)
		b.WriteString(`<tr><td class="num" data-label="#"><span data-value="` + index + `">` + index + `</span></td><td class="words" data-label="What">`)
		b.WriteString(string(r.Words))
		b.WriteString(`</td><td data-label="Type">` + txType(r.Type.String()) + `</td><td data-label="Status">`)
		b.WriteString(string(statusWord(r.Receipt.Execution.String())))
		b.WriteString(`</td><td class="num" data-label="Fee"><span>`)
		b.WriteString(string(l.Fee(&r.Receipt, r.Type)))
		b.WriteString(`</span></td><td data-label="Hash">`)
		b.WriteString(string(l.Tx(r.Hash)))
		b.WriteString("</td></tr>\n")
	}
	b.WriteString(`</tbody></table>`)
	return template.HTML(b.String()) //nolint:gosec // made of escaped parts
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

// Fee is what a transaction paid on this layer.
func (l *look) Fee(r *starknet.Receipt, kind starknet.TxType) template.HTML {
	if kind == starknet.L1Handler && r.ActualFee.IsZero() {
		return `<span class="soft" data-value="0">paid on L1</span>`
	}
	return l.FeeOf(r.ActualFee, r.FeeUnit.String())
}

// FeeOf is an amount in the unit of a fee.
func (l *look) FeeOf(amount any, unit string) template.HTML {
	switch unit {
	case "FRI":
		return l.Amount(amount, 18, "STRK")
	case "WEI":
		return l.Amount(amount, 18, "ETH")
	}
	return l.Amount(amount, nil, nil)
}

// txSums is what transactions of a list add up to.
type txSums struct {
	Fri, Wei *big.Int
	L2Gas    uint64
	L1Gas    uint64
	DataGas  uint64
}

func sumUp(rows []txRow) txSums {
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

// Gas are the kinds of gas that were used, in words; what is zero is left out, because old
// receipts do not tell it.
func (s txSums) Gas() template.HTML {
	var parts []string
	for _, g := range []struct {
		n    uint64
		name string
	}{{s.L2Gas, "L2 gas"}, {s.L1Gas, "L1 gas"}, {s.DataGas, "L1 data gas"}} {
		if g.n > 0 {
			parts = append(parts, `<span class="number" data-value="`+strconv.FormatUint(g.n, 10)+`">`+web.Group(g.n)+`</span> `+g.name)
		}
	}
	if parts == nil {
		return `<span class="unknown" title="The receipts do not tell it.">unknown</span>`
	}
	return template.HTML(strings.Join(parts, ", ")) //nolint:gosec // digits and fixed words
}

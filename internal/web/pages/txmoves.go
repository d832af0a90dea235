package pages

import (
	"html/template"
	"math/big"
	"strconv"
	"strings"
)

// number is a decimal of an answer; nil where it is null.
func number(text *string) *big.Int {
	if text == nil {
		return nil
	}
	n, ok := new(big.Int).SetString(*text, 10)
	if !ok {
		return nil
	}
	return n
}

// text is what was moved, in short.
func (m *move) text() string {
	amount := number(m.Amount)
	if m.TokenID == nil {
		return worthText(amount, &m.coin)
	}
	out := m.coin.text() + " #" + shortNumber(*m.TokenID)
	if amount != nil && !isOne(amount) {
		out = grouped(amount.String()) + " × " + out
	}
	return out
}

// exact is what was moved, with all digits.
func (m *move) exact() string {
	amount := "an unknown amount"
	if m.Amount != nil && m.coin.Decimals != nil {
		_, amount = amountText(*m.Amount, int(*m.coin.Decimals))
	} else if m.Amount != nil {
		amount = *m.Amount + " units"
	}
	if m.TokenID != nil {
		amount += " of number " + *m.TokenID
	}
	return amount + " of " + m.TokenAddress.String()
}

// shortNumber keeps the ends of a long number.
func shortNumber(digits string) string {
	if len(digits) <= 12 {
		return digits
	}
	return digits[:6] + "…" + digits[len(digits)-4:]
}

// Moved is a table of transfers.
func (v *txView) Moved(list []move) template.HTML {
	var b strings.Builder
	b.WriteString(`<table class="rows moves"><caption class="hidden">Token transfers, in order</caption><thead><tr><th scope="col" class="num">Event</th><th scope="col">From</th><th scope="col">To</th><th scope="col" class="num">Amount</th></tr></thead><tbody>`)
	for i := range list {
		m := &list[i]
		log := strconv.FormatUint(uint64(m.LogIndex), 10)
		b.WriteString(`<tr><td class="num" data-label="Event"><span data-value="` + log + `">` + log + `</span></td><td data-label="From">`)
		b.WriteString(string(v.end(m, true)))
		b.WriteString(`</td><td data-label="To">`)
		b.WriteString(string(v.end(m, false)))
		b.WriteString(`</td><td class="num" data-label="Amount"><span>`)
		if m.TokenID != nil {
			b.WriteString(string(v.L.Thing(number(m.Amount), *m.TokenID, m.coin)))
		} else {
			b.WriteString(string(v.L.Worth(number(m.Amount), m.coin)))
		}
		if m.Fee {
			b.WriteString(` <span class="soft">the fee</span>`)
		}
		b.WriteString("</span></td></tr>\n")
	}
	b.WriteString(`</tbody></table>`)
	return template.HTML(b.String()) //nolint:gosec // made of escaped parts and digits
}

// end is one side of a transfer; the zero address stands for what came into being, or ended.
func (v *txView) end(m *move, from bool) template.HTML {
	f, none := m.ToAddress, template.HTML(`<span class="soft" data-value="0x0">burned</span>`)
	if from {
		f, none = m.FromAddress, `<span class="soft" data-value="0x0">minted</span>`
	}
	switch {
	case f == nil:
		return v.L.Unknown("")
	case f.IsZero():
		return none
	}
	return v.L.Party(*f)
}

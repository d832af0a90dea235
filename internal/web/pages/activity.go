package pages

import (
	"html/template"
	"net/url"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
)

// choice is an entry of a list of choices in a form.
type choice struct {
	Value, Text string
	Chosen      bool
}

// choices are pairs of a value and a text, of which one is chosen.
func choices(chosen string, pairs ...string) (out []choice) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, choice{pairs[i], pairs[i+1], pairs[i] == chosen})
	}
	return out
}

// activityWords say what an address did, an item in a sentence without its subject.
func (l *look) activityWords(items []api.ActivityItem) ([]template.HTML, error) {
	var tokens []felt.Felt
	for i := range items {
		if items[i].TokenAddress != nil {
			tokens = append(tokens, *items[i].TokenAddress)
		}
	}
	names, err := l.coins(tokens)
	if err != nil {
		return nil, err
	}
	out := make([]template.HTML, len(items))
	for i := range items {
		out[i] = l.activityItem(&items[i], names)
	}
	return out, nil
}

// activityItem is an item as the cells of a row. What a cell has is in one element: on a
// phone its parts would stand apart.
func (l *look) activityItem(x *api.ActivityItem, names map[felt.Felt]coin) template.HTML {
	var b strings.Builder
	b.WriteString(`<td data-label="What" class="words"><span>`)
	what := func() template.HTML {
		c := names[*x.TokenAddress]
		of := l.Coin(c)
		switch {
		case x.TokenID != nil:
			return l.Thing(number(x.Amount), *x.TokenID, c)
		case x.Amount == nil:
			return "some " + of + ` <span class="soft">(how much is not known)</span>`
		}
		return l.Sum(x.Amount, c)
	}
	with := func(word string) string {
		if x.Counterparty == nil {
			return ""
		}
		return " " + word + " " + string(l.Address(x.Counterparty))
	}
	zero := l.r.PathValue("address") == "0x0" // the page is that of nobody
	nobody := x.Counterparty != nil && x.Counterparty.IsZero()
	switch {
	case x.TokenAddress != nil && zero && x.Kind == "transfer_out":
		b.WriteString(string(what()) + " minted" + with("to"))
	case x.TokenAddress != nil && zero && x.Kind == "transfer_in":
		b.WriteString(string(what()) + " burned" + with("by"))
	case x.TokenAddress != nil && x.Kind == "transfer_in" && nobody:
		b.WriteString("received " + string(what()) + ", newly minted")
	case x.TokenAddress != nil && x.Kind == "transfer_in":
		b.WriteString("received " + string(what()) + with("from"))
	case x.TokenAddress != nil && x.Kind == "transfer_out" && nobody:
		b.WriteString("burned " + string(what()))
	case x.TokenAddress != nil && x.Kind == "transfer_out":
		b.WriteString("sent " + string(what()) + with("to"))
	case x.TokenAddress != nil:
		b.WriteString("sent " + string(what()) + " to itself")
	default:
		b.WriteString(string(l.partWords(x.Kind, x.PrimaryMethod)) + with(map[string]string{"sender": "on", "deployed": "by", "called": "by", "l1_handler": "sent by"}[x.Kind]))
	}
	b.WriteString(`</span></td><td data-label="When">` + string(l.Time(x.TimestampISO)) + `</td><td data-label="Transaction">` + string(l.Tx(x.TxHash)) + `</td>`)
	return template.HTML(b.String()) //nolint:gosec // fixed text and escaped parts
}

// partWords say what part an address had in a transaction. The name of a function comes
// from the chain.
func (l *look) partWords(kind string, method *string) template.HTML {
	name := template.HTML("")
	if method != nil {
		name = " " + nameHTML(*method)
	}
	switch kind {
	case "sender":
		if method == nil {
			return "sent a transaction"
		}
		return "called" + name
	case "deployed":
		return "was deployed"
	case "called":
		if method == nil {
			return "was called"
		}
		return "was called," + name + ","
	case "l1_handler":
		return "took in a message of L1,"
	}
	return template.HTML(template.HTMLEscapeString(strings.ReplaceAll(kind, "_", " "))) //nolint:gosec // escaped
}

// activityView is the data of the page of an address's activity.
type activityView struct {
	*addressHead
	Rows  []template.HTML
	Kinds []choice
	Pager pager
}

// activityPage shows everything that an address did, or was done to it.
func activityPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	kind := l.query.Get("type")
	page, err := ask[api.ActivityPage](l, "listAddressActivity", paged(filled(url.Values{"type": {kind}}), l.query.Get("cursor"), listRows), a.String())
	if err != nil {
		return nil, err
	}
	v := &activityView{Pager: l.pagerOf(page.NextCursor), Kinds: choices(kind, "", "everything", "sender", "transactions that it sent", "called", "calls of it", "transfer_in", "tokens that came", "transfer_out", "tokens that went",
		"transfer_self", "tokens to itself", "deployed", "its deployment", "l1_handler", "messages of L1")}
	if v.Rows, err = l.activityWords(page.Items); err != nil {
		return nil, err
	}
	if v.addressHead, err = l.addressHead(a, "activity"); err != nil {
		return nil, err
	}
	return v.sheet("Activity", "What the address "+a.String()+" did on "+l.Chain+", newest first.", "activity.html", v), nil
}

// transactionsView is the data of the page of an address's transactions.
type transactionsView struct {
	*addressHead
	Rows  []api.AddressTx
	Names map[felt.Felt]coin
	Types []choice
	Pager pager
}

// addressTransactionsPage lists the transactions that an address has a part in.
func addressTransactionsPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	kind := l.query.Get("type")
	page, err := ask[api.AddressTxPage](l, "listAddressTransactions", paged(filled(url.Values{"type": {kind}}), l.query.Get("cursor"), listRows), a.String())
	if err != nil {
		return nil, err
	}
	v := &transactionsView{Rows: page.Items, Pager: l.pagerOf(page.NextCursor),
		Types: choices(kind, "", "all types", "INVOKE", "invoke", "DEPLOY_ACCOUNT", "deploy account", "DECLARE", "declare", "DEPLOY", "deploy", "L1_HANDLER", "L1 handler")}
	var tokens []felt.Felt
	for i := range page.Items {
		if t := page.Items[i].TopTransferTokenAddress; t != nil {
			tokens = append(tokens, *t)
		}
	}
	if v.Names, err = l.coins(tokens); err != nil {
		return nil, err
	}
	if v.addressHead, err = l.addressHead(a, "transactions"); err != nil {
		return nil, err
	}
	return v.sheet("Transactions", "Transactions that the address "+a.String()+" has a part in, newest first.", "addresstxs.html", v), nil
}

// RowAt is a transaction as the cells of a row.
func (v *transactionsView) RowAt(i int) template.HTML {
	t := &v.Rows[i]
	var b strings.Builder
	b.WriteString(`<td data-label="Hash">` + string(v.L.Tx(t.TxHash)) + `</td><td data-label="When">` + string(v.L.Time(t.TimestampISO)) + `</td><td data-label="Part" class="words"><span>`)
	for i, kind := range t.Kinds {
		if i > 0 {
			b.WriteString("; ")
		}
		switch kind {
		case "transfer_in":
			b.WriteString("tokens came")
		case "transfer_out":
			b.WriteString("tokens went")
		case "transfer_self":
			b.WriteString("tokens to itself")
		default:
			b.WriteString(strings.TrimSuffix(string(v.L.partWords(kind, t.PrimaryMethod)), ","))
		}
	}
	b.WriteString(`</span></td><td data-label="With">`)
	if t.Counterparty != nil {
		b.WriteString(string(v.L.Address(t.Counterparty)))
	} else {
		b.WriteString(`<span class="soft">–</span>`)
	}
	b.WriteString(`</td><td class="num" data-label="Largest transfer"><span>`)
	if t.TopTransferTokenAddress != nil {
		c := v.Names[*t.TopTransferTokenAddress]
		if t.TopTransferStandard != nil && *t.TopTransferStandard != "erc20" {
			c.Decimals = new(uint8)
		}
		b.WriteString(string(v.L.Sum(t.TopTransferAmount, c)))
	} else {
		b.WriteString(`<span class="soft">none</span>`)
	}
	b.WriteString(`</span></td><td data-label="Status">` + string(v.L.Status(t.ExecutionStatus)) + `</td>`)
	return template.HTML(b.String()) //nolint:gosec // fixed text and escaped parts
}

// Status is how a transaction ended.
func (l *look) Status(s *string) template.HTML {
	switch orNothing(s) {
	case "SUCCEEDED":
		return "succeeded"
	case "REVERTED":
		return `<span class="bad">reverted</span>`
	}
	return l.Unknown("")
}

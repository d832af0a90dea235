package pages

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// transferHead are the columns of a file of transfers. amount is in the token's own unit
// and raw_value in its smallest; both are exact, and empty where they are not known.
// token_status says whether the registry knows the token (known), whether it only calls itself
// like one that it knows (lookalike), or neither (unknown): a symbol alone says nothing.
var transferHead = []string{"block", "time", "tx_hash", "tx_index", "log_index", "transfer_index", "direction", "from", "to", "token", "symbol", "standard", "amount", "raw_value", "decimals", "token_id", "tier", "token_status"}

// addressTransfersFile is a file of an address's transfers, under the filters of their list.
func addressTransfersFile(l *look) (*export, error) {
	a, err := felt.Parse(l.r.PathValue("address"))
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "path.address: %q is not a felt.", kernel.Clip(l.r.PathValue("address"), 80))
	}
	filters := filled(l.query)
	return &export{name: l.Chain + "-" + a.String() + "-transfers", head: transferHead, rising: filters.Get("order") == "asc", page: func(l *look, cursor string, limit int) ([][]string, *string, error) {
		page, err := ask[api.TransferPage](l, "listAddressTransfers", paged(filters, cursor, limit), a.String())
		if err != nil {
			return nil, nil, err
		}
		rows := make([][]string, len(page.Items))
		for i := range page.Items {
			t := &page.Items[i]
			rows[i] = l.transferRow(&t.TokenTransferItem, t.TokenAddress, wayOf(&t.TokenTransferItem, a))
		}
		return rows, page.NextCursor, nil
	}}, nil
}

// tokenTransfersFile is a file of a token's transfers.
func tokenTransfersFile(l *look) (*export, error) {
	token, err := felt.Parse(l.r.PathValue("token"))
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "path.token: %q is not a felt.", kernel.Clip(l.r.PathValue("token"), 80))
	}
	filters, seen := filled(l.query), false
	return &export{name: l.Chain + "-" + token.String() + "-token-transfers", head: transferHead, page: func(l *look, cursor string, limit int) ([][]string, *string, error) {
		// Of what is no token there is no page, and no file: nothing complete can be said.
		if !seen {
			if _, err := ask[api.TokenSummary](l, "getToken", nil, token.String()); err != nil {
				return nil, nil, err
			}
			seen = true
		}
		page, err := ask[api.TokenTransferPage](l, "listTokenTransfers", paged(filters, cursor, limit), token.String())
		if err != nil {
			return nil, nil, err
		}
		rows := make([][]string, len(page.Items))
		for i := range page.Items {
			rows[i] = l.transferRow(&page.Items[i], token, "")
		}
		return rows, page.NextCursor, nil
	}}, nil
}

func (l *look) transferRow(t *api.TokenTransferItem, token felt.Felt, way string) []string {
	number := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	var symbol, decimals string
	status := "unknown"
	c := l.coinOf(token, t.TokenSymbol, t.TokenName, t.TokenDecimals)
	if c.Known {
		status = "known"
	} else if c.Like != nil {
		status = "lookalike"
	}
	if c.Symbol != nil {
		symbol, _ = cleanName(*c.Symbol)
	}
	if c.Decimals != nil {
		decimals = strconv.Itoa(int(*c.Decimals))
	}
	amount := decimal(t.Amount, c.Decimals)
	if t.Standard != "erc20" {
		amount = orNothing(t.Amount) // NFTs are counted, whatever the contract says of decimals
	}
	return []string{strconv.FormatUint(t.BlockNumber, 10), orNothing(t.TimestampISO), t.TxHash.String(), number(t.TxIndex), number(t.LogIndex), number(t.TransferIndex), way,
		t.FromAddress.String(), t.ToAddress.String(), token.String(), symbol, t.Standard, amount, orNothing(t.RawValue), decimals, orNothing(t.TokenID), t.SourceTier, status}
}

// wayOf is on which side of a transfer an address stands.
func wayOf(t *api.TokenTransferItem, a felt.Felt) string {
	from, to := t.FromAddress != nil && *t.FromAddress == a, t.ToAddress != nil && *t.ToAddress == a
	switch {
	case from && to:
		return "self"
	case from:
		return "out"
	case to:
		return "in"
	}
	return ""
}

func orNothing(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// filled are the parameters that have a value: a form sends its empty fields, too.
func filled(q url.Values) url.Values {
	out := url.Values{}
	for name, values := range q {
		for _, v := range values {
			if v != "" {
				out.Add(name, v)
			}
		}
	}
	return out
}

// paged is a query with the size of a page and the cursor of another.
func paged(q url.Values, cursor string, limit int) url.Values {
	out := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, values := range q {
		if name != "limit" && name != "cursor" {
			out[name] = values
		}
	}
	if cursor != "" {
		out.Set("cursor", cursor)
	}
	return out
}

// transferFilter is the form above a list of transfers.
type transferFilter struct {
	Directions, Kinds          []choice
	Token, Since, Until, Other string
	query                      url.Values // of the route
}

// day is how dates of forms are written.
const day = "2006-01-02"

// transferFilter reads the form. names are the parameters that the list takes besides the
// dates.
func (l *look) transferFilter(names ...string) (*transferFilter, error) {
	q := l.query
	f := &transferFilter{Token: q.Get("token"), Since: q.Get("since"), Until: q.Get("until"), Other: q.Get("address"), query: url.Values{},
		Directions: choices(q.Get("direction"), "", "in and out", "in", "in", "out", "out"),
		Kinds:      choices(q.Get("type"), "", "all kinds", "erc20", "tokens (ERC-20)", "erc721", "NFTs (ERC-721)", "erc1155", "several tokens (ERC-1155)", "unknown", "of unknown standard")}
	for _, name := range names {
		for _, v := range q[name] {
			if v != "" {
				f.query.Add(name, v)
			}
		}
	}
	for _, d := range []struct{ name, text, to, at string }{{"since", f.Since, "timestampFrom", "T00:00:00Z"}, {"until", f.Until, "timestampTo", "T23:59:59Z"}} {
		if d.text == "" {
			continue
		}
		if _, err := time.Parse(day, d.text); err != nil {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.%s: %q is not a date such as 2026-01-31.", d.name, kernel.Clip(d.text, 20))
		}
		f.query.Set(d.to, d.text+d.at)
	}
	return f, nil
}

// transfersView is the data of a list of transfers of an address.
type transfersView struct {
	*addressHead
	Rows   []api.TransferItem
	Filter *transferFilter
	CSV    string
	Pager  pager
}

// addressTransfersPage lists the transfers from and to an address.
func addressTransfersPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	f, err := l.transferFilter("direction", "token", "type")
	if err != nil {
		return nil, err
	}
	page, err := ask[api.TransferPage](l, "listAddressTransfers", paged(f.query, l.query.Get("cursor"), listRows), a.String())
	if err != nil {
		return nil, err
	}
	v := &transfersView{Rows: page.Items, Filter: f, Pager: l.pagerOf(page.NextCursor), CSV: withQuery(l.Href("address", a)+"/transfers.csv", f.query)}
	if v.addressHead, err = l.addressHead(a, "transfers"); err != nil {
		return nil, err
	}
	return v.sheet("Transfers", "Token transfers from and to the address "+a.String()+", newest first.", "addresstransfers.html", v), nil
}

// RowAt is a transfer as the cells of a row.
func (v *transfersView) RowAt(i int) template.HTML {
	t := &v.Rows[i]
	way, other := wayOf(&t.TokenTransferItem, v.A), t.FromAddress
	if way == "out" {
		other = t.ToAddress
	}
	var b strings.Builder
	b.WriteString(`<td data-label="Way"><span class="way ` + way + `">` + way + `</span></td><td class="num" data-label="Amount"><span>` + string(v.L.Moved(&t.TokenTransferItem, t.TokenAddress)) + `</span></td><td data-label="With">`)
	switch {
	case way == "self":
		b.WriteString(`<span class="soft">itself</span>`)
	case other != nil && other.IsZero() && way == "in":
		b.WriteString(`<span class="soft">newly minted</span>`)
	case other != nil && other.IsZero():
		b.WriteString(`<span class="soft">burned</span>`)
	default:
		b.WriteString(string(v.L.Address(other)))
	}
	b.WriteString(`</td><td data-label="When">` + string(v.L.Time(t.TimestampISO)) + `</td><td data-label="Block">` + string(v.L.Block(t.BlockNumber)) + `</td><td data-label="Transaction">` + string(v.L.Tx(t.TxHash)) + `</td>`)
	return template.HTML(b.String()) //nolint:gosec // fixed text and escaped parts
}

// Moved is what a transfer moved.
func (l *look) Moved(t *api.TokenTransferItem, token felt.Felt) template.HTML {
	c := l.coinOf(token, t.TokenSymbol, t.TokenName, t.TokenDecimals)
	of := l.Coin(c)
	switch {
	case t.Standard == "erc20":
		return l.Sum(t.Amount, c)
	case t.TokenID != nil:
		return l.Thing(number(t.Amount), *t.TokenID, c)
	case t.RawValue != nil:
		return `<abbr title="The standard of the token is not known: the number is an amount or an id.">value</abbr> ` + l.Amount(t.RawValue, 0, nil) + " of " + of
	}
	return l.Unknown("The event does not tell.") + " of " + of
}

package pages

import (
	"cmp"
	"errors"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// tokenTransferRow is a transfer of a token as the cells of a row.
func (l *look) tokenTransferRow(t *api.TokenTransferItem, a felt.Felt) template.HTML {
	side := func(f *felt.Felt, word string) string {
		if f != nil && f.IsZero() {
			return `<span class="soft">` + word + `</span>`
		}
		return string(l.Address(f))
	}
	return template.HTML(`<td data-label="From">` + side(t.FromAddress, "newly minted") + `</td><td data-label="To">` + side(t.ToAddress, "burned") + `</td><td class="num" data-label="Amount"><span>` + string(l.Moved(t, a)) + //nolint:gosec // fixed text and escaped parts
		`</span></td><td data-label="When">` + string(l.Time(t.TimestampISO)) + `</td><td data-label="Transaction">` + string(l.Tx(t.TxHash)) + `</td>`)
}

// tokenTransfersView is the data of the page of a token's transfers.
type tokenTransfersView struct {
	*tokenHead
	Rows                []template.HTML
	Other, First, Until string
	CSV                 string
	Pager               pager
}

// tokenTransfersPage lists a token's transfers.
func tokenTransfersPage(l *look) (*sheet, error) {
	a, err := l.tokenOf()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	for _, name := range []string{"address", "from_block", "to_block"} {
		for _, text := range l.query[name] {
			if text = strings.TrimSpace(text); text != "" {
				q.Add(name, text)
			}
		}
	}
	if err := bounds(q); err != nil {
		return nil, err
	}
	page, err := ask[api.TokenTransferPage](l, "listTokenTransfers", paged(q, l.query.Get("cursor"), listRows), a.String())
	if err != nil {
		return nil, err
	}
	v := &tokenTransfersView{Other: q.Get("address"), First: q.Get("from_block"), Until: q.Get("to_block"), Pager: l.pagerOf(page.NextCursor), CSV: withQuery(l.Href("token", a)+"/transfers.csv", q)}
	for i := range page.Items {
		v.Rows = append(v.Rows, l.tokenTransferRow(&page.Items[i], a))
	}
	if v.tokenHead, err = l.tokenHead(a, "transfers"); err != nil {
		return nil, err
	}
	return v.sheet("Transfers", "tokentransfers.html", v), nil
}

// knownToken is a token of the registry.
type knownToken struct {
	Address felt.Felt
	Coin    template.HTML
	Name    string
	Totals  token.Totals
	Moved   bool
}

// foundToken is a token that the chain has shown.
type foundToken struct {
	token.First
	Coin    template.HTML
	Name    string
	Address template.HTML
}

// tokensView is the data of the list of tokens.
type tokensView struct {
	L     *look
	Q     string
	Match []api.SearchToken
	Known []knownToken
	Found []foundToken
	Pager pager
}

// foundRows is how many found tokens a page shows, and foundSpans how far it looks.
const foundRows, foundSpans = 50, 16

// tokensPage lists the known tokens, and those that were seen on the chain, newest first.
func tokensPage(l *look) (*sheet, error) {
	v := &tokensView{L: l, Q: strings.TrimSpace(l.query.Get("q"))}
	if v.Q != "" {
		found, err := ask[api.SearchResult](l, "search", url.Values{"q": {v.Q}})
		if err != nil {
			return nil, err
		}
		v.Match = found.Tokens
	}
	before, first, err := placeOf(l.query.Get("before"), l.state.Head.Number)
	if err != nil {
		return nil, err
	}
	if first && v.Q == "" {
		for _, t := range l.served.Registry.Tokens() {
			totals, moved, err := token.TotalsOf(l.ctx, l.reader, t.Address)
			if err != nil {
				return nil, err
			}
			if moved {
				l.shows("getToken", nil, t.Address.String())
			}
			v.Known = append(v.Known, knownToken{t.Address, l.By(t.Address, nil, nil), t.Name, totals, moved})
		}
		arrange.StablyBy(v.Known, func(a, b knownToken) int { return cmp.Compare(b.Totals.Transfers, a.Totals.Transfers) })
	}
	if v.Q == "" {
		if err := v.find(before, first); err != nil {
			return nil, err
		}
	}
	return &sheet{title: "Tokens", description: "Tokens of " + l.Chain + ": those that are known, and those that were seen.", trail: []web.Link{{Text: l.Chain, Href: l.Href()}}, name: "tokens.html", data: v}, nil
}

func (v *tokensView) find(before token.First, first bool) error {
	list, next, err := token.NewestSeen(v.L.ctx, v.L.reader, before, foundRows, foundSpans)
	if err != nil {
		return err
	}
	addresses := make([]felt.Felt, len(list))
	for i := range list {
		addresses[i] = list[i].Token
	}
	names, err := v.L.coins(addresses)
	if err != nil {
		return err
	}
	for _, f := range list {
		c := names[f.Token]
		known := first && c.Known // it is named above already
		row := foundToken{f, v.L.Coin(c), orNothing(c.Name), v.L.Token(f.Token)}
		// What only looked like a token has no page.
		if _, err := token.SummaryOf(v.L.ctx, v.L.reader, f.Token, v.L.state.Head.Number); errors.Is(err, token.ErrUnknown) {
			row.Coin, row.Address = v.L.Felt(f.Token), v.L.Felt(f.Token)
		} else if err != nil {
			return err
		} else if !known {
			v.L.shows("getToken", nil, f.Token.String())
		}
		v.Found = append(v.Found, row)
	}
	if !first {
		v.Pager.First = v.L.Href("tokens")
	}
	if next != nil {
		v.Pager.Next = v.L.Href("tokens") + "?before=" + strconv.FormatUint(next.Block, 10) + "-" + next.Token.String()
	}
	return nil
}

// placeOf reads where a page of found tokens ends: a block, a hyphen and a token.
func placeOf(text string, head uint64) (before token.First, first bool, err error) {
	if text == "" {
		return token.First{Block: head + 1}, true, nil
	}
	number, address, ok := strings.Cut(text, "-")
	if before.Block, err = strconv.ParseUint(number, 10, 64); ok && err == nil && before.Block <= head+1 {
		before.Token, err = felt.Parse(address)
	}
	if !ok || err != nil || before.Block > head+1 {
		return before, false, kernel.Fail(kernel.CodeInvalidRequest, "query.before: %q is not a block and a token.", kernel.Clip(text, 100))
	}
	return before, false, nil
}

package pages

import (
	"html/template"
	"net/url"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// firstHoldings is how many tokens the first page of an address shows.
const firstHoldings = 8

// listRows is how many rows a page of a list has.
const listRows = 25

// addressHead is what all pages of an address begin with.
type addressHead struct {
	L       *look
	A       felt.Felt
	S       *api.AddressSummary
	Who     *api.Attribution
	Picture template.HTML
	Badges  []template.HTML
	Tabs    []tab
	// Also are the other pages of the same felt.
	Also []web.Link
}

// addressOf reads the address of the path.
func (l *look) addressOf() (felt.Felt, error) {
	return kernel.FeltOf("path.address", l.r.PathValue("address"))
}

// addressHead asks who an address is.
func (l *look) addressHead(a felt.Felt, here string) (*addressHead, error) {
	h := &addressHead{L: l, A: a, Picture: chart.Identicon(a[:])}
	var err error
	if h.S, err = ask[api.AddressSummary](l, "getAddress", nil, a.String()); err != nil {
		return nil, err
	}
	if h.Who, err = ask[api.Attribution](l, "getAddressAttribution", nil, a.String()); err != nil {
		return nil, err
	}
	h.Badges = h.badges()
	h.Tabs = tabsOf(l.Href("address", a), here, "Overview", "", "Holdings", "holdings", "Activity", "activity", "Transfers", "transfers", "Transactions", "transactions", "Deployments", "deployments", "Approvals", "approvals")
	switch word := orNothing(h.S.TypeLabel); word {
	case "token":
		h.Also = []web.Link{{Text: "as a token", Href: l.Href("token", a)}, {Text: "as a contract", Href: l.Href("contract", a)}}
	case "account", "contract":
		h.Also = []web.Link{{Text: "as a contract", Href: l.Href("contract", a)}}
	}
	return h, nil
}

// title is what the page of an address is called.
func (h *addressHead) title() string {
	if h.Who.Label != nil {
		name, _ := cleanName(*h.Who.Label)
		return name
	}
	if h.A.IsZero() {
		return "Zero address"
	}
	return "Address " + shorten(h.A.String())
}

// sheet is a page of the address.
func (h *addressHead) sheet(part, description, name string, data any) *sheet {
	s := &sheet{title: h.title(), description: description, name: name, data: data, trail: []web.Link{{Text: h.L.Chain, Href: h.L.Href()}}}
	if s.card = h.L.Href("address", h.A); part != "" {
		s.trail = append(s.trail, web.Link{Text: s.title, Href: h.L.Href("address", h.A)})
		s.title = part + " of " + shorten(h.A.String())
	}
	return s
}

// makers are what those who make accounts call themselves.
var makers = map[string]string{"openzeppelin": "OpenZeppelin", "argent": "Argent", "braavos": "Braavos"}

// makerOf is who makes a family of accounts. An operator's list may have others.
func makerOf(family string) string {
	if name, ok := makers[family]; ok {
		return name
	}
	name, _ := cleanName(family)
	return name
}

func (h *addressHead) badges() (out []template.HTML) {
	if h.A.IsZero() {
		return append(out, badge("soft", "no account", "Nobody has the keys of the zero address, and no contract can be deployed here. By the standards of tokens a transfer from it is a mint, and one to it a burn."))
	}
	switch orNothing(h.S.TypeLabel) {
	case "account":
		word := "account"
		if h.S.AccountKind != nil {
			word += " by " + makerOf(*h.S.AccountKind)
		}
		out = append(out, badge("soft", word, "Its class, or a transaction that it sent, tells that it is an account. Which family it is of follows from its class, by the registry of this service."))
	case "token":
		out = append(out, badge("soft", "token", "The registry lists it as a token, or its class has the entry points of one."))
	case "contract":
		out = append(out, badge("soft", "contract", "A contract is deployed here, and nothing tells that it is an account or a token."))
	case "system":
		out = append(out, badge("soft", "system", "The protocol keeps this address for itself."))
	case "not_deployed":
		why := "No indexed block has deployed a contract here."
		if e := h.S.ContractExistence; e != nil {
			why = "Up to block " + web.Group(e.ObservedBlockNumber) + ", which is finalized, nothing has deployed a contract here. The address can receive tokens all the same."
		}
		out = append(out, badge("soft", "no contract", why))
	}
	if w := h.Who; w.Known {
		tone := "good"
		if w.Confidence != "high" {
			tone = "warn"
		}
		source := "the registry of this service"
		switch w.Source {
		case "indexed_address_attribution":
			source = "the operator of this service"
		case "curated_known_token_metadata":
			source = "the list of known tokens"
		}
		evidence := "The label comes from " + source
		if w.LabelSource != nil && *w.LabelSource != "registry" {
			evidence += " (" + *w.LabelSource + ")"
		}
		out = append(out, badge(tone, "labelled, confidence "+orNothing(w.LabelConfidence), evidence+". It is no fact of the chain."))
	}
	return out
}

// addressView is the data of an address's first page.
type addressView struct {
	*addressHead
	Activity []template.HTML
	Latest   *string
	holdings
	Chart *balanceChart
}

// addressPage shows who an address is, what it holds and what it did lately. Rows read:
// those of the routes that it asks, the balances of a page of tokens, and those that the
// chart shows.
func addressPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	head, err := l.addressHead(a, "")
	if err != nil {
		return nil, err
	}
	v := &addressView{addressHead: head}
	activity, err := ask[api.ActivityPage](l, "listAddressActivity", map[string][]string{"limit": {"10"}}, a.String())
	if err != nil {
		return nil, err
	}
	if len(activity.Items) > 0 {
		v.Latest = activity.Items[0].TimestampISO
	}
	if v.Activity, err = l.activityWords(activity.Items); err != nil {
		return nil, err
	}
	if err := v.holdings.fill(l, a, ""); err != nil {
		return nil, err
	}
	if v.Chart, err = v.holdings.chart(l, a); err != nil {
		return nil, err
	}
	if n := len(v.Rows); n > firstHoldings {
		v.Rows, v.Rest = v.Rows[:firstHoldings], n-firstHoldings
	}
	v.Pager = pager{} // the holdings' own page has it
	s := head.sheet("", "", "address.html", v)
	s.description = "Address " + a.String() + " on " + l.Chain + ": " + plural(head.S.TransactionCount, "transaction") + ", " + plural(head.S.TransferCount, "token transfer") + ", what it holds and what it did lately."
	s.about = v.holdings.anchor()
	return s, nil
}

// ChartOf is where the balance of a token is drawn.
func (h *addressHead) ChartOf(token felt.Felt) string {
	q := url.Values{"token": {token.String()}}
	if b := h.L.query.Get("block"); b != "" {
		q.Set("block", b)
	}
	return withQuery(h.L.Href("address", h.A), q) + "#balance"
}

// BalanceHref is where a contract can be asked for a balance.
func (h *addressHead) BalanceHref() string { return h.L.Href("address", h.A, "balance") }

// TokenField is the token whose balance is drawn, which the form of the block keeps.
func (h *addressHead) TokenField() string { return h.L.query.Get("token") }

// balanceChart is how a balance went.
type balanceChart struct {
	Token  felt.Felt
	Coin   template.HTML
	HTML   template.HTML
	Why    string // there is no chart
	Points int
	More   bool // there are older ones than the chart has
}

// chartPoints is how many changes of a balance a chart reads.
const chartPoints = 500

// chart draws the balance of the token that was asked for, or else of the one that moved
// last, known ones before others.
func (h *holdings) chart(l *look, owner felt.Felt) (*balanceChart, error) {
	var of *holding
	if text := l.query.Get("token"); text != "" {
		f, e := kernel.FeltOf("query.token", text)
		if e != nil {
			return nil, e
		}
		told, err := token.HeldMany(l.ctx, l.reader, l.served.Registry, []felt.Felt{f}, owner, h.At)
		if err != nil {
			return nil, err
		}
		names, err := l.coins([]felt.Felt{f})
		if err != nil {
			return nil, err
		}
		of = &holding{Token: f, coin: names[f], Told: told[0]}
	} else {
		for i := range h.Rows {
			r := &h.Rows[i]
			if r.Told.Gap == "" && r.Told.Changed != nil && (of == nil || r.coin.Known && !of.coin.Known || r.coin.Known == of.coin.Known && *r.Told.Changed > *of.Told.Changed) {
				of = r
			}
		}
	}
	if of == nil {
		return nil, nil
	}
	c := &balanceChart{Token: of.Token, Coin: l.Coin(of.coin)}
	if of.Told.Gap != "" {
		c.Why = untold[of.Told.Gap]
		return c, nil
	}
	l.shows("listAddressTransfers", url.Values{"token": {of.Token.String()}, "to_block": {strconv.FormatUint(h.At, 10)}, "limit": {"100"}}, owner.String())
	past, more, err := token.History(l.ctx, l.reader, of.Token, owner, h.At, chartPoints)
	if err != nil {
		return nil, err
	}
	if len(past) == 0 {
		c.Why = "No transfer of this token from or to the address is indexed up to block " + web.Group(h.At) + "."
		return c, nil
	}
	c.More, c.Points = more, len(past)
	unit := "units"
	if of.coin.Decimals != nil && of.coin.Symbol != nil {
		unit, _ = cleanName(*of.coin.Symbol)
	}
	points := make([]chart.Point, len(past))
	for i := range past {
		p := &past[i]
		points[i] = chart.Point{At: float64(p.Block), Label: web.Group(p.Block), Title: "Block " + web.Group(p.Block)}
		if n := p.Of(of.Told.Kind); n.Sign() >= 0 {
			if points[i].Value = n.String(); of.coin.Decimals != nil {
				points[i].Value = decimal(points[i].Value, of.coin.Decimals)
			}
		}
	}
	c.HTML, err = chart.Steps{ID: "balance-chart", Title: "Balance in " + unit, Description: "What indexed transfers left with the address, block by block.", Axis: "Block", Unit: unit,
		Points: points, Until: float64(h.At), UntilLabel: web.Group(h.At)}.HTML()
	return c, err
}

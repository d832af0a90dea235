package pages

import (
	"errors"
	"html/template"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/web"
)

// tokenHead is what all pages of a token begin with.
type tokenHead struct {
	L       *look
	T       *api.TokenSummary
	Addr    felt.Felt
	Picture template.HTML
	Badges  []template.HTML
	Tabs    []tab
	coin    coin
}

// tokenOf reads the token of the path.
func (l *look) tokenOf() (felt.Felt, error) {
	return kernel.FeltOf("path.token", l.r.PathValue("token"))
}

func (l *look) tokenHead(a felt.Felt, here string) (*tokenHead, error) {
	t, err := ask[api.TokenSummary](l, "getToken", nil, a.String())
	if err != nil {
		return nil, err
	}
	h := &tokenHead{L: l, T: t, Addr: a, Picture: chart.Identicon(a[:]), coin: l.coinOf(a, t.Symbol, t.Name, t.Decimals)}
	h.Tabs = tabsOf(l.Href("token", a), here, "Overview", "", "Holders", "holders", "Transfers", "transfers", "Pools", "pools", "Supply", "supply")
	switch {
	case h.coin.Known:
		h.Badges = append(h.Badges, badge("good", "known token", "The registry of this service lists the token at this address. The list is the operator's, not the chain's."))
	case h.coin.Like != nil:
		h.Badges = append(h.Badges, badge("bad", "lookalike", "Nobody vouches for the token, and the name that its contract chose looks like that of a known one."))
	default:
		h.Badges = append(h.Badges, badge("warn", "unknown token", "Nobody vouches for the token: its name is what its contract calls itself, and anybody can choose any name."))
	}
	standard, ok := strings.CutSuffix(standardWords(t.Standard), " token")
	if !ok {
		standard = "standard unknown"
	}
	h.Badges = append(h.Badges, badge("soft", standard, "Which standard the token follows is told by the entry points of its class, or by what its contract answered."))
	return h, nil
}

// Title is what the token is called.
func (h *tokenHead) Title() template.HTML {
	switch {
	case h.coin.Name != nil && *h.coin.Name != "":
		return nameHTML(*h.coin.Name)
	case h.coin.Symbol != nil:
		return nameHTML(*h.coin.Symbol)
	}
	return "Token without a name"
}

// Symbol is what stands beside amounts.
func (h *tokenHead) Symbol() template.HTML {
	if h.coin.Symbol == nil || h.coin.Name != nil && *h.coin.Name == *h.coin.Symbol {
		return ""
	}
	return nameHTML(*h.coin.Symbol)
}

// Units is an amount of the token.
func (h *tokenHead) Units(raw *string) template.HTML {
	if raw == nil {
		return h.L.Unknown("")
	}
	return h.L.Amount(raw, h.decimals(), h.coin.Symbol)
}

// decimals of NFTs are none, whatever the contract says.
func (h *tokenHead) decimals() *uint8 {
	if h.T.Standard == "erc721" || h.T.Standard == "erc1155" {
		return new(uint8)
	}
	return h.coin.Decimals
}

// Known says that the registry lists the token.
func (h *tokenHead) Known() bool { return h.coin.Known }

func (h *tokenHead) title() string {
	text := "Token " + shorten(h.Addr.String())
	if h.coin.Symbol != nil {
		if name, _ := cleanName(*h.coin.Symbol); name != "" {
			text = "Token " + name
		}
	}
	if !h.coin.Known {
		text += " (unknown)"
	}
	return text
}

func (h *tokenHead) sheet(part, name string, data any) *sheet {
	s := &sheet{title: h.title(), name: name, data: data, trail: []web.Link{{Text: h.L.Chain, Href: h.L.Href()}, {Text: "Tokens", Href: h.L.Href("tokens")}}}
	s.description = "The token at " + h.Addr.String() + " on " + h.L.Chain + ": whether it is known, who holds it and who controls it."
	if s.card = h.L.Href("token", h.Addr); part != "" {
		s.trail = append(s.trail, web.Link{Text: s.title, Href: h.L.Href("token", h.Addr)})
		s.title = part + " of " + strings.ToLower(s.title[:1]) + s.title[1:]
	}
	return s
}

// tokenView is the data of a token's first page.
type tokenView struct {
	*tokenHead
	// Minted is what indexed mints and burns leave, and MintedWhy why that says nothing.
	Minted    *string
	MintedWhy string
	Controls  []fact
	Control   *api.TokenControls
	Rows      []template.HTML
}

// tokenPage shows whether a token is the real one, who holds it and who controls it.
func tokenPage(l *look) (*sheet, error) {
	a, err := l.tokenOf()
	if err != nil {
		return nil, err
	}
	head, err := l.tokenHead(a, "")
	if missing := new(kernel.Error); errors.As(err, &missing) && missing.Code == kernel.CodeNotFound {
		if known, ok := l.served.Registry.Token(a); ok {
			return l.unseenToken(known)
		}
	}
	if err != nil {
		return nil, err
	}
	v := &tokenView{tokenHead: head}
	if v.Control, err = ask[api.TokenControls](l, "getTokenControls", nil, a.String()); err != nil {
		return nil, err
	}
	v.Controls = l.controlWords(v.Control.Snapshot)
	transfers, err := ask[api.TokenTransferPage](l, "listTokenTransfers", map[string][]string{"limit": {"10"}}, a.String())
	if err != nil {
		return nil, err
	}
	for i := range transfers.Items {
		v.Rows = append(v.Rows, l.tokenTransferRow(&transfers.Items[i], a))
	}
	l.showsLive("/token/" + a.String() + "/total-supply")
	if v.Minted, v.MintedWhy, err = l.mintedOf(a); err != nil {
		return nil, err
	}
	if v.Minted == nil && v.T.Standard == "erc1155" {
		v.MintedWhy = "The contract has many tokens, each with a supply of its own."
	}
	return head.sheet("", "token.html", v), nil
}

// unseenToken is the page of a token that the registry lists, and of which the chain has
// shown nothing.
func (l *look) unseenToken(t registry.Token) (*sheet, error) {
	if _, err := ask[api.Attribution](l, "getAddressAttribution", nil, t.Address.String()); err != nil {
		return nil, err
	}
	h := &tokenHead{L: l, Addr: t.Address, coin: l.coinOf(t.Address, nil, nil, nil)}
	s := h.sheet("", "tokenunseen.html", map[string]any{"L": l, "T": t})
	s.card = "" // nothing is known that it could show
	return s, nil
}

// Like is the known token that this one is taken for; nil for none.
func (h *tokenHead) Like() *registry.Token { return h.coin.Like }

// mintedOf is the supply that indexed mints and burns leave, or why they do not tell.
func (l *look) mintedOf(a felt.Felt) (*string, string, error) {
	supply, gap, err := token.MintedAt(l.ctx, l.reader, l.served.Registry, a, l.state.Head.Number)
	if err != nil || gap != "" {
		return nil, untold[gap], err
	}
	text := supply.String()
	return &text, "", nil
}

// Balance is an amount of the token.
func (h *tokenHead) Balance(raw string) template.HTML { return h.Units(&raw) }

// EvidenceAt is a piece of evidence as the cells of a row.
func (v *tokenView) EvidenceAt(i int) template.HTML {
	return v.L.Evidence(&v.Control.Snapshot.Evidence[i])
}

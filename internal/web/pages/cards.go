package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
	"chainexplorer/internal/web/card"
)

// The pictures that sharers show of pages. What they say comes from the answers of the API,
// as on the page. A token that nobody vouches for is not called by the name that it chose.

const (
	// cardFile is what a picture is called, below the path of what it is of.
	cardFile = "/card.png"
	// cardCost is what a picture takes of what an address may ask, and cardHands how many are
	// drawn at once.
	cardCost, cardHands = 5, 2
	cardFoot            = "Chain Explorer"
)

type artist func(*look) (*card.Card, error)

// cards adds the pictures of a chain.
func (p *Pages) cards(id string) {
	p.chainCard(id, "cardBlock", "/block/{ref}", blockCard)
	p.chainCard(id, "cardTransaction", "/tx/{hash}", txCard)
	p.chainCard(id, "cardAddress", "/address/{address}", addressCard)
	p.chainCard(id, "cardToken", "/token/{token}", tokenCard)
}

// homeCard serves the picture of the service, which is always the same.
func (p *Pages) homeCard() {
	draw := sync.OnceValues((&card.Card{Kind: "Starknet", Title: cardFoot, Facts: []string{"Blocks, transactions, addresses, tokens", "every number exact, as of a block"}, Foot: strings.Join(p.Chains, " · ")}).PNG)
	p.HandleSheet(kernel.Sheet{ID: "cardHome", Pattern: "GET " + cardFile, Dress: dressCard,
		Make: func(w http.ResponseWriter, r *http.Request) error {
			if e := noQuery(r); e != nil {
				return e
			}
			return sendCard(w, draw)
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, "", e) },
	})
}

func dressCard(h http.Header) {
	web.SetHeaders(h)
	h.Set("Content-Type", "image/png")
	h.Set("X-Content-Type-Options", "nosniff")
}

// noQuery keeps a picture from being drawn again and again under other addresses.
func noQuery(r *http.Request) error {
	if r.URL.RawQuery != "" {
		return kernel.Fail(kernel.CodeInvalidRequest, "A picture takes no parameters.")
	}
	return nil
}

func sendCard(w http.ResponseWriter, draw func() ([]byte, error)) error {
	file, err := draw()
	if err != nil {
		return err
	}
	_, err = w.Write(file)
	return err
}

func (p *Pages) chainCard(id, name, path string, make artist) {
	p.HandleSheet(kernel.Sheet{
		ID: name, Pattern: "GET /" + id + path + cardFile, Chain: id, Cost: cardCost, Dress: dressCard,
		Make: func(w http.ResponseWriter, r *http.Request) error {
			if e := noQuery(r); e != nil {
				return e
			}
			l := &look{p: p, r: r, query: url.Values{}, Chain: id, base: "/" + url.PathEscape(id)}
			var c *card.Card
			err := p.routes.Pin(r.Context(), id, func(ctx context.Context, served *api.Chain, reader explorer.Reader, state *chain.State) (err error) {
				l.ctx, l.served, l.reader, l.state = ctx, served, reader, state
				c, err = make(l)
				return err
			})
			if err != nil {
				return err
			}
			select {
			case p.hands <- struct{}{}:
				defer func() { <-p.hands }()
			case <-r.Context().Done():
				return r.Context().Err()
			}
			c.Kind += " on " + id
			c.Foot = cardFoot + " · as of block " + web.Group(l.state.Head.Number)
			return sendCard(w, c.PNG)
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, id, e) },
	})
}

func blockCard(l *look) (*card.Card, error) {
	ref := l.r.PathValue("ref")
	if !blockText.MatchString(ref) {
		return nil, notABlock("path.ref", ref)
	}
	b, err := ask[api.Block](l, "getBlock", url.Values{"tx_limit": {"1"}}, ref)
	if err != nil {
		return nil, err
	}
	settled := map[chain.Finality]string{chain.AcceptedL1: "accepted on L1", chain.Finalized: "finalized"}[l.state.Finality(b.BlockNumber, l.served.Depth)]
	if settled == "" {
		settled = "accepted on L2"
	}
	return &card.Card{Kind: "Block", Title: web.Group(b.BlockNumber), Facts: []string{moment(b.TimestampISO), plural(b.TxCount, "transaction") + ", " + plural(b.EventCount, "event"), settled}}, nil
}

func txCard(l *look) (*card.Card, error) {
	t, err := ask[api.Tx](l, "getTransaction", url.Values{"logLimit": {"1"}}, l.r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	facts := []string{txType(orNothing(t.TxType)) + ", " + strings.ToLower(orNothing(t.ExecutionStatus)), "block " + web.Group(t.BlockNumber)}
	if t.TimestampISO != nil {
		facts = append(facts, moment(*t.TimestampISO))
	}
	unit := map[string]string{"FRI": "STRK", "WEI": "ETH"}[orNothing(t.Receipt.ActualFeeUnit)]
	if paid, ok := unitsOf(t.Receipt.ActualFeeAmount); ok && unit != "" {
		short, _ := amountText(paid, 18)
		facts = append(facts, "fee "+strings.ReplaceAll(short, "&lt;", "<")+" "+unit)
	}
	return &card.Card{Kind: "Transaction", Title: shorten(t.TxHash.String()), Facts: facts}, nil
}

func addressCard(l *look) (*card.Card, error) {
	a, e := kernel.FeltOf("path.address", l.r.PathValue("address"))
	if e != nil {
		return nil, e
	}
	s, err := ask[api.AddressSummary](l, "getAddress", nil, a.String())
	if err != nil {
		return nil, err
	}
	who, err := ask[api.Attribution](l, "getAddressAttribution", nil, a.String())
	if err != nil {
		return nil, err
	}
	c := &card.Card{Kind: "Address", Title: shorten(a.String()), Cells: cellsOf(a)}
	if who.Label != nil {
		c.Title, _ = cleanName(*who.Label)
		c.Facts = append(c.Facts, shorten(a.String()))
	}
	if word := orNothing(s.TypeLabel); word != "" {
		c.Facts = append(c.Facts, strings.ReplaceAll(word, "_", " "))
	}
	c.Facts = append(c.Facts, plural(s.TransactionCount, "transaction"), plural(s.TransferCount, "token transfer"))
	return c, nil
}

func tokenCard(l *look) (*card.Card, error) {
	a, e := kernel.FeltOf("path.token", l.r.PathValue("token"))
	if e != nil {
		return nil, e
	}
	h, err := l.tokenHead(a, "")
	if err != nil {
		return nil, err
	}
	c := &card.Card{Kind: "Token", Title: shorten(a.String()), Cells: cellsOf(a)}
	switch {
	case h.coin.Known:
		c.Title = h.coin.text()
		c.Facts = []string{shorten(a.String()), "known token"}
	case h.coin.Like != nil:
		c.Facts = []string{"lookalike: this is not " + h.coin.Like.Symbol}
	default:
		c.Facts = []string{"unknown token"}
	}
	if h.T.TransferCount != nil {
		c.Facts = append(c.Facts, plural(h.T.TransferCount, "transfer"))
	}
	return c, nil
}

func cellsOf(a felt.Felt) *[5][5]bool {
	cells := chart.IdenticonCells(a[:])
	return &cells
}

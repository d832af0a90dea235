package pages

import (
	"html/template"
	"net/url"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/asset"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// untold says why transfers do not tell a balance.
var untold = map[token.Gap]string{
	token.GapKind:     "Which standard the token follows is not known, so that its transfers do not add up to a balance.",
	token.GapGenesis:  "The token was there before the first block, and no event tells of the balances that it began with.",
	token.GapNegative: "More was sent than came by events, so that some of it came without one.",
}

// holding is what an address has of a token, by indexed transfers.
type holding struct {
	Token felt.Felt
	coin  coin
	Told  token.Told
	Coin  template.HTML
	Sum   template.HTML
}

// holdings are a page of what an address has at a block.
type holdings struct {
	At     uint64
	Chosen *api.Block // the block that was asked for; nil: the head
	Rows   []holding
	Empty  int // tokens of which nothing is left
	Rest   int // rows that the page leaves to another
	Pager  pager
	Found  *api.AssetPage
}

// fill reads the tokens that the address has moved, and what is left of them.
func (h *holdings) fill(l *look, owner felt.Felt, cursor string) error {
	h.At = l.state.Head.Number
	ref, err := l.block("block")
	if err != nil {
		return err
	}
	if ref != "" {
		b, err := ask[api.Block](l, "getBlock", url.Values{"tx_limit": {"1"}}, kernel.Clip(ref, 70))
		if err != nil {
			return err
		}
		h.At, h.Chosen = b.BlockNumber, b
	}
	h.Found, err = ask[api.AssetPage](l, "discoverAssets", paged(url.Values{"scope": {"discovered"}}, cursor, listRows), owner.String())
	if err != nil {
		return err
	}
	h.Pager = l.pagerOf(h.Found.NextCursor)
	tokens := make([]felt.Felt, len(h.Found.Items))
	for i := range h.Found.Items {
		tokens[i] = h.Found.Items[i].TokenAddress
	}
	told, err := token.HeldMany(l.ctx, l.reader, l.served.Registry, tokens, owner, h.At)
	if err != nil {
		return err
	}
	for i := range told {
		if told[i].Gap == "" && told[i].Amount.Sign() == 0 {
			h.Empty++
			continue
		}
		l.showsLive("/token/" + tokens[i].String() + "/balance-of/" + owner.String() + "?block_tag=" + strconv.FormatUint(h.At, 10))
		m := &h.Found.Items[i].Metadata
		var decimals *uint8
		if m.Decimals != nil {
			d := uint8(*m.Decimals) //nolint:gosec // it was one
			decimals = &d
		}
		row := holding{Token: tokens[i], coin: l.coinOf(tokens[i], m.Symbol, m.Name, decimals), Told: told[i]}
		row.Coin = l.Coin(row.coin)
		if row.Sum = l.Unknown(untold[told[i].Gap]); told[i].Gap == "" {
			if told[i].Kind == transfer.ERC721 {
				row.coin.Decimals = new(uint8) // they are counted, whatever the contract says
			}
			row.Sum = l.Amount(told[i].Amount.String(), row.coin.Decimals, nil)
		}
		h.Rows = append(h.Rows, row)
	}
	return nil
}

// Name is what a token calls itself in full, where that says more than its symbol.
func (h holding) Name() string {
	if h.coin.Name == nil || h.coin.Symbol != nil && *h.coin.Name == *h.coin.Symbol {
		return ""
	}
	return *h.coin.Name
}

// Known says who vouches for the token.
func (h holding) Known() bool { return h.coin.Known }

// anchor is the block that was asked for.
func (h *holdings) anchor() *anchor {
	if h.Chosen == nil {
		return nil
	}
	return &anchor{h.Chosen.BlockNumber, h.Chosen.BlockHash.String()}
}

// BlockField is what the form of the block has.
func (h *holdings) BlockField() string {
	if h.Chosen == nil {
		return ""
	}
	return strconv.FormatUint(h.At, 10)
}

// maxCollections is how many tokens are looked at for collections.
const maxCollections = 200

// holdingsView is the data of the page of an address's holdings.
type holdingsView struct {
	*addressHead
	holdings
	Collections []collection
	Most        int // tokens that were looked at for them, when there are more
}

type collection struct {
	asset.Collection
	Coin  template.HTML
	Count template.HTML
}

// Standard is what the collection follows.
func (c collection) Standard() string { return standardWords(c.Kind.String()) }

// holdingsPage shows all that an address has: tokens page by page, and collections.
func holdingsPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	v := &holdingsView{}
	if err := v.holdings.fill(l, a, l.query.Get("cursor")); err != nil {
		return nil, err
	}
	if v.addressHead, err = l.addressHead(a, "holdings"); err != nil {
		return nil, err
	}
	if l.query.Get("cursor") == "" {
		list, more, err := asset.Collections(l.ctx, l.reader, a, v.At, maxCollections)
		if err != nil {
			return nil, err
		}
		if more {
			v.Most = maxCollections
		}
		for _, c := range list {
			l.showsLive("/token/" + c.Token.String() + "/balance-of/" + a.String() + "?block_tag=" + strconv.FormatUint(v.At, 10))
			row := collection{Collection: c, Count: l.Unknown("An ERC-1155 contract has a balance for each of its ids, which are not indexed one by one.")}
			name := coin{Address: c.Token}
			if c.Meta != nil && c.Meta.Known {
				name = l.coinOf(c.Token, c.Meta.Symbol, c.Meta.Name, nil)
			}
			row.Coin = l.Coin(name)
			if c.Kind.String() == "erc721" {
				if row.Count = l.Unknown(untold[token.GapNegative]); c.Count != nil {
					row.Count = l.Amount(c.Count.String(), 0, nil)
				}
			}
			v.Collections = append(v.Collections, row)
		}
	}
	s := v.sheet("Holdings", "What the address "+a.String()+" has, token by token, as of a block that can be chosen.", "holdings.html", v)
	s.about = v.holdings.anchor()
	return s, nil
}

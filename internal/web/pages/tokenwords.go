package pages

import (
	"html/template"

	"chainexplorer/internal/felt"
)

// coinOf tells how a token is written whose own words the caller has.
func (l *look) coinOf(address felt.Felt, symbol, name *string, decimals *uint8) coin {
	if t, ok := l.served.Registry.Token(address); ok {
		return coin{Address: address, Symbol: &t.Symbol, Name: &t.Name, Decimals: &t.Decimals, Known: true}
	}
	return coin{Address: address, Symbol: symbol, Name: name, Decimals: decimals, Like: l.likeOf(address, symbol, name)}
}

// By is a token by a symbol and a name of its own, see Coin.
func (l *look) By(address felt.Felt, symbol, name *string) template.HTML {
	return l.Coin(l.coinOf(address, symbol, name, nil))
}

// Sum is how much of a token, in its own unit where that is known.
func (l *look) Sum(raw any, c coin) template.HTML {
	if c.Decimals == nil {
		return l.Amount(raw, nil, nil) + " of " + l.Coin(c)
	}
	return l.Amount(raw, *c.Decimals, nil) + " " + l.Coin(c)
}

// tabsOf are the sub-pages of a thing at base, of which one is looked at: pairs of a text
// and a path, "" for the thing's own page.
func tabsOf(base, here string, pairs ...string) (out []tab) {
	for i := 0; i < len(pairs); i += 2 {
		t := tab{Text: pairs[i], Href: base, Here: pairs[i+1] == here}
		if pairs[i+1] != "" {
			t.Href += "/" + pairs[i+1]
		}
		out = append(out, t)
	}
	return out
}

package pages

import (
	"html/template"
	"math/big"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// coin is how a token is written. What is known of it comes from the registry; other
// tokens have what their contracts say of themselves.
type coin struct {
	Address      felt.Felt
	Symbol, Name *string
	Decimals     *uint8
	// Known says that the registry has it. Like is the one that it has and that this token is
	// taken for, by its own name or symbol; nil for none.
	Known bool
	Like  *registry.Token
}

// coins tells how tokens are written, whichever they are. One round trip for those that the
// registry does not have.
func (l *look) coins(addresses []felt.Felt) (map[felt.Felt]coin, error) {
	out := make(map[felt.Felt]coin, len(addresses))
	var rest []felt.Felt
	for _, a := range addresses {
		if _, there := out[a]; there {
			continue
		}
		c := coin{Address: a}
		if t, ok := l.served.Registry.Token(a); ok {
			c.Symbol, c.Name, c.Decimals, c.Known = &t.Symbol, &t.Name, &t.Decimals, true
		} else {
			rest = append(rest, a)
		}
		out[a] = c
	}
	if len(rest) == 0 {
		return out, nil
	}
	list, err := token.MetadataOf(l.ctx, l.reader, rest)
	if err != nil {
		return nil, err
	}
	for i, m := range list {
		if m != nil && m.Known {
			out[rest[i]] = coin{Address: rest[i], Symbol: m.Symbol, Name: m.Name, Decimals: m.Decimals, Like: l.likeOf(rest[i], m.Symbol, m.Name)}
		}
	}
	return out, nil
}

// text is what a token is called in a line without markup.
func (c *coin) text() string {
	if c.Symbol != nil {
		if name, _ := cleanName(*c.Symbol); name != "" {
			return name
		}
	}
	return shorten(c.Address.String())
}

// Coin links to a token by its symbol, and marks one that looks like a known token.
func (l *look) Coin(c coin) template.HTML {
	address := c.Address.String()
	shown := template.HTML(`<span class="felt">` + shorten(address) + `</span>`) //nolint:gosec // hex digits
	if c.Symbol != nil && *c.Symbol != "" {
		shown = nameHTML(*c.Symbol)
	}
	link := `<a class="token" href="` + template.HTML(l.base+"/token/"+address+`" title="`+address+`" data-value="`+address) + `">` + shown + `</a>` //nolint:gosec // hex digits, and the chain's id
	return link + mark(c.Like)
}

// Worth is an amount of a token with a link to it; nil is an amount that is not known.
func (l *look) Worth(amount *big.Int, c coin) template.HTML {
	if amount == nil {
		return l.Unknown("The events do not tell whether the number is an amount.") + " of " + l.Coin(c)
	}
	if c.Decimals == nil {
		return l.Amount(amount, 0, nil) + template.HTML(unitsOfWord(amount)) + l.Coin(c) //nolint:gosec // fixed words
	}
	return l.Amount(amount, *c.Decimals, nil) + " " + l.Coin(c)
}

// unitsOfWord stands between a number in the smallest unit and its token.
func unitsOfWord(n *big.Int) string {
	if n.IsUint64() && n.Uint64() == 1 {
		return " unit of "
	}
	return " units of "
}

package pages

import (
	"html/template"
	"math/big"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
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

// text is what a token is called in a line without markup, where one that looks like a known token
// is marked, too: such lines are what others show of a page that is shared.
func (c *coin) text() string {
	if c.Symbol != nil {
		if name, _ := cleanName(*c.Symbol); name != "" {
			if c.Like != nil {
				name += " (lookalike)"
			}
			return name
		}
	}
	return shorten(c.Address.String())
}

// Coin links to a token by its symbol, and marks one that looks like a known token.
func (l *look) Coin(c coin) template.HTML {
	var w markup.Writer
	l.coin(&w, &c)
	return w.Done()
}

func (l *look) coin(w *markup.Writer, c *coin) {
	w.Put(`<a class="token" `)
	l.refer(w, "/token/", &c.Address)
	w.Put(`>`)
	if c.Symbol != nil && *c.Symbol != "" {
		writeName(w, *c.Symbol)
	} else {
		w.Put(`<span class="felt">`)
		w.ShortFelt(&c.Address)
		w.Put(`</span>`)
	}
	w.Put(`</a>`)
	w.HTML(mark(c.Like))
}

// Worth is an amount of a token with a link to it; nil is an amount that is not known.
func (l *look) Worth(amount *big.Int, c coin) template.HTML {
	var w markup.Writer
	l.worth(&w, amount, &c)
	return w.Done()
}

func (l *look) worth(w *markup.Writer, amount *big.Int, c *coin) {
	switch {
	case amount == nil || amount.Sign() < 0:
		writeUnknown(w, "The events do not tell whether the number is an amount.")
		w.Put(" of ")
	case c.Decimals == nil:
		writeAmount(w, amount.String(), 0, true)
		w.Put(unitsOfWord(amount))
	default:
		places, known := placesOf(c.Decimals)
		if writeAmount(w, amount.String(), places, known); !known {
			w.Put(` <span class="soft">units</span>`)
		}
		w.Put(" ")
	}
	l.coin(w, c)
}

// Thing is one of a collection by its number, such as BEING #7, or so many of one kind of
// them; amount is nil where it is not known.
func (l *look) Thing(amount *big.Int, id string, c coin) template.HTML {
	var w markup.Writer
	l.thing(&w, amount, id, &c)
	return w.Done()
}

func (l *look) thing(w *markup.Writer, amount *big.Int, id string, c *coin) {
	if amount != nil && !isOne(amount) && amount.Sign() >= 0 {
		writeAmount(w, amount.String(), 0, true)
		w.Put(" × ")
	}
	l.coin(w, c)
	w.Put(` `)
	writeID(w, id)
}

func isOne(n *big.Int) bool { return n.IsUint64() && n.Uint64() == 1 }

// unitsOfWord stands between a number in the smallest unit and its token.
func unitsOfWord(n *big.Int) markup.Ours {
	if isOne(n) {
		return " unit of "
	}
	return " units of "
}

package pages

import (
	"html/template"
	"math/big"
	"strings"

	"chainexplorer/internal/explorer/preview"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/web"
)

// told is a transaction in a sentence.
type told struct {
	// Words are for pages, Text is the same without markup.
	Words template.HTML
	Text  string
	// Certain says that no later look would tell it otherwise: the page may be kept for good.
	Certain bool
	*preview.Preview
}

// tell says in a sentence each what transactions do. A fixed number of round trips for all
// of them, beside the rows of the transactions themselves.
func (l *look) tell(hashes []felt.Felt) (map[felt.Felt]*told, error) {
	list, err := l.p.routes.Previews(l.ctx, l.served, l.reader, l.state, hashes)
	if err != nil {
		return nil, err
	}
	deeds := make([]preview.Deed, len(list))
	var tokens []felt.Felt
	for i, p := range list {
		if p == nil {
			continue
		}
		deeds[i] = p.Deed(l.served.Registry)
		for _, s := range deeds[i].Given {
			tokens = append(tokens, s.Token)
		}
		for _, s := range deeds[i].Got {
			tokens = append(tokens, s.Token)
		}
	}
	coins, err := l.coins(tokens)
	if err != nil {
		return nil, err
	}
	out := make(map[felt.Felt]*told, len(list))
	for i, p := range list {
		if p == nil {
			continue
		}
		s := speaker{l: l, coins: coins, certain: deeds[i].Certain}
		s.deed(p, &deeds[i])
		out[hashes[i]] = &told{template.HTML(s.html.String()), s.text.String(), s.certain, p} //nolint:gosec // made of escaped parts
	}
	return out, nil
}

// speaker writes a sentence, with markup and without.
type speaker struct {
	l          *look
	coins      map[felt.Felt]coin
	certain    bool
	html, text strings.Builder
}

// say adds words of ours.
func (s *speaker) say(words string) { s.put(template.HTML(words), words) } //nolint:gosec // fixed words

func (s *speaker) put(html template.HTML, text string) {
	s.html.WriteString(string(html))
	s.text.WriteString(text)
}

// who adds an address: by its label, if it has one.
func (s *speaker) who(f *felt.Felt) {
	if f == nil {
		s.say("somebody")
		return
	}
	s.put(s.l.Party(*f), s.l.partyText(*f))
}

// partyText is an address in a line without markup.
func (l *look) partyText(f felt.Felt) string {
	if label, ok := l.served.Registry.Label(f); ok {
		return label.Name
	}
	if t, ok := l.served.Registry.Token(f); ok {
		return t.Name
	}
	return shorten(f.String())
}

// Party links to an address by the label that the registry has for it, or in short.
func (l *look) Party(f felt.Felt) template.HTML {
	text, address := l.partyText(f), f.String()
	class := "party"
	if text == shorten(address) {
		class = "party felt"
	}
	return template.HTML(`<a class="` + class + `" href="` + l.base + `/address/` + address + `" title="` + address + `" data-value="` + address + `">` + template.HTMLEscapeString(text) + `</a>`) //nolint:gosec // escaped
}

// class adds a class, by its name if it has one.
func (s *speaker) class(f felt.Felt) {
	hash := f.String()
	text := shorten(hash)
	if name, ok := s.l.served.Registry.ClassName(f); ok {
		text = name
	}
	s.put(template.HTML(`<a class="felt" href="`+s.l.base+`/class/`+hash+`" title="`+hash+`" data-value="`+hash+`">`+template.HTMLEscapeString(text)+`</a>`), text) //nolint:gosec // escaped
}

// sums adds amounts of tokens, at most two.
func (s *speaker) sums(list []preview.Sum) {
	for i := range list {
		switch {
		case i == 2:
			s.say(" and more")
			return
		case i == 1:
			s.say(" and ")
		}
		s.sum(&list[i])
	}
}

func (s *speaker) sum(x *preview.Sum) {
	c := s.coins[x.Token]
	s.certain = s.certain && c.Known
	if x.ID != nil && (x.Amount == nil || x.Amount.IsUint64() && x.Amount.Uint64() == 1) {
		id := x.ID.String()
		short := id
		if len(short) > 12 {
			short = short[:6] + "…" + short[len(short)-4:]
		}
		s.put(s.l.Coin(c)+template.HTML(` <span class="number" title="`+id+`" data-value="`+id+`">#`+short+`</span>`), c.text()+" #"+short) //nolint:gosec // digits
		return
	}
	s.put(s.l.Worth(x.Amount, c), worthText(x.Amount, &c))
}

// worthText is an amount in a line without markup.
func worthText(amount *big.Int, c *coin) string {
	switch {
	case amount == nil:
		return "an unknown amount of " + c.text()
	case c.Decimals == nil:
		return grouped(amount.String()) + unitsOfWord(amount) + c.text()
	}
	short, _ := amountText(amount.String(), int(*c.Decimals))
	if short == "&lt;0.0001" {
		short = "<0.0001"
	}
	return short + " " + c.text()
}

// deed writes what a transaction does.
func (s *speaker) deed(p *preview.Preview, d *preview.Deed) {
	switch d.Kind {
	case preview.Sent:
		s.who(d.Who)
		s.say(" sent ")
		s.sums(d.Given)
		if d.To == nil { // several tokens
			return
		}
		s.say(" to ")
		s.who(d.To)
		if d.Others > 0 {
			s.say(" and " + plural(d.Others, "other"))
		}
		s.more(d)
	case preview.Swapped:
		s.who(d.Who)
		s.say(" swapped ")
		s.sums(d.Given)
		s.say(" for ")
		s.sums(d.Got)
	case preview.Minted:
		s.who(d.Who)
		s.say(" minted ")
		s.sums(d.Given)
		if d.Who == nil || *d.To != *d.Who {
			s.say(" to ")
			s.who(d.To)
		}
		if d.Others > 0 {
			s.say(" and " + plural(d.Others, "other"))
		}
	case preview.Burnt:
		s.who(d.Who)
		s.say(" burnt ")
		s.sums(d.Given)
	case preview.Declared:
		s.who(d.Who)
		s.say(tried(d, " declared class ", " tried to declare class "))
		s.class(p.ClassHash)
	case preview.Deployed:
		s.say("contract ")
		s.who(&p.Receipt.ContractAddress)
		s.say(" was deployed with class ")
		s.class(p.ClassHash)
	case preview.AccountDeployed:
		s.who(d.Who)
		s.say(tried(d, " was deployed as an account of class ", " was to be deployed as an account of class "))
		s.class(p.ClassHash)
	case preview.Handled:
		s.who(&p.ContractAddress)
		s.say(tried(d, " handled a message from L1", " was to handle a message from L1"))
		s.with(d)
	case preview.Deposited, preview.Withdrawn:
		s.bridged(d)
	default:
		s.called(d)
	}
	if d.Failed {
		s.say(", and was reverted")
	}
}

func tried(d *preview.Deed, did, would string) string {
	if d.Failed {
		return would
	}
	return did
}

// called writes what was called, and what it moved.
func (s *speaker) called(d *preview.Deed) {
	s.who(d.Who)
	if d.Call == nil {
		s.say(" made no call")
		return
	}
	s.say(tried(d, " called ", " tried to call "))
	if d.Call.Name == "" {
		s.say("a function that nothing names")
	} else {
		s.name(d.Call.Name)
	}
	s.say(" on ")
	s.who(&d.Call.To)
	if len(d.Given) > 0 {
		s.say(", paying ")
		s.sums(d.Given)
	}
	if len(d.Got) > 0 {
		s.say(", getting ")
		s.sums(d.Got)
	}
	s.more(d)
}

// more says that there is more than one call.
func (s *speaker) more(d *preview.Deed) {
	if d.More > 0 {
		s.say(", with " + web.Group(uint64(d.More)) + " more ")
		s.say(map[bool]string{true: "call", false: "calls"}[d.More == 1])
	}
}

// with names the function.
func (s *speaker) with(d *preview.Deed) {
	if d.Call != nil && d.Call.Name != "" {
		s.say(" with ")
		s.name(d.Call.Name)
	}
}

// name adds the name of a function, which comes from the chain.
func (s *speaker) name(name string) {
	text, _ := cleanName(name)
	s.put(`<span class="mono">`+nameHTML(name)+`</span>`, text)
}

// bridged writes what moved between the layers.
func (s *speaker) bridged(d *preview.Deed) {
	m := d.Movement
	raw := m.Transfer.Raw()
	what := func() {
		if m.Token == nil {
			s.say("a token")
			return
		}
		c := coin{Address: m.Token.Address, Symbol: &m.Token.Symbol, Decimals: &m.Token.Decimals, Known: true}
		s.put(s.l.Worth(raw, c), worthText(raw, &c))
	}
	if d.Kind == preview.Withdrawn {
		s.who(d.Who)
		s.say(tried(d, " withdrew ", " tried to withdraw "))
		what()
		s.say(" to L1")
	} else {
		s.who(&m.Transfer.Recipient)
		s.say(tried(d, " received ", " was to receive "))
		what()
		s.say(" from L1")
	}
	s.put(template.HTML(" over "+template.HTMLEscapeString(m.Bridge.Name)), " over "+m.Bridge.Name) //nolint:gosec // escaped
}

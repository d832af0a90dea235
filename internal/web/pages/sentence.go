package pages

import (
	"html/template"
	"math/big"
	"strings"

	"chainexplorer/internal/explorer/preview"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
)

// told is a transaction in a sentence.
type told struct {
	// Words are for pages, Text is the same without markup, where that was asked for.
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
	words, err := l.speak(list, false)
	if err != nil {
		return nil, err
	}
	out := make(map[felt.Felt]*told, len(list))
	for i := range words {
		if list[i] != nil {
			out[hashes[i]] = &words[i]
		}
	}
	return out, nil
}

// tellRead is tell of transactions that were read already, in order; plain asks for them
// without markup, too.
func (l *look) tellRead(records []*transaction.Record, plain bool) ([]told, error) {
	list, err := l.p.routes.PreviewsOf(l.ctx, l.served, l.reader, l.state, records)
	if err != nil {
		return nil, err
	}
	return l.speak(list, plain)
}

// speak puts previews into words, in order; nothing is told of one that is nil.
func (l *look) speak(list []*preview.Preview, plain bool) ([]told, error) {
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
	out := make([]told, len(list))
	w := markup.Get()
	defer w.Free()
	ends := make([]int, len(list))
	for i, p := range list {
		if p != nil {
			s := speaker{l: l, coins: coins, certain: deeds[i].Certain, html: w}
			if plain {
				s.text = &strings.Builder{}
			}
			s.deed(p, &deeds[i])
			out[i].Certain, out[i].Preview = s.certain, p
			if plain {
				out[i].Text = s.text.String()
			}
		}
		ends[i] = w.Len()
	}
	all, from := w.Done(), 0 // one piece of memory for all of them
	for i, end := range ends {
		out[i].Words, from = all[from:end], end
	}
	return out, nil
}

// speaker writes a sentence with markup, and without where text is not nil.
type speaker struct {
	l       *look
	coins   map[felt.Felt]coin
	certain bool
	html    *markup.Writer
	text    *strings.Builder
}

// say adds words of ours.
func (s *speaker) say(words markup.Ours) {
	s.html.Put(words)
	s.write(string(words))
}

// count adds a number of things.
func (s *speaker) count(n int, thing string) {
	words := plural(n, thing)
	s.html.Text(words)
	s.write(words)
}

// write adds to the sentence without markup.
func (s *speaker) write(text string) {
	if s.text != nil {
		s.text.WriteString(text)
	}
}

// who adds an address: by its label, if it has one.
func (s *speaker) who(f *felt.Felt) {
	if f == nil {
		s.say("somebody")
		return
	}
	s.l.party(s.html, f)
	if s.text != nil {
		s.write(s.l.partyText(*f))
	}
}

// labelOf is what the registry calls an address, or everybody does.
func (l *look) labelOf(f felt.Felt) (string, bool) {
	if label, ok := l.served.Registry.Label(f); ok {
		return label.Name, true
	}
	if f.IsZero() {
		return "zero address", true
	}
	if t, ok := l.served.Registry.Token(f); ok {
		return t.Name, true
	}
	return "", false
}

// partyText is an address in a line without markup.
func (l *look) partyText(f felt.Felt) string {
	if label, ok := l.labelOf(f); ok {
		return label
	}
	return shorten(f.String())
}

// Party links to an address by the label that the registry has for it, or in short.
func (l *look) Party(f felt.Felt) template.HTML {
	var w markup.Writer
	l.party(&w, &f)
	return w.Done()
}

func (l *look) party(w *markup.Writer, f *felt.Felt) {
	label, ok := l.labelOf(*f)
	if !ok {
		w.Put(`<a class="party felt" `)
		l.refer(w, "/address/", f)
		w.Put(`>`)
		w.ShortFelt(f)
		w.Put(`</a>`)
		return
	}
	w.Put(`<a class="party" `)
	l.refer(w, "/address/", f)
	w.Put(`>`)
	w.Text(label)
	w.Put(`</a>`)
}

// class adds a class, by its name if it has one.
func (s *speaker) class(f *felt.Felt) {
	text, named := s.l.served.Registry.ClassName(*f)
	if !named {
		text = shorten(f.String())
	}
	s.html.Put(`<a class="felt" `)
	s.l.refer(s.html, "/class/", f)
	s.html.Put(`>`)
	s.html.Text(text)
	s.html.Put(`</a>`)
	s.write(text)
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
	switch {
	case x.ID != nil:
		id := x.ID.String()
		s.l.thing(s.html, x.Amount, id, &c)
		if s.text != nil {
			text := c.text() + " #" + shortNumber(id)
			if x.Amount != nil && !isOne(x.Amount) {
				text = grouped(x.Amount.String()) + " × " + text
			}
			s.write(text)
		}
		return
	case x.Things:
		zero := uint8(0)
		c.Decimals = &zero // they are counted
	}
	s.worth(x.Amount, &c)
}

// worth adds an amount of a token.
func (s *speaker) worth(amount *big.Int, c *coin) {
	s.l.worth(s.html, amount, c)
	if s.text != nil {
		s.write(worthText(amount, c))
	}
}

// writeID writes the number of a thing.
func writeID(w *markup.Writer, id string) {
	w.Put(`<span class="number" title="`)
	w.Text(id)
	w.Put(`" data-value="`)
	w.Text(id)
	w.Put(`">#`)
	w.Text(shortNumber(id))
	w.Put(`</span>`)
}

// worthText is an amount in a line without markup.
func worthText(amount *big.Int, c *coin) string {
	switch {
	case amount == nil:
		return "an unknown amount of " + c.text()
	case c.Decimals == nil:
		return grouped(amount.String()) + string(unitsOfWord(amount)) + c.text()
	}
	short, _ := amountText(amount.String(), int(*c.Decimals))
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
			s.say(" and ")
			s.count(d.Others, "other")
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
			s.say(" and ")
			s.count(d.Others, "other")
		}
	case preview.Burnt:
		s.who(d.Who)
		s.say(" burned ")
		s.sums(d.Given)
	case preview.Declared:
		s.who(d.Who)
		s.say(tried(d, " declared class ", " tried to declare class "))
		s.class(&p.ClassHash)
	case preview.Deployed:
		s.say("contract ")
		s.who(&p.Receipt.ContractAddress)
		s.say(" was deployed with class ")
		s.class(&p.ClassHash)
	case preview.AccountDeployed:
		s.who(d.Who)
		s.say(tried(d, " was deployed as an account of class ", " was to be deployed as an account of class "))
		s.class(&p.ClassHash)
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

func tried(d *preview.Deed, did, would markup.Ours) markup.Ours {
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
		s.say(", with ")
		s.count(d.More, "more call")
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
	s.html.Put(`<span class="mono">`)
	writeName(s.html, name)
	s.html.Put(`</span>`)
	if s.text != nil {
		text, _ := cleanName(name)
		s.write(text)
	}
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
		s.worth(raw, &c)
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
	s.say(" over ")
	s.html.Text(m.Bridge.Name)
	s.write(m.Bridge.Name)
}

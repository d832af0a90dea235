package registry

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// maxText bounds every text of an entry.
const maxText = 200

var slug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// New makes a registry from entries alone.
func New(e Entries) (*Chain, error) { return (*Chain)(nil).With(e) }

// With returns the registry with more entries. An entry replaces one of the
// same identity that was there before: a token's address, an exchange's contract
// and event, a bridge's two contracts, a label's address, a class's hash, the
// address of a privacy pool that is named. Within e an identity may occur once.
func (c *Chain) With(e Entries) (*Chain, error) {
	out := &Chain{tokens: map[felt.Felt]Token{}, labels: map[felt.Felt]Label{}, classes: map[felt.Felt]ClassName{}}
	if c != nil {
		maps.Copy(out.tokens, c.tokens)
		maps.Copy(out.labels, c.labels)
		maps.Copy(out.classes, c.classes)
		out.dexes, out.bridges = slices.Clone(c.dexes), slices.Clone(c.bridges)
		out.privacyPools = slices.Clone(c.privacyPools)
	}
	seen := map[any]bool{}
	once := func(id any) error {
		if seen[id] {
			return fmt.Errorf("it is there twice")
		}
		seen[id] = true
		return nil
	}
	for i, t := range e.Tokens {
		if err := firstOf(t.check(), once([2]any{"token", t.Address})); err != nil {
			return nil, fmt.Errorf("tokens[%d] %s: %w", i, t.Address, err)
		}
		out.tokens[t.Address] = t
	}
	out.looks = looksOf(out.tokens)
	for i, d := range e.Dexes {
		if err := firstOf(d.checkAll(), once([3]any{"dex", d.Address, d.Event})); err != nil {
			return nil, fmt.Errorf("dexes[%d] %s: %w", i, clip(d.Slug), err)
		}
		out.dexes = slices.DeleteFunc(out.dexes, func(o Dex) bool { return o.Address == d.Address && o.Event == d.Event })
		out.dexes = append(out.dexes, d)
	}
	for i, b := range e.Bridges {
		if err := firstOf(b.check(), once([3]any{"bridge", b.L2, b.L1})); err != nil {
			return nil, fmt.Errorf("bridges[%d] %s: %w", i, clip(b.Protocol), err)
		}
		out.bridges = slices.DeleteFunc(out.bridges, func(o Bridge) bool { return o.L2 == b.L2 && o.L1 == b.L1 })
		out.bridges = append(out.bridges, b)
	}
	for i, l := range e.Labels {
		if l.Confidence == "" {
			l.Confidence = High
		}
		if err := firstOf(l.check(), once([2]any{"label", l.Address})); err != nil {
			return nil, fmt.Errorf("labels[%d] %s: %w", i, l.Address, err)
		}
		out.labels[l.Address] = l
	}
	for i, n := range e.Classes {
		if err := firstOf(text("name", n.Name, true), text("account", n.Account, false), nonZero("hash", n.Hash), once([2]any{"class", n.Hash})); err != nil {
			return nil, fmt.Errorf("classes[%d] %s: %w", i, n.Hash, err)
		}
		out.classes[n.Hash] = n
	}
	for i, p := range e.PrivacyPools {
		err := once([2]any{"privacyPool", p.Address})
		if err == nil {
			out.privacyPools, err = withPrivacyPool(out.privacyPools, p)
		}
		if err != nil {
			return nil, fmt.Errorf("privacyPools[%d] %s: %w", i, p.Address, err)
		}
	}
	arrange.By(out.dexes, func(a, b Dex) int {
		if n := a.Address.Cmp(b.Address); n != 0 {
			return n
		}
		return felt.Felt(a.Event).Cmp(felt.Felt(b.Event))
	})
	arrange.By(out.bridges, func(a, b Bridge) int {
		if n := a.L2.Cmp(b.L2); n != 0 {
			return n
		}
		return a.L1.Cmp(b.L1)
	})
	return out, nil
}

func (t *Token) check() error {
	if t.Census.Qualified && t.Census.Reason == "" {
		return fmt.Errorf("census: a qualified token needs a reason: who looked at it, and what they found")
	}
	switch t.Census.Screening {
	case 0, 10, 50, 100, 200:
	default:
		return fmt.Errorf("census: screening %d is none of 10, 50, 100, 200", t.Census.Screening)
	}
	return firstOf(nonZero("address", t.Address), text("symbol", t.Symbol, true), text("name", t.Name, true), text("census.reason", t.Census.Reason, false))
}

func (d *Dex) checkAll() error {
	if !slug.MatchString(d.Slug) {
		return fmt.Errorf("slug %q is not lower-case letters, digits and hyphens, at most 40", clip(d.Slug))
	}
	switch d.Kind {
	case PoolContract, SingletonPool, BookMarket:
	default:
		return fmt.Errorf("kind %q is none of pool_contract, singleton_pool, orderbook", clip(d.Kind))
	}
	switch d.Type {
	case Concentrated, ConstantProduct, Stable, OrderBook, UnknownType:
	default:
		return fmt.Errorf("type %q is none of cl, cpmm, stable, orderbook, unknown", clip(d.Type))
	}
	return firstOf(nonZero("address", d.Address), nonZero("event", felt.Felt(d.Event)), text("name", d.Name, true), d.check())
}

func (b *Bridge) check() error {
	if b.Token != nil && b.Token.IsZero() {
		return fmt.Errorf("token is zero")
	}
	if !isL1(b.L1) {
		return fmt.Errorf("l1Address %s has more than 20 bytes", b.L1)
	}
	return firstOf(nonZero("l2Address", b.L2), nonZero("l1Address", b.L1), text("protocol", b.Protocol, true), text("name", b.Name, true))
}

func isL1(a felt.Felt) bool {
	for _, b := range a[:12] {
		if b != 0 {
			return false
		}
	}
	return true
}

func (l *Label) check() error {
	switch l.Confidence {
	case High, Medium, Low:
	default:
		return fmt.Errorf("confidence %q is none of high, medium, low", clip(l.Confidence))
	}
	if l.Kind != "" && l.Protocol == "" {
		return fmt.Errorf("a kind is that of a protocol, and there is none")
	}
	return firstOf(nonZero("address", l.Address), text("name", l.Name, true), text("protocol", l.Protocol, false), text("kind", l.Kind, false), text("source", l.Source, true))
}

func nonZero(name string, f felt.Felt) error {
	if f.IsZero() {
		return fmt.Errorf("%s is missing", name)
	}
	return nil
}

func text(name, s string, needed bool) error {
	switch {
	case needed && s == "":
		return fmt.Errorf("%s is missing", name)
	case len(s) > maxText || !utf8.ValidString(s):
		return fmt.Errorf("%s is longer than %d bytes, or is no text", name, maxText)
	}
	for _, r := range s {
		if r < 0x20 || r == 0x7f {
			return fmt.Errorf("%s holds a control character", name)
		}
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func clip[T ~string | []byte](s T) string {
	if len(s) > 60 {
		return string(s[:60]) + "…"
	}
	return string(s)
}

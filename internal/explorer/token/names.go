package token

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// NameRows finds tokens by the beginning of what they call themselves, as it is spelled
// and as it looks:
//
//	token_name  kind | text in lower case, or its likeness, 0, token   (empty)
//
// They are written with the metadata that they repeat. A token that was asked by
// an older program has its rows from the next answer on.
var NameRows = &store.Table{ID: 103, Name: "token_name", PartitionLen: 1}

// NameKind is what a text is to a token.
type NameKind byte

// The kinds, in the order in which they are looked at.
const (
	BySymbol NameKind = iota
	ByName
	// What a symbol and a name look like, see registry.Likeness: letters of other alphabets
	// and signs that are not seen make no difference.
	BySymbolLooks
	ByNameLooks
	nameKinds
)

// maxNameKey bounds what is kept of a text, in bytes.
const maxNameKey = 255

// leastLooks is how many bytes of a likeness find something: less would find too much, since
// a dollar looks like an S.
const leastLooks = 2

// folded is the form in which texts of a kind are compared; "" finds nothing.
func (kind NameKind) folded(text string) string {
	if kind == BySymbolLooks || kind == ByNameLooks {
		if text = registry.Likeness(text); len(text) < leastLooks {
			return ""
		}
	} else {
		text = strings.ToLower(strings.TrimSpace(text))
	}
	if len(text) > maxNameKey {
		text = text[:maxNameKey]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return strings.ReplaceAll(text, "\x00", "")
}

// wanted is the form in which what somebody looks for is compared. A number looks like
// letters, since a zero does like an O, but nobody who types one means them.
func (kind NameKind) wanted(text string) string {
	if (kind == BySymbolLooks || kind == ByNameLooks) && strings.Trim(text, "0123456789.,'_-+#% ") == "" {
		return ""
	}
	return kind.folded(text)
}

func nameKey(kind NameKind, text string, token felt.Felt) store.Key {
	sort := append([]byte(kind.folded(text)), 0)
	return store.Key{Table: NameRows, Partition: []byte{byte(kind)}, Sort: append(sort, token[:]...)}
}

// NameKeys are the places at which a token is found by what it calls itself.
func (m *Metadata) NameKeys(token felt.Felt) (keys []store.Key) {
	for kind, text := range map[NameKind]*string{BySymbol: m.Symbol, ByName: m.Name, BySymbolLooks: m.Symbol, ByNameLooks: m.Name} {
		if text != nil && kind.folded(*text) != "" {
			keys = append(keys, nameKey(kind, *text, token))
		}
	}
	return keys
}

// ParseName reads the token of a row.
func ParseName(sort []byte) (token felt.Felt, err error) {
	if len(sort) <= felt.Size+1 || sort[len(sort)-felt.Size-1] != 0 {
		return token, fmt.Errorf("%w: name of a token with a key of %d bytes", record.ErrCorrupt, len(sort))
	}
	return felt.Felt(sort[len(sort)-felt.Size:]), nil
}

// Named lists tokens whose symbol or name begins with a text, in whatever case, and then
// those whose symbol or name only looks so: by symbol first, then by name, each at most
// limit, none twice. Four scans.
func Named(ctx context.Context, r store.Reader, text string, limit int) (out []felt.Felt, err error) {
	seen := map[felt.Felt]bool{}
	for kind := range nameKinds {
		prefix := []byte(kind.wanted(text))
		if len(prefix) == 0 {
			continue
		}
		rng := store.Range{Table: NameRows, Partition: []byte{byte(kind)}, From: prefix, To: store.PrefixEnd(prefix), Limit: limit}
		for row, err := range r.Scan(ctx, rng) {
			if err != nil {
				return nil, fmt.Errorf("tokens that are called %q: %w", text, err)
			}
			token, err := ParseName(row.Sort)
			if err != nil {
				return nil, err
			}
			if !seen[token] {
				seen[token] = true
				out = append(out, token)
			}
		}
	}
	return out, nil
}

// StillNamed returns what tokens say of themselves, in order, nil for one that said nothing
// or is not there any more: names are no part of what a fork undoes. Whoever has moved or
// has a contract is there, and whoever answered at a block that still is. Three GetMany, and
// one Get for each that is left then.
func StillNamed(ctx context.Context, r store.Reader, tokens []felt.Felt) ([]*Metadata, error) {
	names, err := MetadataOf(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	totals, err := TotalsOfMany(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	classes, err := contract.ClassesNow(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	for i, m := range names {
		if m == nil || totals[i] != nil && totals[i].Transfers > 0 || classes[i] != nil {
			continue
		}
		there, err := (block.Ref{Number: m.Block, Hash: m.BlockHash}).Holds(ctx, r)
		if err != nil {
			return nil, err
		}
		if !there {
			names[i] = nil
		}
	}
	return names, nil
}

// Called says that a token of this symbol and this name would be one of those that Named
// finds.
func Called(symbol, name, text string) bool {
	for kind := range nameKinds {
		of := symbol
		if kind == ByName || kind == ByNameLooks {
			of = name
		}
		if prefix := kind.wanted(text); prefix != "" && strings.HasPrefix(kind.folded(of), prefix) {
			return true
		}
	}
	return false
}

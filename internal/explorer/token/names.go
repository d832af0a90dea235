package token

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// NameRows finds tokens by the beginning of what they call themselves:
//
//	token_name  kind | text in lower case, 0, token   (empty)
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
	nameKinds
)

// maxNameKey bounds what is kept of a text, in bytes.
const maxNameKey = 255

// folded is the form in which texts are compared.
func folded(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) > maxNameKey {
		text = text[:maxNameKey]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return strings.ReplaceAll(text, "\x00", "")
}

func nameKey(kind NameKind, text string, token felt.Felt) store.Key {
	sort := append([]byte(folded(text)), 0)
	return store.Key{Table: NameRows, Partition: []byte{byte(kind)}, Sort: append(sort, token[:]...)}
}

// NameKeys are the places at which a token is found by what it calls itself.
func (m *Metadata) NameKeys(token felt.Felt) (keys []store.Key) {
	for kind, text := range map[NameKind]*string{BySymbol: m.Symbol, ByName: m.Name} {
		if text != nil && folded(*text) != "" {
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

// Named lists tokens whose symbol or name begins with a text, in whatever case: by
// symbol first, then by name, each at most limit, none twice. Two scans.
func Named(ctx context.Context, r store.Reader, text string, limit int) (out []felt.Felt, err error) {
	prefix := []byte(folded(text))
	if len(prefix) == 0 {
		return nil, nil
	}
	seen := map[felt.Felt]bool{}
	for kind := range nameKinds {
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

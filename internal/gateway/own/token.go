package own

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
)

// Ours says whether a call goes on with a search that the index began: no node knows
// its token.
func Ours(m *method.Method, args method.Args) bool {
	return m.Name == "starknet_getEvents" && bytes.Contains(args["filter"], []byte(`"`+tokenPrefix))
}

// tokenPrefix tells our tokens from those of nodes, which are numbers and dashes, and
// names their form.
const tokenPrefix = "idx1."

// A token is where a page of events ended: the place, the hash of its block, a
// fingerprint of what is searched for, and a checksum. It holds no secret and opens
// nothing: whoever makes one up gets the events behind a place of his choice.
const (
	fingerprintSize = 8
	checksumSize    = 4
	tokenSize       = explorer.PlaceSize + felt.Size + fingerprintSize + checksumSize
)

type fingerprint [fingerprintSize]byte

// token is a parsed one.
type token struct {
	after explorer.Place
	hash  felt.Felt // of its block
	of    fingerprint
}

// ref is the block that must be part of the chain for the token to be good.
func (t *token) ref() block.Ref { return block.Ref{Number: t.after.Block, Hash: t.hash} }

func checksum(b []byte) []byte {
	sum := sha256.Sum256(append([]byte(tokenPrefix), b...))
	return sum[:checksumSize]
}

func (t *token) String() string {
	b := t.after.Append(make([]byte, 0, tokenSize))
	b = append(b, t.hash[:]...)
	b = append(b, t.of[:]...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(b, checksum(b)...))
}

// parseToken reads a token. ours is false for one that a node made; ok is false for
// one that nobody made.
func parseToken(s string) (t token, ours, ok bool) {
	text, ours := strings.CutPrefix(s, tokenPrefix)
	if !ours {
		return t, false, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != tokenSize {
		return t, true, false
	}
	t.after, ok = explorer.ParsePlace(b[:explorer.PlaceSize])
	n := explorer.PlaceSize + copy(t.hash[:], b[explorer.PlaceSize:])
	copy(t.of[:], b[n:])
	return t, true, ok && t.String() == s // its checksum, and the one way to write it
}

// fingerprint is the same for filters that ask for the same events, whatever their
// range and the order of their values.
func (f *eventFilter) fingerprint() (out fingerprint) {
	h := sha256.New()
	write := func(position byte, values []felt.Felt) {
		values = sortedSet(values)
		h.Write(binary.BigEndian.AppendUint32([]byte{position}, uint32(len(values)))) //nolint:errcheck // a hash never fails
		for i := range values {
			h.Write(values[i][:]) //nolint:errcheck // see above
		}
	}
	write(0, f.query.Emitters)
	for i, values := range f.query.Keys {
		write(byte(i+1), values)
	}
	copy(out[:], h.Sum(nil))
	return out
}

package api

import (
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// ChainInput is the path segment that every chain route has.
type ChainInput struct {
	Chain string `path:"chain" doc:"The chain, such as SN_MAIN."`
}

// served returns the chain of a request.
func (s *Server) served(id string) (*Chain, *Error) {
	if c := s.chains[id]; c != nil {
		return c, nil
	}
	return nil, fail(CodeNotFound, "path.chain: %q is not served here; %s.", clip(id, 40), theseAre(s.order))
}

// theseAre says which names there are.
func theseAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return listed(names) + " are"
}

// view runs fn on one consistent view of a chain, with the chain's own state.
// What fn answers must follow from the request and the view alone, and not from
// who asks or when: it is kept and sent to others until the next block.
func (s *Server) view(ctx context.Context, id string, fn func(c *Chain, r store.Reader, state *chain.State) error) error {
	c, e := s.served(id)
	if e != nil {
		return e
	}
	requestOf(ctx).indexed = true
	return c.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil {
			return err
		}
		if !state.HasHead {
			return retryLater(5, nil, "The index of %s has no block yet; it is being built.", id)
		}
		return fn(c, r, &state)
	})
}

// Limit is a page size. One that is out of range is clamped, to one or to the
// route's maximum.
type Limit struct {
	value int
	given bool
}

// Receiver is where the parameter is put.
func (l *Limit) Receiver() reflect.Value { return reflect.ValueOf(&l.value).Elem() }

// OnParamSet notes that the parameter was there: none is not zero.
func (l *Limit) OnParamSet(given bool, _ any) { l.given = given }

// Schema documents no bounds, because both clamp.
func (Limit) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Description: "Page size. A value out of range is clamped to 1 or to the maximum."}
}

func (l Limit) clamp(def, most int) int {
	if !l.given {
		return def
	}
	return min(max(l.value, 1), most)
}

// BodyLimit is a Limit in a body.
type BodyLimit struct{ Limit }

// UnmarshalJSON takes any whole number; Huma has looked at its kind before.
func (l *BodyLimit) UnmarshalJSON(b []byte) error {
	whole, ok := clampedInteger(string(b))
	n, err := strconv.Atoi(whole)
	if !ok || err != nil {
		return errors.New("it is not a whole number")
	}
	l.value, l.given = n, true
	return nil
}

// timestampISO renders seconds as RFC 3339 UTC.
func timestampISO(seconds uint64) string {
	return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
}

// blockRef finds a block by number, hash or latest; name is where the reference stands.
func blockRef(ctx context.Context, r store.Reader, state *chain.State, name, ref string) (*block.Summary, error) {
	number, err := blockNumber(ctx, r, state, name, ref)
	if err != nil {
		return nil, err
	}
	s, err := block.Get(ctx, r, number)
	if errors.Is(err, block.ErrNotFound) {
		return nil, because(ReasonBlockNotFound, "Block %d is not indexed; the newest is %d.", number, state.Head.Number)
	}
	return s, err
}

func blockNumber(ctx context.Context, r store.Reader, state *chain.State, name, ref string) (uint64, error) {
	if ref == "latest" {
		return state.Head.Number, nil
	}
	if len(ref) > 1 && (ref[:2] == "0x" || ref[:2] == "0X") {
		hash, err := feltOf(name, ref)
		if err != nil {
			return 0, err
		}
		n, err := block.NumberOf(ctx, r, hash)
		if errors.Is(err, block.ErrNotFound) {
			return 0, because(ReasonBlockNotFound, "No indexed block has the hash %s.", hash)
		}
		return n, err
	}
	n, ok := numberOf(ref)
	if strings.HasPrefix(name, "path.") && strings.Trim(ref, "0123456789") != "" {
		ok = false // one address for one block: 5.0 and 5e0 are numbers in a query, and no names of pages
	}
	if !ok {
		return 0, fail(CodeInvalidRequest, "%s: %q is neither a block number, nor a block hash, nor latest.", name, clip(ref, 70))
	}
	return n, nil
}

// numberOf reads the number of a block, in any spelling of a whole number.
func numberOf(text string) (uint64, bool) {
	whole, ok := wholeNumber(text)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(whole, 10, 63)
	return n, err == nil
}

// feltOf reads a felt of a request; name is where it stands.
func feltOf(name, text string) (felt.Felt, error) {
	f, err := felt.Parse(text)
	switch {
	case errors.Is(err, felt.ErrRange):
		return f, fail(CodeInvalidRequest, "%s: %q is too large: a felt is below 2^251 + 17*2^192 + 1.", name, clip(text, 70))
	case err != nil:
		return f, fail(CodeInvalidRequest, "%s: %q is not 0x and 1 to 64 hex digits of a felt.", name, clip(text, 70))
	}
	return f, nil
}

func putUint64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// blockHash returns the hash of an indexed block.
func blockHash(ctx context.Context, r store.Reader, number uint64) (felt.Felt, error) {
	b, err := block.Get(ctx, r, number)
	if err != nil {
		return felt.Felt{}, err
	}
	return b.Hash, nil
}

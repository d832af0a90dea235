package token

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// MetadataOf returns what tokens say of themselves, in order, nil for one that
// was not looked at yet. One GetMany.
func MetadataOf(ctx context.Context, r store.Reader, tokens []felt.Felt) ([]*Metadata, error) {
	keys := make([]store.Key, len(tokens))
	for i := range tokens {
		keys[i] = MetadataKey(tokens[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the metadata of %d tokens: %w", len(tokens), err)
	}
	out := make([]*Metadata, len(tokens))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[i], err = DecodeMetadata(v); err != nil {
			return nil, fmt.Errorf("metadata of %s: %w", tokens[i], err)
		}
	}
	return out, nil
}

// WithSymbol lists up to limit tokens that call themselves so, in whatever case,
// by their addresses. One scan.
func WithSymbol(ctx context.Context, r store.Reader, symbol string, limit int) (out []felt.Felt, err error) {
	rng := store.Range{Table: Symbols, Partition: symbolPartition(symbol), Limit: limit}
	for row, err := range r.Scan(ctx, rng) {
		if err == nil && len(row.Sort) != felt.Size {
			err = fmt.Errorf("%w: symbol with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
		}
		if err != nil {
			return nil, fmt.Errorf("tokens with the symbol %q: %w", symbol, err)
		}
		out = append(out, felt.Felt(row.Sort))
	}
	return out, nil
}

// kindKey is what the standard of a token is remembered under.
type kindKey felt.Felt

// kindNow is the standard of a token, and the block that gave it the class that it has.
type kindNow struct {
	standard transfer.Standard
	since    uint64
}

// Kinds tells the standards of tokens at the newest block, in order: by the entry
// points of the class that they have now, where these do not tell by what was found
// out by calls, then by layouts that only one standard has. Five GetMany at most,
// however many tokens there are, for those that no view of the same state asked for.
func Kinds(ctx context.Context, r store.Reader, tokens []felt.Felt) ([]transfer.Standard, error) {
	known, err := kindsNow(ctx, r, tokens, make([]kindNow, 0, len(tokens)))
	if err != nil {
		return nil, err
	}
	out := make([]transfer.Standard, len(tokens))
	for i := range known {
		out[i] = known[i].standard
	}
	return out, nil
}

// kindsNow is Kinds behind out, with since when.
func kindsNow(ctx context.Context, r store.Reader, tokens []felt.Felt, out []kindNow) ([]kindNow, error) {
	from := len(out)
	var unknown []felt.Felt
	var where []int
	for i := range tokens {
		k, ok := store.Recalled[kindKey, kindNow](r, kindKey(tokens[i]))
		if !ok {
			unknown, where = append(unknown, tokens[i]), append(where, from+i)
		}
		out = append(out, k)
	}
	if len(unknown) == 0 {
		return out, nil
	}
	kinds, err := readKinds(ctx, r, unknown)
	if err != nil {
		return nil, err
	}
	for n, i := range where {
		if out[i] = kinds[n]; kinds[n].standard != transfer.Ambiguous { // which may be one that could not be read
			store.Remember(r, kindKey(unknown[n]), kinds[n])
		}
	}
	return out, nil
}

// readKinds is kindsNow for tokens that nobody asked for.
func readKinds(ctx context.Context, r store.Reader, tokens []felt.Felt) ([]kindNow, error) {
	out, err := kindsOfToday(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	open, where := untold(tokens, out)
	if len(open) == 0 {
		return out, nil
	}
	known, err := MetadataOf(ctx, r, open)
	if err != nil {
		return nil, err
	}
	for n, m := range known {
		// What a class told is of the class that the token had then, and this one tells nothing.
		if m != nil && m.Evidence != FromABI {
			out[where[n]].standard = m.Standard
		}
	}
	if open, where = untold(tokens, out); len(open) == 0 {
		return out, nil
	}
	totals, err := TotalsOfMany(ctx, r, open)
	if err != nil {
		return nil, err
	}
	for n, t := range totals {
		if t != nil {
			out[where[n]].standard = t.kind()
		}
	}
	return out, nil
}

// untold are the tokens whose standards are not known, with their places.
func untold(tokens []felt.Felt, kinds []kindNow) (open []felt.Felt, where []int) {
	for i := range kinds {
		if kinds[i].standard == transfer.Ambiguous {
			open, where = append(open, tokens[i]), append(where, i)
		}
	}
	return open, where
}

// kindsOfToday is what the classes of tokens tell now, in two GetMany.
func kindsOfToday(ctx context.Context, r store.Reader, tokens []felt.Felt) ([]kindNow, error) {
	classes, err := contract.ClassesNow(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	out := make([]kindNow, len(tokens))
	var hashes []felt.Felt
	var where []int
	for i, c := range classes {
		if c != nil {
			hashes, where = append(hashes, c.Class), append(where, i)
			out[i].since = c.Block
		}
	}
	kinds, err := kindsOfClasses(ctx, r, hashes, where, len(tokens))
	if err != nil {
		return nil, err
	}
	for i, kind := range kinds {
		out[i].standard = kind
	}
	return out, nil
}

// kind is what the layouts of a token's transfers tell, if they agree.
func (t *Totals) kind() (kind transfer.Standard) {
	for layout, standard := range map[transfer.Layout]transfer.Standard{transfer.PartiesKeyed: transfer.ERC20,
		transfer.AllKeyed: transfer.ERC721, transfer.Single: transfer.ERC1155, transfer.Batch: transfer.ERC1155} {
		if !t.Saw(layout) {
			continue
		}
		if kind != transfer.Ambiguous && kind != standard {
			return transfer.Ambiguous
		}
		kind = standard
	}
	return kind
}

// KindsByClass tells the standards that the entry points of the tokens' classes
// at a block tell, in order. One scan for each token and one GetMany.
func KindsByClass(ctx context.Context, r store.Reader, tokens []felt.Felt, block uint64) ([]transfer.Standard, error) {
	return (&kindRoom{}).byClass(ctx, r, tokens, block, nil)
}

// kindRoom is the memory of a look for standards, for those who look one after the other.
type kindRoom struct {
	at      []contract.At
	classes contract.ClassRoom
}

func (m *kindRoom) recycle() { m.classes.Recycle() }

// byClass is KindsByClass behind out.
func (m *kindRoom) byClass(ctx context.Context, r store.Reader, tokens []felt.Felt, block uint64, out []transfer.Standard) ([]transfer.Standard, error) {
	m.at = m.at[:0]
	for i := range tokens {
		m.at = append(m.at, contract.At{Address: tokens[i], Block: block})
	}
	classes, err := m.classes.AtMany(ctx, r, m.at)
	if err != nil {
		return nil, err
	}
	from, read := len(out), false
	for _, c := range classes {
		kind := transfer.Ambiguous
		if c != nil {
			var known bool
			kind, known = store.Recalled[standardKey, transfer.Standard](r, standardKey(c.After))
			read = read || !known
		}
		out = append(out, kind)
	}
	if !read {
		return out, nil
	}
	var hashes []felt.Felt
	var where []int
	for i, c := range classes {
		if c != nil {
			hashes, where = append(hashes, c.After), append(where, i)
		}
	}
	kinds, err := kindsOfClasses(ctx, r, hashes, where, len(tokens))
	if err != nil {
		return nil, err
	}
	return append(out[:from], kinds...), nil
}

// standardKey is what the standard of a class is remembered under.
type standardKey felt.Felt

// kindsOfClasses puts the standards of classes where they belong among n tokens. Many tokens are
// of few classes; those that no view of the same state asked for are read, in one GetMany.
func kindsOfClasses(ctx context.Context, r store.Reader, hashes []felt.Felt, where []int, n int) ([]transfer.Standard, error) {
	known := make(map[felt.Felt]transfer.Standard, len(hashes))
	var unknown []felt.Felt
	for _, h := range hashes {
		if _, twice := known[h]; twice {
			continue
		}
		standard, ok := store.Recalled[standardKey, transfer.Standard](r, standardKey(h))
		if !ok {
			unknown = append(unknown, h)
		}
		known[h] = standard
	}
	if len(unknown) > 0 {
		abis, errs, err := class.ABIsOf(ctx, r, unknown)
		if err != nil {
			return nil, err
		}
		for i, h := range unknown {
			if abis[i] != nil {
				known[h] = standardOf(abis[i].Token)
			}
			if errs[i] == nil { // one that cannot be read tells nothing
				store.Remember(r, standardKey(h), known[h])
			}
		}
	}
	out := make([]transfer.Standard, n)
	for k, h := range hashes {
		out[where[k]] = known[h]
	}
	return out, nil
}

func standardOf(e abi.Emitter) transfer.Standard {
	switch e {
	case abi.EmitterERC20:
		return transfer.ERC20
	case abi.EmitterERC721:
		return transfer.ERC721
	case abi.EmitterERC1155:
		return transfer.ERC1155
	}
	return transfer.Ambiguous
}

// Queued is a token that is to be asked.
type Queued struct {
	Due   uint64
	Token felt.Felt
}

// DueUntil lists up to limit tokens of the queue that are due at a time, the
// longest due first. One scan.
func DueUntil(ctx context.Context, r store.Reader, now uint64, limit int) (out []Queued, err error) {
	return jobRows(ctx, r, QueueKey(0, felt.Zero).Sort, QueueKey(now+1, felt.Zero).Sort, limit)
}

// DueAfter lists up to limit tokens of the queue that are due later than a time. One scan.
func DueAfter(ctx context.Context, r store.Reader, after uint64, limit int) (out []Queued, err error) {
	return jobRows(ctx, r, QueueKey(after+1, felt.Zero).Sort, []byte{jobQueue + 1}, limit)
}

// ReadSince lists up to limit tokens that were read at a block or a later one,
// with that block in place of Due. One scan.
func ReadSince(ctx context.Context, r store.Reader, block uint64, limit int) ([]Queued, error) {
	return jobRows(ctx, r, ReadKey(block, felt.Zero).Sort, []byte{jobRead + 1}, limit)
}

func jobRows(ctx context.Context, r store.Reader, from, to []byte, limit int) (out []Queued, err error) {
	for row, err := range r.Scan(ctx, store.Range{Table: Jobs, From: from, To: to, Limit: limit}) {
		if err == nil && len(row.Sort) != 9+felt.Size {
			err = fmt.Errorf("%w: token in a queue with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
		}
		if err != nil {
			return nil, fmt.Errorf("read a queue of tokens: %w", err)
		}
		out = append(out, Queued{binary.BigEndian.Uint64(row.Sort[1:]), felt.Felt(row.Sort[9:])})
	}
	return out, nil
}

// ProgressNow returns how far tokens were looked for. One Get.
func ProgressNow(ctx context.Context, r store.Reader) (p Progress, err error) {
	v, err := r.Get(ctx, ProgressKey)
	if errors.Is(err, store.ErrNotFound) {
		return p, nil
	}
	if err == nil {
		p, err = DecodeProgress(v)
	}
	if err != nil {
		return p, fmt.Errorf("read the progress of token metadata: %w", err)
	}
	return p, nil
}

// UpgradesNow returns how far replaced classes were looked at, and false before the first look. One Get.
func UpgradesNow(ctx context.Context, r store.Reader) (u Upgrades, some bool, err error) {
	v, err := r.Get(ctx, UpgradesKey)
	if errors.Is(err, store.ErrNotFound) {
		return u, false, nil
	}
	if err == nil {
		u, err = DecodeUpgrades(v)
	}
	if err != nil {
		return u, false, fmt.Errorf("read the upgrades of tokens: %w", err)
	}
	return u, true, nil
}

// KindAt is the standard of a token at a block: an ERC-20 by the registry, or what
// the ABI of its class tells. One scan and one GetMany for what is not listed.
func KindAt(ctx context.Context, r store.Reader, known *registry.Chain, address felt.Felt, block uint64) (transfer.Standard, error) {
	if _, listed := known.Token(address); listed {
		return transfer.ERC20, nil
	}
	kinds, err := KindsByClass(ctx, r, []felt.Felt{address}, block)
	if err != nil {
		return transfer.Ambiguous, err
	}
	return kinds[0], nil
}

// IsKnown says whether anybody can call an address a token: by its transfers, by the
// registry, or by the ABI of its class at a block. One Get for what has moved, and
// what KindAt costs for the rest.
func IsKnown(ctx context.Context, r store.Reader, known *registry.Chain, address felt.Felt, block uint64) (bool, error) {
	_, moved, err := TotalsOf(ctx, r, address)
	if err != nil || moved {
		return moved, err
	}
	kind, err := KindAt(ctx, r, known, address, block)
	return kind != transfer.Ambiguous, err
}

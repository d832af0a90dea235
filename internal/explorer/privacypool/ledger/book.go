package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// book is a generation with those of its rows that a step needs, and what the step
// changes. It is given transactions and hours in the order of the chain, and knows
// nothing else.
type book struct {
	*Generation
	ctx  context.Context
	rows store.Reader
	now  uint64 // in milliseconds since 1970

	tokens    map[felt.Felt]*Asset
	truncated bool // there are more tokens than were read
	seen      map[string]explorer.Place
	buckets   map[string]*Bucket
	flows     map[string]*Flow

	changed map[string]store.Key // rows of the maps above that are to be written, by table and sort
	batch   store.Batch          // points and snapshots
}

func openBook(ctx context.Context, rows store.Reader, g *Generation, now uint64) (*book, error) {
	b := &book{Generation: g, ctx: ctx, rows: rows, now: now, tokens: map[felt.Felt]*Asset{}, seen: map[string]explorer.Place{},
		buckets: map[string]*Bucket{}, flows: map[string]*Flow{}, changed: map[string]store.Key{}}
	assets, truncated, err := g.assets(ctx, rows)
	if err != nil {
		return nil, err
	}
	b.truncated = truncated
	for _, a := range assets {
		b.tokens[a.Token] = a
	}
	return b, nil
}

// expect reads in one round trip where ids of transactions were seen before.
func (b *book) expect(list []transaction) error {
	var keys []store.Key
	add := func(k kind, pool felt.Felt, id *felt.Felt) {
		if id != nil {
			keys = append(keys, b.key(Seen, seenSort(k, pool, *id)))
		}
	}
	for i := range list {
		for j := range list[i].own {
			e := &list[i].own[j]
			pool := b.Pools[e.pool].Address
			switch e.fact.Kind {
			case privacypool.EncNoteCreated, privacypool.OpenNoteCreated:
				add(seenNote, pool, e.fact.NoteID)
			case privacypool.NoteUsed:
				add(seenNullifier, pool, e.fact.Nullifier)
			case privacypool.ViewingKeySet:
				add(seenWallet, felt.Zero, e.fact.Actor)
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	values, err := b.rows.GetMany(b.ctx, keys)
	if err != nil {
		return fmt.Errorf("what privacy pools have seen: %w", err)
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		p, err := decodeSeen(v)
		if err != nil {
			return err
		}
		b.seen[string(keys[i].Sort)] = p
	}
	return nil
}

func encodeSeen(p explorer.Place) []byte {
	e := encoding()
	putPlace(e, p)
	return e.Bytes()
}

func decodeSeen(v []byte) (explorer.Place, error) {
	d := decoding(v)
	p := getPlace(d)
	if err := d.Finish(); err != nil {
		return p, fmt.Errorf("what privacy pools have seen: %w", err)
	}
	return p, nil
}

// first notes an id, and says whether it is new.
func (b *book) first(k kind, pool, id felt.Felt, at explorer.Place) bool {
	sort := seenSort(k, pool, id)
	if _, there := b.seen[string(sort)]; there {
		return false
	}
	b.seen[string(sort)] = at
	b.touch(Seen, sort)
	return true
}

func (b *book) touch(t *store.Table, sort []byte) {
	b.changed[string(append([]byte{t.ID}, sort...))] = b.key(t, sort)
}

// get reads a row that may not be there.
func (b *book) get(t *store.Table, sort []byte) ([]byte, error) {
	v, err := b.rows.Get(b.ctx, b.key(t, sort))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", t.Name, err)
	}
	return v, nil
}

// asset is the row of a token, which is going to be changed.
func (b *book) asset(token felt.Felt) (*Asset, error) {
	a, ok := b.tokens[token]
	if !ok && b.truncated {
		v, err := b.get(Tokens, tokenSort(token))
		if err != nil {
			return nil, err
		}
		if v != nil {
			if a, err = decodeToken(token[:], v); err != nil {
				return nil, err
			}
		}
	}
	if a == nil {
		a = newAsset(token)
	}
	b.tokens[token] = a
	b.touch(Tokens, tokenSort(token))
	return a, nil
}

// bucket is the row of a bucket, which is going to be changed.
func (b *book) bucket(l Length, time uint64) (*Bucket, error) {
	start := l.Start(time)
	sort := bucketSort(l, start)
	row, ok := b.buckets[string(sort)]
	if !ok {
		v, err := b.get(Buckets, sort)
		if err != nil {
			return nil, err
		}
		row = &Bucket{Start: start}
		if v != nil {
			if *row, err = decodeBucket(start, v); err != nil {
				return nil, fmt.Errorf("bucket of privacy pools: %w", err)
			}
		}
		b.buckets[string(sort)] = row
	}
	b.touch(Buckets, sort)
	return row, nil
}

func (b *book) flow(kind byte, l Length, token felt.Felt, time uint64) (*Flow, error) {
	start := l.Start(time)
	sort := flowSort(kind, l, token, start)
	row, ok := b.flows[string(sort)]
	if !ok {
		v, err := b.get(Flows, sort)
		if err != nil {
			return nil, err
		}
		row = newFlow(start)
		if v != nil {
			if row, err = decodeFlow(start, v); err != nil {
				return nil, fmt.Errorf("flow of privacy pools: %w", err)
			}
		}
		b.flows[string(sort)] = row
	}
	b.touch(Flows, sort)
	return row, nil
}

// move adds an amount to the rows of a token's hour and day. An amount that is not
// there counts as an event.
func (b *book) move(kind byte, token felt.Felt, time, number uint64, in bool, amount, totalIn, totalOut *big.Int) error {
	for _, l := range []Length{Hour, Day} {
		f, err := b.flow(kind, l, token, time)
		if err != nil {
			return err
		}
		sum, count := f.Out, &f.OutCount
		if in {
			sum, count = f.In, &f.InCount
		}
		if *count++; amount != nil {
			sum.Add(sum, amount)
		}
		f.TotalIn.Set(totalIn)
		f.TotalOut.Set(totalOut)
		f.LatestBlock = number
	}
	return nil
}

// gap notes a reason, and where it was met first.
func (b *book) gap(reason Reason, at explorer.Place, time uint64) {
	for i := range b.Gaps {
		if b.Gaps[i].Reason == reason {
			b.Gaps[i].Count++
			return
		}
	}
	i, _ := slices.BinarySearchFunc(b.Gaps, at, func(g Gap, p explorer.Place) int {
		if g.First.Before(p) || g.First == p {
			return -1
		}
		return 1
	})
	b.Gaps = slices.Insert(b.Gaps, i, Gap{Reason: reason, Count: 1, First: at, Time: time})
	b.Changed = true // what is shown of assets may be another
}

// closeHour makes the point of an hour whose last block, or the last before it, is given.
// Every event up to that block, and none behind it, was counted.
func (b *book) closeHour(asOf *block.Summary) {
	hour := b.NextHour
	if b.Changed {
		b.SnapshotHour, b.Changed = hour, false
		b.batch.Put(b.key(Snapshots, hourSort(hour)), encodeSnapshot(b.shown()))
	}
	p := Point{Hour: hour, AsOf: asOf.Number, Hash: asOf.Hash, Timestamp: asOf.Timestamp, LatestFlow: b.LatestFlow, MaterializedAt: b.now,
		PoolCount: b.PoolCount(), TokenCount: b.TokenCount, MissingAmounts: b.MissingAmounts, snapshot: b.SnapshotHour}
	if gap := b.Degraded(); gap != nil {
		p.Gap = gap.Reason
	}
	b.batch.Put(b.key(Points, hourSort(hour)), p.encode())
	b.NextHour += hourSeconds
}

// shown are the assets of a snapshot, by address.
func (b *book) shown() []*Asset {
	all := slices.Collect(maps.Values(b.tokens))
	arrange.By(all, func(x, y *Asset) int { return x.Token.Cmp(y.Token) })
	all = all[:min(len(all), MaxAssets)] // those that were read, and new ones among them: whatever the step
	for _, a := range all {
		a.judge(b.Unscoped > 0)
	}
	return slices.DeleteFunc(all, func(a *Asset) bool { return !a.shown() })
}

// put adds all rows that were changed to a batch, in the order of their keys.
func (b *book) put(batch *store.Batch) {
	for _, name := range slices.Sorted(maps.Keys(b.changed)) {
		k := b.changed[name]
		var v []byte
		switch k.Table {
		case Tokens:
			v = b.tokens[felt.Felt(k.Sort)].encode()
		case Seen:
			v = encodeSeen(b.seen[string(k.Sort)])
		case Buckets:
			v = b.buckets[string(k.Sort)].encode()
		case Flows:
			v = b.flows[string(k.Sort)].encode()
		}
		batch.Put(k, v)
	}
	for _, op := range b.batch.Ops() {
		batch.Put(op.Key, op.Value)
	}
}

package transfer

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// PairRow writes rows of Pairs: the version byte, the length of the balance that
// the transfers left, the balance, and the places as in Addresses. What a balance
// is made of is the matter of package token, which adds balances up and so is the
// one to say when a row is due; how a row and its key look is known here alone.
type PairRow struct{ buf, key []byte }

// Fill makes the row of a balance and a list of places, see Side.At. The zero
// address has no balance.
func (r *PairRow) Fill(balance []byte, places *postings.Builder, l postings.List) {
	r.buf = binary.AppendUvarint(append(r.buf[:0], rowVersion), uint64(len(balance)))
	r.buf = places.Append(append(r.buf, balance...), form, l)
}

// Put writes the row of an address, a token and a block.
func (r *PairRow) Put(rows *explorer.Rows, address, token *felt.Felt, block uint64) {
	r.key = appendPairKey(r.key[:0], token, block)
	rows.Put(Pairs, address[:], r.key, r.buf)
}

// appendPairKey appends the sort key of a token's row of a block in the partition
// of an address.
func appendPairKey(b []byte, token *felt.Felt, block uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, token[:]...), block)
}

// LastBalance returns the balance, as PairRow.Fill took it, in the newest row of an
// address and a token up to a block, and the row's block; nil when there is none.
// One scan of one row.
func LastBalance(ctx context.Context, r store.Reader, address, token felt.Felt, through uint64) (balance []byte, block uint64, err error) {
	l := pairList(&address, &token)
	rng := store.Range{Table: l.table, Partition: address[:], From: l.key(0), To: l.behind(through), Reverse: true, Limit: 1}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, 0, err
		}
		if block, err = l.blockOf(row.Sort); err != nil {
			return nil, 0, err
		}
		if balance, _, err = splitPair(row.Value); err != nil {
			return nil, 0, err
		}
		return slices.Clone(balance), block, nil
	}
	return nil, 0, nil
}

// Past is a balance, as PairRow.Fill took it, after a block.
type Past struct {
	Balance []byte
	Block   uint64
}

// PastBalances lists the balances of an address in a token up to a block, newest first, at
// most limit: one for each block with a transfer. One scan.
func PastBalances(ctx context.Context, r store.Reader, address, token felt.Felt, through uint64, limit int) (out []Past, err error) {
	l := pairList(&address, &token)
	rng := store.Range{Table: l.table, Partition: address[:], From: l.key(0), To: l.behind(through), Reverse: true, Limit: limit}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, err
		}
		var p Past
		if p.Block, err = l.blockOf(row.Sort); err != nil {
			return nil, err
		}
		balance, _, err := splitPair(row.Value)
		if err != nil {
			return nil, err
		}
		p.Balance = slices.Clone(balance)
		out = append(out, p)
	}
	return out, nil
}

// splitPair cuts a row of Pairs into the balance and the places.
func splitPair(row []byte) (balance, spots []byte, err error) {
	if len(row) > 0 && row[0] == rowVersion {
		if n, rest, ok := postings.Number(row[1:]); ok && n <= uint64(len(rest)) {
			return rest[:n], rest[n:], nil
		}
	}
	return nil, nil, fmt.Errorf("%w: transfer pair of %d bytes or of another version", record.ErrCorrupt, len(row))
}

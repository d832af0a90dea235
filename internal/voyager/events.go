package voyager

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"slices"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
)

// maxEventRows is how many transactions are looked at for a page of events that is found by counting.
const maxEventRows = 20_000

// eventItem is an event. BlockHash and EventID are older names of BlockID and ID.
type eventItem struct {
	BlockNumber       uint64      `json:"blockNumber"`
	TransactionNumber uint32      `json:"transactionNumber"`
	Number            uint32      `json:"number"`
	FromAddress       padded      `json:"fromAddress"`
	ClassHash         *padded     `json:"classHash"`
	TransactionHash   felt.Felt   `json:"transactionHash"`
	BlockID           felt.Felt   `json:"blockId"`
	BlockHash         felt.Felt   `json:"blockHash"`
	Timestamp         uint64      `json:"timestamp"`
	ID                string      `json:"id"`
	EventID           string      `json:"eventId"`
	ClassAlias        *string     `json:"classAlias"`
	ContractAlias     *string     `json:"contractAlias"`
	Name              *string     `json:"name"`
	NestedName        *string     `json:"nestedName"`
	NestedEventNames  []string    `json:"nestedEventNames"`
	Selector          *felt.Felt  `json:"selector"`
	Keys              []felt.Felt `json:"keys"`
	Data              []felt.Felt `json:"data"`
	DataDecoded       *[]decoded  `json:"dataDecoded,omitempty"`
	KeyDecoded        *[]decoded  `json:"keyDecoded,omitempty"`
}

// decoded is a value that was read out of an event: a text, or a list of them.
type decoded struct {
	Name  string  `json:"name"`
	Value any     `json:"value"`
	Type  *string `json:"type"`
}

// eventItemOf puts a row of the API into the feed's words.
func eventItemOf(row *api.EventRow, hit *event.Hit) eventItem {
	id := fmt.Sprintf("%s_%d", row.TxHash, row.LogIndex)
	out := eventItem{BlockNumber: row.BlockNumber, TransactionNumber: row.TxIndex, Number: row.LogIndex,
		FromAddress: padded(row.Address), ClassHash: pad(row.EventTimeClassHash), TransactionHash: row.TxHash,
		BlockID: hit.BlockHash, BlockHash: hit.BlockHash, Timestamp: hit.Timestamp, ID: id, EventID: id,
		ClassAlias: row.ClassAlias, ContractAlias: row.ContractAlias, Name: row.EventName, NestedName: row.EventName, NestedEventNames: []string{},
		Selector: row.Topic0, Keys: row.Keys, Data: row.Data}
	if row.DecodingStatus == string(abi.Decoded) {
		out.DataDecoded, out.KeyDecoded = decodedOf(row.DecodedFields, abi.FromData), decodedOf(row.DecodedFields, abi.FromKey)
	}
	return out
}

func decodedOf(fields []api.DecodedField, source abi.FieldSource) *[]decoded {
	out := []decoded{}
	for i := range fields {
		if f := &fields[i]; f.Source == string(source) {
			out = append(out, decoded{f.Label, valueOf(f), f.Type})
		}
	}
	return &out
}

// valueOf is what a field holds: one felt in hex, a u256 as one number in hex, a text as it reads,
// and everything else as the felts that it is made of.
func valueOf(f *api.DecodedField) any {
	switch {
	case len(f.RawValues) == 1:
		return f.RawValues[0].String()
	case f.Kind == string(abi.KindU256) && f.NumericValue != nil:
		if n, ok := new(big.Int).SetString(f.NumericValue.String(), 10); ok {
			return fmt.Sprintf("%#x", n)
		}
	case f.Kind == string(abi.KindText) && f.TextValue != nil:
		return *f.TextValue
	}
	out := make([]string, len(f.RawValues))
	for i, v := range f.RawValues {
		out[i] = v.String()
	}
	return out
}

func (f *Feed) events(c *call) (any, error) {
	contract, err := c.felt("contract")
	if err != nil {
		return nil, err
	}
	hash, err := c.felt("txnHash")
	if err != nil {
		return nil, err
	}
	in, err := c.felt("blockHash")
	if err != nil {
		return nil, err
	}
	during, err := c.period()
	if err != nil {
		return nil, err
	}
	switch {
	case contract != nil && (hash != nil || in != nil):
		return nil, invalid("contract cannot be given together with txnHash or blockHash.")
	case (hash != nil || in != nil) && during.given():
		return nil, invalid("timestampFrom and timestampTo do not go with txnHash or blockHash.")
	case hash != nil:
		return f.txnEvents(c, *hash, in)
	case contract != nil:
		return f.contractEvents(c, *contract, during)
	}
	list := c.identity("all", during.identity())
	if in != nil {
		list = c.identity("block", in.String())
	}
	return f.numbered(c, list, func(ctx context.Context, v *view) (numbered, error) {
		first, last, some, err := v.blocksOf(ctx, in, during)
		if err != nil || !some {
			return numbered{read: func(context.Context, uint64, int) (any, error) { return []eventItem{}, nil }}, err
		}
		return f.countedEvents(ctx, v, first, last)
	})
}

// blocksOf is the range of blocks that events are asked for of: one block, or those of a
// period; some is false when there is none.
func (v *view) blocksOf(ctx context.Context, in *felt.Felt, during period) (first, last uint64, some bool, err error) {
	if in != nil {
		b, err := v.blockOf(ctx, "blockHash", in.String())
		if err != nil {
			return 0, 0, false, err
		}
		v.top = b.Ref()
		return b.Number, b.Number, true, nil
	}
	return during.blocks(ctx, v)
}

// txnEvents lists the events of a transaction, the last first.
func (f *Feed) txnEvents(c *call, hash felt.Felt, in *felt.Felt) (any, error) {
	list := c.identity("txn", hash.String())
	if in != nil {
		list += in.String()
	}
	return f.numbered(c, list, func(ctx context.Context, v *view) (numbered, error) {
		t, err := v.txnOf(ctx, hash)
		if err != nil {
			return numbered{}, err
		}
		v.top = block.Ref{Number: t.Block, Hash: t.BlockHash}
		hits := hitsOf(t)
		if in != nil && *in != t.BlockHash {
			hits = nil
		}
		slices.Reverse(hits)
		return numbered{uint64(len(hits)), func(ctx context.Context, first uint64, n int) (any, error) {
			return f.renderEvents(ctx, v, hits[first:first+uint64(n)])
		}}, nil
	})
}

// countedEvents are the events of a range of blocks, found by the running totals of the blocks.
func (f *Feed) countedEvents(ctx context.Context, v *view, first, last uint64) (numbered, error) {
	oldest, err := block.Get(ctx, v.r, first)
	if err != nil {
		return numbered{}, err
	}
	newest, err := block.Get(ctx, v.r, last)
	if err != nil {
		return numbered{}, err
	}
	total := newest.TotalEvents - (oldest.TotalEvents - oldest.Events)
	return numbered{total, func(ctx context.Context, skip uint64, n int) (any, error) {
		hits, left := make([]event.Hit, 0, n), maxEventRows
		for len(hits) < n { // each time around one at least is found
			at := newest.TotalEvents - skip - uint64(len(hits)) - 1
			b, err := block.Reaching(ctx, v.r, first, last, at, func(s *block.Summary) uint64 { return s.TotalEvents })
			if err != nil {
				return nil, err
			}
			if left -= int(b.Transactions); left < 0 {
				return nil, refusef(http.StatusServiceUnavailable, "The events of this page are in too many transactions. Ask for a smaller ps.")
			}
			own, err := eventsOf(ctx, v.r, b)
			if err != nil {
				return nil, err
			}
			upTo := int(at - (b.TotalEvents - b.Events) + 1)
			if upTo > len(own) {
				return nil, fmt.Errorf("block %d has %d events and counts %d", b.Number, len(own), b.Events)
			}
			for _, h := range slices.Backward(own[:upTo]) {
				if len(hits) < n {
					hits = append(hits, h)
				}
			}
		}
		return f.renderEvents(ctx, v, hits)
	}}, nil
}

// eventsOf are all events of a block, in order. One scan.
func eventsOf(ctx context.Context, r explorer.Reader, b *block.Summary) (out []event.Hit, err error) {
	_, _, err = transaction.WalkEvents(ctx, r, explorer.Position{Block: b.Number}, b.Number, int(b.Transactions)+maxEventRows, func(p explorer.Position, events []transaction.Emitted) bool {
		for i := range events {
			out = append(out, event.HitOf(explorer.Place{Block: p.Block, Tx: p.Index, Log: uint32(i)}, &events[i]))
		}
		return true
	})
	return out, err
}

// contractEvents lists the events of a contract.
func (f *Feed) contractEvents(c *call, contract felt.Felt, during period) (any, error) {
	return f.walked(c, c.identity("contract", contract.String(), during.identity()), func(ctx context.Context, v *view) (walked, error) {
		first, last, some, err := during.blocks(ctx, v)
		if err != nil {
			return walked{}, err
		}
		return walked{read: func(ctx context.Context, after []byte, n int) (rows, error) {
			if !some {
				return rows{render: func(context.Context) (any, error) { return []eventItem{}, nil }}, nil
			}
			q := event.Query{Emitters: []felt.Felt{contract}, From: first, To: last, Order: event.Desc, Limit: n}
			if p, ok := explorer.ParsePlace(after); ok {
				q.After = &p
			}
			hits, next, err := searchAll(ctx, v.r, q)
			out := rows{more: next != nil, render: func(ctx context.Context) (any, error) { return f.renderEvents(ctx, v, hits) }}
			if next != nil {
				out.after = next.Append(nil)
			}
			return out, err
		}}, nil
	})
}

// searchAll goes on until a page is full, or nothing is left: then next is nil. A search may end early,
// and a short page is the last one to clients of the feed.
func searchAll(ctx context.Context, r explorer.Reader, q event.Query) (hits []event.Hit, next *explorer.Place, err error) {
	for limit := q.Limit; ; q.Limit = limit - len(hits) {
		found, err := event.Search(ctx, r, q)
		if err != nil {
			return nil, nil, err
		}
		if hits = append(hits, found.Events...); found.Done || len(hits) == limit {
			if found.Done {
				found.Next = nil
			}
			return hits, found.Next, nil
		}
		q.After = found.Next
	}
}

func (f *Feed) renderEvents(ctx context.Context, v *view, hits []event.Hit) ([]eventItem, error) {
	list, err := f.routes.RenderEvents(ctx, v.r, v.chain, v.state, hits)
	out := make([]eventItem, len(list))
	for i := range list {
		out[i] = eventItemOf(&list[i], &hits[i])
	}
	return out, err
}

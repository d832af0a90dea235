package simnode

import (
	"encoding/json"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// Limits of event filters, as the stricter real nodes have them.
const (
	maxKeyPositions = 16
	maxAddresses    = 1024
)

type eventParams struct {
	From    *blockID        `json:"from_block"`
	To      *blockID        `json:"to_block"`
	Address json.RawMessage `json:"address"`
	Keys    [][]felt.Felt   `json:"keys"`
	Token   *string         `json:"continuation_token"`
	Chunk   int             `json:"chunk_size"`
}

// emittedEvent is an event with its place, by version.
type emittedEvent struct {
	From   felt.Felt   `json:"from_address"`
	Keys   []felt.Felt `json:"keys"`
	Data   []felt.Felt `json:"data"`
	Hash   felt.Felt   `json:"block_hash"`
	Number uint64      `json:"block_number"`
	Tx     felt.Felt   `json:"transaction_hash"`

	TxIndex *int `json:"transaction_index,omitempty"`
	Index   *int `json:"event_index,omitempty"`

	Finality string `json:"finality_status,omitempty"` // subscriptions
}

func (n *Node) emitted(b *starknet.Block, txIndex, index int) emittedEvent {
	r := &b.Receipts[txIndex]
	e := &r.Events[index]
	out := emittedEvent{From: e.From, Keys: e.Keys, Data: e.Data, Hash: b.Hash, Number: b.Number, Tx: r.TransactionHash}
	if out.Keys == nil {
		out.Keys = []felt.Felt{}
	}
	if out.Data == nil {
		out.Data = []felt.Felt{}
	}
	if n.cfg.Version >= starknet.V010 {
		out.TxIndex, out.Index = &txIndex, &index
	}
	return out
}

// addresses reads one address, or in the newest version a list.
func (n *Node) addresses(text json.RawMessage) ([]felt.Felt, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var list []felt.Felt
	if text[0] == '[' {
		if n.cfg.Version < starknet.V010 {
			return nil, failureWith(codeInvalidParams, "a list of addresses is not known in this version")
		}
		if json.Unmarshal(text, &list) != nil {
			return nil, failureWith(codeInvalidParams, "address")
		}
		if len(list) > maxAddresses {
			return nil, failure(codeTooManyAddresses)
		}
		return list, nil
	}
	var one felt.Felt
	if json.Unmarshal(text, &one) != nil {
		return nil, failureWith(codeInvalidParams, "address")
	}
	return append(list, one), nil
}

// boundary resolves an end of a range: numbers above the head are allowed.
func (c *rpcCall) boundary(id *blockID, missing uint64) (uint64, error) {
	if id == nil {
		return missing, nil
	}
	if id.number != nil {
		return *id.number, nil
	}
	p, err := c.resolve(*id)
	if err != nil {
		return 0, err
	}
	if p.pending {
		return p.number() + 1, nil
	}
	return p.number(), nil
}

func getEvents(c *rpcCall) (any, error) {
	params, err := arg[eventParams](c, "filter")
	if err != nil {
		return nil, err
	}
	switch {
	case params.Chunk < 1:
		return nil, failureWith(codeInvalidParams, "chunk_size")
	case params.Chunk > c.node.cfg.MaxChunk:
		return nil, failure(codePageSizeTooBig)
	case len(params.Keys) > maxKeyPositions:
		return nil, failure(codeTooManyKeys)
	}
	filter := EventFilter{Keys: params.Keys}
	if filter.Addresses, err = c.node.addresses(params.Address); err != nil {
		return nil, err
	}
	if filter.From, err = c.boundary(params.From, 0); err != nil {
		return nil, err
	}
	if filter.To, err = c.boundary(params.To, ^uint64(0)); err != nil {
		return nil, err
	}
	skip := 0
	if params.Token != nil {
		var block uint64
		var rest string
		if n, _ := fmt.Sscanf(*params.Token+" .", "%d-%d %s", &block, &skip, &rest); n != 3 || skip < 0 || block < filter.From || block > filter.To {
			return nil, failure(codeInvalidToken)
		}
		filter.From = block
	}
	return c.page(filter, skip, params.Chunk), nil
}

type eventPage struct {
	Events []emittedEvent `json:"events"`
	Token  string         `json:"continuation_token,omitempty"`
}

// page lists up to chunk events that match, after skipping some in the first
// block. The token is the block where it stopped and how many of its matching
// events were given.
func (c *rpcCall) page(f EventFilter, skip, chunk int) eventPage {
	out := eventPage{Events: []emittedEvent{}}
	for n := f.From; n <= f.To && n < uint64(len(c.v.blocks)); n++ {
		b := c.v.blocks[n].block()
		matched := 0
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				if !f.matches(&b.Receipts[i].Events[j]) {
					continue
				}
				if matched++; n == f.From && matched <= skip {
					continue
				}
				if len(out.Events) == chunk {
					out.Token = fmt.Sprintf("%d-%d", n, matched-1)
					return out
				}
				out.Events = append(out.Events, c.node.emitted(b, i, j))
			}
		}
	}
	return out
}

package voyager_test

import (
	"fmt"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// truth tells what the chain itself knows.
type truth struct{ *simnode.Chain }

func (c truth) head() uint64 {
	n, _ := c.Head()
	return n
}

func (c truth) status(n uint64) string {
	if l1, ok := c.L1Head(); ok && n <= l1 {
		return "Accepted on L1"
	}
	return "Accepted on L2"
}

func (c truth) block(n uint64) object {
	b := c.BlockAt(n)
	messages := 0
	for i := range b.Receipts {
		messages += len(b.Receipts[i].MessagesSent)
	}
	return object{"blockNumber": n, "number": n, "hash": b.Hash, "timestamp": b.Timestamp, "stateRoot": b.NewRoot, "txnCount": len(b.Transactions),
		"messageCount": messages, "eventCount": b.EventCount(), "l1VerificationTxHash": nil, "status": c.status(n)}
}

func (c truth) tx(n uint64, i int) object {
	b := c.BlockAt(n)
	t, r := &b.Transactions[i], &b.Receipts[i]
	out := object{"blockNumber": n, "hash": t.Hash, "index": i, "l1VerificationHash": nil, "classHash": nil, "contractAddress": nil, "timestamp": b.Timestamp,
		"actualFee": r.ActualFee.Big().String(), "contractAlias": nil, "classAlias": nil, "status": c.status(n), "type": t.Type.String()}
	switch t.Type {
	case starknet.Declare:
		out["classHash"] = t.ClassHash.Padded()
	case starknet.DeployAccount, starknet.Deploy:
		out["classHash"], out["contractAddress"] = t.ClassHash.Padded(), r.ContractAddress.Padded()
	case starknet.L1Handler:
		out["contractAddress"] = t.ContractAddress.Padded()
	default:
		out["contractAddress"] = senderOf(t).Padded()
	}
	return out
}

// senderOf is who sends a transaction that an account sends.
func senderOf(t *starknet.Transaction) felt.Felt {
	if v, _ := t.PlainVersion(); v == 0 && t.Type == starknet.Invoke {
		return t.ContractAddress
	}
	return t.Sender
}

// txs are all transactions, the newest first.
func (c truth) txs(keep func(n uint64, i int) bool) (out []object) {
	for n := range c.head() + 1 {
		for i := range c.BlockAt(n).Transactions {
			if keep == nil || keep(n, i) {
				out = append(out, c.tx(n, i))
			}
		}
	}
	slices.Reverse(out)
	return out
}

// place names an event.
type place struct {
	block   uint64
	tx, log int
}

// events are the ids of all events that are kept, the newest first.
func (c truth) events(keep func(p place, e *starknet.Event) bool) (ids []string) {
	for n := range c.head() + 1 {
		b := c.BlockAt(n)
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				if keep(place{n, i, j}, &b.Receipts[i].Events[j]) {
					ids = append(ids, fmt.Sprintf("%s_%d", b.Transactions[i].Hash, j))
				}
			}
		}
	}
	slices.Reverse(ids)
	return ids
}

func ids(items []object) (out []string) {
	for _, i := range items {
		out = append(out, i["id"].(string)) //nolint:errcheck // panics where it is none
	}
	return out
}

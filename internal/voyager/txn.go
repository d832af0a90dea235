package voyager

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// maxReceiptEvents is how many events a transaction's receipt shows; /events has all.
const maxReceiptEvents = 1000

// txDetail is a transaction in full. Nobody asks prices here: what is in dollars is null.
type txDetail struct {
	txItem
	BlockID             felt.Felt   `json:"blockId"`
	ActualFeeUnit       string      `json:"actualFeeUnit"`
	ExecutionStatus     string      `json:"executionStatus"`
	SenderAddress       *padded     `json:"senderAddress"`
	ContractAddressSalt *felt.Felt  `json:"contractAddressSalt"`
	MaxFee              *string     `json:"maxFee"`
	Nonce               *felt.Felt  `json:"nonce"`
	Version             felt.Felt   `json:"version"`
	Selector            *felt.Felt  `json:"selector"`
	Signature           []felt.Felt `json:"signature"`
	Calldata            []felt.Felt `json:"calldata"`
	ConstructorCalldata []felt.Felt `json:"constructorCalldata"`
	RevertError         *string     `json:"revertError"`
	Receipt             txReceipt   `json:"receipt"`
}

type txReceipt struct {
	Events []receiptEvent `json:"events"`
}

// receiptEvent is what the details of a transaction tell of an event.
type receiptEvent struct {
	ID               string     `json:"id"`
	BlockNumber      uint64     `json:"blockNumber"`
	BlockHash        felt.Felt  `json:"blockHash"`
	FromAddress      padded     `json:"fromAddress"`
	Timestamp        uint64     `json:"timestamp"`
	Selector         *felt.Felt `json:"selector"`
	Name             *string    `json:"name"`
	NestedName       *string    `json:"nestedName"`
	NestedEventNames []string   `json:"nestedEventNames"`
	ContractAlias    *string    `json:"contractAlias"`
}

func (f *Feed) txn(c *call) (any, error) {
	hash, err := c.pathFelt("hash")
	if err != nil {
		return nil, err
	}
	out := &txDetail{}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		t, err := v.txnOf(ctx, hash)
		if err != nil {
			return err
		}
		v.fillTxn(out, t)
		hits := hitsOf(t)
		rows, err := f.routes.RenderEvents(ctx, v.r, v.chain, v.state, hits[:min(len(hits), maxReceiptEvents)])
		if err != nil {
			return err
		}
		out.Receipt.Events = make([]receiptEvent, len(rows))
		for i := range rows {
			e := eventItemOf(&rows[i], &hits[i])
			out.Receipt.Events[i] = receiptEvent{e.ID, e.BlockNumber, e.BlockID, e.FromAddress, e.Timestamp, e.Selector, e.Name, e.NestedName, e.NestedEventNames, e.ContractAlias}
		}
		return nil
	})
}

func (v *view) fillTxn(out *txDetail, t *transaction.Record) {
	out.txItem = v.txItem(t)
	out.BlockID, out.ActualFeeUnit, out.Version = t.BlockHash, t.Receipt.FeeUnit.String(), t.Version
	out.Signature = append([]felt.Felt{}, t.Signature...)
	switch t.Type {
	case starknet.Invoke, starknet.L1Handler:
		out.Calldata = append([]felt.Felt{}, t.Calldata...)
	case starknet.Deploy, starknet.DeployAccount:
		out.ConstructorCalldata = append([]felt.Felt{}, t.ConstructorCalldata...)
	case starknet.Declare: // it has neither
	}
	out.ExecutionStatus = "Succeeded"
	if t.Receipt.Execution == starknet.Reverted {
		out.ExecutionStatus = "Reverted"
		if t.Receipt.RevertReason != "" {
			out.RevertError = &t.Receipt.RevertReason
		}
	}
	if t.Type != starknet.L1Handler { // whose sender is an address of L1
		from, _ := t.Ends()
		out.SenderAddress = pad(from)
	}
	if t.Type == starknet.Deploy || t.Type == starknet.DeployAccount {
		out.ContractAddressSalt = &t.ContractAddressSalt
	}
	if t.HasNonce {
		out.Nonce = &t.Nonce
	}
	version, plain := t.PlainVersion()
	if plain && version < 3 && t.Type != starknet.L1Handler && t.Type != starknet.Deploy { // later ones have bounds instead
		fee := t.MaxFee.Big().String()
		out.MaxFee = &fee
	}
	if t.Type == starknet.L1Handler || t.Type == starknet.Invoke && plain && version == 0 {
		out.Selector = &t.EntryPointSelector
	}
}

// hitsOf are the events of a transaction, in order.
func hitsOf(t *transaction.Record) []event.Hit {
	out := make([]event.Hit, len(t.Receipt.Events))
	for i := range out {
		out[i] = event.Hit{Place: explorer.Place{Block: t.Block, Tx: t.Index, Log: uint32(i)},
			BlockHash: t.BlockHash, Timestamp: t.BlockTime, TxHash: t.Hash, TxType: t.Type, Event: t.Receipt.Events[i]}
	}
	return out
}

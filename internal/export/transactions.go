package export

import (
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
)

func feedTransactions(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "transactionRow", &transactionRow{})
	return feeder{end: t.end, transaction: func(rec *transaction.Record) error {
		row, err := rowOfTransaction(rec)
		if err != nil {
			return err
		}
		size := 4*rowBytes + feltBytes*(len(row.Calldata)+len(row.Signature)) + len(rec.Receipt.RevertReason)
		return t.add(&row, size)
	}}
}

// rowOfTransaction has what the transaction's type and version has, and null for the rest.
func rowOfTransaction(rec *transaction.Record) (row transactionRow, err error) {
	fee, err := amountOfFelt(&rec.Receipt.ActualFee)
	if err != nil {
		return row, err
	}
	resources, messages := rec.Receipt.Resources, message.Count(&rec.Transaction, &rec.Receipt)
	row = transactionRow{
		place: placeOf(rec.Block, rec.Stamp), TxIndex: int32(rec.Index), TxHash: rec.Hash,
		Type: rec.Type.String(), Version: rec.Version, Execution: rec.Receipt.Execution.String(),
		Fee: fee, FeeUnit: rec.Receipt.FeeUnit.String(),
		L1Gas: resources.L1Gas, L1DataGas: resources.L1DataGas, L2Gas: resources.L2Gas,
		Nonce: feltIf(rec.HasNonce, &rec.Nonce), Calldata: rec.Passed(), Signature: rec.Signature,
		EventCount: int32(len(rec.Receipt.Events)), MessageCount: int32(messages),
	}
	row.From, row.To = rec.Ends()
	if rec.Receipt.RevertReason != "" {
		row.RevertReason = &rec.Receipt.RevertReason
	}
	deploys := rec.Type == starknet.Deploy || rec.Type == starknet.DeployAccount
	version, _ := rec.PlainVersion()
	row.ClassHash = feltIf(rec.Type == starknet.Declare || deploys, &rec.ClassHash)
	row.DeployedAddress = feltIf(deploys, &rec.Receipt.ContractAddress)
	row.Selector = feltIf(rec.Type == starknet.L1Handler || rec.Type == starknet.Invoke && version == 0, &rec.EntryPointSelector)
	switch b := rec.ResourceBounds; {
	case b != nil:
		row.Tip = &rec.Tip
		row.L1GasMaxAmount, row.L1GasMaxPrice = bound(&b.L1Gas)
		row.L2GasMaxAmount, row.L2GasMaxPrice = bound(&b.L2Gas)
		if b.HasL1DataGas {
			row.L1DataGasMax, row.L1DataGasMaxPrice = bound(&b.L1DataGas)
		}
	case rec.Type != starknet.L1Handler && rec.Type != starknet.Deploy: // which nobody signed a fee for
		most := rec.MaxFee.Decimal()
		row.MaxFee = &most
	}
	return row, nil
}

func bound(b *starknet.ResourceBound) (most *uint64, price *string) {
	text := b.MaxPricePerUnit.Decimal()
	return &b.MaxAmount, &text
}

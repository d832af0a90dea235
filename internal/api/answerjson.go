package api

import "chainexplorer/internal/jsonrow"

// The two answers that are asked for most, written field by field as what they have many of is.
var _, _ = jsonrow.Register(appendBlock), jsonrow.Register(appendTx)

func appendBlock(b []byte, v *Block) []byte {
	b = jsonrow.Text(b, `,"chainId":`, v.ChainID)
	b = jsonrow.Uint(b, `,"blockNumber":`, v.BlockNumber)
	b = jsonrow.Felt(b, `,"blockHash":`, &v.BlockHash)
	b = jsonrow.Felt(b, `,"parentHash":`, &v.ParentHash)
	b = jsonrow.Text(b, `,"timestampIso":`, v.TimestampISO)
	b = jsonrow.Uint(b, `,"txCount":`, v.TxCount)
	b = jsonrow.Uint(b, `,"eventCount":`, v.EventCount)
	b = jsonrow.Text(b, `,"finalityStatus":`, v.FinalityStatus)
	b = jsonrow.Text(b, `,"rawObjectKey":`, v.RawObjectKey)
	b = jsonrow.Felt(b, `,"stateRoot":`, v.StateRoot)
	b = jsonrow.Felt(b, `,"sequencerAddress":`, v.SequencerAddress)
	b = jsonrow.TextAt(b, `,"l1DataAvailabilityMode":`, v.L1DataAvailabilityMode)
	b = jsonrow.TextAt(b, `,"starknetVersion":`, v.StarknetVersion)
	b = jsonrow.ObjectAt(b, `,"l1GasPrice":`, v.L1GasPrice, appendGasPrice)
	b = jsonrow.ObjectAt(b, `,"l2GasPrice":`, v.L2GasPrice, appendGasPrice)
	b = jsonrow.ObjectAt(b, `,"l1DataGasPrice":`, v.L1DataGasPrice, appendGasPrice)
	b = jsonrow.ObjectAt(b, `,"verification":`, &v.Verification, appendBlockVerification)
	return jsonrow.List(b, `,"transactions":`, v.Transactions, appendTxPreview)
}

func appendGasPrice(b []byte, p *GasPrice) []byte {
	b = jsonrow.TextAt(b, `,"priceInWei":`, p.PriceInWei)
	return jsonrow.TextAt(b, `,"priceInFri":`, p.PriceInFri)
}

func appendBlockVerification(b []byte, v *BlockVerification) []byte {
	b = jsonrow.Text(b, `,"status":`, v.Status)
	b = jsonrow.TextAt(b, `,"reason":`, v.Reason)
	b = jsonrow.Texts(b, `,"covered":`, v.Covered)
	return jsonrow.Texts(b, `,"notCovered":`, v.NotCovered)
}

func appendTx(b []byte, t *Tx) []byte {
	b = jsonrow.Text(b, `,"chainId":`, t.ChainID)
	b = jsonrow.Uint(b, `,"blockNumber":`, t.BlockNumber)
	b = jsonrow.Felt(b, `,"blockHash":`, &t.BlockHash)
	b = jsonrow.TextAt(b, `,"timestampIso":`, t.TimestampISO)
	b = jsonrow.Uint(b, `,"txIndex":`, uint64(t.TxIndex))
	b = jsonrow.Felt(b, `,"txHash":`, &t.TxHash)
	b = jsonrow.Text(b, `,"txCursor":`, t.TxCursor)
	b = jsonrow.Felt(b, `,"fromAddress":`, t.FromAddress)
	b = jsonrow.Felt(b, `,"toAddress":`, t.ToAddress)
	b = jsonrow.TextAt(b, `,"executionStatus":`, t.ExecutionStatus)
	b = jsonrow.TextAt(b, `,"finalityStatus":`, t.FinalityStatus)
	b = jsonrow.TextAt(b, `,"txType":`, t.TxType)
	b = jsonrow.Felt(b, `,"txVersion":`, &t.TxVersion)
	b = jsonrow.Felt(b, `,"nonce":`, t.Nonce)
	b = jsonrow.Text(b, `,"rawObjectKey":`, t.RawObjectKey)
	b = jsonrow.ObjectAt(b, `,"receipt":`, t.Receipt, appendReceipt)
	b = jsonrow.Int(b, `,"logCount":`, int64(t.LogCount))
	b = jsonrow.Bool(b, `,"logsTruncated":`, t.LogsTruncated)
	b = jsonrow.Bool(b, `,"eventDecodingDegraded":`, t.EventDecodingDegraded)
	b = jsonrow.List(b, `,"logs":`, t.Logs, appendLog)
	b = jsonrow.Felts(b, `,"calldata":`, t.Calldata)
	b = jsonrow.Bool(b, `,"calldataTruncated":`, t.CalldataTruncated)
	if t.AccountCallCount == nil {
		b = jsonrow.Null(b, `,"accountCallCount":`)
	} else {
		b = jsonrow.Int(b, `,"accountCallCount":`, int64(*t.AccountCallCount))
	}
	b = jsonrow.List(b, `,"accountCalls":`, t.AccountCalls, appendAccountCall)
	b = jsonrow.ObjectAt(b, `,"entryPoint":`, t.EntryPoint, appendAccountCall)
	b = jsonrow.Bool(b, `,"callDecodingDegraded":`, t.CallDecodingDegraded)
	b = jsonrow.Felt(b, `,"declaredClassHash":`, t.DeclaredClassHash)
	b = jsonrow.Felt(b, `,"compiledClassHash":`, t.CompiledClassHash)
	b = jsonrow.TextAt(b, `,"declaredL2GasCap":`, t.DeclaredL2GasCap)
	b = jsonrow.List(b, `,"tokenTransfers":`, t.TokenTransfers, appendTxTransfer)
	b = jsonrow.ObjectAt(b, `,"tokenTransfersCoverage":`, &t.TokenTransfersCoverage, appendCoverage)
	b = jsonrow.Rows(b, `,"messages":`, t.Messages)
	b = jsonrow.ObjectAt(b, `,"messagesCoverage":`, &t.MessagesCoverage, appendMessagesCoverage)
	return jsonrow.ObjectAt(b, `,"bridgeIntent":`, t.BridgeIntent, appendBridgeIntent)
}

func appendReceipt(b []byte, r *Receipt) []byte {
	b = jsonrow.TextAt(b, `,"executionStatus":`, r.ExecutionStatus)
	b = jsonrow.TextAt(b, `,"finalityStatus":`, r.FinalityStatus)
	b = jsonrow.TextAt(b, `,"gasUsed":`, r.GasUsed)
	b = jsonrow.TextAt(b, `,"effectiveGasPrice":`, r.EffectiveGasPrice)
	b = jsonrow.Felt(b, `,"actualFeeAmount":`, r.ActualFeeAmount)
	b = jsonrow.TextAt(b, `,"actualFeeUnit":`, r.ActualFeeUnit)
	return jsonrow.TextAt(b, `,"revertReason":`, r.RevertReason)
}

func appendLog(b []byte, l *Log) []byte {
	return appendEventContent(jsonrow.Int(b, `,"logIndex":`, int64(l.LogIndex)), &l.EventContent)
}

func appendCoverage(b []byte, c *Coverage) []byte {
	return jsonrow.Text(jsonrow.Text(b, `,"status":`, c.Status), `,"reasonCode":`, c.ReasonCode)
}

func appendMessagesCoverage(b []byte, c *MessagesCoverage) []byte {
	b = jsonrow.Text(b, `,"status":`, c.Status)
	b = jsonrow.Text(b, `,"source":`, c.Source)
	b = jsonrow.Text(b, `,"reasonCode":`, c.ReasonCode)
	return jsonrow.Text(b, `,"message":`, c.Message)
}

func appendBridgeIntent(b []byte, i *BridgeIntent) []byte {
	b = jsonrow.Text(b, `,"kind":`, i.Kind)
	b = jsonrow.TextAt(b, `,"protocol":`, i.Protocol)
	b = jsonrow.Text(b, `,"confidence":`, i.Confidence)
	return jsonrow.Texts(b, `,"reasons":`, i.Reasons)
}

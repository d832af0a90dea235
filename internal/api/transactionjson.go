package api

import "chainexplorer/internal/jsonrow"

// What a block and a transaction have many of besides events, written field by field as those are.
var _, _, _ = jsonrow.Register(appendTxPreview), jsonrow.Register(appendAccountCall), jsonrow.Register(appendTxTransfer)

func appendTxPreview(b []byte, t *TxPreview) []byte {
	b = jsonrow.Felt(b, `,"txHash":`, &t.TxHash)
	b = jsonrow.Uint(b, `,"txIndex":`, uint64(t.TxIndex))
	b = jsonrow.Text(b, `,"txCursor":`, t.TxCursor)
	b = jsonrow.Felt(b, `,"fromAddress":`, t.FromAddress)
	b = jsonrow.Felt(b, `,"toAddress":`, t.ToAddress)
	b = jsonrow.TextAt(b, `,"executionStatus":`, t.ExecutionStatus)
	return jsonrow.TextAt(b, `,"finalityStatus":`, t.FinalityStatus)
}

func appendAccountCall(b []byte, c *AccountCall) []byte {
	b = jsonrow.Felt(b, `,"to":`, &c.To)
	b = jsonrow.Felt(b, `,"selector":`, &c.Selector)
	b = jsonrow.Int(b, `,"calldataLen":`, int64(c.CalldataLen))
	b = jsonrow.Felts(b, `,"calldata":`, c.Calldata)
	b = jsonrow.Bool(b, `,"calldataTruncated":`, c.CalldataTruncated)
	b = jsonrow.TextAt(b, `,"methodName":`, c.MethodName)
	b = jsonrow.TextAt(b, `,"methodNameSource":`, c.MethodNameSource)
	b = jsonrow.TextAt(b, `,"methodNameUnavailableReason":`, c.MethodNameUnavailableReason)
	b = jsonrow.Text(b, `,"decodingStatus":`, c.DecodingStatus)
	if c.DecodedArguments == nil {
		b = jsonrow.Null(b, `,"decodedArguments":`)
	} else {
		b = jsonrow.List(b, `,"decodedArguments":`, *c.DecodedArguments, appendDecodedField)
	}
	b = jsonrow.TextAt(b, `,"decodedArgumentsSource":`, c.DecodedArgumentsSource)
	b = jsonrow.TextAt(b, `,"decodedArgumentsUnavailableReason":`, c.DecodedArgumentsUnavailableReason)
	b = jsonrow.Felt(b, `,"callTimeClassHash":`, c.CallTimeClassHash)
	return appendAliases(b, &c.Aliases)
}

func appendTxTransfer(b []byte, t *TxTransfer) []byte {
	b = jsonrow.Uint(b, `,"logIndex":`, uint64(t.LogIndex))
	b = jsonrow.Uint(b, `,"transferIndex":`, uint64(t.TransferIndex))
	b = jsonrow.Felt(b, `,"tokenAddress":`, &t.TokenAddress)
	b = jsonrow.Felt(b, `,"fromAddress":`, t.FromAddress)
	b = jsonrow.Felt(b, `,"toAddress":`, t.ToAddress)
	b = jsonrow.TextAt(b, `,"amount":`, t.Amount)
	b = jsonrow.TextAt(b, `,"tokenId":`, t.TokenID)
	b = jsonrow.Text(b, `,"standard":`, t.Standard)
	if t.HistoricalUSD != nil {
		return append(b, `,"historicalUsd":{}`...)
	}
	return jsonrow.Null(b, `,"historicalUsd":`)
}

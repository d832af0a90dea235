package pages

import (
	"net/url"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// transferHead are the columns of a file of transfers. amount is in the token's own unit
// and raw_value in its smallest; both are exact, and empty where they are not known.
var transferHead = []string{"block", "time", "tx_hash", "tx_index", "log_index", "transfer_index", "direction", "from", "to", "token", "symbol", "standard", "amount", "raw_value", "decimals", "token_id", "tier"}

// addressTransfersFile is a file of an address's transfers, under the filters of their list.
func addressTransfersFile(l *look) (*export, error) {
	a, err := felt.Parse(l.r.PathValue("address"))
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "path.address: %q is not a felt.", kernel.Clip(l.r.PathValue("address"), 80))
	}
	filters := filled(l.query)
	return &export{name: l.Chain + "-" + a.String() + "-transfers", head: transferHead, page: func(l *look, cursor string, limit int) ([][]string, *string, error) {
		page, err := ask[api.TransferPage](l, "listAddressTransfers", paged(filters, cursor, limit), a.String())
		if err != nil {
			return nil, nil, err
		}
		rows := make([][]string, len(page.Items))
		for i := range page.Items {
			t := &page.Items[i]
			rows[i] = transferRow(&t.TokenTransferItem, t.TokenAddress, wayOf(&t.TokenTransferItem, a))
		}
		return rows, page.NextCursor, nil
	}}, nil
}

// tokenTransfersFile is a file of a token's transfers.
func tokenTransfersFile(l *look) (*export, error) {
	token, err := felt.Parse(l.r.PathValue("token"))
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "path.token: %q is not a felt.", kernel.Clip(l.r.PathValue("token"), 80))
	}
	filters := filled(l.query)
	return &export{name: l.Chain + "-" + token.String() + "-token-transfers", head: transferHead, page: func(l *look, cursor string, limit int) ([][]string, *string, error) {
		page, err := ask[api.TokenTransferPage](l, "listTokenTransfers", paged(filters, cursor, limit), token.String())
		if err != nil {
			return nil, nil, err
		}
		rows := make([][]string, len(page.Items))
		for i := range page.Items {
			rows[i] = transferRow(&page.Items[i], token, "")
		}
		return rows, page.NextCursor, nil
	}}, nil
}

func transferRow(t *api.TokenTransferItem, token felt.Felt, way string) []string {
	number := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	var symbol, decimals string
	if t.TokenSymbol != nil {
		symbol, _ = cleanName(*t.TokenSymbol)
	}
	if t.TokenDecimals != nil {
		decimals = strconv.Itoa(int(*t.TokenDecimals))
	}
	amount := decimal(t.Amount, t.TokenDecimals)
	if t.Standard != "erc20" {
		amount = orNothing(t.Amount) // NFTs are counted, whatever the contract says of decimals
	}
	return []string{strconv.FormatUint(t.BlockNumber, 10), orNothing(t.TimestampISO), t.TxHash.String(), number(t.TxIndex), number(t.LogIndex), number(t.TransferIndex), way,
		t.FromAddress.String(), t.ToAddress.String(), token.String(), symbol, t.Standard, amount, orNothing(t.RawValue), decimals, orNothing(t.TokenID), t.SourceTier}
}

// wayOf is on which side of a transfer an address stands.
func wayOf(t *api.TokenTransferItem, a felt.Felt) string {
	from, to := t.FromAddress != nil && *t.FromAddress == a, t.ToAddress != nil && *t.ToAddress == a
	switch {
	case from && to:
		return "self"
	case from:
		return "out"
	case to:
		return "in"
	}
	return ""
}

func orNothing(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// filled are the parameters that have a value: a form sends its empty fields, too.
func filled(q url.Values) url.Values {
	out := url.Values{}
	for name, values := range q {
		for _, v := range values {
			if v != "" {
				out.Add(name, v)
			}
		}
	}
	return out
}

// paged is a query with the size of a page and the cursor of another.
func paged(q url.Values, cursor string, limit int) url.Values {
	out := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, values := range q {
		if name != "limit" && name != "cursor" {
			out[name] = values
		}
	}
	if cursor != "" {
		out.Set("cursor", cursor)
	}
	return out
}

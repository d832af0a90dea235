package pages

import (
	"fmt"
	"html/template"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/web"
)

const (
	// blockRows is how many transactions a page of a block shows.
	blockRows = 50
	// blockChanges is how many changes of a kind the page of a block lists.
	blockChanges = 12
)

// blockView is what the page of a block tells.
type blockView struct {
	L     *look
	B     *api.Block
	S     *block.Summary
	State starknet.StateDiff
	Rows  []told
	Sums  txSums
	Pager pager
	Next  bool // there is a later block
	bar   template.HTML
}

// blockPage asks the block, and from the second page of its transactions on their list.
//
// Cost: the rows of the routes; one scan of the transactions that are shown, and for their
// sentences a fixed number of round trips (see package preview); the rows of the block and of
// what it changed. About 1,500 allocations with 12 transactions.
func blockPage(l *look) (*sheet, error) {
	ref := l.r.PathValue("ref")
	if !blockText.MatchString(ref) {
		return nil, notABlock("path.ref", ref)
	}
	newest := ref == "latest"
	if newest { // the calls of the page should name what it shows, whatever comes after it
		ref = strconv.FormatUint(l.state.Head.Number, 10)
	}
	b, err := ask[api.Block](l, "getBlock", map[string][]string{"tx_limit": {strconv.Itoa(blockRows)}}, ref)
	if err != nil {
		return nil, err
	}
	v := &blockView{L: l, B: b, Next: b.BlockNumber < l.state.Head.Number}
	list := b.Transactions
	if l.query.Get("cursor") != "" || b.TxCount > blockRows {
		page, err := ask[api.TxPreviewPage](l, "listBlockTransactions", l.limited("limit", blockRows), strconv.FormatUint(b.BlockNumber, 10))
		if err != nil {
			return nil, err
		}
		list, v.Pager = page.Items, l.pagerOf(page.NextCursor)
	}
	certain, err := v.fill(list)
	if err != nil {
		return nil, err
	}
	return &sheet{
		title:       "Block " + web.Group(b.BlockNumber),
		description: fmt.Sprintf("Block %d of %s: %s, %s, at %s.", b.BlockNumber, l.Chain, plural(b.TxCount, "transaction"), plural(b.EventCount, "event"), b.TimestampISO),
		trail:       []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Blocks", Href: l.Href("blocks")}},
		body:        v.write, path: l.Href("block", b.BlockNumber), card: l.Href("block", b.BlockNumber),
		about:   &anchor{b.BlockNumber, b.BlockHash.String()},
		past:    !newest && v.Next,
		lasting: b.FinalityStatus == "ACCEPTED_ON_L1" && !newest && v.Next && certain,
	}, nil
}

// fill reads what the index has beside the answers. certain says that none of it can be
// told otherwise later.
func (v *blockView) fill(list []api.TxPreview) (certain bool, err error) {
	if certain = true; len(list) > 0 {
		records, err := transaction.OfBlock(v.L.ctx, v.L.reader, v.B.BlockNumber, list[0].TxIndex, len(list))
		if err != nil {
			return false, err
		}
		if v.Rows, err = v.L.tellRead(records, false); err != nil {
			return false, err
		}
		for i := range v.Rows {
			certain = certain && v.Rows[i].Certain
		}
	}
	v.Sums = sumUp(v.Rows)
	if v.S, err = block.Get(v.L.ctx, v.L.reader, v.B.BlockNumber); err != nil {
		return false, err
	}
	if v.bar, err = v.L.Finality(v.B.BlockNumber); err != nil {
		return false, err
	}
	v.State, err = block.StateOf(v.L.ctx, v.L.reader, v.B.BlockNumber)
	return certain, err
}

// verifiedBadge says whether the block's hash was recomputed from what is indexed.
func verifiedBadge(v *api.BlockVerification) template.HTML {
	switch v.Status {
	case "verified":
		return badge("good", "verified", "The block's hash was computed anew from what is indexed of it and is the one that the chain names. It covers "+kernel.Listed(v.Covered)+".")
	case "unverified":
		why := "for a reason that was not kept"
		if v.Reason != nil {
			why = *v.Reason
		}
		return badge("warn", "unverified", "The block's hash could be shown neither to agree with what is indexed nor to differ: "+why+".")
	case "not_checked":
		return badge("soft", "not checked", "The block's hash was not computed anew from what is indexed.")
	}
	return badge("soft", "verification unknown", "The index does not say whether the block's hash was computed anew.")
}

package pages

import (
	"fmt"
	"html/template"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// blockRows is how many transactions a page of a block shows.
const blockRows = 50

// blockView is the data of a block's page.
type blockView struct {
	*look
	B        *api.Block
	Rows     []api.TxPreview
	Pager    pager
	Previous string
	Next     string
	Verified template.HTML
}

// blockPage asks the block, and from the second page of its transactions on their list.
// Rows read: the block, and one for each transaction shown.
func blockPage(l *look) (*sheet, error) {
	ref := l.r.PathValue("ref")
	b, err := ask[api.Block](l, "getBlock", map[string][]string{"tx_limit": {strconv.Itoa(blockRows)}}, ref)
	if err != nil {
		return nil, err
	}
	v := &blockView{look: l, B: b, Rows: b.Transactions, Verified: verifiedBadge(&b.Verification)}
	if l.query.Get("cursor") != "" || b.TxCount > blockRows {
		list, err := ask[api.TxPreviewPage](l, "listBlockTransactions", l.limited("limit", blockRows), strconv.FormatUint(b.BlockNumber, 10))
		if err != nil {
			return nil, err
		}
		v.Rows, v.Pager = list.Items, l.pagerOf(list.NextCursor)
	}
	if b.BlockNumber > 0 {
		v.Previous = l.Href("block", b.BlockNumber-1)
	}
	if b.BlockNumber < l.state.Head.Number {
		v.Next = l.Href("block", b.BlockNumber+1)
	}
	return &sheet{
		title:       "Block " + web.Group(b.BlockNumber),
		description: fmt.Sprintf("Block %d of %s: %s, %s, at %s.", b.BlockNumber, l.Chain, plural(b.TxCount, "transaction"), plural(b.EventCount, "event"), b.TimestampISO),
		trail:       []web.Link{{Text: l.Chain, Href: "/"}, {Text: "Blocks", Href: l.Href("blocks")}},
		name:        "block.html", data: v,
		about:   &anchor{b.BlockNumber, b.BlockHash.String()},
		lasting: b.FinalityStatus == "ACCEPTED_ON_L1" && ref != "latest",
	}, nil
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

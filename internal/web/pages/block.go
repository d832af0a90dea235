package pages

import (
	"fmt"
	"html/template"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
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

// blockView is the data of a block's page.
type blockView struct {
	*look
	B        *api.Block
	S        *block.Summary
	Rows     []txRow
	Sums     txSums
	State    stateView
	Pager    pager
	Previous string
	Next     string
	Verified template.HTML
	Prices   []priceRow
}

// priceRow is what a kind of gas costs in a block.
type priceRow struct {
	Name string
	P    *api.GasPrice
}

// stateView is what a block changed, the first of each kind.
type stateView struct {
	Deployed  []starknet.DeployedContract
	Replaced  []starknet.ReplacedClass
	Declared  []felt.Felt
	Nonces    []starknet.NonceUpdate
	nDeployed int
	nReplaced int
	nDeclared int
	nNonces   int
}

// blockPage asks the block, and from the second page of its transactions on their list.
// Rows read: the block, what it changed, and what tell costs for the transactions shown.
func blockPage(l *look) (*sheet, error) {
	ref := l.r.PathValue("ref")
	if !blockText.MatchString(ref) {
		return nil, notABlock("path.ref", ref)
	}
	b, err := ask[api.Block](l, "getBlock", map[string][]string{"tx_limit": {strconv.Itoa(blockRows)}}, ref)
	if err != nil {
		return nil, err
	}
	v := &blockView{look: l, B: b, Verified: verifiedBadge(&b.Verification),
		Prices: []priceRow{{"L2 gas", b.L2GasPrice}, {"L1 gas", b.L1GasPrice}, {"L1 data gas", b.L1DataGasPrice}}}
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
	if b.BlockNumber > 0 {
		v.Previous = l.Href("block", b.BlockNumber-1)
	}
	if b.BlockNumber < l.state.Head.Number {
		v.Next = l.Href("block", b.BlockNumber+1)
	}
	return &sheet{
		title:       "Block " + web.Group(b.BlockNumber),
		description: fmt.Sprintf("Block %d of %s: %s, %s, at %s.", b.BlockNumber, l.Chain, plural(b.TxCount, "transaction"), plural(b.EventCount, "event"), b.TimestampISO),
		trail:       []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Blocks", Href: l.Href("blocks")}},
		name:        "block.html", data: v, path: l.Href("block", b.BlockNumber),
		about:   &anchor{b.BlockNumber, b.BlockHash.String()},
		lasting: b.FinalityStatus == "ACCEPTED_ON_L1" && ref != "latest" && v.Next != "" && certain,
	}, nil
}

// fill reads what the index has beside the answers. certain says that none of it can be
// told otherwise later.
func (v *blockView) fill(list []api.TxPreview) (certain bool, err error) {
	hashes := make([]felt.Felt, len(list))
	for i := range list {
		hashes[i] = list[i].TxHash
	}
	if v.Rows, certain, err = v.txRows(hashes); err != nil {
		return false, err
	}
	v.Sums = sumUp(v.Rows)
	if v.S, err = block.Get(v.ctx, v.reader, v.B.BlockNumber); err != nil {
		return false, err
	}
	d, err := block.StateOf(v.ctx, v.reader, v.B.BlockNumber)
	if err != nil {
		return false, err
	}
	declared := d.DeprecatedDeclared
	for i := range d.Declared {
		declared = append(declared, d.Declared[i].ClassHash)
	}
	v.State = stateView{first(d.Deployed), first(d.Replaced), first(declared), first(d.Nonces), len(d.Deployed), len(d.Replaced), len(declared), len(d.Nonces)}
	return certain, nil
}

// first are as many as a page of a block lists.
func first[T any](list []T) []T { return list[:min(len(list), blockChanges)] }

// All says whether all transactions of the block are on this page.
func (v *blockView) All() bool { return uint64(len(v.Rows)) == v.B.TxCount }

// Any says that there is something to list.
func (s stateView) Any() bool { return s.nDeployed+s.nReplaced+s.nDeclared+s.nNonces > 0 }

// The numbers of all, and how many are not listed.
func (s stateView) DeployedOf() listed { return listed{s.nDeployed, len(s.Deployed)} }

// ReplacedOf is of replaced classes.
func (s stateView) ReplacedOf() listed { return listed{s.nReplaced, len(s.Replaced)} }

// DeclaredOf is of declared classes.
func (s stateView) DeclaredOf() listed { return listed{s.nDeclared, len(s.Declared)} }

// NoncesOf is of accounts whose nonce rose.
func (s stateView) NoncesOf() listed { return listed{s.nNonces, len(s.Nonces)} }

// listed is a number of things of which some are shown.
type listed struct{ All, shown int }

// Rest is how many are not shown.
func (n listed) Rest() uint64 { return uint64(n.All - n.shown) }

// Price is a price of gas in one unit, exactly.
func (l *look) Price(amount *string, unit string) template.HTML {
	units, ok := unitsOf(amount)
	if !ok {
		return l.Unknown("")
	}
	return template.HTML(`<span class="amount" data-value="` + units + `">` + grouped(units) + `</span> <span class="soft">` + unit + `</span>`) //nolint:gosec // digits, and a word of ours
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

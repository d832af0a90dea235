package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/web"
)

// feedRows is how many rows a page of blocks or transactions has.
const feedRows = 50

// blocksView is the data of the list of blocks.
type blocksView struct {
	L     *look
	Items []api.BlockItem
	Pager pager
	// At is the moment that was asked for.
	At string
	// Newest says that this is the first page, which grows.
	Newest bool
}

// blocksPage lists blocks, newest first. With a moment it leads to the block of that moment.
func blocksPage(l *look) (*sheet, error) {
	if at := strings.TrimSpace(l.query.Get("at")); at != "" {
		found, err := ask[api.BlockAtTimestamp](l, "getBlockAtTimestamp", url.Values{"timestamp": {momentOf(at)}})
		if err != nil {
			return nil, err
		}
		return &sheet{title: "Block at a moment", to: l.Href("block", found.Block.BlockNumber), name: "blocks.html", data: &blocksView{L: l, At: at}}, nil
	}
	list, err := ask[api.BlockPage](l, "listBlocks", l.limited("limit", feedRows))
	if err != nil {
		return nil, err
	}
	return &sheet{
		title: "Blocks", description: "The blocks of " + l.Chain + ", newest first: when each was made, how much is in it, and how settled it is.",
		trail: []web.Link{{Text: l.Chain, Href: l.base}},
		name:  "blocks.html", list: "/blocks",
		data: &blocksView{L: l, Items: list.Items, Pager: l.pagerOf(list.NextCursor), Newest: l.query.Get("cursor") == ""},
	}, nil
}

// momentOf reads what a form sends: a date and a time without a zone, which is that of the
// chain's own clock.
func momentOf(text string) string {
	for _, form := range []struct{ like, rest string }{{"2006-01-02", "T00:00:00Z"}, {"2006-01-02T15:04", ":00Z"}, {"2006-01-02T15:04:05", "Z"}} {
		if len(text) == len(form.like) && text[4] == '-' {
			return text + form.rest
		}
	}
	return text
}

// txsView is the data of the list of transactions.
type txsView struct {
	L      *look
	Items  []deed
	Pager  pager
	Newest bool
}

// txsPage lists the transactions of the chain, newest first.
func txsPage(l *look) (*sheet, error) {
	list, err := ask[api.TxPage](l, "listTransactions", l.limited("limit", feedRows))
	if err != nil {
		return nil, err
	}
	items, err := l.deeds(list.Items)
	if err != nil {
		return nil, err
	}
	return &sheet{
		title: "Transactions", description: "The transactions of " + l.Chain + ", newest first: what they did, who sent them, and whether they succeeded.",
		trail: []web.Link{{Text: l.Chain, Href: l.base}},
		name:  "txs.html", list: "/txs",
		data: &txsView{L: l, Items: items, Pager: l.pagerOf(list.NextCursor), Newest: l.query.Get("cursor") == ""},
	}, nil
}

// Settled is how settled a block is, in words, for rows.
func (l *look) Settled(number uint64) template.HTML {
	switch l.state.Finality(number, l.served.Depth) {
	case chain.AcceptedL1:
		return `<span class="tier l1">accepted on L1</span>`
	case chain.Finalized:
		return `<span class="tier deep">finalized</span>`
	}
	return `<span class="tier l2">accepted on L2</span>`
}

// Head is the newest block that the page knows of.
func (l *look) Head() string { return strconv.FormatUint(l.state.Head.Number, 10) }

// HeadHash is the hash of that block.
func (l *look) HeadHash() string { return l.state.Head.Hash.String() }

// Forks are how many forks there were, and the first and the last block that the last one
// undid, for scripts.
func (l *look) Forks() string {
	f := l.state.Fork
	if f.Count == 0 {
		return "0 0 0"
	}
	return fmt.Sprintf("%d %d %d", f.Count, f.Ancestor+1, f.Ancestor+f.Depth)
}

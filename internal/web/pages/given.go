package pages

import (
	"html/template"
	"math/big"
	"net/url"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// What an address has deployed and allowed others is in the events of the transactions that
// it sent, and in no list of its own. A page looks at some of these transactions, and says
// at how many; the next one goes on.

const (
	// sentRows is how many transactions a page looks at, and givenRows how much of what they
	// did it shows.
	sentRows, givenRows = 50, 200
)

// mostLow is what wallets write that know amounts of one felt alone, for all there can be.
var mostLow = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))

// sentView is the data of these pages.
type sentView struct {
	*addressHead
	Looked int // transactions
	Cut    bool
	Rows   []template.HTML
	Pager  pager

	txs []*transaction.Record
	at  []explorer.Position
}

// sent reads transactions that the address sent, newest first. Rows read: those of the
// route, and the transactions.
func (l *look) sent(a felt.Felt) (*sentView, error) {
	page, err := ask[api.ActivityPage](l, "listAddressActivity", paged(url.Values{"type": {"sender"}}, l.query.Get("cursor"), sentRows), a.String())
	if err != nil {
		return nil, err
	}
	v := &sentView{Looked: len(page.Items), Pager: l.pagerOf(page.NextCursor)}
	for i := range page.Items {
		v.at = append(v.at, explorer.Position{Block: page.Items[i].BlockNumber, Index: page.Items[i].TxIndex})
	}
	v.txs, err = transaction.GetMany(l.ctx, l.reader, v.at)
	return v, err
}

// row adds a row, as long as there is room.
func (v *sentView) row(cells ...string) {
	if v.Cut = v.Cut || len(v.Rows) == givenRows; !v.Cut {
		v.Rows = append(v.Rows, template.HTML(strings.Join(cells, ""))) //nolint:gosec // made of escaped parts
	}
}

// when are the cells that each row ends with.
func (v *sentView) when(i int) string {
	t := v.txs[i]
	return `<td data-label="When">` + string(v.L.Time(kernel.TimestampISO(t.BlockTime))) + `</td><td data-label="Transaction">` + string(v.L.Tx(t.Hash)) + `</td>`
}

// deploymentsPage lists the contracts that an address deployed.
func deploymentsPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	v, err := l.sent(a)
	if err != nil {
		return nil, err
	}
	receipts, index := make([]*starknet.Receipt, len(v.txs)), map[explorer.Position]int{}
	for i, t := range v.txs {
		receipts[i], index[v.at[i]] = &t.Receipt, i
	}
	made, err := contract.MadeBy(l.ctx, l.reader, v.at, receipts)
	if err != nil {
		return nil, err
	}
	if v.addressHead, err = l.addressHead(a, "deployments"); err != nil {
		return nil, err
	}
	for _, m := range made {
		by := `<span class="soft">itself</span>`
		if m.Kind == contract.ByDeployer && m.Deployer != a {
			by = string(l.Address(m.Deployer)) // which it called
		} else if m.Kind == contract.ByDeployer {
			by = `<span class="soft">this address, with</span> ` + string(l.Address(m.Factory))
		}
		v.row(`<td data-label="Contract">`, string(l.Address(m.Address)), `</td><td data-label="Class">`, string(l.Class(m.Class)), `</td><td data-label="By"><span>`, by, `</span></td>`, v.when(index[m.At]))
	}
	return v.sheet("Deployments", "Contracts that the address "+a.String()+" deployed.", "deployments.html", v), nil
}

// approvalsPage lists what an address has allowed others to take.
func approvalsPage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	v, err := l.sent(a)
	if err != nil {
		return nil, err
	}
	type given struct {
		token.Approval
		tx int
	}
	var list []given
	var tokens []felt.Felt
	for i, t := range v.txs {
		for j := len(t.Receipt.Events) - 1; j >= 0; j-- {
			if x, ok := token.ReadApproval(&t.Receipt.Events[j]); ok && x.Owner == a {
				list, tokens = append(list, given{x, i}), append(tokens, x.Token)
			}
		}
	}
	names, err := l.coins(tokens)
	if err != nil {
		return nil, err
	}
	kinds, err := token.Kinds(l.ctx, l.reader, tokens)
	if err != nil {
		return nil, err
	}
	if v.addressHead, err = l.addressHead(a, "approvals"); err != nil {
		return nil, err
	}
	for i, x := range list {
		c := names[x.Token]
		spender := string(l.Address(x.Spender))
		if x.Spender.IsZero() {
			spender = `<span class="soft">nobody</span>`
		}
		v.row(`<td data-label="Token"><span>`, string(l.Coin(c)), `</span></td><td data-label="Who may take it">`, spender, `</td><td class="num" data-label="How much"><span>`, string(l.allowed(&x.Approval, kinds[i], c)), `</span></td>`, v.when(x.tx))
	}
	return v.sheet("Approvals", "What the address "+a.String()+" has allowed others to take of its tokens, as announced.", "approvals.html", v), nil
}

// allowed is how much somebody may take.
func (l *look) allowed(x *token.Approval, kind transfer.Standard, c coin) template.HTML {
	switch {
	case x.Value == nil && x.All:
		return `<strong class="warn">everything</strong> of the collection`
	case x.Value == nil:
		return "nothing of the collection"
	case kind == transfer.ERC721:
		id := x.Value.String()
		return template.HTML(`<span class="number" title="` + id + `" data-value="` + id + `">#` + shortNumber(id) + `</span>`) //nolint:gosec // digits
	case kind != transfer.ERC20 && !c.Known:
		return `<abbr title="The standard of the token is not known: the number is an amount or an id.">value</abbr> ` + l.Amount(x.Value, 0, nil)
	case x.Value.BitLen() == 256 || x.Value.Cmp(mostLow) == 0:
		return `<strong class="warn" title="As much as there can be.">without limit</strong> ` + l.Amount(x.Value, c.Decimals, nil)
	}
	return l.Amount(x.Value, c.Decimals, nil)
}

package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/web"
)

// How much of a transaction its first page shows; the rest has pages of its own.
const (
	txCalls     = 10
	txTransfers = 20
	txEvents    = 20
	txFelts     = 64 // of raw calldata, keys and data
)

// txView is the data of a transaction's page.
type txView struct {
	L      *look
	T      *api.Tx
	Told   *told
	Reason *reason
	Flow   template.HTML
	Moves  []move
	coins  map[felt.Felt]coin
	Fees   []feePart
	Rows   []messageRow
	// messages is the table of Rows.
	messages template.HTML
	// Deployed are contracts that it deployed; Replaced those of its own whose class its
	// block replaced, without telling which transaction did.
	Deployed []starknet.DeployedContract
	Replaced []starknet.ReplacedClass
}

// feePart is what a kind of gas added to a fee.
type feePart struct {
	Name  string
	Used  uint64
	Price felt.Felt
	Bound *starknet.ResourceBound
}

// move is a token transfer in its transaction.
type move struct {
	*api.TxTransfer
	coin coin
	// Fee says that it pays the transaction's fee.
	Fee bool
}

// txPage asks the transaction. Rows read: those of the route, of its sentence, of its block
// and of what the block changed.
func txPage(l *look) (*sheet, error) {
	v, s, err := l.transaction(txEvents)
	if err != nil {
		return nil, err
	}
	s.body = v.write
	if len(v.Rows) > 0 {
		if v.messages, err = render("messagerows", v); err != nil {
			return nil, err
		}
	}
	moves := v.Moves[:min(len(v.Moves), txTransfers)]
	v.Flow, err = v.flow(v.Moves)
	if err != nil {
		return nil, err
	}
	v.Moves = moves
	return s, v.changes()
}

// transaction asks the transaction of the path with its first events, for its page and
// those of its parts.
func (l *look) transaction(logs int) (*txView, *sheet, error) {
	t, err := ask[api.Tx](l, "getTransaction", map[string][]string{"logLimit": {strconv.Itoa(logs)}}, l.r.PathValue("hash"))
	if err != nil {
		return nil, nil, err
	}
	record, err := transaction.Get(l.ctx, l.reader, explorer.Position{Block: t.BlockNumber, Index: t.TxIndex})
	if err != nil {
		return nil, nil, err
	}
	words, err := l.tellRead([]*transaction.Record{record}, true)
	if err != nil {
		return nil, nil, err
	}
	v := &txView{L: l, T: t, Told: &words[0], Rows: l.rowsOf(t.Messages)}
	certain, err := v.moves()
	if err != nil {
		return nil, nil, err
	}
	if v.Told.Receipt.Execution == starknet.Reverted {
		r := reasonOf(v.Told.Receipt.RevertReason)
		v.Reason = &r
	}
	hash := t.TxHash.String()
	return v, &sheet{
		title:       "Transaction " + shorten(hash),
		description: fmt.Sprintf("%s, at %s in block %d of %s.", v.Told.Text, deref(t.TimestampISO), t.BlockNumber, l.Chain),
		trail:       []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Block " + web.Group(t.BlockNumber), Href: l.Href("block", t.BlockNumber)}},
		card:        l.Href("tx", t.TxHash),
		data:        v, about: &anchor{t.BlockNumber, t.BlockHash.String()}, past: true,
		lasting: *t.FinalityStatus == "ACCEPTED_ON_L1" && v.Told.Certain && certain,
	}, nil
}

// moves lists the transfers with how their tokens are written. certain says that the
// registry knows all of them: others may be called otherwise later.
func (v *txView) moves() (certain bool, err error) {
	tokens := make([]felt.Felt, len(v.T.TokenTransfers))
	for i := range tokens {
		tokens[i] = v.T.TokenTransfers[i].TokenAddress
	}
	if v.coins, err = v.L.coins(tokens); err != nil {
		return false, err
	}
	fee := v.Told.FeeTransfer()
	certain = true
	v.Moves = make([]move, len(tokens))
	for i := range v.Moves {
		v.Moves[i] = move{&v.T.TokenTransfers[i], v.coins[tokens[i]], i == fee}
		certain = certain && v.coins[tokens[i]].Known
	}
	return certain, nil
}

// flow draws what went from whom to whom, the fee aside.
func (v *txView) flow(moves []move) (template.HTML, error) {
	f := chart.Flow{ID: "flow", Title: "What went from whom to whom", All: v.L.Href("tx", v.T.TxHash, "transfers")}
	for i := range moves {
		m := &moves[i]
		if m.Fee {
			continue
		}
		f.Total++
		if len(f.Arrows) < txTransfers {
			f.Arrows = append(f.Arrows, chart.Arrow{From: v.flowParty(m.FromAddress, "minted"), To: v.flowParty(m.ToAddress, "burned"), Amount: m.text(), Title: m.exact()})
		}
	}
	if f.Total == 0 {
		return "", nil
	}
	return f.HTML()
}

// flowParty is one end of an arrow; nobody stands for the zero address.
func (v *txView) flowParty(f *felt.Felt, nobody string) chart.Party {
	if f == nil || f.IsZero() {
		return chart.Party{Text: nobody}
	}
	address := f.String()
	return chart.Party{Text: v.L.partyText(*f), Title: address, Href: v.L.Href("address", address), Key: string(f[:])}
}

// changes reads what the block says of the state that the transaction changed.
func (v *txView) changes() error {
	b, err := block.Get(v.L.ctx, v.L.reader, v.T.BlockNumber)
	if err != nil {
		return err
	}
	v.fees(b)
	v.L.shows("getBlock", url.Values{"tx_limit": {"1"}}, strconv.FormatUint(v.T.BlockNumber, 10))
	d, err := block.StateOf(v.L.ctx, v.L.reader, v.T.BlockNumber)
	if err != nil {
		return err
	}
	if v.Deployed, err = contract.DeployedIn(v.L.ctx, v.L.reader, &d, v.Told.Position); err != nil {
		return err
	}
	if len(d.Replaced) == 0 || v.Reason != nil {
		return nil
	}
	touched := map[felt.Felt]bool{}
	for i := range v.Told.Receipt.Events {
		touched[v.Told.Receipt.Events[i].From] = true
	}
	for _, to := range v.Told.Targets {
		touched[to] = true
	}
	for _, r := range d.Replaced {
		if touched[r.Address] {
			v.Replaced = append(v.Replaced, r)
		}
	}
	return nil
}

// fees lists the parts of the fee: each kind of gas that was used, or was bounded.
func (v *txView) fees(b *block.Summary) {
	r := &v.Told.Receipt
	price := func(p starknet.GasPrice) felt.Felt {
		if r.FeeUnit == starknet.Fri {
			return p.InFri
		}
		return p.InWei
	}
	v.Fees = []feePart{
		{Name: "L2 gas", Used: r.Resources.L2Gas, Price: price(b.L2GasPrice)},
		{Name: "L1 gas", Used: r.Resources.L1Gas, Price: price(b.L1GasPrice)},
		{Name: "L1 data gas", Used: r.Resources.L1DataGas, Price: price(b.L1DataGasPrice)},
	}
	if bounds := v.Told.ResourceBounds; bounds != nil {
		v.Fees[0].Bound, v.Fees[1].Bound = &bounds.L2Gas, &bounds.L1Gas
		if bounds.HasL1DataGas {
			v.Fees[2].Bound = &bounds.L1DataGas
		}
	}
}

// unit is the smallest unit of the fee, in words.
func (v *txView) unit() markup.Ours {
	if v.Told.Receipt.FeeUnit == starknet.Fri {
		return "fri"
	}
	return "wei"
}

// Calls are the calls that the page shows; AllCalls is how many there are.
func (v *txView) Calls() []api.AccountCall {
	if v.T.EntryPoint != nil {
		return []api.AccountCall{*v.T.EntryPoint}
	}
	return v.T.AccountCalls
}

// FirstCalls are those of the first page.
func (v *txView) FirstCalls() []api.AccountCall {
	list := v.Calls()
	return list[:min(len(list), txCalls)]
}

// AllCalls is how many calls there are.
func (v *txView) AllCalls() int {
	if v.T.AccountCallCount != nil {
		return *v.T.AccountCallCount
	}
	return len(v.Calls())
}

// MoreCalls, MoreMoves and MoreLogs say that the first page does not show all.
func (v *txView) MoreCalls() bool { return v.AllCalls() > txCalls }

// MoreMoves is of transfers.
func (v *txView) MoreMoves() bool { return len(v.T.TokenTransfers) > txTransfers }

// MoreLogs is of events.
func (v *txView) MoreLogs() bool { return v.T.LogCount > txEvents }

// Part is where a part of the transaction has its own page.
func (v *txView) Part(name string) string { return v.L.Href("tx", v.T.TxHash, name) }

// Kind is its type in words.
func (v *txView) Kind() string { return txType(deref(v.T.TxType).(string)) }

// Status says whether it did what it was to do.
func (v *txView) Status() template.HTML { return statusWord(deref(v.T.ExecutionStatus).(string)) }

// Version is the transaction's version, as people write it.
func (v *txView) Version() string {
	n, ok := v.Told.PlainVersion()
	if !ok {
		return v.T.TxVersion.String()
	}
	return strconv.FormatUint(n, 10)
}

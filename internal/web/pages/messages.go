package pages

import (
	"html/template"
	"net/url"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/web"
)

// messageRows is how many messages a page shows.
const messageRows = 25

// messagesView is the data of the lists of messages.
type messagesView struct {
	L    *look
	Rows []messageRow
	// Says is how complete the list is, in the words of the API.
	Says    string
	Pager   pager
	Bridges []registry.Bridge
	// What the list is filtered by, as it was asked for.
	Direction, OfTx, OfContract, OfBridge string
}

// messageRow is a message, or a movement over a bridge, in a list.
type messageRow struct {
	What   template.HTML
	Hash   string
	Tx     felt.Felt
	Block  uint64
	Time   *string
	Status template.HTML
}

// messagesPage lists messages: all, those of a transaction or of a contract, or what a
// known bridge moved. Rows read: those of the routes.
func messagesPage(l *look) (*sheet, error) {
	if q := l.query.Get("q"); q != "" {
		return l.findMessage(q)
	}
	v := &messagesView{L: l, Direction: l.query.Get("direction"), OfTx: l.query.Get("txHash"), OfContract: l.query.Get("contract"), OfBridge: l.query.Get("bridge"),
		Bridges: l.served.Registry.Bridges()}
	read := v.list
	if v.OfBridge != "" {
		read = v.movements
	}
	if err := read(); err != nil {
		return nil, err
	}
	return &sheet{
		title:       "Messages",
		description: "Messages between Ethereum and " + l.Chain + ", deposits and withdrawals of bridges among them, and how far each has come.",
		trail:       []web.Link{{Text: l.Chain, Href: l.Href()}},
		name:        "messages.html", data: v,
	}, nil
}

// list asks the messages that the query is about.
func (v *messagesView) list() error {
	q := url.Values(v.L.limited("limit", messageRows))
	for name, value := range map[string]string{"direction": v.Direction, "txHash": v.OfTx} {
		if value != "" {
			q.Set(name, value)
		}
	}
	var page *api.MessagePage
	var err error
	if v.OfContract != "" {
		page, err = ask[api.MessagePage](v.L, "listContractMessages", q, v.OfContract)
	} else {
		page, err = ask[api.MessagePage](v.L, "listMessages", q)
	}
	if err != nil {
		return err
	}
	v.Rows, v.Says, v.Pager = v.L.rowsOf(page.Items), page.Coverage.Message, v.L.pagerOf(page.NextCursor)
	return nil
}

func (l *look) rowsOf(list []api.Message) (rows []messageRow) {
	for i := range list {
		m := &list[i]
		rows = append(rows, messageRow{What: l.meaning(m), Hash: m.MessageHash, Tx: m.TxHash, Block: m.BlockNumber, Time: m.TimestampISO,
			Status: l.messageStatus(m.Status)})
	}
	return rows
}

// movements asks what a bridge moved.
func (v *messagesView) movements() error {
	page, err := ask[api.BridgeSignalPage](v.L, "listBridgeSignals", v.L.limited("limit", messageRows), v.OfBridge)
	if err != nil {
		return err
	}
	for i := range page.Items {
		s := &page.Items[i]
		row := messageRow{Tx: s.TxHash, Block: s.BlockNumber, Time: s.TimestampISO, Status: v.L.messageStatus(s.Status)}
		if s.MessageHash != nil {
			row.Hash = *s.MessageHash
		}
		row.What = "Message of the bridge, laid out in a way that is not known"
		if s.AmountRaw != nil {
			row.What = v.L.moved(s.Direction != nil && *s.Direction == "outbound", s.AmountRaw, s.TokenDecimals, s.TokenSymbol, s.ToAddress, "")
		}
		v.Rows = append(v.Rows, row)
	}
	v.Says, v.Pager = page.Coverage.Message, v.L.pagerOf(page.NextCursor)
	return nil
}

// findMessage leads to what a hash or an address stands for: a message, the messages of a
// transaction, or those of a contract.
func (l *look) findMessage(text string) (*sheet, error) {
	text = kernel.Clip(text, 100)
	found, err := ask[api.MessagePage](l, "listMessages", url.Values{"messageHash": {text}, "limit": {"1"}})
	if err != nil {
		return nil, err
	}
	if len(found.Items) > 0 {
		return &sheet{title: "Messages", to: l.Href("message", found.Items[0].MessageHash)}, nil
	}
	by := "contract"
	if f, err := kernel.FeltOf("query.q", text); err != nil {
		return nil, kernel.Fail(kernel.CodeNotFound, "No indexed message has the hash %s.", text)
	} else if found, err := ask[api.MessagePage](l, "listMessages", url.Values{"txHash": {f.String()}, "limit": {"1"}}); err != nil {
		return nil, err
	} else if len(found.Items) > 0 {
		by = "txHash"
	}
	return &sheet{title: "Messages", to: withQuery(l.Href("messages"), url.Values{by: {text}})}, nil
}

// Message links to the page of a message, by its hash of 256 bits.
func (l *look) Message(hash string) template.HTML {
	hash = template.HTMLEscapeString(hash)
	return template.HTML(`<a class="felt" href="` + l.base + "/message/" + hash + `" title="` + hash + `" data-value="` + hash + `" data-copy>` + shorten(hash) + `</a>`) //nolint:gosec // hex digits, escaped besides
}

// meaning is a message in words.
func (l *look) meaning(m *api.Message) template.HTML {
	toL1 := m.Direction == "l2_to_l1"
	if i := m.Interpretation; i != nil && i.AmountRaw != nil {
		var symbol *string
		var decimals *int
		if i.Token != nil {
			symbol, decimals = i.Token.Symbol, i.Token.Decimals
		}
		return l.moved(toL1, i.AmountRaw, decimals, symbol, i.Recipient, i.Protocol)
	}
	if m.BridgeContractAddress != nil {
		return "Message of a known bridge, laid out in a way that is not known"
	}
	if toL1 {
		return "Message to Ethereum"
	}
	return "Message to Starknet"
}

// moved says what a bridge moved, and to whom. Addresses of L1 are text.
func (l *look) moved(toL1 bool, raw *string, decimals *int, symbol *string, to *felt.Felt, over string) template.HTML {
	what, recipient := template.HTML("Deposit of "), l.Address(to)
	if toL1 {
		what, recipient = "Withdrawal of ", l.Felt(to)
	}
	what += l.Amount(raw, decimals, symbol)
	if over != "" {
		what += " over " + nameHTML(over)
	}
	return what + " to " + recipient
}

// statusWords are the states of a message: a tone, a word, and what it rests on.
var statusWords = map[string][3]string{
	"consumed_on_l2":              {"good", "arrived on Starknet", "A handler took the message in, in the transaction that is named here."},
	"failed_on_l2":                {"bad", "failed on Starknet", "The handler that was to take the message in was reverted: what it would have done was not done."},
	"sent_pending_l1_acceptance":  {"pending", "on its way to Ethereum", "Starknet sent the message. Ethereum can take it in when it has accepted the block, which it is not known to have done yet."},
	"sent_l1_consumption_unknown": {"soft", "ready on Ethereum", "Ethereum has accepted the block that sent the message. Whether somebody took it in there is not known: L1 is not indexed."},
}

func (l *look) messageStatus(status string) template.HTML {
	w, ok := statusWords[status]
	if !ok {
		return l.Unknown("")
	}
	return badge(w[0], w[1], w[2])
}

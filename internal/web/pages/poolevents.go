package pages

import (
	"html/template"
	"net/url"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// poolListRows is how many events of pools a page shows.
const poolListRows = 25

// poolRow is an event of a pool in words.
type poolRow struct {
	What, Hidden template.HTML
	Tx           felt.Felt
	Block        uint64
	Time         *string
	Unread       bool // the event could not be read
}

// poolList is one of the lists of events.
type poolList struct{ Path, Title, Says, event string }

var poolLists = []poolList{
	{"deposits", "Deposits", "What accounts put in: who, which token and how much is public. Which notes it became is hidden by design.", "deposit"},
	{"withdrawals", "Withdrawals", "What came out: to whom, which token and how much is public. Who withdrew it, and from which notes, is hidden by design.", "withdrawal"},
	{"open-notes", "Funded open notes", "What contracts paid into open notes: token, amount and note are public. Whose note it is is hidden by design.", "open_note_deposited"},
	{"events", "All events", "Everything that the pools said, up to the head.", ""},
}

// poolListView is the data of a list of events.
type poolListView struct {
	L     *look
	List  poolList
	Lists []poolList
	Rows  []poolRow
	Pager pager
}

// poolListPage lists events of the pools.
func poolListPage(l *look) (*sheet, error) {
	v := &poolListView{L: l, Lists: poolLists}
	for _, list := range poolLists {
		if list.Path == l.r.PathValue("list") {
			v.List = list
		}
	}
	if v.List.Path == "" {
		return nil, kernel.Fail(kernel.CodeNotFound, "There is no such list of the privacy pools.")
	}
	q := url.Values(l.limited("limit", poolListRows))
	if v.List.event != "" {
		q.Set("event", v.List.event)
	}
	page, err := ask[api.PrivacyEventPage](l, "listPrivacyPoolEvents", q)
	if err != nil {
		return nil, err
	}
	v.Rows, v.Pager = l.poolRows(page.Items), l.pagerOf(page.NextCursor)
	return &sheet{
		title:       v.List.Title + " of the privacy pool",
		description: v.List.Title + " of the privacy pools of " + l.Chain + ", newest first.",
		trail:       []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Privacy pool", Href: l.Href("privacy-pool")}},
		name:        "poolevents.html", data: v,
	}, nil
}

func (l *look) poolRows(events []api.PrivacyEvent) (rows []poolRow) {
	for i := range events {
		e := &events[i]
		rows = append(rows, poolRow{What: l.poolWords(e), Hidden: template.HTML(template.HTMLEscapeString(hiddenWords[e.EventName])), //nolint:gosec // escaped
			Tx: e.TxHash, Block: e.BlockNumber, Time: e.TimestampISO, Unread: e.DecodingStatus != "decoded"})
	}
	return rows
}

// hiddenWords are what an event leaves out by design.
var hiddenWords = map[string]string{
	"deposit":             "the notes that it funds",
	"open_note_deposited": "whose note it is",
	"withdrawal":          "who withdrew, and which notes were spent",
	"open_note_created":   "for whom",
	"enc_note_created":    "token, amount, sender and recipient",
	"note_used":           "which note, its token, amount and owner",
	"viewing_key_set":     "the private viewing key",
}

// poolWords says what an event tells in public. What it does not tell, or what could not be
// read, is unknown.
func (l *look) poolWords(e *api.PrivacyEvent) template.HTML {
	f := &e.PublicFields
	amount := func() template.HTML {
		if f.Token == nil {
			return l.Amount(f.AmountRaw, nil, nil)
		}
		return l.poolAmount(f.AmountRaw, f.Token)
	}
	switch e.EventName {
	case "deposit":
		return l.Address(f.ActorAddress) + " put in " + amount()
	case "withdrawal":
		return amount() + " came out to " + l.Address(f.ToAddress)
	case "open_note_deposited":
		return l.Address(f.ActorAddress) + " paid " + amount() + " into the open note " + l.Felt(f.NoteID)
	case "open_note_created":
		return "An open note was created: " + l.Felt(f.NoteID)
	case "enc_note_created":
		return "A note was created: " + l.Felt(f.NoteID)
	case "note_used":
		return "Some note was used: nullifier " + l.Felt(f.Nullifier)
	case "viewing_key_set":
		return l.Address(f.ActorAddress) + " set a viewing key"
	case "external_contract_invoked":
		return "The pool called " + l.Address(f.TargetAddress)
	case "protocol_event":
		return "An event that is not known"
	}
	return "Setting or role: " + nameHTML(strings.ReplaceAll(e.EventName, "_", " "))
}

// poolAmount is an amount of a token that moved through a pool.
func (l *look) poolAmount(raw *string, t *api.PrivacyToken) template.HTML {
	return l.Amount(raw, t.Decimals, nil) + " " + l.Symbol(t.Address, t.Symbol)
}

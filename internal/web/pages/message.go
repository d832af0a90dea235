package pages

import (
	"html/template"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/web"
)

// messageView is the data of a message's page.
type messageView struct {
	L        *look
	M        *api.Message // the newest with the hash
	What     template.HTML
	Status   template.HTML
	ToL1     bool
	Lanes    template.HTML
	Rows     []messageRow // all with the hash, where there are several
	Pager    pager
	Times    *uint64
	Symbol   *string
	Decimals *int
}

// messagePage tells how far a message has come. L2 can send the same message several
// times; the newest one is drawn, and all are listed.
func messagePage(l *look) (*sheet, error) {
	page, err := ask[api.MessagePage](l, "getMessage", l.limited("limit", messageRows), l.r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 { // behind the end
		return &sheet{title: "Message", to: l.r.URL.EscapedPath()}, nil
	}
	m := &page.Items[0]
	v := &messageView{L: l, M: m, What: l.meaning(m), Status: l.messageStatus(m.Status), ToL1: m.Direction == "l2_to_l1", Pager: l.pagerOf(page.NextCursor), Times: m.L2SentCount}
	if len(page.Items) > 1 || v.Pager != (pager{}) {
		v.Rows = l.rowsOf(page.Items)
	}
	if i := m.Interpretation; i != nil && i.Token != nil {
		v.Symbol, v.Decimals = i.Token.Symbol, i.Token.Decimals
	}
	if v.Lanes, err = l.messageLanes(m).HTML(); err != nil {
		return nil, err
	}
	at, err := block.HashOf(l.ctx, l.reader, m.BlockNumber)
	if err != nil {
		return nil, err
	}
	description := "A message between Ethereum and " + l.Chain + ": " + statusWords[m.Status][1] + "."
	if m.Interpretation != nil {
		description = m.Interpretation.Summary + ": " + statusWords[m.Status][1] + "."
	}
	return &sheet{
		title: "Message " + shorten(m.MessageHash), description: description,
		trail: []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Messages", Href: l.Href("messages")}},
		name:  "message.html", data: v,
		about: &anchor{m.BlockNumber, at.String()},
	}, nil
}

// messageLanes are the stops of a message on both layers. What L1 does is not indexed: it
// is known only as far as this layer tells it.
func (l *look) messageLanes(m *api.Message) chart.Lanes {
	c := chart.Lanes{ID: "way", Title: "How far it has come", Left: "Ethereum", Right: "Starknet"}
	when := ""
	if m.TimestampISO != nil {
		when = strings.NewReplacer("T", " ", "Z", " UTC").Replace(*m.TimestampISO)
	}
	accepted := chart.Stop{Name: "Block accepted", State: chart.Unknown, Note: "what Ethereum has accepted is not known", Href: l.Href("block", m.BlockNumber)}
	if l.state.HasL1 {
		accepted.State, accepted.Note = chart.Waiting, "not yet"
		if m.BlockNumber <= l.state.L1.Number {
			accepted.State, accepted.Note = chart.Reached, "with the block "+web.Group(m.BlockNumber)
		}
	}
	if m.Direction == "l2_to_l1" {
		consumed := chart.Stop{Name: "Taken in", State: chart.Unknown, Note: "not known: L1 is not indexed"}
		if accepted.State == chart.Waiting {
			consumed.State, consumed.Note = chart.Waiting, "not before the block is accepted"
		}
		c.Stops = []chart.Stop{{Right: true, Name: "Sent", State: chart.Reached, Note: when, Href: l.Href("tx", m.TxHash)}, accepted, consumed}
		return c
	}
	sent := chart.Stop{Name: "Sent", State: chart.Unknown, Note: "not known: L1 is not indexed"}
	if m.L1SentCount != nil && *m.L1SentCount > 0 {
		sent.State, sent.Note = chart.Reached, "by which transaction is not known: L1 is not indexed"
	}
	handled := chart.Stop{Right: true, Name: "Taken in", State: chart.Reached, Note: when, Href: l.Href("tx", m.TxHash)}
	if m.Status == "failed_on_l2" {
		handled.State, handled.Note = chart.Failed, "the handler was reverted, "+when
	}
	c.Stops = []chart.Stop{sent, handled, accepted}
	return c
}

package pages

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// eventRows is how many events a page shows, and fieldRows how many values of one.
const (
	eventRows = 25
	fieldRows = 12
)

// eventsView is the data of both pages of events.
type eventsView struct {
	L            *look
	contractHead // of the page of a contract
	Form         *eventForm
	Searched     bool
	Rows         []api.EventRow
	Degraded     bool
	Pager        pager
	// URI is the call of the API that answers the same, and Curl the command.
	URI, Curl string
	CSV       string
	Failure   string
	Cure      string
	Narrower  []web.Link
	Examples  []web.Link
}

// Fields are the values of an event that are shown.
func (v *eventsView) Fields(e api.EventRow) []api.DecodedField {
	return e.DecodedFields[:min(len(e.DecodedFields), fieldRows)]
}

// Left is how many values are not.
func (v *eventsView) Left(e api.EventRow) int { return max(len(e.DecodedFields)-fieldRows, 0) }

// eventsPage searches the events of the chain. Rows read: one for each event shown, and
// those of the search.
func eventsPage(l *look) (*sheet, error) {
	form, err := l.eventFormOf(nil)
	if err != nil {
		return nil, err
	}
	v := &eventsView{L: l, Form: form}
	s := &sheet{title: "Events", description: "Search the events of " + l.Chain + " by contract, name, keys and blocks.",
		trail: []web.Link{{Text: l.Chain, Href: l.Href()}}, name: "events.html", data: v}
	if form.empty {
		for _, name := range []string{"Transfer", "Approval", "Upgraded", "OwnershipTransferred"} {
			q := filled(l.query) // a range that was given stays
			q.Set("event", name)
			v.Examples = append(v.Examples, web.Link{Text: name, Href: withQuery(l.Href("events"), q)})
		}
		l.says("Nothing was searched for. Events are searched by GET /v1/" + l.Chain + "/events, by address and by topic0.")
		if err := bounds(l.query); err != nil {
			return s, v.failed(s, err)
		}
		if form.From != "" || form.To != "" {
			s.status = kernel.Codes[kernel.CodeInvalidRequest].Status
			v.Failure, v.Cure = "A range of blocks alone is not enough.", "Name a contract or an event besides."
		}
		return s, nil
	}
	return s, v.search(s, "/events")
}

// contractEventsPage searches those of one contract.
func contractEventsPage(l *look) (*sheet, error) {
	h, err := l.contractOf("/events")
	if err != nil {
		return nil, err
	}
	form, err := l.eventFormOf(&h.C.Address)
	if err != nil {
		return nil, err
	}
	v := &eventsView{L: l, contractHead: h, Form: form}
	s := &sheet{title: "Events of contract " + h.called(), description: fmt.Sprintf("The events of contract %s on %s, by name, keys and blocks.", h.C.Address, l.Chain),
		trail: l.contractTrail(h, true), name: "contractevents.html", data: v}
	return s, v.search(s, "/contract/"+h.C.Address.String()+"/events")
}

// search asks the API. What it refuses is told beside the form.
func (v *eventsView) search(s *sheet, path string) error {
	q, err := v.Form.query(&v.L.state.Head.Number)
	if err == nil {
		if v.Form.Guessed { // the next pages are of the same range
			v.L.query.Set("from_block", v.Form.From)
			v.L.query.Set("to_block", v.Form.To)
		}
		v.URI = withQuery("/v1/"+v.L.Chain+path, q)
		v.Curl = v.L.curl(v.URI)
		v.CSV = v.file(path)
		for name, list := range v.L.limited("limit", eventRows) {
			q[name] = list
		}
		var page *api.EventPage
		if page, err = v.L.askEvents(v.Form.Of, q); err == nil {
			v.Searched, v.Rows, v.Degraded, v.Pager = true, page.Items, page.EventDecodingDegraded, v.L.pagerOf(page.NextCursor)
			return nil
		}
	}
	return v.failed(s, err)
}

// failed tells beside the form why there is no answer.
func (v *eventsView) failed(s *sheet, err error) error {
	e := (*kernel.Error)(nil)
	if !errors.As(err, &e) || e.Code == kernel.CodeInternal {
		return err
	}
	s.status = kernel.Codes[e.Code].Status
	v.Failure, v.Cure = plainly(e.Message), cureOf(e.Code)
	v.narrow()
	return nil
}

// askEvents asks for the events of one contract, or of the chain.
func (l *look) askEvents(of *felt.Felt, q url.Values) (*api.EventPage, error) {
	if of != nil {
		return ask[api.EventPage](l, "listContractEvents", q, of.String())
	}
	return ask[api.EventPage](l, "searchEvents", q)
}

// file is where the same events are a file.
func (v *eventsView) file(path string) string {
	q := url.Values{}
	for name, values := range v.L.query {
		if name != "cursor" {
			q[name] = values
		}
	}
	return withQuery(v.L.base+path+".csv", q)
}

// narrow offers the ends of a range that is too wide.
func (v *eventsView) narrow() {
	from, to, ok := v.Form.span()
	if !ok || !v.Form.later || to-from < api.MaxRangeBlocks {
		return
	}
	v.Cure = ""
	for _, r := range []struct {
		text     string
		from, to uint64
	}{{"the last 10,000 blocks of it", to - api.MaxRangeBlocks + 1, to}, {"the first 10,000 blocks of it", from, from + api.MaxRangeBlocks - 1}} {
		q := url.Values{}
		for name, values := range v.L.query {
			if name != "cursor" {
				q[name] = values
			}
		}
		q.Set("from_block", strconv.FormatUint(r.from, 10))
		q.Set("to_block", strconv.FormatUint(r.to, 10))
		v.Narrower = append(v.Narrower, web.Link{Text: "Search " + r.text, Href: withQuery(v.L.r.URL.EscapedPath(), q)})
	}
}

var asContract = strings.NewReplacer("an address", "a contract", "address", "contract")

// plainly is a message of the API for people who filled in the form, which calls the
// address that emits events a contract.
func plainly(message string) string {
	return asContract.Replace(sentence(message))
}

// eventFile is a search as a file.
func eventFile(l *look) (*export, error) {
	var of *felt.Felt
	name := l.Chain + "-events"
	if text := l.r.PathValue("address"); text != "" {
		address, err := kernel.FeltOf("path.address", text)
		if err != nil {
			return nil, err
		}
		of, name = &address, name+"-"+shortName(address)
	}
	form, err := l.eventFormOf(of)
	if err != nil {
		return nil, err
	}
	if len(form.strange) > 0 {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "%s", form.strangeWords())
	}
	q, err := form.query(nil)
	if err != nil {
		return nil, err
	}
	seen := false
	return &export{name: name, head: []string{"block", "time", "transaction", "log_index", "contract", "event", "event_source", "values", "keys", "data", "tier"}, rising: form.Order == "asc",
		page: func(l *look, cursor string, limit int) ([][]string, *string, error) {
			q.Set("limit", strconv.Itoa(limit))
			if q.Del("cursor"); cursor != "" {
				q.Set("cursor", cursor)
			}
			if of != nil && !seen { // of what is no contract there is no page, and no file
				if _, err := ask[api.Contract](l, "getContract", nil, of.String()); err != nil {
					return nil, nil, err
				}
				seen = true
			}
			page, err := l.askEvents(of, q)
			if err != nil {
				return nil, nil, err
			}
			rows := make([][]string, len(page.Items))
			for i := range page.Items {
				rows[i] = eventRow(&page.Items[i])
			}
			return rows, page.NextCursor, nil
		}}, nil
}

func eventRow(e *api.EventRow) []string {
	fields := make([]string, len(e.DecodedFields))
	for i, f := range e.DecodedFields {
		fields[i] = f.Label + "=" + f.DisplayValue.String()
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return []string{strconv.FormatUint(e.BlockNumber, 10), e.TimestampISO, e.TxHash.String(), strconv.FormatUint(uint64(e.LogIndex), 10), e.Address.String(),
		text(e.EventName), text(e.EventNameSource), strings.Join(fields, "; "), feltList(e.Keys), feltList(e.Data), e.SourceTier}
}

func feltList(list []felt.Felt) string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].String()
	}
	return strings.Join(out, " ")
}

// shortName is the beginning of a felt, for the names of files.
func shortName(f felt.Felt) string {
	text := f.String()
	return text[:min(len(text), 12)]
}

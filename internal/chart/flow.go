package chart

import (
	"errors"
	"html/template"
	"strconv"
	"strings"
)

// Flow is what went from whom to whom, an arrow each, in the order in which it went.
// Arrows that one party sends one after the other branch from it.
type Flow struct {
	// ID is unique on the page.
	ID, Title string
	Arrows    []Arrow
	// Total is how many there are where Arrows has not all of them, and All where the
	// rest can be read.
	Total int
	All   string
}

// Party is who sends or receives.
type Party struct {
	// Text is short; Title is all of it.
	Text, Title string
	// Href is where it leads; nowhere when it is empty.
	Href string
	// Key is what its picture is made of, as the bytes of an address.
	Key string
}

// Arrow is what went. Amount is short, with what it is of ("5 STRK"), and Title exact.
// An empty amount is not known.
type Arrow struct {
	From, To      Party
	Amount, Title string
}

// mostArrows is how many can be looked over.
const mostArrows = 12

const flowTemplate = `{{define "flow"}}<figure class="flow" aria-labelledby="{{.ID}}-title">
<figcaption id="{{.ID}}-title">{{.Title}}</figcaption>
<ol>
{{range .Rows}}<li><span class="from">{{if or .Again .Goes}}<svg class="branch" aria-hidden="true">{{if .Again}}<line x1="10" x2="10" y1="0" y2="{{if .Goes}}100%{{else}}50%{{end}}"/><line x1="10" x2="100%" y1="50%" y2="50%"/>{{else}}<line x1="10" x2="10" y1="50%" y2="100%"/>{{end}}</svg>{{end}}{{if .Again}}<span class="unseen">{{.From.Text}}</span>{{else}}{{template "party" .From}}{{end}}</span>
<span class="arrow"><span class="unseen">sent </span><span class="amount"{{with .Title}} title="{{.}}"{{end}}>{{.Amount}}</span><svg width="100%" height="10" aria-hidden="true"><line x1="0" x2="100%" y1="5" y2="5"/><svg class="at" x="100%" y="5"><path d="M-8-4.5L0 0l-8 4.5z"/></svg></svg><span class="unseen"> to </span></span>
<span class="to">{{template "party" .To}}</span></li>
{{end}}</ol>
{{if .Rest}}<p class="rest">{{if .All}}<a href="{{.All}}">{{.Rest}} more</a>{{else}}{{.Rest}} more{{end}} not drawn.</p>
{{end}}</figure>
{{end}}{{define "party"}}{{.Picture}}{{if .Href}}<a href="{{.Href}}"{{with .Title}} title="{{.}}"{{end}}>{{.Text}}</a>{{else}}<span{{with .Title}} title="{{.}}"{{end}}>{{.Text}}</span>{{end}}{{end}}`

// Picture tells the party from others.
func (p Party) Picture() template.HTML {
	if p.Key == "" {
		return nobody
	}
	return Identicon([]byte(p.Key))
}

// nobody is the picture of a party that has no address.
const nobody = template.HTML(`<svg class="ident" viewBox="0 0 5 5" aria-hidden="true"><circle cx="2.5" cy="2.5" r="1"/></svg>`)

type flowRow struct {
	Arrow
	// Again says that the row above has the same sender, and Goes that the row below has.
	Again, Goes bool
}

// HTML draws the arrows, and says how many are left out.
func (c Flow) HTML() (template.HTML, error) {
	if len(c.Arrows) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	data := struct {
		Flow
		Rows []flowRow
		Rest string
	}{Flow: c}
	drawn := c.Arrows[:min(len(c.Arrows), mostArrows)]
	for i, a := range drawn {
		if strings.TrimSpace(a.Amount) == "" {
			a.Amount = "amount " + notKnown
		}
		data.Rows = append(data.Rows, flowRow{a, i > 0 && drawn[i-1].From == a.From, i+1 < len(drawn) && drawn[i+1].From == a.From})
	}
	if rest := max(c.Total, len(c.Arrows)) - len(drawn); rest > 0 {
		data.Rest = grouped(strconv.Itoa(rest))
	}
	return render("flow", data)
}

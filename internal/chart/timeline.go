package chart

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// Timeline is what happened and when: first where it lies in time, then in words.
type Timeline struct {
	// ID is unique on the page: other elements refer to it.
	ID, Title string
	// From and To are where the drawing begins and ends, where that is not with the
	// events, and how they are called.
	From, To           float64
	FromLabel, ToLabel string
	// Events are in the order in which they are to be read.
	Events []Event
	// Total is how many there are where Events has not all of them, and All where the
	// rest can be read.
	Total int
	All   string
}

// Event is one of a timeline.
type Event struct {
	// At is where it lies: seconds, or a block's number; When says it.
	At   float64
	When string
	// Name is what happened, and Note more of it. Href is where it leads, if anywhere.
	Name, Note, Href string
	// Class is of the style sheet: warn or bad, where the words say so, too.
	Class string
}

// mostEvents is how many are drawn and said.
const mostEvents = 24

const timelineTemplate = `{{define "timeline"}}<figure class="timeline" aria-labelledby="{{.ID}}-title">
<figcaption id="{{.ID}}-title">{{.Title}}</figcaption>
{{with .Dots}}<svg class="strip" width="100%" height="{{if or $.FromLabel $.ToLabel}}36{{else}}16{{end}}" aria-hidden="true"><line class="rail" x1="0" x2="100%" y1="8" y2="8"/>{{range .}}<circle class="{{.Class}}" cx="{{.X}}%" cy="8" r="5"/>{{end}}<text x="0" y="32">{{$.FromLabel}}</text><text x="100%" y="32" text-anchor="end">{{$.ToLabel}}</text></svg>
{{end}}<ol>
{{range $i, $e := .Events}}<li><svg class="knot" width="20" height="100%" aria-hidden="true"><line class="rail" x1="10" x2="10" y1="{{if $i}}0{{else}}12{{end}}" y2="{{if $.Last $i}}12{{else}}100%{{end}}"/><circle class="{{.Class}}" cx="10" cy="12" r="5"/></svg><span class="when">{{.When}}</span> <span class="name">{{if .Href}}<a href="{{.Href}}">{{.Name}}</a>{{else}}{{.Name}}{{end}}</span>{{with .Note}} <span class="note">{{.}}</span>{{end}}</li>
{{end}}</ol>
{{if .Rest}}<p class="rest">{{if .All}}<a href="{{.All}}">{{.Rest}} more</a>{{else}}{{.Rest}} more{{end}} not drawn.</p>
{{end}}</figure>
{{end}}`

type knot struct{ Class, X string }

type drawnTimeline struct {
	Timeline
	Dots []knot
	Rest string
}

// Last says whether nothing comes after an event.
func (c drawnTimeline) Last(i int) bool { return i == len(c.Events)-1 }

// HTML draws the events, and says how many are left out.
func (c Timeline) HTML() (template.HTML, error) {
	if len(c.Events) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	data := drawnTimeline{Timeline: c}
	data.Events = c.Events[:min(len(c.Events), mostEvents)]
	if rest := max(c.Total, len(c.Events)) - len(data.Events); rest > 0 {
		data.Rest = grouped(strconv.Itoa(rest))
	}
	from, to := math.Inf(1), math.Inf(-1)
	if c.From != 0 || c.To != 0 {
		from, to = c.From, c.To
	}
	for _, e := range data.Events {
		if math.IsNaN(e.At) || math.IsInf(e.At, 0) {
			return "", fmt.Errorf("chart: an event at %v", e.At)
		}
		from, to = min(from, e.At), max(to, e.At)
	}
	// One moment has no place in time that could be seen.
	for _, e := range data.Events {
		if x := (e.At - from) / (to - from); x >= 0 && x <= 1 {
			data.Dots = append(data.Dots, knot{e.Class, number(2 + 96*x)})
		}
	}
	return render("timeline", data)
}

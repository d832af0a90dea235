package chart

import (
	"errors"
	"fmt"
	"html/template"
)

// Lanes is what passes from one side to the other, step by step, from the top down, and
// how far it has come: the states of a message between two layers.
type Lanes struct {
	// ID is unique on the page: other elements refer to it.
	ID, Title string
	// Left and Right name the sides.
	Left, Right string
	Stops       []Stop
}

// Stop is a step on one side.
type Stop struct {
	Right bool
	Name  string
	State State
	// Note says more: when it was, or why it is not known. Href leads to it, if anywhere.
	Note, Href string
}

const (
	// mostStops is how many can be looked over.
	mostStops = 12
	// The sides are so far from the left of the drawing between the words.
	leftRail, rightRail = 16, 48
)

const lanesTemplate = `{{define "lanes"}}<figure class="lanes" aria-labelledby="{{.ID}}-title">
<figcaption id="{{.ID}}-title">{{.Title}}</figcaption>
<p class="sides" aria-hidden="true"><span>{{.Left}}</span><span>{{.Right}}</span></p>
<ol>
{{range .Rows}}<li class="{{.State.Class}}{{if .Right}} right{{end}}"><svg class="rails" width="64" height="100%" aria-hidden="true"><line class="rail" x1="16" x2="16" y1="0" y2="100%"/><line class="rail" x1="48" x2="48" y1="0" y2="100%"/>{{with .Came}}<line class="{{.Class}}" x1="{{.X}}" x2="{{$.Rail .To}}" y1="0" y2="12"/>{{end}}{{with .Goes}}<line class="{{.Class}}" x1="{{.X}}" x2="{{.X}}" y1="12" y2="100%"/>{{end}}<svg class="at" x="{{$.Rail .Right}}" y="12">{{.State.Shape}}</svg></svg>
<span class="words"><span class="unseen">{{.Side}}: </span><span class="name">{{if .Href}}<a href="{{.Href}}">{{.Name}}</a>{{else}}{{.Name}}{{end}}</span><span class="unseen">: {{.State}}. </span><span class="note"{{if not .Note}} aria-hidden="true"{{end}}>{{if .Note}}{{.Note}}{{else}}{{.State}}{{end}}</span></span></li>
{{end}}</ol></figure>
{{end}}`

// way is a line that leads to a stop, drawn like its state.
type way struct {
	Class string
	X     int
	To    bool
}

type laneRow struct {
	Stop
	Side       string
	Came, Goes *way
}

type drawnLanes struct {
	Lanes
	Rows []laneRow
}

// Rail is where a side is.
func (Lanes) Rail(right bool) int {
	if right {
		return rightRail
	}
	return leftRail
}

// HTML draws the sides and the way between them.
func (c Lanes) HTML() (template.HTML, error) {
	if len(c.Stops) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	if len(c.Stops) > mostStops {
		return "", fmt.Errorf("chart: %d stops, of at most %d", len(c.Stops), mostStops)
	}
	data := drawnLanes{Lanes: c}
	for i, s := range c.Stops {
		row := laneRow{Stop: s, Side: c.Left}
		if s.Right {
			row.Side = c.Right
		}
		if i > 0 {
			row.Came = &way{s.State.Class(), c.Rail(c.Stops[i-1].Right), s.Right}
		}
		if i+1 < len(c.Stops) {
			row.Goes = &way{c.Stops[i+1].State.Class(), c.Rail(s.Right), s.Right}
		}
		data.Rows = append(data.Rows, row)
	}
	return render("lanes", data)
}

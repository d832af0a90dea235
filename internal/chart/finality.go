package chart

import (
	"errors"
	"fmt"
	"html/template"
)

// Finality is a bar with marks that are reached one after the other, such as accepted on
// L2, finalized by depth, accepted on L1.
type Finality struct {
	// Title is for those who do not see the bar.
	Title string
	Marks []Mark
}

// Mark is one of a bar.
type Mark struct {
	Name  string
	State State
	// Note says more: when it was reached, what it waits for, why it is not known.
	Note string
	// Href leads to the evidence, if there is any.
	Href string
}

// mostMarks is how many stand side by side on a telephone.
const mostMarks = 4

const finalityTemplate = `{{define "finality"}}<ol class="finality" aria-label="{{.Title}}">
{{range $i, $m := .Marks}}<li class="{{.State.Class}}"><svg class="track" width="100%" height="20" aria-hidden="true">{{with $.Next $i}}<line class="{{.Class}}" x1="22" x2="100%" y1="10" y2="10"/>{{end}}<svg class="at" x="10" y="10">{{template "state" .State}}</svg></svg>
<span class="name">{{if .Href}}<a href="{{.Href}}">{{.Name}}</a>{{else}}{{.Name}}{{end}}</span><span class="unseen">: {{.State}}. </span><span class="note"{{if not .Note}} aria-hidden="true"{{end}}>{{if .Note}}{{.Note}}{{else}}{{.State}}{{end}}</span></li>
{{end}}</ol>
{{end}}`

// Next is the state that the way from a mark leads to; none from the last one.
func (c Finality) Next(i int) *State {
	if i+1 < len(c.Marks) {
		return &c.Marks[i+1].State
	}
	return nil
}

// HTML draws the bar.
func (c Finality) HTML() (template.HTML, error) {
	if len(c.Marks) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	if len(c.Marks) > mostMarks {
		return "", fmt.Errorf("chart: %d marks, of at most %d", len(c.Marks), mostMarks)
	}
	return render("finality", c)
}

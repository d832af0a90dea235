package chart

import (
	"errors"
	"fmt"
	"html/template"
)

// Ribbon is a row of boxes, the newest first. Every box has its place by its number in
// the list and moves there by transformation alone: a script that puts a new one in front
// and takes the last one away moves nothing else on the page. One that has the class
// "new" slides in.
type Ribbon struct {
	// Title says what the boxes are.
	Title string
	Boxes []Box
}

// Box is one of a ribbon.
type Box struct {
	// Key is what scripts know it by.
	Key string
	// Href is where it leads, and Text all that there is to say of it, such as
	// "Block 123, 45 transactions, accepted on L2".
	Href, Text string
	// Name and Note stand below it, in about nine letters each.
	Name, Note string
	// Full is from 0 to 1; nil where it is not known.
	Full *float64
	// Marks is how many of three are reached.
	Marks int
}

const (
	// mostBoxes are as many as the style sheet has places for.
	mostBoxes = 16
	// vessel is how high a full box is.
	vessel = 56.0
	// marks is how many a box can reach.
	marks = 3
)

const ribbonTemplate = `{{define "ribbon"}}<ol class="ribbon" aria-label="{{.Title}}">
{{range .Boxes}}{{template "box" .}}{{end}}</ol>
{{end}}{{define "box"}}<li class="m{{.Marks}}" data-key="{{.Key}}"><a href="{{.Href}}" title="{{.Text}}"><svg width="72" height="72" aria-hidden="true"><rect class="vessel{{if not .Full}} blank{{end}}" x="1" y="1" width="70" height="58" rx="6"/>{{if .Full}}<rect class="level" x="2" y="{{.Top}}" width="68" height="{{.Height}}" rx="5"/>{{else}}<text x="36" y="35" text-anchor="middle">?</text>{{end}}{{range .Dots}}<circle class="{{if .Reached}}on{{else}}off{{end}}" cx="{{.X}}" cy="67" r="2.5"/>{{end}}</svg><span class="unseen">{{.Text}}</span><span class="name" aria-hidden="true">{{.Name}}</span><span class="note" aria-hidden="true">{{.Note}}</span></a></li>
{{end}}`

// Height is how high the box is filled, and Top where that begins.
func (b Box) Height() string { return number(vessel * *b.Full) }

// Top is where the filling begins.
func (b Box) Top() string { return number(2 + vessel*(1-*b.Full)) }

type dot struct {
	X       int
	Reached bool
}

// Dots are the marks, reached or not.
func (b Box) Dots() (all [marks]dot) {
	for i := range all {
		all[i] = dot{28 + 8*i, i < b.Marks}
	}
	return all
}

func (b Box) check() error {
	if b.Full != nil && !(*b.Full >= 0 && *b.Full <= 1) {
		return fmt.Errorf("chart: a box is full to %v", *b.Full)
	}
	if b.Marks < 0 || b.Marks > marks {
		return fmt.Errorf("chart: a box has %d marks, of %d", b.Marks, marks)
	}
	return nil
}

// HTML draws the box alone, as a script adds it to a ribbon.
func (b Box) HTML() (template.HTML, error) {
	if err := b.check(); err != nil {
		return "", err
	}
	return render("box", b)
}

// HTML draws the ribbon, of the first boxes if there are many.
func (c Ribbon) HTML() (template.HTML, error) {
	if len(c.Boxes) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	c.Boxes = c.Boxes[:min(len(c.Boxes), mostBoxes)]
	for _, b := range c.Boxes {
		if err := b.check(); err != nil {
			return "", err
		}
	}
	return render("ribbon", c)
}

package chart

import (
	"html/template"

	"chainexplorer/internal/markup"
)

// State says whether something was reached. Nothing is known of one that was not said.
type State int

const (
	// Unknown is a state that nobody can tell.
	Unknown State = iota
	// Waiting is known not to be reached yet.
	Waiting
	// Reached is known to be reached.
	Reached
	// Failed is known never to be reached.
	Failed
)

// String is the state in words.
func (s State) String() string {
	switch s {
	case Waiting:
		return "not yet"
	case Reached:
		return "reached"
	case Failed:
		return "failed"
	}
	return notKnown
}

// Class is of the style sheet.
func (s State) Class() string {
	switch s {
	case Waiting:
		return "s-waiting"
	case Reached:
		return "s-reached"
	case Failed:
		return "s-failed"
	}
	return "s-unknown"
}

// shape draws a state around the origin: each has a shape of its own, so that its colour need
// not be seen.
func (s State) shape() markup.Ours {
	switch s {
	case Reached:
		return `<circle class="disc" r="8"/><path class="sign" d="M-3.5 .5l2.5 2.5l4.5-5.5"/>`
	case Failed:
		return `<circle class="disc" r="8"/><path class="sign" d="M-3-3l6 6M3-3l-6 6"/>`
	case Waiting:
		return `<circle class="ring" r="7"/>`
	}
	return `<circle class="ring" r="7" stroke-dasharray="2 2.4"/><text class="ask" y="4" text-anchor="middle">?</text>`
}

// Shape is the same for templates.
func (s State) Shape() template.HTML { return template.HTML(s.shape()) } //nolint:gosec // a constant

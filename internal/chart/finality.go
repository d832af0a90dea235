package chart

import (
	"errors"
	"fmt"
	"html/template"

	"chainexplorer/internal/markup"
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

// HTML draws the bar.
func (c Finality) HTML() (template.HTML, error) {
	if len(c.Marks) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	if len(c.Marks) > mostMarks {
		return "", fmt.Errorf("chart: %d marks, of at most %d", len(c.Marks), mostMarks)
	}
	var w markup.Writer
	w.Put(`<ol class="finality" aria-label="`)
	text(&w, c.Title)
	w.Put("\">\n")
	for i := range c.Marks {
		c.mark(&w, i)
	}
	w.Put("</ol>\n")
	return w.Done(), nil
}

// mark draws a mark, and the way to the next one. Every page of a block has the bar, so that
// it is no template.
func (c *Finality) mark(w *markup.Writer, i int) {
	m := &c.Marks[i]
	w.Put(`<li class="`)
	w.Text(m.State.Class())
	w.Put(`"><svg class="track" width="100%" height="20" aria-hidden="true">`)
	if i+1 < len(c.Marks) {
		w.Put(`<line class="`)
		w.Text(c.Marks[i+1].State.Class())
		w.Put(`" x1="22" x2="100%" y1="10" y2="10"/>`)
	}
	w.Put(`<svg class="at" x="10" y="10">`)
	w.Put(m.State.shape())
	w.Put(`</svg></svg>
<span class="name">`)
	if m.Href != "" {
		w.Put(`<a href="`)
		w.Link(m.Href)
		w.Put(`">`)
		text(w, m.Name)
		w.Put(`</a>`)
	} else {
		text(w, m.Name)
	}
	w.Put(`</span><span class="unseen">: `)
	w.Text(m.State.String())
	w.Put(`. </span><span class="note"`)
	if m.Note == "" {
		w.Put(` aria-hidden="true">`)
		w.Text(m.State.String())
	} else {
		w.Put(`>`)
		text(w, m.Note)
	}
	w.Put("</span></li>\n")
}

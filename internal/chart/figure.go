package chart

import "unicode/utf8"

const (
	// ground is where values stand, in percent of the height; labels are below it.
	ground, groundLine = 86.0, `86%`
	// labels is how many there are at most: as many as a telephone has room for.
	labels = 5
	// gap is how much of a bar's place stays empty.
	gap = 0.2
	// side is how many units a curve's drawing has, each way.
	side = 1000.0
)

// figure is a chart with a scale on its left and labels below.
type figure struct {
	ID, Title, Description string
	Parts                  []Part
	Scale                  []string
	// Blanks are where nothing is known.
	Blanks  []block
	Columns []column
	// Fill, Stroke and Dots are paths. They lie in a drawing that is stretched to the
	// chart; the strokes are as thick as they would be without.
	Fill, Stroke, Dots string
	Labels             []label
	Numbers            *Table
}

// Lines are where the numbers of the scale are.
func (figure) Lines() []string {
	return []string{"0", number(ground / 2), number(ground)}
}

type column struct {
	Title       string
	Left, Place string
	Blocks      []block
}

type block struct{ Class, X, Y, Width, Height string }

type label struct{ Text, X, Anchor string }

const figureTemplate = `{{define "figure"}}<figure class="chart">
<figcaption><span id="{{.ID}}-title">{{.Title}}</span>{{with .Parts}}<ul class="legend" aria-hidden="true">{{range .}}<li><svg class="swatch" viewBox="0 0 10 10"><rect class="{{.Class}}" width="10" height="10"/></svg>{{.Name}}</li>{{end}}</ul>{{end}}</figcaption>
<div class="plot">
<div class="scale" aria-hidden="true">{{range .Scale}}<span>{{.}}</span>{{end}}</div>
<svg role="img" aria-labelledby="{{.ID}}-title {{.ID}}-desc">
<desc id="{{.ID}}-desc">{{.Description}}</desc>
{{range .Blanks}}<rect class="blank" x="{{.X}}%" y="0" width="{{.Width}}%" height="` + groundLine + `"/>
{{end}}{{range .Lines}}<line class="grid" x1="0" x2="100%" y1="{{.}}%" y2="{{.}}%"/>
{{end}}{{range .Columns}}<g><title>{{.Title}}</title><rect class="hit" x="{{.Left}}%" y="0" width="{{.Place}}%" height="` + groundLine + `"/>{{range .Blocks}}<rect class="{{.Class}}" x="{{.X}}%" y="{{.Y}}%" width="{{.Width}}%" height="{{.Height}}%"/>{{end}}</g>
{{end}}{{if .Stroke}}<svg width="100%" height="` + groundLine + `" viewBox="0 0 1000 1000" preserveAspectRatio="none" overflow="visible" pointer-events="none"><path class="under" d="{{.Fill}}"/><path class="stroke" vector-effect="non-scaling-stroke" d="{{.Stroke}}"/>{{with .Dots}}<path class="dot" vector-effect="non-scaling-stroke" d="{{.}}"/>{{end}}</svg>
{{end}}{{range .Labels}}<text x="{{.X}}%" y="98%" text-anchor="{{.Anchor}}">{{.Text}}</text>
{{end}}</svg>
</div>
{{with .Numbers}}{{template "table" .}}{{end}}</figure>
{{end}}`

// anchor keeps labels at the edges within the chart.
func anchor(x float64) string {
	switch {
	case x < 8:
		return "start"
	case x > 92:
		return "end"
	}
	return "middle"
}

// tick is a place that could have a label.
type tick struct {
	x    float64
	text string
}

const (
	// narrow is how many pixels wide a chart is on a telephone, and letter how many a
	// letter of a label takes, with some to spare.
	narrow, letter = 290.0, 8.0
	// longest is how many letters a label may have, so that two fit on a telephone.
	longest = 16
)

// sized is a label with where it begins and ends.
type sized struct {
	label
	from, to float64
}

func (t tick) label() sized {
	text := cut(t.text, longest)
	width := (float64(utf8.RuneCountInString(text))*letter + letter) / narrow * 100
	l := sized{label{text, number(t.x), "middle"}, t.x - width/2, t.x + width/2}
	switch {
	case l.from < 0:
		l.Anchor, l.from, l.to = "start", t.x, t.x+width
	case l.to > 100:
		l.Anchor, l.from, l.to = "end", t.x-width, t.x
	}
	return l
}

// labelsOf chooses the first, the last, and between them as many as have room.
func labelsOf(ticks []tick) (most []label) {
	first, last := ticks[0].label(), ticks[len(ticks)-1].label()
	if last.from < first.to {
		return []label{first.label}
	}
	for inner := labels - 2; inner >= 0; inner-- {
		list, end := []label{first.label}, first.to
		for i := range inner {
			want := ticks[0].x + (ticks[len(ticks)-1].x-ticks[0].x)*float64(i+1)/float64(inner+1)
			l := nearest(ticks, want).label()
			if l.from >= end && l.to <= last.from {
				list, end = append(list, l.label), l.to
			}
		}
		if list = append(list, last.label); len(list) > len(most) {
			most = list
		}
	}
	return most
}

func nearest(ticks []tick, x float64) tick {
	best := ticks[0]
	for _, t := range ticks {
		if abs(t.x-x) < abs(best.x-x) {
			best = t
		}
	}
	return best
}

func abs(f float64) float64 { return max(f, -f) }

// cut shortens a text.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

package chart

import (
	"cmp"
	"errors"
	"html/template"
)

// Spark is a line as small as a word, without axes. A page that shows it has its last
// value in words beside it, and may have its table.
type Spark struct {
	// Title says what is shown, and Unit what the values are in.
	Title, Unit string
	// Axis is what the points are in. Their labels are for the table alone.
	Axis   string
	Points []Point
}

const sparkTemplate = `{{define "spark"}}<svg class="spark" role="img" aria-label="{{.Label}}" viewBox="0 0 1000 1000" preserveAspectRatio="none"><title>{{.Label}}</title><path class="under" d="{{.Fill}}"/><path class="stroke" vector-effect="non-scaling-stroke" d="{{.Stroke}}"/>{{with .Dot}}<path class="dot" vector-effect="non-scaling-stroke" d="{{.}}"/>{{end}}</svg>{{end}}`

// HTML draws the line. It stands on zero.
func (c Spark) HTML() (template.HTML, error) {
	s, err := seriesOf(c.Points)
	if err != nil {
		return "", err
	}
	if len(s.points) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	_, highest, last, _ := s.extremes()
	top := 1.0
	if highest >= 0 && s.heights[highest] > 0 {
		top = s.heights[highest]
	}
	x, y := s.places(0), s.depths(top)
	data := struct{ Label, Fill, Stroke, Dot string }{Label: c.Title + ". " + s.inWords(c.Unit)}
	data.Fill, data.Stroke = slopePaths(x, y)
	if last == len(y)-1 {
		data.Dot = "M" + coordinate(x[last]) + " " + coordinate(y[last]) + "h0"
	}
	return render("spark", data)
}

// Table has the values that are drawn.
func (c Spark) Table() (Table, error) {
	s, err := seriesOf(c.Points)
	return s.table(c.Title, cmp.Or(c.Axis, "At"), cmp.Or(c.Unit, "Value")), err
}

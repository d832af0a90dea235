package chart

import (
	"cmp"
	"errors"
	"html/template"
	"math"
	"strings"
)

// Point is a value at a time or a block.
type Point struct {
	// At is where it stands: seconds, a block's number, whatever does not fall.
	At float64
	// Label is At in few letters, for the axis; Title in full, where Label is too short.
	Label, Title string
	// Value is an exact decimal of zero or more. It is empty where it is not known.
	Value string
}

func (p Point) title() string { return cmp.Or(p.Title, p.Label) }

// Area is a chart of values that were measured now and then.
type Area struct {
	// ID is unique on the page: other elements refer to it.
	ID string
	// Title says what is shown and Description what there is to see; the lowest, the
	// highest and the last value are added to it.
	Title, Description string
	// Axis is what the points are in, such as "Block", and Unit what the values are in.
	Axis, Unit string
	Points     []Point
}

// Steps is a chart of a value that holds until it changes, as a balance does.
type Steps struct {
	ID, Title, Description, Axis, Unit string
	Points                             []Point
	// Until is how long the last value holds, where that is longer than to its point,
	// with a label for the axis.
	Until      float64
	UntilLabel string
}

// HTML draws the chart, with its numbers. The scale begins at zero, always.
func (c Area) HTML() (template.HTML, error) {
	return curve{ID: c.ID, Title: c.Title, Description: c.Description, Axis: c.Axis, Unit: c.Unit}.html(c.Points)
}

// HTML draws the chart, with its numbers. The scale begins at zero, always.
func (c Steps) HTML() (template.HTML, error) {
	return curve{ID: c.ID, Title: c.Title, Description: c.Description, Axis: c.Axis, Unit: c.Unit, steps: true, until: c.Until, untilLabel: c.UntilLabel}.html(c.Points)
}

// curve is what areas, steps and distributions have in common.
type curve struct {
	ID, Title, Description, Axis, Unit string
	// steps hold from point to point and the last one until an end.
	steps      bool
	until      float64
	untilLabel string
	// words stand for what else would be said of the values.
	words string
	// top is where the scale ends, if that is not for the values to say.
	top float64
	// dotted marks the points.
	dotted bool
}

func (c curve) html(points []Point) (template.HTML, error) {
	s, err := seriesOf(points)
	if err != nil {
		return "", err
	}
	if len(s.points) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	if _, highest, _, _ := s.extremes(); c.top == 0 && highest >= 0 {
		c.top = ceiling(s.heights[highest])
	}
	c.top = cmp.Or(c.top, 1)
	numbers := s.table(c.Title, cmp.Or(c.Axis, "At"), cmp.Or(c.Unit, "Value"))
	data := figure{ID: c.ID, Title: c.Title, Description: strings.TrimSpace(c.Description + " " + cmp.Or(c.words, s.inWords(c.Unit))),
		Scale: []string{short(c.top), short(c.top / 2), "0"}, Numbers: &numbers}
	// x has the places of the points and one more, where the chart ends.
	x, y := s.places(c.until), s.depths(c.top)
	if c.steps {
		data.Fill, data.Stroke = stepPaths(x, y)
	} else {
		data.Fill, data.Stroke = slopePaths(x, y)
	}
	if c.dotted {
		data.Dots = dotPath(x, y)
	}
	if c.Unit == "%" {
		data.Scale[0], data.Scale[1] = data.Scale[0]+" %", data.Scale[1]+" %"
	}
	data.Columns = s.columns(x, c.Unit, c.steps)
	data.Blanks = blanks(x, y, c.steps)
	if len(data.Blanks) > 0 {
		data.Parts = []Part{{notKnown, "blank"}}
	}
	var ticks []tick
	for i, p := range s.points {
		ticks = append(ticks, tick{x[i] / 10, p.Label})
	}
	if c.untilLabel != "" {
		ticks = append(ticks, tick{100, c.untilLabel})
	}
	data.Labels = labelsOf(ticks)
	return render("figure", data)
}

// columns are what shows a value on hovering: the ground that a step stands on, or the
// half of the way to the points beside.
func (s series) columns(x []float64, unit string, steps bool) (all []column) {
	for i, p := range s.points {
		from, to := x[i], x[i+1]
		if !steps {
			from, to = (x[max(i-1, 0)]+x[i])/2, (x[i]+x[min(i+1, len(s.points)-1)])/2
		}
		all = append(all, column{Title: p.title() + ": " + exact(p.Value, unit), Left: number(from / 10), Place: number((to - from) / 10)})
	}
	return all
}

// blanks are where nothing is drawn: from the last known point to the next.
func blanks(x, y []float64, steps bool) (all []block) {
	for i := 0; i < len(y); i++ {
		if !math.IsNaN(y[i]) {
			continue
		}
		first := i
		for i+1 < len(y) && math.IsNaN(y[i+1]) {
			i++
		}
		from, to := x[first], x[i+1]
		if !steps {
			from, to = x[max(first-1, 0)], x[min(i+1, len(y)-1)]
		}
		all = append(all, block{X: number(from / 10), Width: number((to - from) / 10)})
	}
	return all
}

// places are where the points of a series are from left to right, and the end.
func (s series) places(until float64) []float64 {
	first, last := s.points[0].At, s.points[len(s.points)-1].At
	last = max(last, until)
	x := make([]float64, 0, len(s.points)+1)
	for _, p := range s.points {
		if last > first {
			x = append(x, side*(p.At-first)/(last-first))
		} else {
			x = append(x, 0)
		}
	}
	return append(x, side)
}

// depths are how far the points of a series are below the top.
func (s series) depths(top float64) []float64 {
	y := make([]float64, len(s.heights))
	for i, h := range s.heights {
		y[i] = side * (1 - h/top)
	}
	return y
}

// slopePaths goes from point to point, and under them to the ground. A point between
// two that are not known is a dot.
func slopePaths(x, y []float64) (fill, stroke string) {
	var under, line strings.Builder
	for i := range y {
		if math.IsNaN(y[i]) {
			continue
		}
		begins, ends := i == 0 || math.IsNaN(y[i-1]), i == len(y)-1 || math.IsNaN(y[i+1])
		at := coordinate(x[i]) + " " + coordinate(y[i])
		switch {
		case begins && ends:
			line.WriteString("M" + at + "h0")
		case begins:
			line.WriteString("M" + at)
			under.WriteString("M" + coordinate(x[i]) + " 1000V" + coordinate(y[i]))
		default:
			line.WriteString("L" + at)
			under.WriteString("L" + at)
			if ends {
				under.WriteString("V1000Z")
			}
		}
	}
	return under.String(), line.String()
}

// dotPath has a dot for every point that is known.
func dotPath(x, y []float64) string {
	var dots strings.Builder
	for i := range y {
		if !math.IsNaN(y[i]) {
			dots.WriteString("M" + coordinate(x[i]) + " " + coordinate(y[i]) + "h0")
		}
	}
	return dots.String()
}

// stepPaths holds every value until the next.
func stepPaths(x, y []float64) (fill, stroke string) {
	var under, line strings.Builder
	for i := range y {
		if math.IsNaN(y[i]) {
			continue
		}
		if i == 0 || math.IsNaN(y[i-1]) {
			line.WriteString("M" + coordinate(x[i]) + " " + coordinate(y[i]))
			under.WriteString("M" + coordinate(x[i]) + " 1000V" + coordinate(y[i]))
		} else {
			line.WriteString("V" + coordinate(y[i]))
			under.WriteString("V" + coordinate(y[i]))
		}
		line.WriteString("H" + coordinate(x[i+1]))
		under.WriteString("H" + coordinate(x[i+1]))
		if i == len(y)-1 || math.IsNaN(y[i+1]) {
			under.WriteString("V1000Z")
		}
	}
	return under.String(), line.String()
}

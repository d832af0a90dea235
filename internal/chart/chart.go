// Package chart draws numbers for the service's pages, on the server.
//
// A chart is SVG whose measures are percentages, so that it is as wide as the page
// and its text never shrinks with it. It has no colour and no style of its own: the
// style sheet gives them to the classes, in light and in dark. Whoever cannot see it
// has its title and description, and the page has the same numbers as a table.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"strconv"
)

// Bars is a chart of counts over time, each bar in parts that stand on one another.
type Bars struct {
	// ID is unique on the page: other elements refer to it.
	ID string
	// Title says what is shown and Description what there is to see.
	Title, Description string
	// Parts name what the bars are made of, from the bottom up.
	Parts []Part
	Bars  []Bar
}

// Part is what a bar is made of. Class is of the style sheet.
type Part struct{ Name, Class string }

// Bar is one of a chart.
type Bar struct {
	// Label stands below the bar where there is room; Title shows on hovering.
	Label, Title string
	// Counts are of the chart's parts.
	Counts []int64
}

const (
	// ground is where the bars stand, in percent of the height; labels are below it.
	ground = 86.0
	// labels is how many there are at most: as many as a telephone has room for.
	labels = 5
	// gap is how much of a bar's place stays empty.
	gap = 0.2
)

var shape = template.Must(template.New("bars").Parse(
	`<figure class="chart">
<figcaption><span id="{{.ID}}-title">{{.Title}}</span><ul class="legend" aria-hidden="true">{{range .Parts}}<li><svg class="swatch" viewBox="0 0 10 10"><rect class="{{.Class}}" width="10" height="10"/></svg>{{.Name}}</li>{{end}}</ul></figcaption>
<div class="plot">
<div class="scale" aria-hidden="true">{{range .Scale}}<span>{{.}}</span>{{end}}</div>
<svg role="img" aria-labelledby="{{.ID}}-title {{.ID}}-desc">
<desc id="{{.ID}}-desc">{{.Description}}</desc>
{{range .Lines}}<line class="grid" x1="0" x2="100%" y1="{{.}}%" y2="{{.}}%"/>
{{end}}{{range .Columns}}<g><title>{{.Title}}</title><rect class="hit" x="{{.Left}}%" y="0" width="{{.Place}}%" height="{{.Ground}}%"/>{{range .Blocks}}<rect class="{{.Class}}" x="{{.X}}%" y="{{.Y}}%" width="{{.Width}}%" height="{{.Height}}%"/>{{end}}</g>
{{end}}{{range .Labels}}<text x="{{.X}}%" y="98%" text-anchor="{{.Anchor}}">{{.Text}}</text>
{{end}}</svg>
</div>
</figure>
`))

type column struct {
	Title               string
	Left, Place, Ground string
	Blocks              []block
}

type block struct{ Class, X, Y, Width, Height string }

type label struct{ Text, X, Anchor string }

// HTML draws the chart. The scale begins at zero, always: a bar twice as high is twice
// as much.
func (c Bars) HTML() (template.HTML, error) {
	if len(c.Bars) == 0 || len(c.Parts) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	most := int64(0)
	for _, b := range c.Bars {
		sum := int64(0)
		if len(b.Counts) != len(c.Parts) {
			return "", fmt.Errorf("chart: a bar has %d counts, of %d parts", len(b.Counts), len(c.Parts))
		}
		for _, n := range b.Counts {
			if n < 0 {
				return "", fmt.Errorf("chart: a count of %d", n)
			}
			sum += n
		}
		most = max(most, sum)
	}
	top := Ceiling(most)
	data := struct {
		Bars
		Scale   []string
		Lines   []string
		Columns []column
		Labels  []label
	}{Bars: c, Scale: []string{Short(top), Short(top / 2), "0"}, Lines: []string{"0", number(ground / 2), number(ground)}}
	place := 100 / float64(len(c.Bars))
	every := (len(c.Bars) + labels - 1) / labels
	for i, b := range c.Bars {
		left := float64(i) * place
		col := column{Title: b.Title, Left: number(left), Place: number(place), Ground: number(ground)}
		y := ground
		for p, n := range b.Counts {
			if n == 0 {
				continue
			}
			height := float64(n) / float64(top) * ground
			y -= height
			col.Blocks = append(col.Blocks, block{c.Parts[p].Class, number(left + place*gap/2), number(y), number(place * (1 - gap)), number(height)})
		}
		data.Columns = append(data.Columns, col)
		if i%every == 0 {
			data.Labels = append(data.Labels, label{b.Label, number(left + place/2), anchor(left + place/2)})
		}
	}
	var out bytes.Buffer
	if err := shape.Execute(&out, data); err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // made by a template, which escapes
}

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

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 32) }

// Ceiling is the smallest round and even number that is no less than n, and at least 2:
// its half is a whole number, too.
func Ceiling(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, step := range []int64{2, 4, 6, 8, 10} {
			if step*unit >= n {
				return step * unit
			}
		}
		if unit > 1e17 {
			return n
		}
	}
}

// Short writes a round number in little room.
func Short(n int64) string {
	for _, s := range []struct {
		unit int64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= s.unit && n%(s.unit/10) == 0 {
			return strconv.FormatFloat(float64(n)/float64(s.unit), 'f', -1, 64) + s.name
		}
	}
	return strconv.FormatInt(n, 10)
}

package chart

import (
	"cmp"
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

// mostBars is how many can be told apart on a wide screen.
const mostBars = 400

// HTML draws the chart. The scale begins at zero, always: a bar twice as high is twice
// as much.
func (c Bars) HTML() (template.HTML, error) {
	if len(c.Bars) == 0 || len(c.Parts) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	if len(c.Bars) > mostBars {
		return "", fmt.Errorf("chart: %d bars, of at most %d", len(c.Bars), mostBars)
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
	data := figure{ID: c.ID, Title: c.Title, Description: c.Description, Parts: c.Parts, Scale: []string{Short(top), Short(top / 2), "0"}}
	place := 100 / float64(len(c.Bars))
	every := (len(c.Bars) + labels - 1) / labels
	for i, b := range c.Bars {
		left := float64(i) * place
		col := column{Title: b.Title, Left: number(left), Place: number(place)}
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
	return render("figure", data)
}

// Table has the counts, for a page that shows them below the chart.
func (c Bars) Table() Table {
	t := Table{Title: c.Title, Head: []string{"Bar"}}
	for _, p := range c.Parts {
		t.Head = append(t.Head, p.Name)
	}
	for _, b := range c.Bars {
		row := []string{cmp.Or(b.Label, b.Title)}
		for _, n := range b.Counts {
			row = append(row, grouped(strconv.FormatInt(n, 10)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

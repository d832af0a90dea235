package chart

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// Histogram is how many values lie between edges.
type Histogram struct {
	// ID is unique on the page: other elements refer to it.
	ID string
	// Title says what is shown and Description what there is to see; how many there are,
	// and where most of them, is added to it.
	Title, Description string
	// Unit is what the edges are in, and Of what is counted, such as "transactions".
	Unit, Of string
	Buckets  []Bucket
}

// Bucket counts what is from one edge to below another. The last one may have no end.
type Bucket struct {
	From, To string
	Count    int64
}

// mostBuckets is how many bars a telephone has room for.
const mostBuckets = 60

func (b Bucket) between(unit string) string {
	text := b.From + " and more"
	if b.To != "" {
		text = b.From + " to " + b.To
	}
	return strings.TrimSpace(text + " " + unit)
}

// HTML draws the chart, with its numbers. Every bar is as wide as the others, whatever
// lies between its edges.
func (c Histogram) HTML() (template.HTML, error) {
	if len(c.Buckets) == 0 {
		return "", errors.New("chart: there is nothing to draw")
	}
	all, highest := int64(0), c.Buckets[0]
	for _, b := range c.Buckets {
		if b.Count < 0 {
			return "", fmt.Errorf("chart: a count of %d", b.Count)
		}
	}
	buckets := merged(c.Buckets)
	numbers := Table{Title: c.Title, Head: []string{cmp.Or(c.Unit, "Between"), cmp.Or(c.Of, "Count")}}
	for i, b := range buckets {
		if i == 0 || b.Count > highest.Count {
			highest = b
		}
		all += b.Count
		numbers.Rows = append(numbers.Rows, []string{b.between(""), grouped(strconv.FormatInt(b.Count, 10))})
	}
	words := fmt.Sprintf("%s in all", strings.TrimSpace(grouped(strconv.FormatInt(all, 10))+" "+c.Of))
	if all > 0 {
		words += fmt.Sprintf("; the most, %s, are %s", grouped(strconv.FormatInt(highest.Count, 10)), highest.between(c.Unit))
	}
	if len(buckets) < len(c.Buckets) {
		words += fmt.Sprintf(". Drawn are %d bars of %d, several in one", len(buckets), len(c.Buckets))
	}
	top := Ceiling(highest.Count)
	data := figure{ID: c.ID, Title: c.Title, Description: strings.TrimSpace(c.Description + " " + words + "."), Scale: []string{Short(top), Short(top / 2), "0"}, Numbers: &numbers}
	place := 100 / float64(len(buckets))
	var ticks []tick
	for i, b := range buckets {
		left := float64(i) * place
		col := column{Title: b.between(c.Unit) + ": " + grouped(strconv.FormatInt(b.Count, 10)), Left: number(left), Place: number(place)}
		if b.Count > 0 {
			height := float64(b.Count) / float64(top) * ground
			col.Blocks = []block{{"bar", number(left + place*gap/8), number(ground - height), number(place * (1 - gap/4)), number(height)}}
		}
		data.Columns = append(data.Columns, col)
		ticks = append(ticks, tick{left, b.From})
	}
	if last := buckets[len(buckets)-1]; last.To != "" {
		ticks = append(ticks, tick{100, last.To})
	}
	data.Labels = labelsOf(ticks)
	return render("figure", data)
}

// merged puts neighbours into one where there are too many.
func merged(all []Bucket) (few []Bucket) {
	each := (len(all) + mostBuckets - 1) / mostBuckets
	for i, b := range all {
		if i%each == 0 {
			few = append(few, b)
			continue
		}
		last := &few[len(few)-1]
		last.To, last.Count = b.To, last.Count+b.Count
	}
	return few
}

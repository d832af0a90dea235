package chart_test

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"testing"

	"chainexplorer/internal/chart"
)

// drawing is every chart of the package.
type drawing interface {
	HTML() (template.HTML, error)
}

func points(n int, value func(i int) string) (all []chart.Point) {
	for i := range n {
		all = append(all, chart.Point{At: float64(1000 + i), Label: fmt.Sprintf("Nov %d", i+1), Title: fmt.Sprintf("2026-11-%02d", i+1), Value: value(i)})
	}
	return all
}

func wave(i int) string {
	return strconv.FormatFloat(40+30*math.Sin(float64(i)/3)+float64(i%5)*3, 'f', 2, 64)
}

func party(n int) chart.Party {
	return chart.Party{Text: fmt.Sprintf("0x%04x…%04x", n*7919, n*104729%65536), Title: fmt.Sprintf("0x%064x", n), Href: "/x/" + strconv.Itoa(n), Key: strconv.Itoa(n)}
}

// gallery has one chart of every kind, as full as it gets, with what is not known.
func gallery() []drawing {
	holed := func(i int) string {
		if i == 9 || i == 10 || i == 20 {
			return ""
		}
		return wave(i)
	}
	flow := chart.Flow{ID: "flow", Title: "Where the tokens went", Total: 19, All: "/all"}
	for i, amount := range []string{"5 STRK", "0.0042 ETH", "1,234,567.89 USDC", "", "12 STRK", "7 NFTs of a rather long name", "1 STRK", "2 STRK"} {
		from := party(1)
		if i > 3 {
			from = party(i)
		}
		flow.Arrows = append(flow.Arrows, chart.Arrow{From: from, To: party(20 + i), Amount: amount, Title: amount + " exactly"})
	}
	flow.Arrows[5].To = chart.Party{Text: "nobody (burnt)"}
	ribbon := chart.Ribbon{Title: "Newest blocks"}
	for i := range 16 {
		b := chart.Box{Key: strconv.Itoa(9876543 - i), Href: "/block", Name: strconv.Itoa(9876543 - i), Note: fmt.Sprintf("%d tx", 345-i*20), Full: new(math.Abs(math.Sin(float64(i)))), Marks: min(i/2, 3)}
		b.Text = fmt.Sprintf("Block %s, %s", b.Name, b.Note)
		if i == 2 {
			b.Full, b.Note = nil, ""
		}
		ribbon.Boxes = append(ribbon.Boxes, b)
	}
	return []drawing{
		ribbon,
		chart.Finality{Title: "Finality", Marks: []chart.Mark{{Name: "Accepted on L2", State: chart.Reached, Note: "3 min ago"}, {Name: "Finalized by depth", State: chart.Waiting, Note: "12 of 64 blocks"}, {Name: "Accepted on L1"}}},
		chart.Finality{Title: "Finality", Marks: []chart.Mark{{Name: "Accepted on L2", State: chart.Reached}, {Name: "Finalized by depth", State: chart.Reached}, {Name: "Accepted on L1", State: chart.Failed, Note: "the block was orphaned"}}},
		flow,
		chart.Spark{Title: "Throughput", Points: points(40, holed)},
		chart.Area{ID: "area", Title: "Fees per day", Axis: "Day", Unit: "STRK", Points: points(30, holed)},
		chart.Steps{ID: "steps", Title: "Balance", Axis: "Block", Unit: "STRK", Until: 1020, UntilLabel: "now", Points: points(14, func(i int) string {
			if i == 6 {
				return ""
			}
			return strconv.Itoa(1_250_000 + (i*7919)%11*90_000)
		})},
		chart.Bars{ID: "bars", Title: "Requests", Parts: []chart.Part{{Name: "answered", Class: "answered"}, {Name: "failed", Class: "failed"}},
			Bars: []chart.Bar{{Label: "Mon", Counts: []int64{40, 2}}, {Label: "Tue", Counts: []int64{75, 8}}, {Label: "Wed", Counts: []int64{20, 0}}, {Label: "Thu", Counts: []int64{60, 20}}}},
	}
}

// page puts the gallery into one document's body.
func page(t *testing.T) (body template.HTML) {
	t.Helper()
	for _, d := range gallery() {
		html, err := d.HTML()
		if err != nil {
			t.Fatalf("%T: %v", d, err)
		}
		body += html
	}
	for i := range 24 {
		body += chart.Identicon([]byte(strconv.Itoa(i))) + " "
	}
	return body
}

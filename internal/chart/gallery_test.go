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
	flow.Arrows[5].To = chart.Party{Text: "nobody (burned)"}
	ribbon := chart.Ribbon{Title: "Newest blocks"}
	for i := range 16 {
		b := chart.Box{Key: strconv.Itoa(9876543 - i), Href: "/block", Name: strconv.Itoa(9876543 - i), Note: fmt.Sprintf("%d tx", 345-i*20), Full: new(math.Abs(math.Sin(float64(i)))), Marks: min(i/2, 3)}
		b.Text = fmt.Sprintf("Block %s, %s", b.Name, b.Note)
		if i == 2 {
			b.Full, b.Note = nil, ""
		}
		ribbon.Boxes = append(ribbon.Boxes, b)
	}
	stamped := points(60, holed)
	for i := range stamped {
		stamped[i].Label = "2026-11-16 " + fmt.Sprintf("%02d", i)
	}
	histogram := chart.Histogram{ID: "fees", Title: "Fees", Unit: "STRK", Of: "transactions"}
	for i := range 24 {
		histogram.Buckets = append(histogram.Buckets, chart.Bucket{From: fmt.Sprintf("%.2f", float64(i)/20), To: fmt.Sprintf("%.2f", float64(i+1)/20), Count: int64(900 * math.Exp(-math.Pow(float64(i-8)/4, 2)))})
	}
	return []drawing{
		ribbon,
		chart.Finality{Title: "Finality", Marks: []chart.Mark{{Name: "Accepted on L2", State: chart.Reached, Note: "3 min ago"}, {Name: "Finalized by depth", State: chart.Waiting, Note: "12 of 64 blocks"}, {Name: "Accepted on L1"}}},
		chart.Finality{Title: "Finality", Marks: []chart.Mark{{Name: "Accepted on L2", State: chart.Reached}, {Name: "Finalized by depth", State: chart.Reached}, {Name: "Accepted on L1", State: chart.Failed, Note: "theblockwasorphanedbyanotherthatwaslonger, at last"}}},
		flow,
		chart.Spark{Title: "Throughput", Points: points(40, holed)},
		chart.Area{ID: "area", Title: "Fees per day", Axis: "Day", Unit: "STRK", Points: points(30, holed)},
		chart.Steps{ID: "steps", Title: "Balance", Axis: "Block", Unit: "STRK", Until: 1020, UntilLabel: "now", Points: points(14, func(i int) string {
			if i == 6 {
				return ""
			}
			return strconv.Itoa(1_250_000 + (i*7919)%11*90_000)
		})},
		chart.Area{ID: "long", Title: "A chart with a title that is so long that it does not fit into a line of a telephone", Points: stamped},
		histogram,
		chart.Distribution{ID: "shares", Title: "Who holds it", Ranks: []chart.Rank{{1, "12.5"}, {3, "20"}, {10, "41.75"}, {30, "60"}, {100, "82.1"}, {1000, "97"}, {12345, "100"}}},
		chart.Timeline{ID: "classes", Title: "Classes that it had", From: 0, To: 100, FromLabel: "2024-01-03", ToLabel: "now", Total: 30, All: "/all", Events: []chart.Event{
			{At: 5, When: "2024-01-20 10:11 UTC", Name: "Deployed", Note: "with class 0x1234…abcd", Href: "/class"}, {At: 60, When: "2025-08-02 22:00 UTC", Name: "Upgraded", Note: "to class 0x5678…abcd by 0x9876…1234, a rather long note that needs a second line"},
			{At: 63, When: "2025-09-01 00:00 UTC", Name: "A fork undid it", Class: "bad"}, {At: 95, When: "2026-11-16 09:30 UTC", Name: "Upgraded again"}}},
		chart.Lanes{ID: "message", Title: "Where the message is", Left: "Ethereum", Right: "Starknet", Stops: []chart.Stop{{Name: "Sent", State: chart.Reached, Note: "2026-11-16 09:30 UTC, in 0x1234…abcd", Href: "/tx"}, {Right: true, Name: "Received", State: chart.Reached, Note: "block 9,876,543"},
			{Right: true, Name: "Accepted on L1", State: chart.Waiting}, {Name: "Cancelled", Note: "no node of Ethereum is configured"}, {Right: true, Name: "Handled", State: chart.Failed, Note: "reverted"}}},
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

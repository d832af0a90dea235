package chart_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"chainexplorer/internal/chart"
)

// TestHistogram: heights are in proportion to counts, and edges are said exactly.
func TestHistogram(t *testing.T) {
	c := chart.Histogram{ID: "h", Title: "Fees", Unit: "STRK", Of: "transactions", Buckets: []chart.Bucket{{"0", "1", 10}, {"1", "5", 20}, {"5", "10", 0}, {"10", "", 5}}}
	all := read(t, c)
	bars := named(all, "rect", "bar")
	if len(bars) != 3 {
		t.Fatalf("%d bars, of three counts that are not zero", len(bars))
	}
	unit := bars[0].number(t, "height") / 10
	for i, want := range []float64{10, 20, 5} {
		b := bars[i]
		if !near(b.number(t, "height"), want*unit) || !near(b.number(t, "y")+b.number(t, "height"), 86) {
			t.Errorf("bar %d: %+v", i, b)
		}
	}
	if x := bars[2].number(t, "x"); x < 75 || x > 76 {
		t.Errorf("the fourth bar begins at %v", x)
	}
	if desc := only(t, all, "desc", "").text; desc != "35 transactions in all; the most, 20, are 1 to 5 STRK." {
		t.Error(desc)
	}
	rows := named(all, "tr", "")
	if len(rows) != 5 || rows[2].text != "1 to 520" || rows[3].text != "5 to 100" || rows[4].text != "10 and more5" {
		t.Errorf("%+v", rows)
	}
	var labels []string
	for _, e := range named(all, "text", "") {
		labels = append(labels, e.text+"@"+e.at["x"])
	}
	if fmt.Sprint(labels) != "[0@0% 1@25% 5@50% 10@75%]" {
		t.Error(labels)
	}
}

// TestManyBuckets: neighbours share a bar, and nothing is lost.
func TestManyBuckets(t *testing.T) {
	c := chart.Histogram{ID: "h"}
	for i := range 150 {
		c.Buckets = append(c.Buckets, chart.Bucket{From: fmt.Sprint(i), To: fmt.Sprint(i + 1), Count: 2})
	}
	all := read(t, c)
	if bars := named(all, "rect", "bar"); len(bars) != 50 {
		t.Errorf("%d bars", len(bars))
	}
	rows := named(all, "tr", "")
	if desc := only(t, all, "desc", "").text; !strings.HasPrefix(desc, "300 in all; the most, 6, are 0 to 3. Drawn are 50 bars of 150") || rows[50].text != "147 to 1506" {
		t.Error(desc, rows[50].text)
	}
	for _, bad := range []chart.Histogram{{}, {Buckets: []chart.Bucket{{"0", "1", -1}}}} {
		if _, err := bad.HTML(); err == nil {
			t.Errorf("%+v was drawn", bad)
		}
	}
}

// TestDistribution: ten times as many are as far apart, shares are of a hundred, and one
// that is not known is a gap.
func TestDistribution(t *testing.T) {
	c := chart.Distribution{ID: "d", Title: "Holders", Ranks: []chart.Rank{{1, "12.5"}, {10, "25"}, {100, ""}, {1000, "50"}, {10000, "99.999999999999999999"}}}
	all := read(t, c)
	lines := strokes(t, c)
	if len(lines) != 2 || len(lines[0]) != 2 || len(lines[1]) != 2 {
		t.Fatalf("%v", lines)
	}
	if a, b, d := lines[0][0], lines[0][1], lines[1][0]; !nearly(b.x-a.x, 250) || !nearly(d.x, 750) || !nearly(a.y, 875) || !nearly(b.y, 750) || !nearly(d.y, 500) {
		t.Errorf("%v", lines)
	}
	if dots := runs(t, only(t, all, "path", "dot").at["d"]); len(dots) != 4 {
		t.Errorf("%d dots of four shares", len(dots))
	}
	if desc := only(t, all, "desc", "").text; desc != "Of all, the largest has 12.5 %, the 10 largest have 25 %, the 1,000 largest have 50 %, the 10,000 largest have 99.999999999999999999 %." {
		t.Error(desc)
	}
	rows := named(all, "tr", "")
	if len(rows) != 6 || rows[0].text != "The largest holders%" || rows[3].text != "100not known" || rows[5].text != "10,00099.999999999999999999" {
		t.Errorf("%+v", rows)
	}
	if scale := only(t, all, "div", "scale").text; scale != "100 %50 %0" {
		t.Error(scale)
	}
	for _, bad := range [][]chart.Rank{nil, {{0, "1"}}, {{1, "100.1"}}, {{2, "1"}, {2, "1"}}, {{1, "50"}, {2, "40"}}, {{1, "50"}, {2, ""}, {3, "40"}}, {{1, "-1"}}} {
		if _, err := (chart.Distribution{Ranks: bad}).HTML(); err == nil {
			t.Errorf("%v was drawn", bad)
		}
	}
}

// TestTimeline: events lie where they happened, and are all said.
func TestTimeline(t *testing.T) {
	c := chart.Timeline{ID: "t", Title: "Classes", Events: []chart.Event{{At: 300, When: "third", Name: "c"}, {At: 100, When: "first", Name: "a", Href: "/a"}, {At: 150, When: "second", Name: "b", Note: "n", Class: "bad"}}}
	at := func(c chart.Timeline) (x []float64) {
		for _, e := range named(read(t, c), "circle", "") {
			if strings.HasSuffix(e.at["cx"], "%") {
				x = append(x, e.number(t, "cx"))
			}
		}
		return x
	}
	x := at(c)
	if len(x) != 3 || !near(x[0]-x[1], 4*(x[2]-x[1])) || x[1] < 0 || x[0] > 100 {
		t.Errorf("%v", x)
	}
	all := read(t, c)
	var said []string
	for _, li := range named(all, "li", "") {
		said = append(said, strings.Join(strings.Fields(li.text), " "))
	}
	if fmt.Sprint(said) != "[third c first a second b n]" || only(t, all, "a", "").at["href"] != "/a" || len(named(all, "circle", "bad")) != 2 {
		t.Errorf("%v", said)
	}
	c.From, c.To = 0, 1000
	if x := at(c); !near(x[0], 2+96*.3) || !near(x[1], 2+96*.1) {
		t.Errorf("from 0 to 1000: %v", x)
	}
	if x := at(chart.Timeline{ID: "t", Events: c.Events[:1]}); len(x) != 0 {
		t.Errorf("one moment lies at %v", x)
	}
	for range 40 {
		c.Events = append(c.Events, c.Events[0])
	}
	all = read(t, c)
	if n := len(named(all, "li", "")); n != 24 || only(t, all, "p", "rest").text != "19 more not drawn." {
		t.Errorf("%d drawn", n)
	}
	for _, bad := range [][]chart.Event{nil, {{At: math.NaN()}}, {{At: math.Inf(1)}}} {
		if _, err := (chart.Timeline{Events: bad}).HTML(); err == nil {
			t.Errorf("%v was drawn", bad)
		}
	}
}

// TestLanes: every stop is on its side, and the way to it is drawn like its state.
func TestLanes(t *testing.T) {
	c := chart.Lanes{ID: "l", Title: "Message", Left: "L1", Right: "L2", Stops: []chart.Stop{{Name: "sent", State: chart.Reached, Note: "at noon", Href: "/tx"}, {Right: true, Name: "handled", State: chart.Failed}, {Name: "cancelled"}}}
	all := read(t, c)
	var said []string
	for _, li := range named(all, "li", "") {
		said = append(said, li.at["class"]+" "+strings.TrimPrefix(strings.Join(strings.Fields(li.text), " "), "? "))
	}
	if got := strings.Join(said, "\n"); got != "s-reached L1: sent: reached. at noon\ns-failed right L2: handled: failed. failed\ns-unknown L1: cancelled: not known. not known" {
		t.Errorf("it reads\n%s", got)
	}
	var ways []string
	for _, e := range named(all, "line", "") {
		if e.at["class"] != "rail" {
			ways = append(ways, fmt.Sprintf("%s %s-%s", e.at["class"], e.at["x1"], e.at["x2"]))
		}
	}
	if got := strings.Join(ways, ", "); got != "s-failed 16-16, s-failed 16-48, s-unknown 48-48, s-unknown 48-16" {
		t.Error(got)
	}
	for _, n := range []int{0, 13} {
		if _, err := (chart.Lanes{Stops: make([]chart.Stop, n)}).HTML(); err == nil {
			t.Errorf("%d stops were drawn", n)
		}
	}
}

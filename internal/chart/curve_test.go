package chart_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/chart"
)

func values(list ...string) (all []chart.Point) {
	for i, v := range list {
		all = append(all, chart.Point{At: float64(i * 10), Label: "at " + strconv.Itoa(i*10), Value: v})
	}
	return all
}

// strokes are the lines of a curve.
func strokes(t *testing.T, d drawing) [][]place {
	t.Helper()
	return runs(t, only(t, read(t, d), "path", "stroke").at["d"])
}

// TestArea holds the curve against its values: they are in proportion, stand where their
// blocks are, and what is not known is a gap.
func TestArea(t *testing.T) {
	p := values("10", "20", "", "40", "", "0", "5")
	p[1].At = 5
	c := chart.Area{ID: "a", Title: "Fees", Axis: "Block", Unit: "STRK", Points: p}
	got := strokes(t, c)
	if len(got) != 3 || len(got[0]) != 2 || len(got[1]) != 1 || len(got[2]) != 2 {
		t.Fatalf("%v, want three lines: what is not known is no value", got)
	}
	if low, high := 1000-got[0][0].y, 1000-got[0][1].y; !nearly(high, 2*low) || !nearly(1000-got[1][0].y, 4*low) || !nearly(got[2][0].y, 1000) {
		t.Errorf("heights: %v", got)
	}
	if !nearly(got[0][1].x, 1000.0*5/60) || !nearly(got[2][1].x, 1000) {
		t.Errorf("places: %v", got)
	}
	all := read(t, c)
	if blanks := named(all, "rect", "blank"); len(blanks) != 3 { // one is in the legend
		t.Errorf("%d blanks", len(blanks)-1)
	}
	desc := only(t, all, "desc", "").text
	for _, want := range []string{"Lowest 0 STRK", "highest 40 STRK", "last known 5 STRK (at 60)", "not known"} {
		if !strings.Contains(desc, want) {
			t.Errorf("%q lacks %q", desc, want)
		}
	}
	rows := named(all, "tr", "")
	if len(rows) != 8 || rows[0].text != "BlockSTRK" || rows[1].text != "at 010" || rows[3].text != "at 20not known" || rows[6].text != "at 500" {
		t.Errorf("%+v", rows)
	}
}

// TestSteps: a balance holds until it changes, and its digits are all there.
func TestSteps(t *testing.T) {
	exact := "1234567890123456789012345678.000000000000000001"
	c := chart.Steps{ID: "a", Title: "Balance", Points: values("617283945061728394506172839", exact, "", "0"), Until: 40, UntilLabel: "now"}
	got := strokes(t, c)
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}
	for _, run := range got {
		for i := range run[1:] {
			if a, b := run[i], run[i+1]; a.x != b.x && a.y != b.y {
				t.Errorf("a slope from %v to %v", a, b)
			}
		}
	}
	if want := []place{{0, 0}, {250, 0}, {250, 0}, {500, 0}}; len(got[0]) != len(want) || got[0][0].x != 0 || got[0][1].x != 250 || got[0][3].x != 500 || !nearly(1000-got[0][3].y, 2*(1000-got[0][0].y)) {
		t.Errorf("%v", got[0])
	}
	if last := got[1][len(got[1])-1]; last != (place{1000, 1000}) || got[1][0].x != 750 {
		t.Errorf("the last value holds to the end: %v", got[1])
	}
	all := read(t, c)
	if cells := named(all, "td", ""); len(cells) != 4 || cells[1].text != "1,234,567,890,123,456,789,012,345,678.000000000000000001" {
		t.Errorf("%+v", cells)
	}
	texts := named(all, "text", "")
	if last := texts[len(texts)-1]; last.text != "now" || last.at["x"] != "100%" || last.at["text-anchor"] != "end" {
		t.Errorf("%+v", texts)
	}
}

// TestManyPoints: what is drawn is bounded, says so, and keeps the extremes and every
// value that is followed by nothing known.
func TestManyPoints(t *testing.T) {
	const many = 20_000
	list := make([]string, many)
	for i := range list {
		list[i] = strconv.Itoa(500 + i%7)
	}
	list[7777], list[13131], list[4000] = "9000", "1", ""
	c := chart.Area{ID: "a", Title: "t", Points: values(list...)}
	html, err := c.HTML()
	if err != nil || len(html) > 120_000 {
		t.Fatalf("%d bytes, %v", len(html), err)
	}
	all := read(t, c)
	desc := only(t, all, "desc", "").text
	if !strings.Contains(desc, "Lowest 1, highest 9,000") || !strings.Contains(desc, "of 20,000 values") {
		t.Error(desc)
	}
	rows := named(all, "tr", "")
	if len(rows) > 241 || !slices.ContainsFunc(rows, func(e element) bool { return e.text == "at 40000not known" }) || rows[1].text != "at 0500" || rows[len(rows)-1].text != "at 199990500" {
		t.Errorf("%d rows, from %q to %q", len(rows), rows[1].text, rows[len(rows)-1].text)
	}
	whole := chart.Area{ID: "a", Points: values(slices.Repeat([]string{"1", "2"}, many/2)...)}
	if rows := named(read(t, whole), "tr", ""); len(rows) > 241 || len(rows) < 200 {
		t.Errorf("%d rows, where there is room for 240", len(rows))
	}
	if texts := named(all, "text", ""); len(texts) > 5 || len(texts) < 3 {
		t.Errorf("%d labels", len(texts))
	}
	lines := strokes(t, c)
	if len(lines) != 2 {
		t.Errorf("%d lines, want a gap between two", len(lines))
	}
	highest := math.Inf(1)
	for _, line := range lines {
		for _, p := range line {
			highest = min(highest, p.y)
		}
	}
	if !nearly(highest, 100) { // 9000 of 10000
		t.Errorf("the highest is drawn at %v", highest)
	}
}

// TestStepsNeverHoldTooLong: of points that are known and unknown in turn some are left
// out, but no value seems to hold where it is not known.
func TestStepsNeverHoldTooLong(t *testing.T) {
	const many = 3000
	list := make([]string, many)
	for i := range list {
		if i%3 != 2 {
			list[i] = strconv.Itoa(i * 7919 % 1000)
		}
	}
	for _, run := range strokes(t, chart.Steps{ID: "a", Points: values(list...)}) {
		from, to := run[0].x*(many-1)/1000, run[len(run)-1].x*(many-1)/1000
		if to-from > 2.2 {
			t.Errorf("a value holds from %v to %v", from, to)
		}
	}
}

func TestCurvesThatAreNotDrawn(t *testing.T) {
	for _, value := range []string{"-1", "NaN", "Inf", "0x10", "1e5", "1_000", "1,000", ".", "5.", ".5", "1.2.3", " 1", "٣", strings.Repeat("9", 121)} {
		for _, d := range []drawing{chart.Area{Points: values(value)}, chart.Steps{Points: values(value)}, chart.Spark{Points: values(value)}} {
			if _, err := d.HTML(); err == nil {
				t.Errorf("%T of %q was drawn", d, value)
			}
		}
	}
	back := values("1", "2")
	back[1].At = -1
	for _, p := range [][]chart.Point{nil, back, {{At: math.NaN(), Value: "1"}}, {{At: math.Inf(1), Value: "1"}}} {
		for _, d := range []drawing{chart.Area{Points: p}, chart.Steps{Points: p}, chart.Spark{Points: p}} {
			if _, err := d.HTML(); err == nil {
				t.Errorf("%T of %v was drawn", d, p)
			}
		}
	}
}

// TestNothingKnown: a curve of nothing draws nothing and says so.
func TestNothingKnown(t *testing.T) {
	for _, d := range []drawing{chart.Area{ID: "a", Points: values("", "")}, chart.Steps{ID: "a", Points: values("", "")}, chart.Spark{Title: "t", Points: values("", "")}} {
		html, err := d.HTML()
		if err != nil || !strings.Contains(string(html), "No value is known.") || strings.Contains(string(html), `d="M`) {
			t.Errorf("%T: %s, %v", d, html, err)
		}
	}
}

func TestSpark(t *testing.T) {
	c := chart.Spark{Title: "Throughput", Unit: "tx/s", Points: values("1", "", "2", "4")}
	all := read(t, c)
	if label := all[0].at["aria-label"]; label != "Throughput. Lowest 1 tx/s, highest 4 tx/s, last known 4 tx/s (at 30). Where nothing is drawn, the value is not known." {
		t.Error(label)
	}
	got := strokes(t, c)
	if len(got) != 2 || !nearly(1000-got[1][0].y, 500) || !nearly(1000-got[0][0].y, 250) || !nearly(got[1][1].y, 0) {
		t.Errorf("%v", got)
	}
	if dot := only(t, all, "path", "dot"); dot.at["d"] != "M1000 0h0" {
		t.Errorf("%+v", dot)
	}
	c.Points = append(c.Points, chart.Point{At: 99})
	if dots := named(read(t, c), "path", "dot"); len(dots) != 0 {
		t.Error("the last value is not known, and has a dot")
	}
	table, err := c.Table()
	if err != nil || fmt.Sprint(table) != "{Throughput [At tx/s] [[at 0 1] [at 10 not known] [at 20 2] [at 30 4] [ not known]]}" {
		t.Errorf("%v, %v", table, err)
	}
}

// TestScales: the numbers beside a curve are round, whatever its size.
func TestScales(t *testing.T) {
	for value, want := range map[string]string{"0": "10.50", "0.3": "0.40.20", "1": "10.50", "7": "840", "10": "1050", "999": "10005000", "1234567": "2M1M0",
		"0.0000003": "0.00000040.00000020", "115792089237316195423570985008687907853269984665640564039457584007913129639935": "2e771e770"} {
		want = strings.Replace(want, "10005000", "1k5000", 1)
		if got := only(t, read(t, chart.Area{ID: "a", Points: values(value)}), "div", "scale").text; got != want {
			t.Errorf("%s has the scale %q, want %q", value, got, want)
		}
	}
}

package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/chart"
)

// rect is what was drawn, in percent.
type rect struct {
	class               string
	x, y, width, height float64
}

// drawn reads the bars and the labels of a chart.
func drawn(t *testing.T, c chart.Bars) (rects []rect, labels []string, page string) {
	t.Helper()
	html, err := c.HTML()
	if err != nil {
		t.Fatal(err)
	}
	page = string(html)
	d := xml.NewDecoder(strings.NewReader("<x>" + page + "</x>"))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return rects, labels, page
		} else if err != nil {
			t.Fatalf("%v in %s", err, page)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			if e.Name.Local != "rect" {
				continue
			}
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
			}
			if at["class"] == "hit" || at["x"] == "" {
				continue
			}
			percent := func(name string) float64 {
				f, err := strconv.ParseFloat(strings.TrimSuffix(at[name], "%"), 64)
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			rects = append(rects, rect{at["class"], percent("x"), percent("y"), percent("width"), percent("height")})
		case xml.CharData:
			if inText {
				labels = append(labels, string(e))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-3 }

// TestBars holds heights against counts: they are in proportion, stand on one another
// and on the same ground, and nothing leaves the picture.
func TestBars(t *testing.T) {
	c := chart.Bars{ID: "a", Title: "Requests", Description: "Some", Parts: []chart.Part{{"fine", "good"}, {"failed", "bad"}}}
	counts := [][]int64{{10, 0}, {0, 0}, {30, 10}, {0, 5}}
	for i, n := range counts {
		c.Bars = append(c.Bars, chart.Bar{Label: strconv.Itoa(i), Title: "bar", Counts: n})
	}
	rects, labels, page := drawn(t, c)
	if len(rects) != 4 || strings.Join(labels, "") != "0123" {
		t.Fatalf("%+v, %v", rects, labels)
	}
	unit := rects[0].height / 10
	for i, want := range []struct {
		class string
		n     float64
		bar   int
	}{{"good", 10, 0}, {"good", 30, 2}, {"bad", 10, 2}, {"bad", 5, 3}} {
		r := rects[i]
		if r.class != want.class || !near(r.height, want.n*unit) || r.x < float64(want.bar)*25 || r.x+r.width > float64(want.bar+1)*25 || r.y < 0 || r.y+r.height > 100 {
			t.Errorf("bar %d: %+v, want %+v", i, r, want)
		}
	}
	ground := rects[0].y + rects[0].height
	if !near(rects[1].y+rects[1].height, ground) || !near(rects[2].y+rects[2].height, rects[1].y) || !near(rects[3].y+rects[3].height, ground) {
		t.Errorf("they do not stand on one another: %+v", rects)
	}
	if !near(rects[2].y, 0) || !strings.Contains(page, "<span>40</span><span>20</span><span>0</span>") {
		t.Errorf("the highest is 40 of 40: %+v\n%s", rects[2], page)
	}
	for _, want := range []string{`aria-labelledby="a-title a-desc"`, `id="a-title"`, `<desc id="a-desc">Some</desc>`, "<title>bar</title>"} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s: %s", want, page)
		}
	}
	if strings.Contains(page, "style=") {
		t.Error("the pages' policy allows no style in an element")
	}
}

// TestManyBars: labels stay few, and what is drawn stays inside.
func TestManyBars(t *testing.T) {
	c := chart.Bars{ID: "a", Title: "t", Parts: []chart.Part{{"n", "good"}}}
	for i := range 168 {
		c.Bars = append(c.Bars, chart.Bar{Label: "label", Counts: []int64{int64(i) * 1e15}})
	}
	rects, labels, _ := drawn(t, c)
	if len(rects) != 167 || len(labels) > 5 || len(labels) < 3 {
		t.Errorf("%d bars, %d labels", len(rects), len(labels))
	}
	for _, r := range rects {
		if r.y < -1e-3 || r.x+r.width > 100.001 {
			t.Errorf("%+v", r)
		}
	}
}

func TestNothingIsDrawnFlat(t *testing.T) {
	c := chart.Bars{ID: "a", Title: "t", Parts: []chart.Part{{"n", "good"}}, Bars: []chart.Bar{{Counts: []int64{0}}}}
	if rects, _, page := drawn(t, c); len(rects) != 0 || !strings.Contains(page, "<span>2</span><span>1</span><span>0</span>") {
		t.Errorf("%+v %s", rects, page)
	}
	for _, bad := range []chart.Bars{
		{}, {Parts: c.Parts}, {Bars: c.Bars},
		{Parts: c.Parts, Bars: slices.Repeat(c.Bars, 401)},
		{Parts: c.Parts, Bars: []chart.Bar{{Counts: []int64{1, 2}}}}, {Parts: c.Parts, Bars: []chart.Bar{{Counts: []int64{-1}}}},
	} {
		if _, err := bad.HTML(); err == nil {
			t.Errorf("%+v was drawn", bad)
		}
	}
}

// TestTextStaysText: what a chart is told may come from anywhere.
func TestTextStaysText(t *testing.T) {
	evil := `"><script>x</script>`
	c := chart.Bars{ID: evil, Title: evil, Description: evil, Parts: []chart.Part{{evil, evil}}, Bars: []chart.Bar{{Label: evil, Title: evil, Counts: []int64{1}}}}
	if _, _, page := drawn(t, c); strings.Contains(page, "<script") {
		t.Error(page)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 2: 2, 3: 4, 9: 10, 10: 10, 11: 20, 41: 60, 99: 100, 101: 200, 1234: 2000, math.MaxInt64: math.MaxInt64} {
		if got := chart.Ceiling(n); got != want || got < n {
			t.Errorf("%d gives %d, want %d", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1500: "1.5k", 1234: "1234", 2e6: "2M", 4e10: "40G"} {
		if got := chart.Short(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

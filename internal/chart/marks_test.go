package chart_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/chart"
)

func TestFinality(t *testing.T) {
	c := chart.Finality{Title: "Finality", Marks: []chart.Mark{{Name: "on L2", State: chart.Reached, Href: "/proof"}, {Name: "deep", State: chart.Waiting, Note: "12 of 64"}, {Name: "on L1"}}}
	all := read(t, c)
	items := named(all, "li", "")
	for i, want := range []string{"on L2: reached. reached", "deep: not yet. 12 of 64", "on L1: not known. not known"} {
		if got := strings.TrimSpace(items[i].text); !strings.HasSuffix(got, want) {
			t.Errorf("mark %d: %q, want %q", i, got, want)
		}
	}
	// Each state has a shape of its own, and the way to it has its class.
	if len(named(all, "circle", "disc")) != 1 || len(named(all, "circle", "ring")) != 2 || len(named(all, "text", "ask")) != 1 {
		t.Errorf("%+v", all)
	}
	lines := named(all, "line", "")
	if len(lines) != 2 || lines[0].at["class"] != "s-waiting" || lines[1].at["class"] != "s-unknown" {
		t.Errorf("%+v", lines)
	}
	if link := only(t, all, "a", ""); link.at["href"] != "/proof" {
		t.Errorf("%+v", link)
	}
	for _, n := range []int{0, 5} {
		if _, err := (chart.Finality{Marks: make([]chart.Mark, n)}).HTML(); err == nil {
			t.Errorf("%d marks were drawn", n)
		}
	}
}

func TestRibbon(t *testing.T) {
	c := chart.Ribbon{Title: "Newest blocks"}
	for i := range 40 {
		c.Boxes = append(c.Boxes, chart.Box{Key: strconv.Itoa(i), Href: "/block/" + strconv.Itoa(i), Text: "Block " + strconv.Itoa(i), Full: new(float64(i) / 40), Marks: i % 4})
	}
	c.Boxes[3].Full = nil
	all := read(t, c)
	links, items := named(all, "a", ""), named(all, "li", "")
	if len(items) != 16 || len(links) != 16 || links[5].at["href"] != "/block/5" || links[5].at["title"] != "Block 5" || strings.TrimSpace(links[5].text) != "Block 5" || items[5].at["data-key"] != "5" || items[5].at["class"] != "m1" {
		t.Errorf("%d boxes: %+v, %+v", len(items), items[5], links[5])
	}
	levels, vessels := named(all, "rect", "level"), named(all, "rect", "vessel")
	if len(levels) != 15 || len(vessels) != 16 || len(named(all, "rect", "blank")) != 1 {
		t.Fatalf("%d levels in %d vessels: what is not known is not empty", len(levels), len(vessels))
	}
	// The fourth is not known, so that number 8 of the list is the seventh level.
	if four, eight := levels[3], levels[7]; !near(eight.number(t, "height"), 2*four.number(t, "height")) || !near(eight.number(t, "y")+eight.number(t, "height"), four.number(t, "y")+four.number(t, "height")) {
		t.Errorf("%+v is not twice %+v", levels[7], levels[3])
	}
	if on := named(all, "circle", "on"); len(on) != 16/4*(0+1+2+3) {
		t.Errorf("%d marks are reached", len(on))
	}
	one, err := c.Boxes[5].HTML()
	whole, wholeErr := c.HTML()
	if err != nil || wholeErr != nil || !strings.Contains(string(whole), string(one)) {
		t.Errorf("a box by itself is not what it is in the ribbon: %s", one)
	}
	for _, bad := range []chart.Box{{Full: new(1.1)}, {Full: new(-0.1)}, {Marks: 4}, {Marks: -1}} {
		if _, err := bad.HTML(); err == nil {
			t.Errorf("%+v was drawn", bad)
		}
		if _, err := (chart.Ribbon{Boxes: []chart.Box{bad}}).HTML(); err == nil {
			t.Errorf("%+v was drawn in a ribbon", bad)
		}
	}
	if _, err := (chart.Ribbon{}).HTML(); err == nil {
		t.Error("nothing was drawn")
	}
}

func TestFlow(t *testing.T) {
	a, b, c := party(1), party(2), party(3)
	f := chart.Flow{ID: "f", Title: "Transfers", Arrows: []chart.Arrow{{From: a, To: b, Amount: "5 STRK", Title: "5.000001 STRK"}, {From: a, To: c}, {From: b, To: chart.Party{Text: "nobody"}, Amount: "1"}, {From: a, To: b, Amount: "2"}}}
	all := read(t, f)
	var said []string
	for _, li := range named(all, "li", "") {
		said = append(said, strings.Join(strings.Fields(li.text), " "))
	}
	want := []string{a.Text + " sent 5 STRK to " + b.Text, a.Text + " sent amount not known to " + c.Text, b.Text + " sent 1 to nobody", a.Text + " sent 2 to " + b.Text}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("it reads\n%s", strings.Join(said, "\n"))
	}
	// The second arrow branches from the first; the last does not, as another is between.
	if branches := named(all, "svg", "branch"); len(branches) != 2 {
		t.Errorf("%d branches", len(branches))
	}
	if links := named(all, "a", ""); len(links) != 3+3 || links[0].at["href"] != a.Href || links[0].at["title"] != a.Title {
		t.Errorf("%d links, %+v", len(links), links[0])
	}
	if len(named(all, "p", "rest")) != 0 {
		t.Error("nothing is left out")
	}
	for i := range 20 {
		f.Arrows = append(f.Arrows, chart.Arrow{From: party(i), To: a, Amount: "1"})
	}
	for total, rest := range map[int]string{0: "12 more not drawn.", 24: "12 more not drawn.", 1234: "1,222 more not drawn."} {
		f.Total = total
		all := read(t, f)
		if drawn := named(all, "li", ""); len(drawn) != 12 || only(t, all, "p", "rest").text != rest {
			t.Errorf("%d drawn, %q", len(drawn), only(t, all, "p", "rest").text)
		}
	}
	if _, err := (chart.Flow{}).HTML(); err == nil {
		t.Error("nothing was drawn")
	}
}

// FuzzTextIsNeverMarkup gives strange texts to every chart.
func FuzzTextIsNeverMarkup(f *testing.F) {
	for _, s := range []string{`"><script>x</script>`, "\x00\x01\x1f", "\xff\xfe", "]]>", "<!--", "&#0;", "javascript:alert(1)", "' onload='x", "\u202ereversed\u2066", "\ufffe", "日本", "{{.}}", "</title></svg><img src=x>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var names, got []string
		for _, d := range strange("calm") {
			for _, e := range read(t, d) {
				names = append(names, e.name)
			}
		}
		for _, d := range strange(s) {
			for _, e := range read(t, d) {
				got = append(got, e.name)
				for name, value := range e.at {
					if strings.HasPrefix(name, "on") || name == "style" || name == "href" && strings.HasPrefix(strings.ToLower(value), "javascript:") {
						t.Errorf("%T: <%s %s=%q>", d, e.name, name, value)
					}
				}
				if strings.ContainsAny(e.text, "\u202e\u2066\x00\x01") {
					t.Errorf("%T: %q", d, e.text)
				}
			}
		}
		// How many labels have room depends on how long they are.
		isText := func(name string) bool { return name == "text" }
		got, names = slices.DeleteFunc(got, isText), slices.DeleteFunc(names, isText)
		if strings.TrimSpace(s) != "" && !slices.Equal(got, names) {
			t.Errorf("%q changes what is drawn:\n%v\n%v", s, got, names)
		}
	})
}

// strange has a text wherever a chart takes one.
func strange(s string) []drawing {
	p := chart.Party{Text: s, Title: s, Href: s, Key: "k"}
	point := []chart.Point{{Label: s, Title: s, Value: "1"}, {At: 1, Label: s, Title: s}}
	return []drawing{
		chart.Area{ID: s, Title: s, Description: s, Axis: s, Unit: s, Points: point},
		chart.Steps{ID: s, Title: s, Description: s, Axis: s, Unit: s, Points: point, Until: 3, UntilLabel: s},
		chart.Spark{Title: s, Unit: s, Points: point},
		chart.Finality{Title: s, Marks: []chart.Mark{{Name: s, Note: s, Href: s}}},
		chart.Ribbon{Title: s, Boxes: []chart.Box{{Key: s, Href: s, Text: s, Name: s, Note: s}}},
		chart.Flow{ID: s, Title: s, All: s, Total: 9, Arrows: []chart.Arrow{{From: p, To: p, Amount: s, Title: s}}},
		chart.Bars{ID: s, Title: s, Description: s, Parts: []chart.Part{{Name: s, Class: s}}, Bars: []chart.Bar{{Label: s, Title: s, Counts: []int64{1}}}},
		chart.Histogram{ID: s, Title: s, Description: s, Unit: s, Of: s, Buckets: []chart.Bucket{{From: s, To: s, Count: 1}, {From: s, Count: 2}}},
		chart.Distribution{ID: s, Title: s, Description: s, Of: s, Ranks: []chart.Rank{{1, "5"}, {9, ""}}},
		chart.Timeline{ID: s, Title: s, FromLabel: s, ToLabel: s, Total: 9, All: s, Events: []chart.Event{{When: s, Name: s, Note: s, Href: s, Class: s}, {At: 1, When: s, Name: s, Note: s, Href: s}}},
		chart.Lanes{ID: s, Title: s, Left: s, Right: s, Stops: []chart.Stop{{Name: s, Note: s, Href: s}, {Right: true, Name: s, Note: s, Href: s, State: chart.Failed}}},
		chart.Table{Head: []string{s}, Rows: [][]string{{s, s}}},
	}
}

// TestSameAgain: what is drawn depends on what is given alone, and has no style that
// the pages' policy would refuse.
func TestSameAgain(t *testing.T) {
	one, two := page(t), page(t)
	if one != two {
		t.Error("the same charts are drawn differently")
	}
	if strings.Contains(string(one), "style=") || strings.Contains(string(one), "<style") {
		t.Error("the pages' policy allows no style in an element")
	}
}

package accountpages

import (
	"context"
	"fmt"
	"html/template"
	"time"

	"chainexplorer/internal/chart"
	"chainexplorer/internal/usage"
)

// window is how far back the page of usage looks, and how long its steps are.
type window struct {
	Name  string // in the address
	Text  string
	step  time.Duration
	steps int
	each  string // what a bar stands for
	label string // how one is labelled, as in package time
}

// windows are from the shortest to the longest, whose counts are still kept.
var windows = []window{
	{"24h", "24 hours", time.Hour, 24, "hour", "15:04"},
	{"7d", "7 days", 6 * time.Hour, 28, "six hours", "Jan 2"},
	{"30d", "30 days", 24 * time.Hour, 30, "day", "Jan 2"},
}

// start is when the first step begins. The last one is not over.
func (w *window) start(now time.Time) time.Time {
	return now.UTC().Truncate(w.step).Add(-time.Duration(w.steps-1) * w.step)
}

// windowNamed is the one that an address asks for; the first when it names none.
func windowNamed(name string) window {
	for _, w := range windows {
		if w.Name == name {
			return w
		}
	}
	return windows[0]
}

// used is what was asked for in some time.
type used struct {
	At                 time.Time // it begins
	Requests, Failures int64
}

// classUse is what was asked of a class.
type classUse struct {
	class
	Requests, Failures int64
}

type usagePage struct {
	usage.Usage
	Now      time.Time
	Window   window
	Windows  []window
	Chart    template.HTML
	Steps    []used // for those who cannot see the chart
	Classes  []classUse
	Keys     []usage.PerKey // that asked for something
	Idle     int            // keys that asked for nothing
	KeepDays int
	OneDays  int // how long a single request is kept
	Shown    int // rows that are not folded away
}

func (p *pages) usage(ctx context.Context, v *visit) (*sheet, error) {
	w := windowNamed(v.asks.Get("window"))
	start := w.start(v.now)
	u, err := p.Usage.Of(ctx, v.who.WorkspaceID, v.now.Sub(start))
	if err != nil {
		return nil, err
	}
	hours, err := p.Usage.Series(ctx, v.who.WorkspaceID, v.now.Sub(start))
	if err != nil {
		return nil, err
	}
	page := usagePage{Usage: u, Now: v.now, Window: w, Windows: windows, Shown: 10,
		KeepDays: int(usage.KeepCounts / (24 * time.Hour)), OneDays: int(usage.KeepEvents / (24 * time.Hour))}
	page.Steps = steps(w, start, hours)
	for _, c := range classes(v.who.Plan.Policy()) {
		of := classUse{class: c}
		for _, h := range hours {
			if h.LoadClass == string(c.Name) {
				of.Requests, of.Failures = of.Requests+h.Requests, of.Failures+h.Failures
			}
		}
		page.Classes = append(page.Classes, of)
	}
	for _, k := range u.PerKey {
		if k.TotalRequests == 0 {
			page.Idle++
			continue
		}
		page.Keys = append(page.Keys, k)
	}
	if page.Chart, err = draw(w, page.Steps); err != nil {
		return nil, err
	}
	return &sheet{title: "Usage", name: "usage.html", data: &page}, nil
}

// steps adds hours up to the steps of a window. Steps without a request are there, too.
func steps(w window, start time.Time, hours []usage.Step) []used {
	out := make([]used, w.steps)
	for i := range out {
		out[i].At = start.Add(time.Duration(i) * w.step)
	}
	for _, h := range hours {
		if i := int(h.Hour.Sub(start) / w.step); i >= 0 && i < len(out) && !h.Hour.Before(start) {
			out[i].Requests += h.Requests
			out[i].Failures += h.Failures
		}
	}
	return out
}

// draw makes the chart of a window.
func draw(w window, list []used) (template.HTML, error) {
	c := chart.Bars{ID: "requests", Title: fmt.Sprintf("Requests per %s, last %s (UTC)", w.each, w.Text),
		Parts: []chart.Part{{Name: "answered", Class: "answered"}, {Name: "failed", Class: "failed"}}}
	var all, failed int64
	busiest := list[0]
	for _, s := range list {
		all, failed = all+s.Requests, failed+s.Failures
		if s.Requests > busiest.Requests {
			busiest = s
		}
		c.Bars = append(c.Bars, chart.Bar{Label: s.At.Format(w.label), Counts: []int64{s.Requests - s.Failures, s.Failures},
			Title: fmt.Sprintf("%s UTC: %s, %s failed", s.At.Format("2006-01-02 15:04"), plural(int(s.Requests), "request"), count(s.Failures))})
	}
	c.Description = fmt.Sprintf("%s, %s of them failed.", plural(int(all), "request"), count(failed))
	if all > 0 {
		c.Description += fmt.Sprintf(" The busiest %s began at %s UTC, with %s.", w.each, busiest.At.Format("2006-01-02 15:04"), plural(int(busiest.Requests), "request"))
	}
	return c.HTML()
}

package accountpages

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"chainexplorer/internal/usage"
	"chainexplorer/internal/web"
)

// funcs are what the templates call beside those of package web.
var funcs = template.FuncMap{
	"ago": ago, "count": count, "percent": percent, "join": strings.Join, "perMinute": perMinute, "day": day, "requests": requests,
}

// ago is how long a moment is past, or what never was; the moment itself shows on
// hovering.
func ago(now time.Time, at any, never string) template.HTML {
	var t time.Time
	switch at := at.(type) {
	case time.Time:
		t = at
	case *time.Time:
		if at == nil {
			return template.HTML(`<span class="soft">` + template.HTMLEscapeString(never) + `</span>`) //nolint:gosec // escaped
		}
		t = *at
	}
	t = t.UTC()
	text := distance(now.Sub(t))
	if text == "" {
		text = t.Format("2006-01-02")
	}
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `" title="` + t.Format("2006-01-02 15:04:05") + ` UTC">` + text + `</time>`) //nolint:gosec // digits and fixed text
}

// distance says how far away a moment is, in words; "" when it is so far that its date
// says more.
func distance(d time.Duration) string {
	form := "%s ago"
	if d < 0 {
		form, d = "in %s", -d
	}
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf(form, fmt.Sprintf("%d s", int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d min", int(d/time.Minute)))
	case d < 48*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d h", int(d/time.Hour)))
	case d < 30*24*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d days", int(d/(24*time.Hour))))
	}
	return ""
}

// count writes a number that is never less than zero.
func count(n any) string {
	switch n := n.(type) {
	case int:
		return web.Group(uint64(max(n, 0)))
	case int64:
		return web.Group(uint64(max(n, 0)))
	case *int64:
		return count(*n)
	}
	return ""
}

// percent is a share; of nothing there is none. What is not quite nothing, or not quite
// all, is not rounded to it.
func percent(part, whole int64) string {
	switch {
	case whole == 0:
		return "–"
	case part == 0:
		return "0%"
	case part == whole:
		return "100%"
	}
	switch p := float64(part) / float64(whole) * 100; {
	case p < 0.1:
		return "<0.1%"
	case p > 99.9:
		return ">99.9%"
	default:
		return fmt.Sprintf("%.1f%%", p)
	}
}

// requestList is a list of requests, of which the first ones are shown at once.
type requestList struct {
	First, Rest requestRows
	More        bool
}

type requestRows struct {
	Now  time.Time
	List []usage.Requested
}

func requests(now time.Time, list []usage.Requested, shown int, more bool) requestList {
	shown = min(shown, len(list))
	return requestList{requestRows{now, list[:shown]}, requestRows{now, list[shown:]}, more}
}

func perMinute(n int) string { return count(n) + " a minute" }

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// plural is a number of things.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return count(n) + " " + word + "s"
}

// Package chart draws numbers for the service's pages, on the server.
//
// A chart is SVG whose measures are percentages, so that it is as wide as the page
// and its text never shrinks with it. It has no colour and no style of its own: the
// style sheet gives them to the classes, in light and in dark. Whoever cannot see it
// has its title and description, and the same numbers as a table.
//
// Numbers over time or blocks are [Spark], [Area], [Steps] and [Bars]; how they are spread
// [Histogram] and [Distribution]. What is made of words more than of numbers is a list with
// marks drawn beside it, which needs no table: [Flow], [Finality], [Ribbon], [Timeline] and
// [Lanes]. [Identicon] is a picture of an address.
//
// A chart says no more than it is told: what is not known is a gap or a mark of its own,
// never zero. It is bounded: of more values than there is room for it keeps the lowest and
// the highest of each stretch, and says so. All text is escaped, whatever it holds.
package chart

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/markup"
)

var templates = template.Must(template.New("").Parse(figureTemplate + tableTemplate + sparkTemplate + flowTemplate + ribbonTemplate + timelineTemplate + lanesTemplate))

// render draws with a template, which escapes.
func render(name string, data any) (template.HTML, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		return "", fmt.Errorf("chart: draw a %s: %w", name, err)
	}
	return template.HTML(strings.Map(printable, out.String())), nil //nolint:gosec // made by a template, which escapes
}

// text writes a text of others.
func text(w *markup.Writer, s string) { w.Text(strings.Map(printable, s)) }

// printable drops what no chart has a use for: characters that XML forbids, and those
// that turn the direction of the text around them.
func printable(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f, r == '\n', r == '\t': // nearly all
		return r
	case unicode.IsControl(r), r == 0xfffe, r == 0xffff, unicode.Is(unicode.Bidi_Control, r):
		return utf8.RuneError
	}
	return r
}

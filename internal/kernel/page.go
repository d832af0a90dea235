package kernel

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Page says how many rows a list returns unless asked, and at most.
type Page struct{ Usual, Most int }

// String is the page in the words of the documents.
func (p Page) String() string {
	return fmt.Sprintf("1 to %s, %s by default", grouped(p.Most), grouped(p.Usual))
}

// grouped sets the thousands of a page size apart.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// Limit is a page size of a request. One that is out of range is clamped, to one
// or to the most of the route's Page, which the kernel fills in.
type Limit struct {
	value int
	given bool
	page  Page
}

// Schema documents no bounds, because both clamp.
func (Limit) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Description: "Page size. A value out of range is clamped to 1 or to the maximum."}
}

// Size is how many rows to return.
func (l Limit) Size() int {
	if !l.given {
		return l.page.Usual
	}
	return min(max(l.value, 1), l.page.Most)
}

// Most is the largest size of the route.
func (l Limit) Most() int { return l.page.Most }

// BodyLimit is a Limit in a body.
type BodyLimit struct{ Limit }

// UnmarshalJSON takes any whole number; Huma has looked at its kind before. Null is as
// if it were not there, as with every other member that need not be.
func (l *BodyLimit) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	whole, ok := clampedInteger(string(b))
	n, err := strconv.Atoi(whole)
	if !ok || err != nil {
		return errors.New("it is not a whole number")
	}
	l.value, l.given = n, true
	return nil
}

// PageParameter is the parameter of the query, or the field of the body, that
// takes the page size; "" of a route without one.
func (r *Route) PageParameter() string { return r.pageParameter }

// setPage finds the Limit of a request and holds it against the Page of the route:
// a list without sizes would return nothing, and sizes without a list would be
// documented and do nothing.
func (r *Route) setPage(input reflect.Type) {
	limits := limitsOf(input)
	switch {
	case len(limits) > 1:
		panic(fmt.Sprintf("kernel: route %s takes several page sizes: %s", r.ID, strings.Join(limits, ", ")))
	case len(limits) == 1 && (r.Page.Usual < 1 || r.Page.Most < r.Page.Usual):
		panic(fmt.Sprintf("kernel: route %s takes %s and has no Page to bound it: %+v", r.ID, limits[0], r.Page))
	case len(limits) == 0 && r.Page != Page{}:
		panic(fmt.Sprintf("kernel: route %s has a Page and takes no Limit", r.ID))
	case len(limits) == 1:
		r.pageParameter = limits[0]
		r.Description = strings.ReplaceAll(r.Description, "{page}", r.Page.String())
	}
}

// limitsOf names the page sizes of a request, in the query and in the body.
func limitsOf(input reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(input) {
		switch {
		case f.Type == reflect.TypeFor[Limit]() && f.Tag.Get("query") != "":
			names = append(names, f.Tag.Get("query"))
		case f.Type == reflect.TypeFor[BodyLimit]():
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		case f.Name == "Body" && f.Type.Kind() == reflect.Struct:
			names = append(names, limitsOf(f.Type)...)
		}
	}
	return names
}

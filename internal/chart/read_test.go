package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// element is one of a drawing, with all the text in it.
type element struct {
	name, text string
	at         map[string]string
}

// number reads a measure.
func (e element) number(t *testing.T, name string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(e.at[name], "%"), 64)
	if err != nil {
		t.Fatalf("%s of %+v: %v", name, e, err)
	}
	return f
}

// read takes a drawing apart. It must be well formed.
func read(t *testing.T, d drawing) []element {
	t.Helper()
	html, err := d.HTML()
	if err != nil {
		t.Fatalf("%T: %v", d, err)
	}
	all, err := parse(string(html))
	if err != nil {
		t.Fatalf("%T: %v in %s", d, err, html)
	}
	return all
}

func parse(html string) (all []element, err error) {
	d := xml.NewDecoder(strings.NewReader("<x>" + html + "</x>"))
	d.Strict = true
	var open []int
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all[1:], nil
		} else if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			el := element{name: e.Name.Local, at: map[string]string{}}
			for _, a := range e.Attr {
				el.at[a.Name.Local] = a.Value
			}
			open = append(open, len(all))
			all = append(all, el)
		case xml.CharData:
			for _, i := range open {
				all[i].text += string(e)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// named are the elements of a name that have a class, or any.
func named(all []element, name, class string) (found []element) {
	for _, e := range all {
		if e.name == name && (class == "" || strings.Contains(" "+e.at["class"]+" ", " "+class+" ")) {
			found = append(found, e)
		}
	}
	return found
}

func only(t *testing.T, all []element, name, class string) element {
	t.Helper()
	found := named(all, name, class)
	if len(found) != 1 {
		t.Fatalf("%d of %s.%s in %+v", len(found), name, class, all)
	}
	return found[0]
}

type place struct{ x, y float64 }

var step = regexp.MustCompile(`([MLHVhZ])([-0-9.]*) ?([-0-9.]*)`)

// runs are the lines of a path, each from place to place.
func runs(t *testing.T, d string) (all [][]place) {
	t.Helper()
	read := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		return f
	}
	var at place
	for _, m := range step.FindAllStringSubmatch(d, -1) {
		switch m[1] {
		case "M":
			all = append(all, nil)
			at = place{read(m[2]), read(m[3])}
		case "L":
			at = place{read(m[2]), read(m[3])}
		case "H":
			at.x = read(m[2])
		case "V":
			at.y = read(m[2])
		default:
			continue
		}
		all[len(all)-1] = append(all[len(all)-1], at)
	}
	return all
}

func nearly(a, b float64) bool { return math.Abs(a-b) < 0.02 }

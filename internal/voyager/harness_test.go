package voyager_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/internal/servertest"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

const blocks = 60

type object = map[string]any

// feed asks the feed as an adapter does, with the key in the short header.
type feed struct {
	*servertest.World
	key string
}

func feedOf(w *servertest.World) feed { return feed{w, w.Key} }

// get asks for a path that is answered.
func (f feed) get(path string) object {
	f.T.Helper()
	r := f.Do(http.MethodGet, "/beta"+path, "", "x-api-key", f.key)
	if r.StatusCode != http.StatusOK {
		f.T.Fatalf("GET %s: %d %.300s", path, r.StatusCode, r.Plain())
	}
	return decode(f.T, r)
}

// refused asks for a path that is not, and returns why.
func (f feed) refused(path string, status int) string {
	f.T.Helper()
	r := f.Do(http.MethodGet, "/beta"+path, "", "x-api-key", f.key)
	if r.StatusCode != status {
		f.T.Errorf("GET %s: %d %.300s, want %d", path, r.StatusCode, r.Plain(), status)
	}
	text, _ := decode(f.T, r)["error"].(string) //nolint:errcheck // servertest looks at the shape
	return text
}

func decode(t *testing.T, r servertest.Reply) (out object) {
	t.Helper()
	if err := json.Unmarshal(r.Plain(), &out); err != nil {
		t.Fatalf("%v in %s", err, r.Plain())
	}
	return out
}

// page is a page of a list.
func (f feed) page(path string, p, ps int) (items []object, lastPage int) {
	f.T.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	return itemsOf(f.T, f.get(fmt.Sprintf("%s%sp=%d&ps=%d", path, sep, p, ps)))
}

func itemsOf(t *testing.T, body object) (items []object, lastPage int) {
	t.Helper()
	list, ok := body["items"].([]any)
	last, isNumber := body["lastPage"].(float64)
	if !ok || !isNumber || len(body) != 2 {
		t.Fatalf("not a page: %v", body)
	}
	for _, i := range list {
		items = append(items, i.(object)) //nolint:errcheck // panics where it is none
	}
	return items, int(last)
}

// untilShort is an adapter that pages until a page is short.
func (f feed) untilShort(path string, ps int) (all []object) {
	f.T.Helper()
	for p := 1; ; p++ {
		items, _ := f.page(path, p, ps)
		if all = append(all, items...); len(items) < ps {
			return all
		}
	}
}

// untilLast is an adapter that pages until the last page.
func (f feed) untilLast(path string, ps int) (all []object) {
	f.T.Helper()
	for p := 1; ; p++ {
		items, last := f.page(path, p, ps)
		if all = append(all, items...); p >= last {
			return all
		}
	}
}

// plain is a value as JSON has it.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// same compares what was answered with what is true.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := differ(what, plain(t, got), plain(t, want)); diff != "" {
		t.Error(diff)
	}
}

// differ names the first place in which two values differ.
func differ(at string, got, want any) string {
	switch w := want.(type) {
	case object:
		g, ok := got.(object)
		if !ok {
			break
		}
		for name := range w {
			if _, ok := g[name]; !ok {
				return fmt.Sprintf("%s: there is no %s", at, name)
			}
		}
		for name := range g {
			if _, ok := w[name]; !ok {
				return fmt.Sprintf("%s: there is a %s", at, name)
			}
			if diff := differ(at+"."+name, g[name], w[name]); diff != "" {
				return diff
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(g), len(w)) {
			if diff := differ(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); diff != "" {
				return diff
			}
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s: %d, want %d", at, len(g), len(w))
		}
		return ""
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("%s: %.200v, want %.200v", at, got, want)
}

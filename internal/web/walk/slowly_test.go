package walk_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/web/walk"
)

// pieces are what a page is sent in: its browser has shown one before the next comes.
const pieces = 5

// slowLine serves the pages of a demo in pieces. After each but the last it waits for seen.
type slowLine struct {
	d    *walk.Demo
	seen chan struct{}
}

func (s *slowLine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, err := s.d.Get(r.Context(), r.URL.RequestURI())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	kind := page.Header.Get("Content-Type")
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(page.Body)))
	w.WriteHeader(page.Status)
	if !strings.HasPrefix(kind, "text/html") {
		w.Write(page.Body) //nolint:errcheck // a browser that has left misses nothing
		return
	}
	for i, part := range inPieces(page.Body) {
		if i > 0 {
			select {
			case <-s.seen:
			case <-r.Context().Done():
				return
			}
		}
		w.Write(part)                         //nolint:errcheck // as above
		http.NewResponseController(w).Flush() //nolint:errcheck // as above
	}
}

// inPieces cuts a page: where its main part begins, and from there evenly, but at ends of
// elements; the last piece is what comes after the foot, with which the script may run.
func inPieces(body []byte) (all [][]byte) {
	text := string(body)
	from := max(strings.Index(text, "<main"), 0)
	foot := strings.Index(text, "</footer>")
	step := (foot - from) / (pieces - 1)
	start := 0
	for i := 1; i < pieces; i++ {
		cut := from + i*step
		if i == pieces-1 {
			cut = foot
		}
		if end := strings.Index(text[cut:], "</"); end >= 0 {
			cut += end + strings.IndexByte(text[cut+end:], '>') + 1
		}
		all = append(all, body[start:cut])
		start = cut
	}
	return append(all, body[start:])
}

// painted is true when what has come of a page was shown.
const painted = `new Promise((yes) => requestAnimationFrame(() => requestAnimationFrame(() => yes(true))))`

// TestNothingMovesWhileItComes: pages that come slowly show what has come, and what is shown
// stays where it is.
func TestNothingMovesWhileItComes(t *testing.T) {
	b, d := browser(t, ""), still(t)
	f := factsOf(t, d, "SN_SEPOLIA")
	line := &slowLine{d, make(chan struct{})}
	srv := httptest.NewServer(line)
	t.Cleanup(srv.Close)
	for _, screen := range []walk.Screen{phone, desk} {
		if err := b.Show(screen); err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			path := p.path(f)
			if !strings.HasPrefix(path, "/"+f.chain) {
				continue // lists are those of a chain
			}
			t.Run(p.name+", "+screen.String(), func(t *testing.T) {
				if err := line.visit(t.Context(), b, srv.URL+path); err != nil {
					t.Fatal(err)
				}
				l, err := b.Look()
				if err != nil {
					t.Fatal(err)
				}
				for _, problem := range l.Problems(screen, srv.URL) {
					t.Errorf("%s: %s", path, problem)
				}
			})
		}
	}
}

// visit opens a page, and lets each piece come when the one before was shown.
func (s *slowLine) visit(ctx context.Context, b *walk.Browser, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := b.Begin(address); err != nil {
		return err
	}
	if err := b.Until(`performance.getEntriesByName("first-contentful-paint").length > 0`); err != nil {
		return err
	}
	for range pieces - 1 {
		if _, err := walk.Eval[bool](b, painted); err != nil {
			return err
		}
		select {
		case s.seen <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := b.Until(`document.readyState === "complete"`); err != nil {
		return err
	}
	_, err := walk.Eval[bool](b, painted)
	return err
}

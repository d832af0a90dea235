package walk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"chainexplorer/internal/web/walk"
)

var (
	phone  = walk.Screen{Width: 390, Height: 844}
	tablet = walk.Screen{Width: 820, Height: 1180}
	desk   = walk.Screen{Width: 1440, Height: 900, Dark: true}
)

var buildDir string

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "walk-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if quiet != nil {
		quiet.Stop() //nolint:errcheck // the tests are over
	}
	os.RemoveAll(buildDir) //nolint:errcheck // of no use to anybody
	os.Exit(code)
}

var program = sync.OnceValues(func() (string, error) {
	// The program is compiled by the test: go test keeps the result of a test for as long
	// as the files that it has looked at are the same, and so it looks at the sources.
	for _, folder := range []string{"cmd", "internal", "docs"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return walk.Build(context.Background(), buildDir)
})

// started runs a demo with some flags.
func started(args ...string) (*walk.Demo, error) {
	exe, err := program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(buildDir, "demo-")
	if err != nil {
		return nil, err
	}
	return walk.Start(context.Background(), exe, dir, args...)
}

// quiet is a demo in which nothing happens while it is looked at, for all tests that only
// look; nil until one of them has asked for it.
var quiet *walk.Demo

var stillDemo = sync.OnceValues(func() (d *walk.Demo, err error) {
	quiet, err = started("--blocks=60", "--interval=10m", "--fork-rate=0")
	return quiet, err
})

func still(t *testing.T) *walk.Demo {
	t.Helper()
	d, err := stillDemo()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// browser opens one, with axe-core if the test needs it.
func browser(t *testing.T, axe string) *walk.Browser {
	t.Helper()
	b, end, err := walk.Open(t.Context(), axe)
	if errors.Is(err, walk.ErrNoBrowser) {
		t.Skip("chromium is not installed: scripts/tools.sh installs it")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	if err := b.Watch(); err != nil {
		t.Fatal(err)
	}
	return b
}

func axe(t *testing.T) string {
	t.Helper()
	source, err := walk.Axe(filepath.Join("..", "..", ".."), filepath.Join("testdata", "axe", "package-lock.json"))
	if errors.Is(err, walk.ErrNoAxe) {
		t.Skip("axe-core is not there in the version of package-lock.json: make tools installs it where it can")
	} else if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestEveryPage looks at every page on a telephone by day and on a wide screen by night,
// and at those of the second chain on a tablet.
func TestEveryPage(t *testing.T) {
	source := axe(t)
	b, d := browser(t, source), still(t)
	long, short := factsOf(t, d, "SN_SEPOLIA"), factsOf(t, d, "SN_MAIN")
	for _, turn := range []struct {
		screen walk.Screen
		facts  *facts
	}{{phone, long}, {desk, long}, {tablet, short}} {
		if err := b.Show(turn.screen); err != nil {
			t.Fatal(err)
		}
		if turn.facts == short {
			b.Judge("") // it has seen the same pages twice
		}
		for _, p := range places {
			path := p.path(turn.facts)
			if turn.facts == short && !strings.Contains(path, short.chain) {
				continue
			}
			t.Run(p.name+", "+turn.screen.String(), func(t *testing.T) {
				l, err := b.Visit(d.Base + path)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				if p.name == "nothing" { // that it is not found is said in the console
					l.Complaints, l.Resources[0].Status = nil, 200
				}
				problems := l.Problems(turn.screen, d.Base)
				if p.explorer {
					problems = append(problems, l.Unshared(d.Base)...)
				}
				for _, problem := range problems {
					t.Errorf("%s: %s", path, problem)
				}
			})
		}
	}
}

// TestAccountPages signs in by the link of a demo and looks at what people see of their
// workspace.
func TestAccountPages(t *testing.T) {
	b := browser(t, axe(t))
	d, err := started("--blocks=12", "--interval=10m")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Stop() //nolint:errcheck // the test is over
	look := func(path string, s walk.Screen) {
		t.Helper()
		if err := b.Show(s); err != nil {
			t.Fatal(err)
		}
		l, err := b.Visit(d.Base + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range l.Problems(s, d.Base) {
			t.Errorf("%s, %s: %s", path, s, problem)
		}
	}
	look(strings.TrimPrefix(d.Link, d.Base), phone)
	if err := b.Do(chromedp.Click(chromedp.CSS("main form button"))); err != nil {
		t.Fatal(err)
	}
	if err := b.Until(`location.pathname === "/account"`); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/account", "/account/keys", "/account/usage", "/account/members", "/account/redeem"} {
		look(path, phone)
		look(path, desk)
	}
}

// TestBadPageIsFound: a page with everything that the walk looks for does not pass.
func TestBadPageIsFound(t *testing.T) {
	b := browser(t, axe(t))
	if err := b.Show(phone); err != nil {
		t.Fatal(err)
	}
	bad := `<!doctype html><html><head><link rel="stylesheet" href="http://127.0.0.1:1/style.css"></head><body>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><p style="color:#aaa;background:#fff">too pale to be read</p><input>
<div style="width:900px">wide</div><table class="rows"><tr><td><time data-ago title="2026-01-02 03:04:05 UTC">3 min ago</time></table><script>console.error("planted"); setTimeout(() => { throw new Error("thrown") })</script></body></html>`
	l, err := b.Visit("data:text/html," + url.PathEscape(bad))
	if err != nil {
		t.Fatal(err)
	}
	problems := strings.Join(append(l.Problems(phone, "http://127.0.0.1:2"), l.Unshared("http://127.0.0.1:2")...), "\n")
	for _, want := range []string{"planted", "thrown", "style.css from elsewhere", "wide: ", "times move", "0 headings", "no title", "color-contrast", "image-alt", "label", "html-has-lang",
		"canonical", "as JSON", "og:title", "og:description"} {
		if !strings.Contains(problems, want) {
			t.Errorf("nothing is said of %q in\n%s", want, problems)
		}
	}
}

// mostLinks bounds what is asked for.
const mostLinks = 1500

// TestEveryLinkAnswers asks for whatever the pages link to or load, as a reader does, who
// gets no cookie.
func TestEveryLinkAnswers(t *testing.T) {
	d := still(t)
	asked := map[string]bool{}
	for _, chain := range []string{"SN_SEPOLIA", "SN_MAIN"} {
		f := factsOf(t, d, chain)
		for _, p := range places {
			path := p.path(f)
			page, err := d.Get(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if got := page.Header.Values("Set-Cookie"); len(got) > 0 && !strings.HasPrefix(path, "/login") {
				t.Errorf("%s sets a cookie: %q", path, got)
			}
			for _, link := range linksOf(t, d.Base+path, page.Body) {
				if asked[link] || !strings.HasPrefix(link, d.Base+"/") || slices.ContainsFunc(coming, func(part string) bool { return strings.Contains(link, part) }) {
					continue
				}
				asked[link] = true
				if err := answers(t.Context(), d, strings.TrimPrefix(link, d.Base)); err != nil {
					t.Errorf("%s links to %s: %v", path, link, err)
				}
			}
		}
	}
	if len(asked) < 20 || len(asked) > mostLinks {
		t.Errorf("%d links were asked for", len(asked))
	}
}

// answers asks for a link; those into the API with a key.
func answers(ctx context.Context, d *walk.Demo, path string) error {
	if strings.HasPrefix(path, "/v1/") {
		var any any
		return d.JSON(ctx, path, &any)
	}
	a, err := d.Get(ctx, path)
	if err == nil && a.Status >= 400 {
		err = fmt.Errorf("status %d", a.Status)
	}
	return err
}

// linksOf are what a page refers to.
func linksOf(t *testing.T, address string, page []byte) (links []string) {
	t.Helper()
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key != "href" && a.Key != "src" {
				continue
			}
			u, err := base.Parse(a.Val)
			if err != nil {
				t.Errorf("%s: %q: %v", address, a.Val, err)
				continue
			}
			u.Fragment = ""
			if link := u.String(); !slices.Contains(links, link) {
				links = append(links, link)
			}
		}
	}
	return links
}

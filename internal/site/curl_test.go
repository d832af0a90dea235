package site_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// shellWords splits a command as a shell would: words, double and single
// quotes, and a backslash at the end of a line. Variables are replaced outside
// single quotes.
func shellWords(command string, variables map[string]string) (words []string, err error) {
	command = strings.ReplaceAll(command, "\\\n", " ")
	command = regexp.MustCompile(`\$[A-Z_]+`).ReplaceAllStringFunc(command, func(name string) string {
		v, ok := variables[name[1:]]
		if !ok && err == nil {
			err = fmt.Errorf("%s is not set", name)
		}
		return v
	})
	var word strings.Builder
	inside, started := rune(0), false
	for _, c := range command {
		switch {
		case inside != 0 && c == inside:
			inside = 0
		case inside == 0 && (c == '"' || c == '\''):
			inside, started = c, true
		case inside == 0 && (c == ' ' || c == '\n'):
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		case inside == 0 && strings.ContainsRune("&;|<>()*?`", c):
			return nil, fmt.Errorf("%q means something to a shell", c)
		default:
			word.WriteRune(c)
			started = true
		}
	}
	if inside != 0 {
		return nil, fmt.Errorf("a quote is open")
	}
	if started {
		words = append(words, word.String())
	}
	return words, err
}

// curl sends what a curl command would.
func (w *world) curl(command string, variables map[string]string) (reply, error) {
	words, err := shellWords(command, variables)
	if err != nil {
		return reply{}, err
	}
	method, address, content, headers := http.MethodGet, "", "", []string{}
	for i := 1; i < len(words); i++ {
		switch arg := words[i]; {
		case arg == "-H" && i+1 < len(words):
			i++
			name, value, ok := strings.Cut(words[i], ": ")
			if !ok {
				return reply{}, fmt.Errorf("header %q", words[i])
			}
			headers = append(headers, name, value)
		case arg == "-d" && i+1 < len(words):
			i++
			method, content = http.MethodPost, words[i]
		case arg == "-I":
			method = http.MethodHead
		case arg == "-i" || arg == "-s" || arg == "-N":
		case arg == "--compressed":
			headers = append(headers, "Accept-Encoding", "gzip")
		case strings.HasPrefix(arg, "-") || address != "":
			return reply{}, fmt.Errorf("argument %q", arg)
		default:
			address = arg
		}
	}
	if _, err := url.Parse(address); err != nil {
		return reply{}, err
	}
	path, ok := strings.CutPrefix(address, w.URL)
	if !ok {
		return reply{}, fmt.Errorf("%q is not ours", address)
	}
	return w.docSend(method, path, "", content, headers...), nil
}

// example runs a command of a document, with the cursor of the one before.
func (w *world) example(command string, status int, variables map[string]string) {
	w.T.Helper()
	r, err := w.curl(command, variables)
	if err != nil {
		w.T.Errorf("%s: %v", command, err)
		return
	}
	if r.StatusCode != status {
		w.T.Errorf("%s: %d %s, want %d", command, r.StatusCode, r.Body, status)
	}
	var page struct{ NextCursor string }
	if json.Unmarshal(r.Body, &page) == nil && page.NextCursor != "" {
		variables["NEXT_CURSOR"] = page.NextCursor
	}
}

func TestExamplesOnPagesWork(t *testing.T) {
	w := sharedWorld(t, 60)
	pages := w.crawl()
	ran := map[string]int{}
	for path, page := range pages {
		if strings.HasPrefix(path, "/docs/guide/") {
			continue // TestExamplesOfTheGuideWork runs those of the file itself
		}
		variables := map[string]string{"SERVICE_API_KEY": w.Partner}
		for _, n := range elements(t, page) {
			if n.Data != "pre" || !strings.HasPrefix(textOf(n), "curl ") {
				continue
			}
			status, err := strconv.Atoi(attr(n, "data-status"))
			if err != nil {
				t.Errorf("%s: an example does not say how it ends: %s", path, textOf(n))
				continue
			}
			w.example(textOf(n), status, variables)
			ran[path]++
		}
	}
	operations := 0
	for path, n := range ran {
		if strings.HasPrefix(path, "/docs/reference/") {
			operations += n
		}
	}
	if operations != len(w.Operations()) || ran["/"] != 3 || ran["/docs/api/auth"] != 3 || ran["/docs/api/cursors"] != 2 || ran["/docs/api/event-search"] != 3 {
		t.Errorf("examples: %v", ran)
	}
}

func TestExamplesInTextWork(t *testing.T) {
	w := sharedWorld(t, 60)
	text := string(w.doc(http.MethodGet, "/llms-full.txt", "").Body)
	tx := w.Chain.BlockAt(20).Transactions[0].Hash.String()
	if n := w.fences(text, map[string]string{"SERVICE_API_KEY": w.Partner, "SERVICE_BASE_URL": w.URL, "SERVICE_CHAIN": chainID, "TX_HASH": tx}); n <= len(w.Operations()) {
		t.Errorf("%d examples in llms-full.txt", n)
	}
}

// fences runs the commands in the fenced blocks of a Markdown text and counts them.
func (w *world) fences(text string, variables map[string]string) (n int) {
	w.T.Helper()
	for _, block := range regexp.MustCompile("(?s)```[a-z]*\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		for _, command := range strings.Split(block[1], "\ncurl ") {
			command = "curl " + strings.TrimPrefix(command, "curl ")
			if !strings.HasPrefix(block[1], "curl ") {
				continue
			}
			status := http.StatusOK
			if strings.HasPrefix(command, "curl -i "+w.URL) || strings.HasPrefix(command, "curl -i $SERVICE_BASE_URL") {
				status = http.StatusUnauthorized // the example without a key
			}
			if strings.HasSuffix(command, "/verification") {
				status = http.StatusNotFound // which has no record
			}
			if strings.HasSuffix(command, "/token-holdings") {
				status = http.StatusGone
			}
			w.example(command, status, variables)
			n++
		}
	}
	return n
}

func TestExamplesOfTheGuideWork(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	w := sharedWorld(t, 60)
	tx := w.Chain.BlockAt(20).Transactions[0].Hash.String()
	n := w.fences(string(text), map[string]string{"SERVICE_API_KEY": w.Partner, "SERVICE_BASE_URL": w.URL, "SERVICE_CHAIN": chainID, "TX_HASH": tx})
	if n < 8 {
		t.Errorf("only %d examples", n)
	}
	documents := 0
	for _, m := range regexp.MustCompile("`(/[a-z./-]*)`").FindAllStringSubmatch(string(text), -1) {
		if path := m[1]; path != "/docs/" && !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/api/") && path != "/v1" {
			documents++
			if r := w.doc(http.MethodGet, path, ""); r.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", path, r.StatusCode)
			}
		}
	}
	if documents < 10 {
		t.Errorf("only %d addresses of documents", documents)
	}
}

func TestShellWords(t *testing.T) {
	got, err := shellWords(`curl -H "A: $KEY" 'b c'  "http://x/y?z=1&q=2"`, map[string]string{"KEY": "k"})
	if want := []string{"curl", "-H", "A: k", "b c", "http://x/y?z=1&q=2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{`curl http://x?a=1&b=2`, `curl "x`, `curl $NONE`, "curl `id`"} {
		if got, err := shellWords(bad, nil); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestExamplesOutliveForksAndStayOtherwise(t *testing.T) {
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	var later atomic.Int64
	w := newWorld(t, 60, func(o *options) {
		o.Now = func() time.Time { return now.Add(time.Duration(later.Load())) }
	})
	command := func() string {
		for _, n := range elements(t, string(w.doc(http.MethodGet, "/docs/reference/transactions", "").Body)) {
			if n.Data == "pre" && strings.Contains(textOf(n), "/tx/") {
				return textOf(n)
			}
		}
		t.Fatal("the reference has no example of a transaction")
		return ""
	}
	first := command()
	w.Chain.Extend(5)
	w.CatchUp()
	later.Add(int64(2 * time.Minute))
	if again := command(); again != first {
		t.Errorf("the example changed without need: %s", again)
	}
	w.Chain.Fork(40)
	w.Chain.Extend(1) // a fork shows with the next block
	w.CatchUp()
	later.Add(int64(2 * time.Minute))
	w.example(command(), http.StatusOK, map[string]string{"SERVICE_API_KEY": w.Partner})
	if command() == first {
		t.Error("the example was forked away and is still shown")
	}
}

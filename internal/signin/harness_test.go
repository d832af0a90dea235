package signin_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/signin"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(servertest.Main(func() int { return pgtest.Main(m) }))
}

const keysPath = "/v1/me/api-keys"

type world struct{ *servertest.World }

func newWorld(t *testing.T, change ...func(*servertest.Options)) *world {
	t.Helper()
	return newWorldOn(t, filepath.Join(t.TempDir(), "control.db"), change...)
}

func newWorldOn(t *testing.T, control string, change ...func(*servertest.Options)) *world {
	t.Helper()
	return &world{servertest.NewOn(t, 1, control, append([]func(*servertest.Options){func(o *servertest.Options) { o.Accounts = true }}, change...)...)}
}

// link is the path of a link for somebody.
func (w *world) link(name string, space account.Workspace) string {
	w.T.Helper()
	link, err := w.People.NewLink(w.T.Context(), name, space.ID)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Secret(link.Token)
	return strings.TrimPrefix(signin.LinkURL(w.URL, link.Token), w.URL)
}

// browser keeps cookies, and says of a form where it came from. It follows no redirect.
type browser struct {
	w      *world
	client *http.Client
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.T.Fatal(err)
	}
	return &browser{w, &http.Client{Jar: jar, Transport: servertest.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

type page struct {
	*http.Response
	text string
}

func (b *browser) send(method, at string, form url.Values, headers ...string) page {
	t := b.w.T
	t.Helper()
	if !strings.Contains(at, "://") {
		at = b.w.URL + at
	}
	req, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.w.URL)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Del(headers[i]); headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return page{res, string(text)}
}

func (b *browser) get(at string, headers ...string) page {
	b.w.T.Helper()
	return b.send(http.MethodGet, at, nil, headers...)
}

func (b *browser) post(at string, form url.Values, headers ...string) page {
	b.w.T.Helper()
	if form == nil {
		form = url.Values{}
	}
	return b.send(http.MethodPost, at, form, headers...)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// form is what the hidden fields of a page say.
func (p page) form() url.Values {
	out := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(p.text, -1) {
		out.Set(m[1], m[2])
	}
	return out
}

// wants checks a status, and words of the page.
func (p page) wants(t *testing.T, status int, words ...string) page {
	t.Helper()
	if p.StatusCode != status {
		t.Fatalf("%d, want %d: %s", p.StatusCode, status, p.said())
	}
	for _, word := range words {
		if !strings.Contains(p.text, word) {
			t.Errorf("%q is not in %s", word, p.said())
		}
	}
	return p
}

// said is what is between the head and the foot of a page.
func (p page) said() string {
	_, text, ok := strings.Cut(p.text, "<main id=\"main\">")
	if text, _, _ = strings.Cut(text, "</main>"); !ok {
		text = p.text
	}
	return text
}

// leads checks where a browser is sent.
func (p page) leads(t *testing.T, to string) page {
	t.Helper()
	if got := p.wants(t, http.StatusSeeOther).Header.Get("Location"); got != to {
		t.Fatalf("led to %q, want %q", got, to)
	}
	return p
}

// token is that of the session that the browser has.
func (b *browser) token() string { return b.cookie(kernel.PlainCookie) }

func (b *browser) cookie(name string) string {
	at, err := url.Parse(b.w.URL)
	if err != nil {
		b.w.T.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// plant puts a cookie of somebody else's choice into the browser.
func (b *browser) plant(name, value string) {
	at, err := url.Parse(b.w.URL)
	if err != nil {
		b.w.T.Fatal(err)
	}
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// signIn is the whole way by a link.
func (b *browser) signIn(name string, space account.Workspace) string {
	t := b.w.T
	t.Helper()
	p := b.get(b.w.link(name, space)).wants(t, http.StatusOK)
	b.post(signin.LinkPath, p.form()).leads(t, accountpages.Path)
	token := b.token()
	if !strings.HasPrefix(token, "ses.") {
		t.Fatalf("the cookie is %q", token)
	}
	b.w.Secret(token)
	return token
}

// may says whether a token, as a cookie, is somebody's.
func (w *world) may(token string) bool {
	w.T.Helper()
	r := w.Do(http.MethodGet, keysPath, "", "Cookie", kernel.PlainCookie+"="+token)
	if r.StatusCode != http.StatusOK && r.StatusCode != http.StatusUnauthorized {
		w.T.Fatalf("%d %s", r.StatusCode, r.Plain())
	}
	return r.StatusCode == http.StatusOK
}

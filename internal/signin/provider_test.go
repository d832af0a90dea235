package signin_test

import (
	"bufio"
	"bytes"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/signin"
)

// realProvider starts one in a process of its own, for a service at base.
func realProvider(t *testing.T, base string, env ...string) *signin.Provider {
	t.Helper()
	const lock = "package-lock.json"
	want, err := os.ReadFile(filepath.Join("testdata", "oidcprovider", lock))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs(filepath.Join("..", "..", ".tools", "oidcprovider"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(tools, lock)); err != nil || !bytes.Equal(got, want) {
		t.Skip("oidc-provider is not there in the version of " + lock + ": make tools installs it where it can")
	}
	script, err := os.ReadFile(filepath.Join("testdata", "oidcprovider", "provider.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &signin.Provider{ClientID: "chainexplorer", ClientSecret: "a secret of the tests: %+&=/", BaseURL: base, Timeout: 30 * time.Second}
	cmd := exec.CommandContext(t.Context(), "node", "main.mjs")
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "CLIENT_ID="+p.ClientID, "CLIENT_SECRET="+p.ClientSecret, "REDIRECT_URI="+base+signin.CallbackPath), env...)
	in, err := cmd.StdinPipe() // it ends with this, and with the test
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()  //nolint:errcheck // it may have ended
		cmd.Wait()  //nolint:errcheck // as above
		out.Close() //nolint:errcheck // as above
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider did not start: %v: %s", err, &stderr)
	}
	p.Issuer = strings.TrimSpace(line)
	return p
}

var (
	action = regexp.MustCompile(`<form [^>]*action="([^"]+)" method="post">`)
	prompt = regexp.MustCompile(`name="prompt" value="([a-z]+)"`)
)

// visit goes from the service to the provider, is somebody there, and returns the
// address by which they come back.
func (b *browser) visit(next, login string) string {
	t := b.w.T
	t.Helper()
	at := b.get(signin.ProviderPath+"?next="+url.QueryEscape(next)).wants(t, http.StatusSeeOther).Header.Get("Location")
	for range 20 {
		if strings.HasPrefix(at, b.w.URL+signin.CallbackPath) {
			back, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			if code := back.Query().Get("code"); code != "" {
				b.w.Secret("----" + code)
			}
			return at
		}
		p := b.get(at)
		if form := action.FindStringSubmatch(p.text); form != nil {
			if login == "" { // who does not want to
				at += "/abort"
				continue
			}
			p = b.post(form[1], url.Values{"prompt": {prompt.FindStringSubmatch(p.text)[1]}, "login": {login}, "password": {"any"}}, "Origin", "")
			at = form[1]
		}
		from, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		to, err := from.Parse(p.Header.Get("Location"))
		if err != nil || p.StatusCode/100 != 3 {
			t.Fatalf("%s: %d %v: %s", at, p.StatusCode, err, p.text)
		}
		at = to.String()
	}
	t.Fatal("the provider leads nowhere")
	return ""
}

func providedWorld(t *testing.T, domains map[string]string, env ...string) *world {
	t.Helper()
	w := newWorld(t, func(o *servertest.Options) {
		o.Provider = realProvider(t, "http://"+o.Address, env...)
		o.Provider.Domains = domains
	})
	w.Clock.Advance(time.Since(w.Clock.Now())) // which the provider knows, too
	return w
}

// TestRealProvider goes the whole way with a provider that others wrote.
func TestRealProvider(t *testing.T) {
	for name, env := range map[string]string{"asked for the address": "IN_TOKEN=no", "address in the token": "IN_TOKEN=yes"} {
		t.Run(name, func(t *testing.T) {
			w := providedWorld(t, nil, env)
			b := w.browser()
			b.get(signin.Path+"?next=/docs").wants(t, 200, "Sign in with 127.0.0.1", "/login/oidc?next=%2Fdocs")
			b.get(b.visit("/docs", "ada")).wants(t, 403, "not a member")
			w.link("ada@example.org", w.Space) // the operator adds her; the link is not used
			back := b.visit("/docs", "ada")
			attempt := b.cookie("chainexplorer_login")
			b.get(back).leads(t, "/docs")
			token := b.token()
			w.Secret(token)
			if !w.may(token) {
				t.Error("she is not signed in")
			}
			b.get(signin.Path).wants(t, 200, "<strong>ada@example.org</strong>", w.Space.Name)

			// The way back leads nowhere a second time, and ends no session.
			b.get(back).wants(t, 403, "cannot be finished")
			b.plant("chainexplorer_login", attempt) // nor for who kept the cookie
			b.get(back).wants(t, 403, "cannot be finished")
			if !w.may(token) {
				t.Error("she was signed out")
			}
			other := w.browser()
			other.get(other.visit("", "unverified")).wants(t, 403, "not a member")
			other = w.browser()
			other.get(other.visit("", "")).wants(t, 403, "did not say who you are")
			if other.token() != "" {
				t.Error("somebody is signed in")
			}
			// Once more she is the same person, and the first session of the browser ends.
			b.get(b.visit("", "ada")).leads(t, accountpages.Path)
			w.Secret(b.token())
			if b.token() == token || w.may(token) || !w.may(b.token()) {
				t.Error("the session is not a new one")
			}
			who, err := w.People.Authenticate(t.Context(), b.token())
			if ids, found := w.People.PeopleByName(t.Context(), "ada@example.org"); err != nil || found != nil || len(ids) != 1 || who.PersonID != ids[0] {
				t.Error(who, err, found)
			}
			// Who is taken out stays out.
			if err := w.remove(who.PersonID); err != nil {
				t.Fatal(err)
			}
			b.get(b.visit("", "ada")).wants(t, 403, "not a member")
		})
	}
}

// TestDomains: an address of a domain makes a member, once.
func TestDomains(t *testing.T) {
	w := providedWorld(t, map[string]string{"example.org": "test"})
	b := w.browser()
	b.get(b.visit("", "bob")).leads(t, accountpages.Path)
	w.Secret(b.token())
	who, err := w.People.Authenticate(t.Context(), b.token())
	if err != nil || who.Person != "bob@example.org" || who.WorkspaceID != w.Space.ID {
		t.Fatal(who, err)
	}
	other := w.browser()
	other.get(other.visit("", "unverified")).wants(t, 403, "not a member")
	if err := w.remove(who.PersonID); err != nil {
		t.Fatal(err)
	}
	b.get(b.visit("", "bob")).wants(t, 403, "not a member")
	if b.token() != "" && w.may(b.token()) {
		t.Error("he is back")
	}
	if log := w.Logs.String(); strings.Contains(log, "bob@") {
		t.Error("an address was logged")
	}
}

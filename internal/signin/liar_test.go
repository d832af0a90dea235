package signin_test

import (
	"cmp"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/signin"
)

// liar is a provider that says what a test makes it say.
type liar struct {
	*httptest.Server
	key      *rsa.PrivateKey
	asked    atomic.Int64
	patience time.Duration                        // of the service; half a minute when zero
	publish  func(map[string]any)                 // changes what it publishes
	token    func(map[string]any)                 // changes what the ID token says
	sign     func(*liar, map[string]any) string   // nil: as it should be
	answer   map[string]func(http.ResponseWriter) // by path, in place of the true one
	hang     map[string]func(*http.Request)       // likewise: before any answer
	info     map[string]any                       // of the person, for who asks
	seen     atomic.Pointer[url.Values]           // the last question for a token
}

var liarsKey = func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
}()

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newLiar(t *testing.T) *liar {
	l := &liar{key: liarsKey}
	l.Server = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.Close)
	return l
}

const audience = "chainexplorer"

// claims are those of a good token for the last sign-in.
func (l *liar) claims(w *world, nonce string) map[string]any {
	now := w.Clock.Now()
	return map[string]any{"iss": l.URL, "aud": audience, "sub": "u1", "nonce": nonce, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "email": "ada@example.org", "email_verified": true}
}

func (l *liar) serve(w http.ResponseWriter, r *http.Request) {
	l.asked.Add(1)
	if f := l.hang[r.URL.Path]; f != nil {
		f(r)
		return
	}
	if f := l.answer[r.URL.Path]; f != nil {
		f(w)
		return
	}
	tell := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the test tells
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		doc := map[string]any{"issuer": l.URL, "authorization_endpoint": l.URL + "/auth", "token_endpoint": l.URL + "/token", "jwks_uri": l.URL + "/keys", "userinfo_endpoint": l.URL + "/info",
			"id_token_signing_alg_values_supported": []string{"RS256"}}
		if l.publish != nil {
			l.publish(doc)
		}
		tell(doc)
	case "/keys":
		tell(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "k1", "alg": "RS256", "use": "sig", "n": b64(l.key.N.Bytes()), "e": b64(big.NewInt(int64(l.key.E)).Bytes())}}})
	case "/token":
		r.ParseForm() //nolint:errcheck // the test tells
		l.seen.Store(&r.PostForm)
		claims := map[string]any{}
		json.Unmarshal([]byte(r.PostForm.Get("code")), &claims) //nolint:errcheck // as above
		if l.token != nil {
			l.token(claims)
		}
		sign := (*liar).signed
		if l.sign != nil {
			sign = l.sign
		}
		tell(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": sign(l, claims)})
	case "/info":
		tell(l.info)
	default:
		http.NotFound(w, r)
	}
}

func (l *liar) signed(claims map[string]any) string { return signedBy(l.key, claims) }

func signedBy(key *rsa.PrivateKey, claims map[string]any) string {
	text := jwt(map[string]any{"alg": "RS256", "kid": "k1"}, claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + b64(sig)
}

func jwt(header, claims map[string]any) string {
	h, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return b64(h) + "." + b64(c)
}

// lied is a world with a lying provider, in which ada is a member.
func lied(t *testing.T, l *liar) *world {
	t.Helper()
	return liedOn(t, l, filepath.Join(t.TempDir(), "control.db"))
}

func liedOn(t *testing.T, l *liar, control string) *world {
	t.Helper()
	w := newWorldOn(t, control, func(o *servertest.Options) {
		o.Provider = &signin.Provider{Issuer: l.URL, ClientID: audience, ClientSecret: "secret", BaseURL: "http://" + o.Address, Timeout: cmp.Or(l.patience, 30*time.Second)}
	})
	w.link("ada@example.org", w.Space)
	return w
}

// begin leaves for the provider and returns what it is asked.
func (b *browser) begin(next string) url.Values {
	t := b.w.T
	t.Helper()
	at, err := url.Parse(b.get(signin.ProviderPath+"?next="+url.QueryEscape(next)).wants(t, http.StatusSeeOther).Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return at.Query()
}

// back is where somebody comes back to, with a code that stands for what the token says.
func back(state string, claims map[string]any) string {
	code, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return signin.CallbackPath + "?" + url.Values{"state": {state}, "code": {string(code)}}.Encode()
}

// TestTokens: only a token that holds in every respect signs in.
func TestTokens(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) func(map[string]any) {
		return func(c map[string]any) {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		}
	}
	for name, c := range map[string]struct {
		token  func(map[string]any)
		sign   func(*liar, map[string]any) string
		info   map[string]any
		status int
	}{
		"a good one":                {status: 303},
		"for another client":        {token: set("aud", "somebody"), status: 403},
		"for nobody":                {token: set("aud", nil), status: 403},
		"for two, and for us":       {token: func(c map[string]any) { c["aud"], c["azp"] = []string{"x", audience}, audience }, status: 303},
		"for two, and for another":  {token: func(c map[string]any) { c["aud"], c["azp"] = []string{"x", audience}, "x" }, status: 403},
		"for two, and for none":     {token: set("aud", []string{"x", audience}), status: 403},
		"of another issuer":         {token: set("iss", "https://elsewhere.example"), status: 403},
		"of no issuer":              {token: set("iss", nil), status: 403},
		"expired":                   {token: set("exp", 1), status: 403},
		"that never expires":        {token: set("exp", nil), status: 403},
		"not good yet":              {token: set("nbf", time.Now().Add(100*365*24*time.Hour).Unix()), status: 403},
		"of another sign-in":        {token: set("nonce", "x"), status: 403},
		"of no sign-in":             {token: set("nonce", nil), status: 403},
		"of nobody":                 {token: set("sub", nil), status: 403},
		"of a very long name":       {token: set("sub", strings.Repeat("x", 300)), status: 403},
		"address not verified":      {token: set("email_verified", false), status: 403},
		"address said nothing of":   {token: set("email_verified", nil), status: 403},
		"address verified in words": {token: set("email_verified", "true"), status: 303},
		"address not quite":         {token: set("email_verified", 1), status: 403},
		"address in capitals":       {token: set("email", "Ada@Example.ORG"), status: 303},
		"address of somebody else":  {token: set("email", "bob@example.org"), status: 403},
		"address with a line":       {token: set("email", "ada@example.org\n"), status: 403},
		"address told apart":        {token: set("email", nil), info: map[string]any{"sub": "u1", "email": "ada@example.org", "email_verified": true}, status: 303},
		"address of another person": {token: set("email", nil), info: map[string]any{"sub": "u2", "email": "ada@example.org", "email_verified": true}, status: 403},
		"signed by nobody":          {sign: func(_ *liar, c map[string]any) string { return jwt(map[string]any{"alg": "none"}, c) + "." }, status: 403},
		"signed by another key":     {sign: func(_ *liar, c map[string]any) string { return signedBy(other, c) }, status: 403},
		"signed by what all know": {sign: func(l *liar, c map[string]any) string {
			text := jwt(map[string]any{"alg": "HS256", "kid": "k1"}, c)
			mac := hmac.New(sha256.New, l.key.N.Bytes())
			mac.Write([]byte(text))
			return text + "." + b64(mac.Sum(nil))
		}, status: 403},
		"changed after":  {sign: func(l *liar, c map[string]any) string { return l.signed(c)[:40] + "A" + l.signed(c)[41:] }, status: 403},
		"cut off":        {sign: func(l *liar, c map[string]any) string { return l.signed(c)[:100] }, status: 403},
		"not there":      {sign: func(*liar, map[string]any) string { return "" }, status: 403},
		"of many bytes":  {sign: func(*liar, map[string]any) string { return strings.Repeat("A", 2<<20) }, status: 503},
		"of many levels": {sign: func(*liar, map[string]any) string { return b64([]byte(strings.Repeat("[", 1<<16))) + ".e30." }, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLiar(t)
			l.token, l.sign, l.info = c.token, c.sign, c.info
			w := lied(t, l)
			b := w.browser()
			asked := b.begin("")
			p := b.get(back(asked.Get("state"), l.claims(w, asked.Get("nonce")))).wants(t, c.status)
			if in := b.token() != ""; in != (c.status == 303) {
				t.Errorf("signed in: %t: %s", in, p.said())
			}
			if b.token() != "" {
				w.Secret(b.token())
			}
			if strings.Contains(w.Logs.String(), "ada@") || strings.Contains(p.text, "eyJ") {
				t.Error("what the provider said was told on")
			}
			sum := sha256.Sum256([]byte(l.seen.Load().Get("code_verifier")))
			if b64(sum[:]) != asked.Get("code_challenge") || asked.Get("code_challenge_method") != "S256" {
				t.Error("the verifier is not that of the challenge")
			}
		})
	}
}

// TestAddressTakenOver: who gets the address of somebody who signed in before is not them.
func TestAddressTakenOver(t *testing.T) {
	l := newLiar(t)
	w := lied(t, l)
	for i, status := range []int{303, 303, 403} {
		b := w.browser()
		asked := b.begin("")
		claims := l.claims(w, asked.Get("nonce"))
		if i == 1 {
			claims["email"] = "renamed@example.org" // she is known by the provider's id
		} else if i == 2 {
			claims["sub"] = "u2"
		}
		b.get(back(asked.Get("state"), claims)).wants(t, status)
		if status == 303 {
			w.Secret(b.token())
			b.get(signin.Path).wants(t, 200, "<strong>ada@example.org</strong>")
		}
	}
}

// TestMixedUp: a way back that is not the one of the browser's attempt leads nowhere,
// and the provider is not even asked.
func TestMixedUp(t *testing.T) {
	l := newLiar(t)
	w := lied(t, l)
	mallory := w.browser()
	theirs := mallory.begin("")
	cases := map[string]func(*browser) string{
		"no attempt": func(*browser) string { return back(theirs.Get("state"), l.claims(w, theirs.Get("nonce"))) },
		"another's": func(b *browser) string {
			b.begin("")
			return back(theirs.Get("state"), l.claims(w, theirs.Get("nonce")))
		},
		"no state":    func(b *browser) string { b.begin(""); return back("", nil) },
		"nonsense":    func(b *browser) string { b.begin(""); return back("a.b.c", nil) },
		"a later one": func(b *browser) string { s := b.begin("").Get("state"); b.begin(""); return back(s, nil) },
		"another target": func(b *browser) string {
			s := b.begin("").Get("state")
			return back("L2V2aWw"+s[strings.IndexByte(s, '.'):], nil)
		},
		"too late": func(b *browser) string {
			s := b.begin("").Get("state")
			w.Clock.Advance(11 * time.Minute)
			return back(s, nil)
		},
		"by a clock ahead": func(b *browser) string {
			w.Clock.Advance(24 * time.Hour)
			s := b.begin("").Get("state")
			w.Clock.Advance(-24 * time.Hour)
			return back(s, nil)
		},
		"two states": func(b *browser) string {
			s := b.begin("").Get("state")
			return back(s, nil) + "&state=" + url.QueryEscape(s)
		},
		"two codes":        func(b *browser) string { return back(b.begin("").Get("state"), nil) + "&code=x" },
		"a link's attempt": func(b *browser) string { b.get(w.link("ada", w.Space)); return back(theirs.Get("state"), nil) },
	}
	for name, prepare := range cases {
		b := w.browser()
		at := prepare(b)
		before := l.asked.Load()
		b.get(at).wants(t, 403, "cannot be finished")
		if b.token() != "" || l.asked.Load() != before {
			t.Errorf("%s: signed in, or asked", name)
		}
	}
	for name, more := range map[string]string{"another issuer": "&iss=https%3A%2F%2Felsewhere.example", "an error": "&error=access_denied"} {
		b := w.browser()
		asked := b.begin("")
		b.get(back(asked.Get("state"), l.claims(w, asked.Get("nonce")))+more).wants(t, 403)
		if b.token() != "" {
			t.Errorf("%s: signed in", name)
		}
	}
}

// TestOpenRedirect: after a sign-in nobody is led to another site.
func TestOpenRedirect(t *testing.T) {
	l := newLiar(t)
	w := lied(t, l)
	for next, want := range map[string]string{
		"/docs": "/docs", "/account/keys?a=b#c": "/account/keys?a=b#c", "": accountpages.Path, "docs": accountpages.Path, "https://elsewhere.example": accountpages.Path, "//elsewhere.example": accountpages.Path,
		"/\\elsewhere.example": accountpages.Path, "\\/elsewhere.example": accountpages.Path, "/\t/elsewhere.example": accountpages.Path, " //elsewhere.example": accountpages.Path, "/%2felsewhere.example": accountpages.Path,
		"/%5celsewhere.example": accountpages.Path, "///elsewhere.example": accountpages.Path, "javascript:alert(1)": accountpages.Path, "/\r\nSet-Cookie: a=b": accountpages.Path, "/" + strings.Repeat("x", 2000): accountpages.Path,
	} {
		b := w.browser()
		asked := b.begin(next)
		b.get(back(asked.Get("state"), l.claims(w, asked.Get("nonce")))).leads(t, want)
		w.Secret(b.token())
		if p := w.browser().get(signin.Path + "?next=" + url.QueryEscape(next)); strings.Contains(p.text, "elsewhere") {
			t.Errorf("%q is on the page", next)
		}
	}
}

// TestProviderTrouble: whatever is wrong with a provider costs little, and ends.
func TestProviderTrouble(t *testing.T) {
	var sent atomic.Int64
	long := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		n, _ := io.Copy(w, io.LimitReader(neverEnding{}, 1<<30)) // until it is cut off
		sent.Add(n)
	}
	hang := func(r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // only then it shows that the other side has gone
		<-r.Context().Done()
	}
	// hangs lets the service wait for a moment only, because nothing comes.
	hangs := func(path string) func(*liar) {
		return func(l *liar) {
			l.patience = 2 * time.Second
			l.hang = map[string]func(*http.Request){path: hang}
		}
	}
	for name, prepare := range map[string]func(*liar){
		"is another": func(l *liar) { l.publish = func(d map[string]any) { d["issuer"] = "https://elsewhere.example" } },
		"asks in plain": func(l *liar) {
			l.publish = func(d map[string]any) { d["token_endpoint"] = "http://elsewhere.example/" }
		},
		"has keys in plain": func(l *liar) {
			l.publish = func(d map[string]any) { d["jwks_uri"] = "http://elsewhere.example/keys" }
		},
		"tells who it is in plain": func(l *liar) {
			l.publish = func(d map[string]any) { d["userinfo_endpoint"] = "http://elsewhere.example/info" }
		},
		"leads to a script": func(l *liar) {
			l.publish = func(d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" }
		},
		"publishes without end": func(l *liar) {
			l.answer = map[string]func(http.ResponseWriter){"/.well-known/openid-configuration": long}
		},
		"has keys without end": func(l *liar) { l.answer = map[string]func(http.ResponseWriter){"/keys": long} },
		"answers without end":  func(l *liar) { l.answer = map[string]func(http.ResponseWriter){"/token": long} },
		"is broken": func(l *liar) {
			l.answer = map[string]func(http.ResponseWriter){"/token": func(w http.ResponseWriter) { w.WriteHeader(500) }}
		},
		"leads elsewhere": func(l *liar) {
			l.answer = map[string]func(http.ResponseWriter){"/token": func(w http.ResponseWriter) {
				w.Header().Set("Location", l.URL+"/elsewhere")
				w.WriteHeader(307)
			}}
		},
		"does not begin": hangs("/.well-known/openid-configuration"),
		"does not end":   hangs("/token"),
		"has no keys":    hangs("/keys"),
		"is gone":        func(l *liar) { l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLiar(t)
			prepare(l)
			w := lied(t, l)
			b := w.browser()
			p := b.get(signin.ProviderPath)
			if p.StatusCode == http.StatusSeeOther {
				if strings.HasSuffix(name, "in plain") {
					t.Error("somebody is sent there")
				}
				at, err := url.Parse(p.Header.Get("Location"))
				if err != nil {
					t.Fatal(err)
				}
				p = b.get(back(at.Query().Get("state"), l.claims(w, at.Query().Get("nonce"))))
			}
			if p.StatusCode != 503 && p.StatusCode != 403 || b.token() != "" {
				t.Errorf("%d: %s", p.StatusCode, p.said())
			}
			if p.StatusCode == 503 && p.Header.Get("Retry-After") == "" {
				t.Errorf("%v", p.Header)
			}
			l.Close() // so that all is sent
			if n := sent.Swap(0); n > 64<<20 {
				t.Errorf("%d bytes were taken", n)
			}
			// Links are good all the same.
			b.signIn("ada", w.Space)
		})
	}
}

// TestProviderComesBack: what was wrong is not remembered for long, and what is right is.
func TestProviderComesBack(t *testing.T) {
	servertest.Watched(t)
	l := newLiar(t)
	down := map[string]func(http.ResponseWriter){"/.well-known/openid-configuration": func(w http.ResponseWriter) { w.WriteHeader(503) }}
	l.answer = down
	w := lied(t, l)
	b := w.browser()
	b.get(signin.ProviderPath).wants(t, 503)
	l.answer = nil
	n := l.asked.Load()
	b.get(signin.ProviderPath).wants(t, 503)
	if l.asked.Load() != n {
		t.Error("it was asked again at once")
	}
	w.Clock.Advance(3 * time.Second)
	for range 5 {
		b.begin("")
	}
	if got := l.asked.Load() - n; got != 1 {
		t.Errorf("it was asked %d times", got)
	}
}

// TestManyAtOnce: no more than a few wait for a provider that does not answer.
func TestManyAtOnce(t *testing.T) {
	servertest.Watched(t)
	l := newLiar(t)
	l.patience = time.Minute
	w := lied(t, l)
	w.browser().begin("")
	arrived, release := make(chan struct{}), make(chan struct{})
	l.hang = map[string]func(*http.Request){"/token": func(*http.Request) {
		arrived <- struct{}{}
		<-release
	}}
	ended := make(chan int)
	const seats = 8
	wait := func() {
		b := w.browser()
		asked := b.begin("")
		ended <- b.get(back(asked.Get("state"), l.claims(w, asked.Get("nonce")))).StatusCode
	}
	for range seats {
		go wait()
		<-arrived
	}
	w.browser().get(signin.ProviderPath).wants(t, 503)
	close(release)
	for range seats {
		if status := <-ended; status == 303 {
			t.Error("somebody was signed in by nothing")
		}
	}
	w.browser().begin("")
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

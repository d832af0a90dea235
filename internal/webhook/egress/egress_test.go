package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"chainexplorer/internal/webhook/egress"
)

// TestPermits: every kind of address that is not public is refused, in every spelling.
func TestPermits(t *testing.T) {
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1",
		"fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1", "8000::1",
	} {
		if (egress.Policy{}).Permits(netip.MustParseAddr(s), true) {
			t.Errorf("%s is permitted", s)
		}
	}
	for _, s := range []string{"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001:80b::200e", "2001:4860:4860::8888"} {
		if !(egress.Policy{}).Permits(netip.MustParseAddr(s), true) {
			t.Errorf("%s is not permitted", s)
		}
		if (egress.Policy{}).Permits(netip.MustParseAddr(s), false) {
			t.Errorf("%s is permitted in the clear", s)
		}
	}
	p := egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for s, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "::1": false, "10.0.0.1": false} {
		if p.Permits(netip.MustParseAddr(s), false) != want || p.Permits(netip.MustParseAddr(s), true) != want {
			t.Errorf("%s with an exception: want %v", s, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, s := range []string{
		"", "example.org", "//example.org", "http://example.org/", "ftp://example.org/", "https:example.org", "https://", "https:///x", "https://user@example.org/", "https://user:pass@example.org/", "https://@example.org/",
		"https://example.org/#x", "https://example.org/#", "https://exa mple.org/", "https://example.org/\x00", "https://ex\u00e4mple.org/", "https://example.org\\@127.0.0.1/", "https://127.0.0.1/", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/",
		"https://2130706433/", "https://017700000001/", "https://0/", "https://127.0.0.1.:443/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1%25eth0]/", "https://[64:ff9b::7f00:1]/", "https://localhost/", "https://LOCALHOST./", "https://a.localhost/",
		"https://a..b/", "https://.example.org/", "https://example.org:0/", "https://example.org:/", "https://example.org:99999999/", "https://a%2eb/", "https://10.0.0.1:8443/", "https://" + strings.Repeat("a", 64) + ".org/",
		"https://" + strings.Repeat("a.", 130) + "org/", "https://example.org/" + strings.Repeat("a", 2048),
	} {
		if err := (egress.Policy{}).Check(s); !errors.Is(err, egress.ErrURL) {
			t.Errorf("%.60q: %v", s, err)
		}
	}
	for _, s := range []string{"https://example.org", "https://example.org/a/b?c=d", "https://example.org:8443/", "https://EXAMPLE.org./", "https://1.1.1.1/", "https://[2606:4700:4700::1111]:444/x", "https://hooks_1.example.org/", "https://xn--exmple-cua.org/", "https://0x7f.example/"} {
		if err := (egress.Policy{}).Check(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	p := egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for s, ok := range map[string]bool{"http://127.0.0.1:1/": true, "http://localhost:1/": true, "http://1.1.1.1/": false, "http://[::1]/": false} {
		if err := p.Check(s); (err == nil) != ok {
			t.Errorf("%q with an exception: %v", s, err)
		}
	}
}

// names answers every name with addresses that a test chooses, as a hostile name server does.
func names(t *testing.T, answer func(asked int64) [4]byte) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() }) //nolint:errcheck // the test is over
	var asked atomic.Int64
	go func() {
		buf := make([]byte, 1024)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Header.Response, m.Additionals = true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: answer(asked.Add(1))}}}
			}
			out, err := m.Pack()
			if err == nil {
				pc.WriteTo(out, from) //nolint:errcheck // it is asked again
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

// receiver is a server on loopback with a certificate, and the roots that know it.
func receiver(t *testing.T, h http.HandlerFunc) (*httptest.Server, *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, &tls.Config{RootCAs: roots}
}

func port(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

var loopback = egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}

// TestRebinding: a name that resolves to a public address when it is looked at, and to
// loopback when it is connected to, is connected to never.
func TestRebinding(t *testing.T) {
	var hits atomic.Int32
	s, roots := receiver(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	resolver := names(t, func(asked int64) [4]byte {
		if asked == 1 {
			return [4]byte{198, 51, 100, 1} // documentation: nothing answers there
		}
		return [4]byte{127, 0, 0, 1}
	})
	if _, err := resolver.LookupHost(t.Context(), "rebinding.example"); err != nil {
		t.Fatal(err)
	}
	roots.ServerName = "example.com" // the certificate is good: nothing but the address is wrong
	to := "https://rebinding.example:" + port(t, s.URL) + "/"
	c := egress.New(egress.Options{Resolver: resolver, Roots: roots, Timeout: time.Minute})
	defer c.Close()
	if err := (egress.Policy{}).Check(to); err != nil {
		t.Fatal(err)
	}
	_, err := c.Post(t.Context(), to, nil, nil)
	if !errors.Is(err, egress.ErrUnreachable) || hits.Load() != 0 {
		t.Errorf("%v, %d requests", err, hits.Load())
	}
	// The same name reaches the same server where loopback is allowed: it was the check that kept it away.
	open := egress.New(egress.Options{Policy: loopback, Resolver: resolver, Roots: roots, Timeout: time.Minute})
	defer open.Close()
	if a, err := open.Post(t.Context(), to, nil, nil); err != nil || a.Status != 200 || hits.Load() != 1 {
		t.Errorf("%+v %v, %d requests", a, err, hits.Load())
	}
}

// TestAnswers: what counts as taken, and how little is read and told of what a stranger says.
func TestAnswers(t *testing.T) {
	var hits, cookies atomic.Int32
	stop := make(chan struct{})
	s, roots := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.Header.Get("Cookie") != "" {
			cookies.Add(1)
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/ok", http.StatusTemporaryRedirect)
		case "/wait":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/date":
			w.Header().Set("Retry-After", time.Now().Add(50*time.Hour).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/long":
			w.WriteHeader(http.StatusOK)
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "/slow":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done() // it says no more, and does not end
		case "/never":
			io.Copy(io.Discard, r.Body) //nolint:errcheck // then its end is noticed
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		case "/gone":
			w.WriteHeader(http.StatusGone)
		}
	})
	defer close(stop)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // nothing goes there
	c := egress.New(egress.Options{Policy: loopback, Roots: roots, Timeout: time.Minute})
	defer c.Close()
	hasty := egress.New(egress.Options{Policy: loopback, Roots: roots, Timeout: 2 * time.Second})
	defer hasty.Close()
	for _, tt := range []struct {
		path string
		want egress.Answer
		err  error
	}{
		{"/ok", egress.Answer{Status: 200}, nil},
		{"/redirect", egress.Answer{Status: 307}, nil},
		{"/wait", egress.Answer{Status: 429, RetryAfter: 2 * time.Minute}, nil},
		{"/date", egress.Answer{Status: 503, RetryAfter: time.Hour}, nil},
		{"/long", egress.Answer{Status: 200}, nil},
		{"/gone", egress.Answer{Status: 410}, nil},
		{"/never", egress.Answer{}, egress.ErrUnreachable},
	} {
		before, from := hits.Load(), c
		if tt.err != nil {
			from = hasty // which gives up
		}
		got, err := from.Post(t.Context(), s.URL+tt.path, http.Header{"Content-Type": {"application/json"}}, []byte("{}"))
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %+v %v", tt.path, got, err)
		}
		if hits.Load() != before+1 {
			t.Errorf("%s: %d requests", tt.path, hits.Load()-before)
		}
	}
	// Once the status is known nothing is waited for.
	patient := egress.New(egress.Options{Policy: loopback, Roots: roots, Timeout: time.Hour})
	defer patient.Close()
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := patient.Post(soon, s.URL+"/slow", nil, []byte("{}")); got.Status != 200 || err != nil || soon.Err() != nil {
		t.Errorf("an answer whose body never ends: %+v %v", got, err)
	}
	if cookies.Load() != 0 {
		t.Error("a cookie was sent back")
	}
	plain := egress.New(egress.Options{Policy: loopback, Timeout: time.Second})
	defer plain.Close()
	if _, err := plain.Post(t.Context(), s.URL+"/ok", nil, nil); !errors.Is(err, egress.ErrUnreachable) {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
	strict := egress.New(egress.Options{Roots: roots, Timeout: time.Second})
	defer strict.Close()
	before := hits.Load()
	for _, to := range []string{s.URL + "/ok", "https://localhost:" + port(t, s.URL) + "/ok"} {
		if _, err := strict.Post(t.Context(), to, nil, nil); err != egress.ErrUnreachable { //nolint:errorlint // one wording for all
			t.Errorf("loopback: %v", err)
		}
	}
	if hits.Load() != before {
		t.Error("loopback was reached")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Post(ended, s.URL+"/ok", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller's own end: %v", err)
	}
}

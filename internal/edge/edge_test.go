package edge_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/edge"
)

const hang = 30 * time.Second // a test that waits so long fails

// site is a server behind the bounds, without any time of its own: what ends here
// was ended by them.
type site struct {
	t     *testing.T
	bound *edge.Listener
	reg   *prometheus.Registry
}

func serve(t *testing.T, o edge.Options, h http.Handler) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, reg: prometheus.NewRegistry()}
	o.Name, o.Registerer = "test", s.reg
	o.Refusal = func(why edge.Refusal) []byte {
		return []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nX-Why: " + string(why) + "\r\n\r\n")
	}
	s.bound = edge.Bound(l, o)
	srv := &http.Server{Handler: h} //nolint:gosec // see site
	s.bound.Attach(srv)
	go srv.Serve(s.bound)             //nolint:errcheck // closed below
	t.Cleanup(func() { srv.Close() }) //nolint:errcheck // the test is over
	return s
}

func (s *site) dial(text string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.bound.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })   //nolint:errcheck // the test is over
	c.SetDeadline(time.Now().Add(hang)) //nolint:errcheck // a test that hangs fails otherwise
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *site) answer(c net.Conn) *http.Response {
	s.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Fatalf("no answer: %v", err)
	}
	return res
}

// ended says that the other side gave the connection up; it fails when it did not.
func (s *site) ended(c net.Conn) {
	s.t.Helper()
	if _, err := io.Copy(io.Discard, c); errors.Is(err, net.ErrClosed) || isTimeout(err) {
		s.t.Fatalf("the connection is held: %v", err)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func (s *site) metric(name string) (sum float64) {
	s.t.Helper()
	all, err := s.reg.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.Metric {
			if f.GetName() == "chainexplorer_connections_"+name {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

var ok = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }) //nolint:errcheck // see the client

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// TestBodiesNobodyReads: an answer does not wait for a body that the handler does
// not want, however it is announced, and its connection ends.
func TestBodiesNobodyReads(t *testing.T) {
	handlers := map[string]http.Handler{
		"that answers":        ok,
		"that refuses":        http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }),
		"that writes nothing": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		"that reads a part": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.ReadFull(r.Body, make([]byte, 1)) //nolint:errcheck // see the answer
			io.WriteString(w, "ok")              //nolint:errcheck // as above
		}),
	}
	for name, h := range handlers {
		s := serve(t, edge.Options{}, h)
		for _, head := range []string{
			"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx",
			"HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx",
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\nx",
			"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nx",
			"POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 100\r\n\r\nx",
			"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n",
		} {
			if name == "that reads a part" && strings.Contains(head, "Expect") {
				continue // it wants the body, and waits for it as long as it likes
			}
			c := s.dial(head)
			start := time.Now()
			if res := s.answer(c); !res.Close {
				t.Errorf("a handler %s: the connection stays open after\n%s", name, head)
			}
			s.ended(c)
			if took := time.Since(start); took > hang/2 {
				t.Errorf("a handler %s held the connection for %s after\n%s", name, took, head)
			}
		}
	}
}

// TestBodiesThatAreRead: the connection goes on after them, unless they come in chunks.
func TestBodiesThatAreRead(t *testing.T) {
	s := serve(t, edge.Options{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body) //nolint:errcheck // see the answer
	}))
	c := s.dial("")
	for i, head := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
	} {
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		res := s.answer(c)
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != "body" || res.Close != (i == 2) {
			t.Errorf("%s: %q %v, closed: %t", head, body, err, res.Close)
		}
	}
	s.ended(c)
}

// TestTwoLengths: what stands behind a request whose body has two lengths, or one that
// somebody else may take for none, is never answered: for one of two readers it is a part
// of the body.
func TestTwoLengths(t *testing.T) {
	asked := make(chan string, 10)
	s := serve(t, edge.Options{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.URL.Path + " " + string(body)
		io.WriteString(w, "ok") //nolint:errcheck // see the answer
	}))
	const hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, text := range []string{
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 43\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 38\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
		"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
		"POST /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	} {
		c := s.dial(text + hidden)
		if all, err := io.ReadAll(c); err != nil || strings.Count(string(all), "HTTP/1.") != 1 {
			t.Errorf("%s\n%v: %s", text, err, all)
		}
	}
	for len(asked) > 0 {
		if got := <-asked; strings.HasPrefix(got, "/hidden") {
			t.Errorf("asked %s", got)
		}
	}
}

// TestSilentConnectionsGiveWay: who opens connections and asks nothing, or a part of
// something, holds no more than its share, and is in nobody's way.
func TestSilentConnectionsGiveWay(t *testing.T) {
	for name, o := range map[string]edge.Options{
		"of one address": {PerAddress: 4},
		"of all":         {Connections: 4, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, o, ok)
			texts := []string{"", "G", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", get, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"}
			var held []net.Conn
			for i := range 40 {
				held = append(held, s.dial(texts[i%len(texts)]))
				if c := s.dial(get); s.answer(c).StatusCode != 200 {
					t.Fatal("a caller who asks is refused")
				}
				if n := s.bound.Open(); n > 4 {
					t.Fatalf("%d connections are open", n)
				}
			}
			for _, c := range held[:30] {
				s.ended(c)
			}
			if s.metric("displaced_total") < 60 || s.metric("refused_total") != 0 || s.metric("open") != 4 {
				t.Errorf("displaced %v, refused %v, open %v", s.metric("displaced_total"), s.metric("refused_total"), s.metric("open"))
			}
		})
	}
}

// TestBusyConnectionsStay: those whose requests are being answered are not closed for
// new ones, which are told why; a proxy has no share of its own.
func TestBusyConnectionsStay(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	wait := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-leave
		io.WriteString(w, "ok") //nolint:errcheck // see the client
	})
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for name, c := range map[string]struct {
		o    edge.Options
		most int
		why  string
	}{
		"of one address": {edge.Options{PerAddress: 3, Connections: 5}, 3, "address"},
		"of a proxy":     {edge.Options{PerAddress: 3, Connections: 5, Exempt: loopback}, 5, "total"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.o, wait)
			var busy []net.Conn
			for range c.most {
				busy = append(busy, s.dial(get))
				<-entered
			}
			for range 3 {
				refused := s.dial(get)
				if res := s.answer(refused); res.StatusCode != 503 || res.Header.Get("X-Why") != c.why {
					t.Errorf("one more: %v", res)
				}
				s.ended(refused)
			}
			if s.metric("refused_total") != 3 || s.metric("displaced_total") != 0 {
				t.Errorf("refused %v, displaced %v", s.metric("refused_total"), s.metric("displaced_total"))
			}
			for range busy {
				leave <- struct{}{}
			}
			for _, b := range busy {
				if res := s.answer(b); res.StatusCode != 200 {
					t.Errorf("a busy one: %v", res)
				}
			}
			go func() { <-entered; leave <- struct{}{} }()
			// They are idle a moment after their answers arrived: until then the next is refused.
			for tries := 0; ; tries++ {
				if res := s.answer(s.dial(get)); res.StatusCode == 200 {
					break
				} else if tries == 1000 {
					t.Fatalf("after they were answered: %v", res)
				}
			}
		})
	}
}

// large answers with so much that no buffer holds it, and tells how writing ended.
func large(size int, wrote chan error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, size))
		wrote <- err
	})
}

// narrow makes a client's buffer small: more must be sent to a client that is slow.
func narrow(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.(*net.TCPConn).SetReadBuffer(8 << 10); err != nil {
		t.Fatal(err)
	}
}

// TestAnswersNobodyReads: a client that does not read is cut off.
func TestAnswersNobodyReads(t *testing.T) {
	wrote := make(chan error, 1)
	s := serve(t, edge.Options{Stall: 100 * time.Millisecond}, large(64<<20, wrote))
	narrow(t, s.dial(get))
	select {
	case err := <-wrote:
		if !isTimeout(err) {
			t.Errorf("writing ended with %v", err)
		}
	case <-time.After(hang):
		t.Fatal("the answer is still being written")
	}
	if s.metric("slow_readers_total") != 1 {
		t.Errorf("slow readers: %v", s.metric("slow_readers_total"))
	}
}

// TestAnswersReadSlowly: a client that goes on reading is served whole, though it takes
// many times the time that it may stand still.
func TestAnswersReadSlowly(t *testing.T) {
	const stall, size, step = time.Second, 8 << 20, 128 << 10
	wrote := make(chan error, 1)
	s := serve(t, edge.Options{Stall: stall}, large(size, wrote))
	res := s.answer(s.dial(get))
	start, got := time.Now(), int64(0)
	pace := time.NewTicker(stall / 20)
	defer pace.Stop()
	for got < size {
		<-pace.C
		n, err := io.CopyN(io.Discard, res.Body, step)
		if got += n; err != nil {
			t.Fatalf("cut off after %d bytes and %s: %v", got, time.Since(start), err)
		}
	}
	if err := <-wrote; err != nil || time.Since(start) < 3*stall {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

// TestUnreadAnswersGiveWay: clients that do not read are displaced by one that asks,
// before their time is over.
func TestUnreadAnswersGiveWay(t *testing.T) {
	entered, wrote := make(chan struct{}), make(chan error, 4)
	s := serve(t, edge.Options{PerAddress: 2, Stall: time.Hour}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			entered <- struct{}{}
			large(64<<20, wrote).ServeHTTP(w, r)
		}
	}))
	for range 2 {
		narrow(t, s.dial("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"))
		<-entered
	}
	for end := time.Now().Add(hang); ; { // refused until they have stood still for a second
		c := s.dial(get)
		if s.answer(c).StatusCode == 200 {
			break
		}
		c.Close() //nolint:errcheck // it was refused
		if time.Now().After(end) {
			t.Fatal("two clients that do not read keep out everybody else")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := <-wrote; err == nil {
		t.Error("the answer was written")
	}
}

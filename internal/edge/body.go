package edge

import (
	"io"
	"net/http"
	"time"
)

// drain is how long a body that nobody read is waited for after the answer, so that
// a client that is still sending it can read the answer first.
const drain = 250 * time.Millisecond

// unread lets no answer wait for a body that the handler did not read. net/http
// would wait for it as long as for a body that is wanted. The connection ends: what
// is left of the body would be read as the next request.
//
// It also ends after every body in chunks. Such a request may have had a length as well,
// which net/http takes out before anybody can see it: a proxy that goes by the length has
// another idea of where the next request begins, and there must be none. Of HTTP/1.0 it
// takes chunks out without a word, so that no connection goes on there.
func unread(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		c, bound := r.Context().Value(connKey{}).(*conn)
		if r.ContentLength == 0 || r.Body == nil {
			if bound {
				c.asked = w
			}
			next.ServeHTTP(w, r)
			if bound {
				c.asked = nil // a connection that waits holds no answer
			}
			return
		}
		body := &watched{ReadCloser: r.Body}
		x := &answer{ResponseWriter: w, body: body, last: len(r.TransferEncoding) > 0}
		with := *r // a copy: a handler must not change the request it was given
		with.Body = body
		if bound {
			c.asked = x
		}
		next.ServeHTTP(x, &with)
		if bound {
			c.asked = nil
		}
		x.begin()
		if bound && !body.ended {
			http.NewResponseController(w).Flush() //nolint:errcheck // the client went away
			c.done()
		}
	})
}

// watched is a body that knows whether it was read whole.
type watched struct {
	io.ReadCloser
	ended bool
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended = true
	}
	return n, err
}

type answer struct {
	http.ResponseWriter
	body  *watched
	last  bool // of the connection
	begun bool
}

// begin is called before the first byte of the answer goes out.
func (a *answer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if a.last {
		a.Header().Set("Connection", "close")
	}
	if a.body.ended {
		return
	}
	a.Header().Set("Connection", "close")
	http.NewResponseController(a.ResponseWriter).SetReadDeadline(time.Now().Add(drain)) //nolint:errcheck // a recorder in a test has none
}

func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK {
		a.begin()
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

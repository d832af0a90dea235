package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"chainexplorer/internal/unpack"
)

const (
	proveBefore = `{"jsonrpc":"2.0","id":1,"method":"starknet_proveTransaction","params":`
	proveAfter  = `}`
	readyCall   = `{"jsonrpc":"2.0","id":1,"method":"starknet_specVersion"}`

	// maxOverhead is what an answer may have around its body: headers, and the lengths of
	// chunks, which may be as long as the chunks.
	maxOverhead = 64 << 10
	// maxInterim is how many answers of the kind 100 Continue may come before the answer.
	maxInterim = 5
	// writeTimeout is for a request of a mebibyte at most: who takes longer to listen is
	// not going to.
	writeTimeout = 30 * time.Second
	// readyTimeout is for a question that needs no proof.
	readyTimeout = 10 * time.Second
)

// Prove asks for one proof, once. params is the caller's document, which goes out as it
// is and is not kept: when Prove returns, the caller may clear it.
func (p *Prover) Prove(ctx context.Context, params []byte) Outcome {
	a := p.exchange(ctx, p.timeout, net.Buffers{[]byte(proveBefore), params, []byte(proveAfter)})
	if a.outcome.Class != "" {
		return a.outcome
	}
	return judge(a)
}

// Ready asks the prover for the version of its interface, and says why it gave none.
func (p *Prover) Ready(ctx context.Context) error {
	a := p.exchange(ctx, readyTimeout, net.Buffers{[]byte(readyCall)})
	if a.outcome.Class != "" {
		return fmt.Errorf("the prover cannot be asked: %s", a.outcome.Class)
	}
	e, err := readEnvelope(a.body)
	switch {
	case a.status != http.StatusOK:
		return fmt.Errorf("the prover answers with HTTP status %d", a.status)
	case err != nil || len(e.result) < 2 || e.result[0] != '"':
		return errors.New("what answers at the prover's address is no prover")
	}
	return nil
}

// answer is a whole HTTP answer, or the outcome of an exchange that had none.
type answer struct {
	outcome    Outcome // with a class: there is no answer
	delivered  bool    // the prover has the whole request
	status     int
	body       []byte
	unreadable bool // the body could not be read to its end
	retryAfter time.Duration
}

func (p *Prover) exchange(ctx context.Context, limit time.Duration, body net.Buffers) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, class, err := p.connect(ctx)
	if err != nil {
		return answer{outcome: Outcome{Kind: Unsent, Class: class}}
	}
	defer conn.Close() //nolint:errcheck // the answer was read, or is given up
	// A connection knows deadlines, not contexts.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) }) //nolint:errcheck // it is being closed
	defer stop()

	var length int
	for _, b := range body {
		length += len(b)
	}
	head := fmt.Appendf(nil, "POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n", p.target, p.header, length)
	request := append(net.Buffers{head}, body...)
	conn.SetWriteDeadline(time.Now().Add(writeTimeout)) //nolint:errcheck // then writing fails, too
	_, err = request.WriteTo(conn)
	// A prover that refuses a request by its head answers before it has read it all, and
	// hangs up: that answer may be there although writing failed.
	a, read := p.read(conn)
	a.delivered = err == nil
	switch {
	case read:
	case !a.delivered:
		a.outcome = Outcome{Kind: Unsent, Class: "write"}
	case ctx.Err() != nil:
		a.outcome = Outcome{Kind: Unknown, Class: "timeout"}
	default:
		a.outcome = Outcome{Kind: Unknown, Class: "no_answer"}
	}
	return a
}

// read reads an answer. Without a status line and headers there is none.
func (p *Prover) read(conn net.Conn) (answer, bool) {
	limited := &io.LimitedReader{R: conn, N: 2*p.max + maxOverhead}
	r := bufio.NewReader(limited)
	var resp *http.Response
	for range maxInterim {
		var err error
		if resp, err = http.ReadResponse(r, &http.Request{Method: http.MethodPost}); err != nil {
			return answer{}, false
		}
		if resp.StatusCode >= 200 {
			break
		}
	}
	if resp.StatusCode < 200 {
		return answer{}, false
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	a := answer{status: resp.StatusCode, retryAfter: seconds(resp.Header.Get("Retry-After"))}
	var body io.Reader = resp.Body
	switch resp.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip": // not asked for, and understood
		packed, err := unpack.Gzip(body)
		if err != nil {
			a.unreadable = true
			return a, true
		}
		body = packed
	default:
		a.unreadable = true
		return a, true
	}
	read, err := io.ReadAll(io.LimitReader(body, p.max+1))
	if err != nil || int64(len(read)) > p.max {
		a.unreadable = true
		return a, true
	}
	a.body = read
	return a, true
}

// seconds reads a Retry-After in seconds; zero for anything else, and a day at most.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(n)*time.Second, 24*time.Hour)
}

package stream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/stream"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

const path = "/v1/" + servertest.ChainID + "/stream"

// swift looks at the index often.
func swift(o *servertest.Options) { o.Streams = stream.Options{Every: 2 * time.Millisecond} }

// message is what a client reads.
type message struct {
	ID, Type, Chain string
	Block           struct {
		Number       uint64
		Hash         felt.Felt
		TimestampISO string
	}
	Part     uint32
	LastPart bool
	Items    []json.RawMessage
	Code     string

	event string // as the stream names it, and lastID the id that a client has then
	idle  bool   // a comment
}

// listener is an open stream.
type listener struct {
	t    *testing.T
	res  *http.Response
	in   *bufio.Reader
	stop context.CancelFunc
	id   string // the last that came, as a browser keeps it

	first string
}

// open asks for a stream; headers come in pairs.
func open(t *testing.T, w *servertest.World, query, key string, headers ...string) *listener {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+path+"?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", key)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := servertest.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{t: t, res: res, in: bufio.NewReader(res.Body), stop: stop}
	t.Cleanup(l.close)
	if res.StatusCode == http.StatusOK && (res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "private, no-store" || res.Header.Get("X-Accel-Buffering") != "no") {
		t.Errorf("the headers of a stream: %v", res.Header)
	}
	return l
}

func (l *listener) close() {
	l.stop()
	l.res.Body.Close() //nolint:errcheck // it was cut off
}

// read reads the next message, or comment.
func (l *listener) read() (m message, err error) {
	found := false
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n" && (found || m.idle):
			return m, nil
		case line == "\n": // a pause to wait for, alone
		case name == "":
			m.idle = true
		case name == "id":
			if l.id = value; l.first == "" {
				l.first = value
			}
		case name == "event":
			m.event = value
		case name == "data":
			found = true
			if err := json.Unmarshal([]byte(value), &m); err != nil {
				l.t.Errorf("%s: %v", line, err)
			}
		case name != "retry":
			l.t.Errorf("a line %q", line)
		}
	}
}

// next is the next message that is no sign of life.
func (l *listener) next() message {
	l.t.Helper()
	for {
		m, err := l.read()
		if err != nil {
			l.t.Fatal(err)
		}
		if !m.idle {
			if m.event != m.Type || m.ID != l.id || m.Chain != servertest.ChainID || len(m.ID) >= 400 {
				l.t.Errorf("message %+v has the id %s", m, l.id)
			}
			return m
		}
	}
}

// heard is what a client makes of messages: blocks with the items of their parts.
type heard struct {
	blocks []message
	gone   int
}

func (h *heard) apply(t *testing.T, m message) {
	t.Helper()
	n := len(h.blocks)
	switch {
	case m.Type == "retracted":
		h.gone++
		for n > 0 && h.blocks[n-1].Block.Number > m.Block.Number {
			n--
		}
		var last uint64 = 1 << 62
		for _, raw := range m.Items {
			var b struct {
				Number uint64
				Hash   felt.Felt
			}
			if err := json.Unmarshal(raw, &b); err != nil || b.Number >= last || b.Number <= m.Block.Number {
				t.Errorf("retracted %s behind %d", raw, last)
			}
			last = b.Number
			if !slices.ContainsFunc(h.blocks, func(x message) bool { return x.Block.Number == b.Number && x.Block.Hash == b.Hash }) {
				t.Errorf("block %d is taken back, and nothing was told of it", b.Number)
			}
		}
		h.blocks = h.blocks[:n]
	case m.Type == "end":
	default:
		if n > 0 && (m.Block.Number < h.blocks[n-1].Block.Number || m.Part == 1 && m.Block.Number == h.blocks[n-1].Block.Number) {
			t.Errorf("part %d of block %d follows on block %d", m.Part, m.Block.Number, h.blocks[n-1].Block.Number)
		}
		h.blocks = append(h.blocks, m)
	}
}

// rows are the places of all items.
func (h *heard) rows() (out []string) {
	for _, m := range h.blocks {
		for _, raw := range m.Items {
			var at struct {
				BlockNumber             uint64
				TxHash                  felt.Felt
				LogIndex, TransferIndex uint32
			}
			json.Unmarshal(raw, &at) //nolint:errcheck // an empty place then
			out = append(out, fmt.Sprint(m.Block.Hash, at))
		}
	}
	return out
}

// until lists the events of the chain that match, as rows does, from a block on.
func truth(c *simnode.Chain, from uint64, keys ...[]felt.Felt) (out []string) {
	head, _ := c.Head()
	for _, e := range c.Events(simnode.EventFilter{From: from, To: head, Keys: keys}) {
		out = append(out, fmt.Sprint(e.Block.Hash, struct {
			BlockNumber             uint64
			TxHash                  felt.Felt
			LogIndex, TransferIndex uint32
		}{e.Block.Number, e.Block.Transactions[e.TxIndex].Hash, uint32(e.Index), 0}))
	}
	return out
}

package stream_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/stream"
)

// TestStreamsThroughForks follows streams while the chain grows and forks, cuts them off at
// random and goes on by the last id: at the end each has heard exactly what the chain has.
func TestStreamsThroughForks(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 12, func(o *servertest.Options) {
		o.Streams = stream.Options{Every: 2 * time.Millisecond, Heartbeat: 20 * time.Millisecond}
	})
	selector := felt.Selector("Transfer")
	const streams = 3
	type end struct {
		heard heard
		from  uint64
		cuts  int
	}
	ends := make([]end, streams)
	done := make(chan struct{})
	var taken atomic.Int64 // retractions, while the chain moves
	var work sync.WaitGroup
	for i := range ends {
		work.Go(func() {
			e := &ends[i]
			rng := rand.New(rand.NewPCG(uint64(i), 4))
			e.from = uint64(3 * i)
			query, id := fmt.Sprintf("kind=event&topic0=%s&from_block=%d", selector, e.from), ""
			for over := false; !over; {
				select {
				case <-done:
					over = true
					query += "&follow=false" // all that is left, and no more
				default:
				}
				var headers []string
				if id != "" {
					headers = []string{"Last-Event-ID", id}
				}
				l := open(t, w, query, w.Key, headers...)
				if l.res.StatusCode != http.StatusOK {
					t.Errorf("stream %d: %s", i, l.res.Status)
					return
				}
				for left := rng.IntN(12); over || left > 0; left-- {
					m, err := l.read()
					if err != nil {
						if !over {
							t.Errorf("stream %d: %v", i, err)
						}
						break
					}
					if !m.idle {
						e.heard.apply(t, m)
					}
					if m.Type == "retracted" {
						taken.Add(1)
					}
					if m.Code == "done" {
						break
					}
					select {
					case <-done:
						left = 0
					default:
					}
				}
				if l.id != "" {
					id = l.id
				}
				e.cuts++
				l.close()
			}
		})
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for n := 0; n < 14 || taken.Load() == 0 && n < 200; n++ { // a machine may be too busy to hear of a block before it is gone
		if rng.IntN(3) == 0 {
			w.Chain.Fork(1 + rng.IntN(4))
		}
		w.Chain.Extend(1 + rng.IntN(2))
		w.IndexInto(w.Engine)
	}
	close(done)
	work.Wait()
	gone := 0
	for i := range ends {
		e := &ends[i]
		if got, want := e.heard.rows(), truth(w.Chain, e.from, []felt.Felt{selector}); !slices.Equal(got, want) {
			t.Errorf("stream %d heard %d events after %d cuts, the chain has %d", i, len(got), e.cuts, len(want))
		}
		gone += e.heard.gone
	}
	if gone == 0 {
		t.Error("nothing was ever taken back")
	}
}

// TestRetraction tells a stream that listens exactly which blocks are gone.
func TestRetraction(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 6, swift)
	l := open(t, w, "kind=block&from_block=2", w.Key)
	var h heard
	for range 4 {
		h.apply(t, l.next())
	}
	was := w.Chain.BlockAt(5).Hash
	w.Chain.Fork(2)
	w.Chain.Extend(1)
	w.IndexInto(w.Engine)
	m := l.next()
	if m.Type != "retracted" || m.Block.Number != 3 || len(m.Items) != 2 || !strings.Contains(string(m.Items[0]), was.String()) {
		t.Fatalf("after a fork of two blocks: %+v", m)
	}
	h.apply(t, m)
	resumed := m.ID
	for range 3 {
		h.apply(t, l.next())
	}
	for i, m := range h.blocks {
		if at := w.Chain.BlockAt(uint64(2 + i)); m.Block.Hash != at.Hash || m.Part != 1 || !m.LastPart {
			t.Errorf("block %d is %+v", 2+i, m)
		}
	}
	// Whoever heard of the retraction and nothing else gets the new blocks, and no second one.
	l = open(t, w, "kind=block&lastEventId="+resumed, w.Key)
	if m := l.next(); m.Type != "block" || m.Block.Number != 4 {
		t.Errorf("it goes on with %+v", m)
	}
}

// TestForkBelowTheBeginning: whoever read a list up to the block where a stream begins holds rows
// that a fork below takes back, though the stream told nothing of them.
func TestForkBelowTheBeginning(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 8, func(o *servertest.Options) {
		o.Streams = stream.Options{Every: 2 * time.Millisecond, Heartbeat: 20 * time.Millisecond}
	})
	next, from, quiet := open(t, w, "kind=block", w.Key), open(t, w, "kind=block&from_block=8", w.Key), open(t, w, "kind=event&topic0=0x5&from_block=7", w.Key)
	cut := open(t, w, "kind=block", w.Key)
	for _, l := range []*listener{next, from, quiet, cut} {
		if m, err := l.read(); err != nil || !m.idle || l.id == "" {
			t.Fatalf("it begins with %+v, %v", m, err)
		}
	}
	cut.close()
	w.Chain.Fork(3)
	w.Chain.Extend(4)
	w.IndexInto(w.Engine)
	again := open(t, w, "kind=block", w.Key, "Last-Event-ID", cut.id)
	for i, l := range []*listener{next, from, again} {
		m := l.next()
		if m.Type != "retracted" || m.Block.Number > 4 || len(m.Items) > 0 {
			t.Fatalf("stream %d: after a fork below its beginning: %+v", i, m)
		}
		for n := m.Block.Number + 1; n <= 8; n++ {
			if m := l.next(); m.Type != "block" || m.Block.Number != n || m.Block.Hash != w.Chain.BlockAt(n).Hash {
				t.Errorf("stream %d: it goes on with %+v, want block %d", i, m, n)
			}
		}
	}
	if m := quiet.next(); m.Type != "retracted" || m.Block.Number > 4 {
		t.Errorf("one that nothing matches: %+v", m)
	}
	// What a fork takes behind the beginning, and nothing was told of, needs no word.
	quiet = open(t, w, "kind=event&topic0=0x5&from_block=7", w.Key)
	for quiet.id == "" || quiet.id == quiet.first {
		if _, err := quiet.read(); err != nil {
			t.Fatal(err)
		}
	}
	was := quiet.id
	w.Chain.Fork(1)
	w.Chain.Extend(2)
	w.IndexInto(w.Engine)
	for quiet.id == was {
		if m, err := quiet.read(); err != nil || !m.idle {
			t.Fatalf("a fork behind the beginning: %+v, %v", m, err)
		}
	}
}

// TestForkBehindTheBeginning: a stream that comes far without anything to tell knows few of the blocks on
// its way. What a fork takes there does not take it back behind where it began.
func TestForkBehindTheBeginning(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 40, func(o *servertest.Options) {
		o.Streams = stream.Options{Every: 2 * time.Millisecond, Heartbeat: 20 * time.Millisecond}
	})
	quiet := open(t, w, "kind=event&topic0=0x5&from_block=30", w.Key)
	for quiet.id == "" || quiet.id == quiet.first {
		if _, err := quiet.read(); err != nil {
			t.Fatal(err)
		}
	}
	w.Chain.Fork(9) // of the last ones: 31 to 39
	w.Chain.Extend(12)
	w.IndexInto(w.Engine)
	for was := quiet.id; quiet.id == was; {
		m, err := quiet.read()
		if err != nil || m.Type == "retracted" {
			t.Fatalf("a fork behind the beginning: %+v, %v", m, err)
		}
	}
}

// TestFinalityAndForkStreams: what is of no block is told when it happens.
func TestFinalityAndForkStreams(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 40, swift)
	finality, forks := open(t, w, "kind=finality", w.Key), open(t, w, "kind=fork", w.Key)
	w.Chain.Extend(2)
	w.IndexInto(w.Engine)
	for m := finality.next(); m.Block.Number < 41; m = finality.next() {
		if want := fmt.Sprintf(`"finalized":{"blockNumber":%d,`, m.Block.Number-10); m.Type != "finality" || !strings.Contains(string(m.Items[0]), want) {
			t.Errorf("%s %s, want %s", m.Type, m.Items, want)
		}
	}
	w.Chain.Fork(1)
	w.Chain.Extend(1)
	w.IndexInto(w.Engine)
	if m := forks.next(); m.Type != "fork" || string(m.Items[0]) != `{"count":1,"ancestorBlock":40,"depthBlocks":1,"belowL1":false}` {
		t.Errorf("%+v %s", m, m.Items)
	}
}

func TestRefusals(t *testing.T) {
	w := servertest.Shared(t, 12)
	var one message
	{
		l := open(t, w, "kind=block&from_block=11", w.Key)
		one = l.next()
	}
	for _, c := range []struct {
		query, header string
		status        int
		code          kernel.Code
		word          string
	}{
		{"", "", 400, kernel.CodeInvalidRequest, "query.kind"},
		{"kind=blocks", "", 400, kernel.CodeInvalidRequest, "query.kind"},
		{"kind=block&adress=0x1", "", 400, kernel.CodeInvalidRequest, "query.adress"},
		{"kind=block&address=0x1", "", 400, kernel.CodeInvalidRequest, "query.address"},
		{"kind=event", "", 400, kernel.CodeInvalidRequest, "query:"},
		{"kind=event&address=1", "", 400, kernel.CodeInvalidRequest, "query.address"},
		{"kind=block&from_block=x", "", 400, kernel.CodeInvalidRequest, "query.from_block"},
		{"kind=block&from_block=1&from_block=2", "", 400, kernel.CodeInvalidRequest, "query.from_block"},
		{"kind=block&from_block=99", "", 404, kernel.CodeNotFound, "query.from_block"},
		{"kind=fork&from_block=1", "", 400, kernel.CodeInvalidRequest, "query.from_block"},
		{"kind=block&follow=FALSE", "", 400, kernel.CodeInvalidRequest, "query.follow"},
		{"kind=block&follow=0", "", 400, kernel.CodeInvalidRequest, "query.follow"},
		{"kind=block&follow=", "", 400, kernel.CodeInvalidRequest, "query.follow"},
		{"kind=block&follow=perhaps", "", 400, kernel.CodeInvalidRequest, "query.follow"},
		{"kind=block&lastEventId=17", "", 400, kernel.CodeInvalidCursor, "query.lastEventId"},
		{"kind=block", "nonsense", 400, kernel.CodeInvalidCursor, "header.Last-Event-ID"},
		{"kind=block&lastEventId=" + one.ID, "nonsense", 400, kernel.CodeInvalidCursor, "header.Last-Event-ID"},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{"Last-Event-ID", c.header}
		}
		r := w.Do(http.MethodGet, path+"?"+c.query, w.Key, headers...)
		servertest.Expect(t, r, c.status, c.code, nil)
		if !strings.Contains(r.Envelope().Message, c.word) {
			t.Errorf("%s: %s, want a word of %s", c.query, r.Body, c.word)
		}
	}
	// The place of another chain is none of this one.
	other := servertest.NewLively(t, 12, time.Second, 77, 0)
	r := other.Do(http.MethodGet, path+"?kind=block&lastEventId="+one.ID, other.Key)
	servertest.Expect(t, r, 400, kernel.CodeInvalidCursor, nil)
	if r.Envelope().Reason != kernel.ReasonStreamPlace {
		t.Errorf("the place of another chain: %s", r.Body)
	}
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/SN_NONE/stream?kind=block", w.Key), 404, kernel.CodeNotFound, nil)
	servertest.Expect(t, w.Do(http.MethodGet, path+"?kind=block", ""), 401, kernel.CodeUnauthorized, nil)
	// The other shape of the path, and the header alone.
	if r := w.Do(http.MethodGet, "/api"+path+"?kind=block&follow=false&from_block=10", w.Key); r.StatusCode != 200 || strings.Count(string(r.Body), "event: block\n") != 2 || !strings.Contains(string(r.Body), `"code":"done"`) {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r := w.Do(http.MethodHead, path+"?kind=block", w.Key); r.StatusCode != 200 || len(r.Body) > 0 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// TestItemsAreTheListsRows compares what a stream tells with the lists of the API.
func TestItemsAreTheListsRows(t *testing.T) {
	w := servertest.Shared(t, 12)
	b := w.Chain.BlockAt(9)
	sender := b.Transactions[0].Sender
	for query, list := range map[string]string{
		"kind=transfer&from_block=0":                               "/transfers?limit=100",
		"kind=transaction&from_block=0&address=" + sender.String(): "/address/" + sender.String() + "/transactions?limit=100",
		"kind=block&from_block=0":                                  "/blocks?limit=100",
	} {
		r := w.Do(http.MethodGet, path+"?follow=false&"+query, w.Key)
		l := &listener{t: t, in: bufio.NewReader(strings.NewReader(string(r.Body)))}
		var got []string
		for {
			m, err := l.read()
			if err != nil || m.Code != "" {
				break
			}
			for _, raw := range m.Items {
				got = append(got, string(raw))
			}
		}
		var page struct{ Items []json.RawMessage }
		w.Get(list, &page)
		slices.Reverse(got)
		var want []string
		for _, raw := range page.Items {
			want = append(want, string(raw))
		}
		if len(want) == 0 || !slices.Equal(got[:min(len(got), len(want))], want) {
			t.Errorf("%s: %d items, the list has %d others", query, len(got), len(want))
		}
	}
}

// TestEnds: a stream ends with its key, with the service, after its time, and when its
// client does not read.
func TestEnds(t *testing.T) {
	servertest.Watched(t)
	t.Run("key", func(t *testing.T) {
		w := servertest.New(t, 3, swift)
		issued := w.Issue()
		l := open(t, w, "kind=block&from_block=2", issued.Plaintext)
		l.next()
		if _, _, err := w.Repo.RevokeKey(t.Context(), issued.Key.PublicID); err != nil {
			t.Fatal(err)
		}
		if m := l.next(); m.Code != "key_invalid" {
			t.Errorf("%+v", m)
		}
		if _, err := l.read(); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
	})
	t.Run("lifetime", func(t *testing.T) {
		w := servertest.New(t, 3, func(o *servertest.Options) {
			o.Streams = stream.Options{Lifetime: 50 * time.Millisecond, Heartbeat: time.Millisecond}
		})
		l := open(t, w, "kind=block&from_block=2", w.Key)
		l.next()
		idle := 0
		for {
			m, err := l.read()
			if err != nil {
				t.Fatal(err)
			}
			if m.Code == "lifetime" {
				break
			}
			idle++
		}
		if idle == 0 {
			t.Error("it gave no sign of life")
		}
	})
	t.Run("limits", func(t *testing.T) {
		w := servertest.New(t, 3, func(o *servertest.Options) { o.Streams = stream.Options{Streams: 16} })
		key := w.NewKey(account.DefaultScopes)
		for range 2 {
			if l := open(t, w, "kind=block", key); l.res.StatusCode != 200 {
				t.Fatal(l.res.Status)
			}
		}
		l := open(t, w, "kind=block", key)
		if l.res.StatusCode != http.StatusTooManyRequests || l.res.Header.Get("Retry-After") == "" {
			t.Errorf("the third stream of a key that may have two: %s", l.res.Status)
		}
	})
}

// TestWhoDoesNotReadIsCutOff: a client that takes nothing keeps its seat for as long as a
// message may take, and not for as long as it likes.
func TestWhoDoesNotReadIsCutOff(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 3, func(o *servertest.Options) {
		o.Streams = stream.Options{Streams: 8, Heartbeat: 50 * time.Microsecond, SendTime: 20 * time.Millisecond} // one stream a key
	})
	key := w.NewKey(account.DefaultScopes)
	host, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", host.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	if err := conn.(*net.TCPConn).SetReadBuffer(1024); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s?kind=block HTTP/1.1\r\nHost: %s\r\nX-Service-Api-Key: %s\r\n\r\n", path, host.Host, key) //nolint:errcheck // the next lines tell
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 OK"))); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		l := open(t, w, "kind=block", key)
		if l.close(); l.res.StatusCode == http.StatusOK {
			return
		}
		if l.res.StatusCode != http.StatusTooManyRequests || time.Now().After(deadline) {
			t.Fatalf("beside a client that does not read: %s", l.res.Status)
		}
	}
}

// TestIdleStreamsKeepTheirPlace: a stream that has nothing to tell says how far it has come,
// so that whoever comes back need not look at all again.
func TestIdleStreamsKeepTheirPlace(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 5, func(o *servertest.Options) {
		o.Streams = stream.Options{Every: 2 * time.Millisecond, Heartbeat: 5 * time.Millisecond}
	})
	l := open(t, w, url.Values{"kind": {"event"}, "address": {"0xdead"}}.Encode(), w.Key)
	w.Chain.Extend(3)
	w.IndexInto(w.Engine)
	for l.id == l.first {
		if m, err := l.read(); err != nil || !m.idle {
			t.Fatalf("%+v %v", m, err)
		}
	}
	again := open(t, w, "kind=block&follow=false&lastEventId="+l.id, w.Key)
	count := 0
	for m := again.next(); m.Code == ""; m = again.next() {
		count++
	}
	if count > 3 {
		t.Errorf("it told %d blocks behind its place", count)
	}
}

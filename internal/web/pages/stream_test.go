package pages_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listener reads server-sent events.
type listener struct {
	t      *testing.T
	events chan sent
}

type sent struct {
	Name, ID string
	Data     struct {
		Number       uint64
		Hash         string
		Transactions uint64
		Finalized    *uint64
		L1           *uint64
		Was          string
		Now          *string
	}
}

func (w *world) listen(path string, headers ...string) *listener {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+path, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.T.Fatal(err)
	}
	l := &listener{w.T, make(chan sent, 100)}
	done := make(chan struct{})
	w.T.Cleanup(func() { cancel(); <-done })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		close(done)
		w.T.Fatalf("%s: %d %s", path, res.StatusCode, res.Header)
	}
	go func() {
		defer close(done)
		defer close(l.events)
		defer res.Body.Close() //nolint:errcheck // read to its end
		var e sent
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			name, value, _ := strings.Cut(s.Text(), ": ")
			switch name {
			case "event":
				e.Name = value
			case "id":
				e.ID = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.Data); err != nil {
					e.Name = err.Error()
				}
			case "":
				if e.Name != "" {
					l.events <- e
				}
				e = sent{}
			}
		}
	}()
	return l
}

// next is the next event of a name, or any where that is "".
func (l *listener) next(name string) sent {
	l.t.Helper()
	for timeout := time.After(time.Minute); ; {
		select {
		case e, open := <-l.events:
			if !open {
				l.t.Fatalf("the stream ended before a %s", name)
			}
			if e.Name == name || name == "" {
				return e
			}
		case <-timeout:
			l.t.Fatalf("there was no %s", name)
		}
	}
}

// TestLiveTellsOfBlocks: whoever listens hears of the head at once, and of every new block.
func TestLiveTellsOfBlocks(t *testing.T) {
	w := ownWorld(t, 40)
	one, two := w.listen("/live/"+chainID), w.listen("/live/"+chainID)
	for _, l := range []*listener{one, two} {
		e := l.next("head")
		b := w.Chain.BlockAt(39)
		if e.ID != "39" || e.Data.Number != 39 || e.Data.Hash != b.Hash.String() || e.Data.Transactions != uint64(len(b.Transactions)) || *e.Data.Finalized != 29 || *e.Data.L1 != 9 {
			t.Errorf("%+v", e)
		}
	}
	w.Chain.Extend(3)
	w.CatchUp()
	for _, l := range []*listener{one, two} {
		for n := uint64(40); n < 43; n++ {
			if e := l.next("head"); e.Data.Number != n || e.Data.Hash != w.Chain.BlockAt(n).Hash.String() {
				t.Errorf("%+v, want block %d", e, n)
			}
		}
	}
	// Who comes back hears of what was missed, as far as that is not too much.
	again := w.listen("/live/"+chainID, "Last-Event-ID", "40")
	for n := uint64(41); n < 43; n++ {
		if e := again.next("head"); e.Data.Number != n {
			t.Errorf("%+v, want block %d", e, n)
		}
	}
	if e := w.listen("/live/"+chainID, "Last-Event-ID", "1").next("head"); e.Data.Number != 43-16 {
		t.Errorf("%+v, want the first of 16", e)
	}
}

// TestLiveTellsOfForks: whoever watches a block hears when another has its number.
func TestLiveTellsOfForks(t *testing.T) {
	w := ownWorld(t, 40)
	old := w.Chain.BlockAt(38).Hash.String()
	path := fmt.Sprintf("/live/%s?number=38&hash=%s", chainID, old)
	l := w.listen(path)
	l.next("head")
	stays := w.listen(fmt.Sprintf("/live/%s?number=20&hash=%s", chainID, w.Chain.BlockAt(20).Hash))
	stays.next("head")
	w.Chain.Fork(3)
	w.Chain.Extend(1)
	w.CatchUp()
	now := w.Chain.BlockAt(38).Hash.String()
	if now == old {
		t.Fatal("the block was not replaced")
	}
	e := l.next("fork")
	for e.Data.Now == nil { // taken back, and not replaced yet
		e = l.next("fork")
	}
	if e.Data.Number != 38 || e.Data.Was != old || *e.Data.Now != now {
		t.Errorf("%+v", e)
	}
	// A page that was kept from before is told at once.
	if e := w.listen(path).next("fork"); e.Data.Now == nil || *e.Data.Now != now {
		t.Errorf("%+v", e)
	}
	w.Chain.Extend(1)
	w.CatchUp()
	head, _ := w.Chain.Head()
	for {
		e := stays.next("")
		if e.Name != "head" {
			t.Fatalf("%+v about a block that is there", e)
		}
		if e.Data.Number == head {
			break
		}
	}
}

// TestLiveRefuses what makes no sense, and more listeners than one address may have.
func TestLiveRefuses(t *testing.T) {
	w := ownWorld(t, 12)
	for path, status := range map[string]int{
		"/live/SN_NONE": 404, "/live/" + chainID + "?number=x&hash=0x1": 400, "/live/" + chainID + "?number=1": 400, "/live/" + chainID + "?hash=0x1": 400, "/live/" + chainID + "?number=1&hash=zz": 400,
	} {
		if r := w.Do(http.MethodGet, path, ""); r.StatusCode != status || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
	for range 24 {
		w.listen("/live/" + chainID).next("head")
	}
	if r := w.Do(http.MethodGet, "/live/"+chainID, ""); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", r.StatusCode, r.Body)
	}
}

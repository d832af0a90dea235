package node

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
)

// collect collects garbage, and waits until what is tied to garbage was done.
func collect() {
	for range 3 {
		done := make(chan struct{})
		runtime.AddCleanup(new([64]byte), func(c chan struct{}) { close(c) }, done)
		runtime.GC()
		<-done
	}
}

// inUse is how much of a part of the budget is taken, and 0 only if not a byte is.
func inUse(b *Budget, part *semaphore.Weighted) int64 {
	free := int64(0)
	for step := b.half; step > 0; step /= 2 {
		for free+step <= 2*b.half && part.TryAcquire(step) {
			free += step
		}
	}
	part.Release(free)
	return b.half - free
}

// padded answers with blanks before the true answer, in pieces of one MiB, without
// a length, and collects garbage while it is read.
func padded(f *fakeNode, mib int) func(int, http.ResponseWriter, *http.Request, []byte) bool {
	return func(_ int, w http.ResponseWriter, _ *http.Request, body []byte) bool {
		piece := strings.Repeat(" ", 1<<20)
		for range mib {
			if _, err := io.WriteString(w, piece); err != nil {
				return true
			}
			collect()
		}
		io.WriteString(w, f.reply(body)) //nolint:errcheck // a test server
		return true
	}
}

// A node that pads answers which nobody keeps gives nothing back twice: neither when
// nothing else is taken, which would end the process, nor what others hold.
func TestPaddedAnswersAreGivenBackOnce(t *testing.T) {
	pn := newNet()
	a := newNode(t, pn, "a", 200)
	budget := NewBudget(64 << 20)
	p := open(t, pn, func(c *Config) { c.Budget, c.HealthInterval = budget, time.Hour }, a)
	a.set(func(f *fakeNode) { f.fault = padded(f, 3) })
	vote := func() {
		t.Helper()
		said := p.HashesAt(t.Context(), 7)
		if err := said[0].Err; !errors.Is(err, ErrMalformed) { // a header of the test's node has no hash
			t.Fatalf("padded header: %v", err)
		}
	}
	vote()
	if _, err := p.Call(t.Context(), "starknet_addInvokeTransaction", []any{1}); err != nil {
		t.Fatal(err)
	}
	for i, n := range []int64{inUse(budget, budget.medium), inUse(budget, budget.large)} {
		if n != 0 {
			t.Errorf("part %d: %d bytes are taken by nobody", i, n)
		}
	}
	raw, err := p.BlockWithUpdate(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	collect()
	held := inUse(budget, budget.medium)
	if held < 3<<20 || held > 4<<20 {
		t.Errorf("%d bytes are taken for an answer of 3 MiB", held)
	}
	for range 3 {
		vote()
	}
	if n := inUse(budget, budget.medium); n != held {
		t.Errorf("%d bytes are taken instead of the %d of an answer that is still used", n, held)
	}
	raw.Release()
	raw.Release()
	if n := inUse(budget, budget.medium); n != 0 {
		t.Errorf("%d bytes are taken after the release", n)
	}
}

// Garbage that is collected while a large answer is put together, which nobody
// keeps, gives nothing of it back.
func TestCollectingGarbageGivesNothingBack(t *testing.T) {
	pn := newNet()
	a := newNode(t, pn, "a", 200)
	p := open(t, pn, func(c *Config) { c.HealthInterval, c.MaxResponseBytes = time.Hour, 96<<20 }, a)
	a.set(func(f *fakeNode) {
		pad := strings.Repeat(" ", 1<<20)
		f.fault = func(_ int, w http.ResponseWriter, _ *http.Request, body []byte) bool {
			for range 80 {
				io.WriteString(w, pad) //nolint:errcheck // a test server
			}
			io.WriteString(w, f.reply(body)) //nolint:errcheck // a test server
			return true
		}
	})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	calls := 15
	if Raced {
		calls = 1
	}
	for range calls {
		if _, err := p.Call(t.Context(), "starknet_addInvokeTransaction", []any{1}); err != nil {
			t.Fatal(err)
		}
	}
	if n := inUse(p.cfg.Budget, p.cfg.Budget.large); n != 0 {
		t.Errorf("%d bytes stay taken", n)
	}
}

// What an answer has taken stays taken until it is given back, not until nobody
// could do that, and is given back once whoever does it how often.
func TestGrantsAreGivenBackOnce(t *testing.T) {
	budget := NewBudget(64 << 20)
	other, err := newHold(budget).take(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	collect()
	h := newHold(budget)
	g, err := h.take(t.Context(), 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		do   func()
		want int64
	}{
		{func() {}, 5 << 20},
		{func() { g.keep(3 << 20) }, 4 << 20},
		{func() { g.keep(9 << 20) }, 4 << 20},
		{h.release, 1 << 20},
		{h.release, 1 << 20},
		{func() { g.keep(0) }, 1 << 20},
		{func() { other.keep(0) }, 0},
		{func() { other.keep(0) }, 0},
	} {
		step.do()
		if n := inUse(budget, budget.medium); n != step.want {
			t.Errorf("step %d: %d bytes are taken, not %d", i, n, step.want)
		}
	}
}

// Answers that are small by what was asked may not be large.
func TestSmallAnswersAreSmall(t *testing.T) {
	pn := newNet()
	a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 190)
	budget := NewBudget(64 << 20)
	p := open(t, pn, func(c *Config) { c.Budget, c.PollInterval, c.MaxAttempts = budget, time.Nanosecond, 1 }, a, b)
	a.set(func(f *fakeNode) {
		pad := strings.Repeat(" ", 4<<20)
		f.answer = func(c wireCall) string {
			switch c.Method {
			case "starknet_blockHashAndNumber":
				return pad + ok(c, f.headJSON(201))
			case "starknet_getNonce", "starknet_chainId":
				return pad + ok(c, `"0x1"`)
			case "starknet_call":
				return pad + pad + pad + ok(c, `["0x1"]`)
			}
			return ""
		}
	})
	if h, err := p.Head(t.Context()); err != nil || h.Node == "http://a" && h.Number > 200 {
		t.Errorf("head %+v, %v", h, err)
	}
	for _, method := range []string{"starknet_getNonce", "starknet_chainId", "starknet_call"} {
		if _, err := p.Call(t.Context(), method, nil, OnNode("http://a")); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if n := inUse(budget, budget.medium) + inUse(budget, budget.large); n != 0 {
		t.Errorf("%d bytes stay taken", n)
	}
}

// What requests say that another one was faster than does not stay taken.
func TestOvertakenAnswersAreGivenBack(t *testing.T) {
	pn := newNet()
	a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 200)
	budget := NewBudget(64 << 20)
	p := open(t, pn, func(c *Config) { c.Budget, c.RequestTimeout = budget, 200*time.Millisecond }, a, b)
	// Both have begun to answer, with a place in the budget, and one hangs there.
	// A machine that is busy may ask a third time.
	var begun atomic.Int32
	both := make(chan struct{})
	first := true
	for _, f := range []*fakeNode{a, b} {
		f.set(func(f *fakeNode) {
			f.fault = func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
				a.mu.Lock()
				hang := first
				first = false
				a.mu.Unlock()
				io.WriteString(w, strings.Repeat(" ", 2<<20)) //nolint:errcheck // a test server
				if begun.Add(1) == 2 {
					close(both)
				}
				if hang {
					<-r.Context().Done()
					return true
				}
				select {
				case <-both:
				case <-r.Context().Done():
					return true
				}
				io.WriteString(w, f.reply(body)) //nolint:errcheck // a test server
				return true
			}
		})
	}
	raw, err := p.BlockWithUpdate(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	raw.Release()
	for inUse(budget, budget.medium) != 0 { // the test's own time bounds this
		if t.Context().Err() != nil {
			t.Fatal("an answer that nobody waits for stays taken")
		}
		runtime.Gosched()
	}
}

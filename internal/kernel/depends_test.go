package kernel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
)

// served is a kernel with routes of a test, and a key.
type served struct {
	t   testing.TB
	k   *kernel.Server
	key string
	at  chain.Revision
	// written is what the index was written, as far as it is counted.
	written uint64
	counted bool
}

func serve(t testing.TB, change ...func(*kernel.Options)) *served {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: controltest.File(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
	repo := account.NewRepository(db, account.Options{})
	space, err := repo.CreateWorkspace(t.Context(), "test", account.Enterprise)
	if err != nil {
		t.Fatal(err)
	}
	key, err := repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: space.ID})
	if err != nil {
		t.Fatal(err)
	}
	secret := db.CursorSecret()
	o := kernel.Options{Keys: account.NewAuthenticator(repo, nil), Cursors: kernel.NewCursors(secret[:])}
	for _, f := range change {
		f(&o)
	}
	k, err := kernel.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, k: k, key: key.Plaintext, at: chain.Revision{Next: 10}}
	k.KeepBy(func(context.Context, string) (chain.Revision, bool) { return s.at, true }, func(string) (uint64, bool) { return s.written, s.counted })
	return s
}

type counted struct {
	Body struct {
		Count int `json:"count"`
	}
}

type chainPath struct {
	Chain string `path:"chain"`
}

// add registers a route that counts how often it was really asked.
func (s *served) add(id string, d kernel.Depends, say func(*kernel.Request)) {
	n := 0
	kernel.Register(s.k, kernel.Route{ID: id, Method: http.MethodGet, Path: "/v1/{chain}/" + id, Family: "Test", Summary: "Test.", Description: "Test.",
		Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: d},
		func(ctx context.Context, _ *chainPath) (*counted, error) {
			n++
			if say != nil {
				say(kernel.RequestOf(ctx))
			}
			out := &counted{}
			out.Body.Count = n
			return out, nil
		})
}

func (s *served) ask(id string) string {
	s.t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/v1/X/"+id, nil)
	r.Header.Set(kernel.HeaderKey, s.key)
	s.k.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		s.t.Fatalf("%s: %d %s", id, w.Code, w.Body)
	}
	return w.Body.String()
}

// TestKeptByWhatItDependsOn: an answer is kept until the next block when all that it
// depends on is the chain, or the handler vouches that this one does; otherwise never.
func TestKeptByWhatItDependsOn(t *testing.T) {
	sure, unsure := func(r *kernel.Request) { r.Vouch(true) }, func(r *kernel.Request) { r.Vouch(false) }
	lasting := func(r *kernel.Request) { r.Settle(true, true) }
	for i, tt := range []struct {
		name   string
		on     kernel.Depends
		say    func(*kernel.Request)
		kept   bool // until the next block
		beyond bool // until a fork
	}{
		{"the chain alone", kernel.OnChain, nil, true, false},
		{"the chain alone, in doubt", kernel.OnChain, unsure, false, false},
		{"the chain alone, for good", kernel.OnChain, lasting, true, true},
		{"names", kernel.OnChain | kernel.OnEnrichment, nil, false, false},
		{"no names", kernel.OnChain | kernel.OnEnrichment, sure, true, false},
		{"names somewhere", kernel.OnChain | kernel.OnEnrichment, func(r *kernel.Request) { r.Vouch(false); r.Vouch(true) }, false, false},
		{"names, for good", kernel.OnChain | kernel.OnEnrichment, lasting, false, false},
		{"the caller", kernel.OnChain | kernel.OnCaller, nil, false, false},
		{"the clock", kernel.OnChain | kernel.OnClock, nil, false, false},
		{"a node", kernel.OnChain | kernel.OnNode, nil, false, false},
		{"the set-up", kernel.OnSetup, sure, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, id := serve(t), fmt.Sprintf("route%d", i)
			s.add(id, tt.on, tt.say)
			first := s.ask(id)
			if kept := s.ask(id) == first; kept != tt.kept {
				t.Errorf("kept: %v", kept)
			}
			s.at.Next++
			if kept := s.ask(id) == first; kept != tt.beyond {
				t.Errorf("kept beyond the next block: %v", kept)
			}
			s.at.Forks++
			if s.ask(id) == first {
				t.Error("kept beyond a fork")
			}
		})
	}
}

// TestKeptUntilWritten: an answer that follows from the index alone, names included, is kept until
// something is written to it, where that is counted.
func TestKeptUntilWritten(t *testing.T) {
	unsure := kernel.OnChain | kernel.OnEnrichment | kernel.OnCaller
	of := func(index bool) func(*kernel.Request) {
		return func(r *kernel.Request) { r.Vouch(false); r.VouchIndex(index) }
	}
	for i, tt := range []struct {
		name    string
		say     func(*kernel.Request)
		counted bool
		kept    bool
	}{
		{"vouched for", of(true), true, true},
		{"not vouched for", of(false), true, false},
		{"nobody says so", func(r *kernel.Request) { r.Vouch(false) }, true, false},
		{"nobody counts", of(true), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, id := serve(t), fmt.Sprintf("written%d", i)
			s.counted = tt.counted
			s.add(id, unsure, tt.say)
			first := s.ask(id)
			if kept := s.ask(id) == first; kept != tt.kept {
				t.Errorf("kept: %v", kept)
			}
			s.written++
			second := s.ask(id)
			if second == first {
				t.Error("kept beyond what was written")
			}
			s.at.Next++
			if s.ask(id) == second {
				t.Error("kept beyond the next block")
			}
		})
	}
}

// TestRoutesSayWhatTheyDependOn: one that does not is a mistake in the program.
func TestRoutesSayWhatTheyDependOn(t *testing.T) {
	s := serve(t)
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "forgetful") {
			t.Errorf("registered: %v", p)
		}
	}()
	s.add("forgetful", 0, nil)
}

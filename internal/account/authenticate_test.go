package account

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// door is an Authenticator with a key to try on it.
type door struct {
	*bench
	auth *Authenticator
	key  Issued
}

func newDoor(t testing.TB, at place, n NewKey) *door {
	t.Helper()
	b := newBench(t, at)
	n.WorkspaceID = b.workspace(t, "acme", Growth).ID
	return &door{bench: b, auth: NewAuthenticator(b.Repository, nil), key: b.key(t, n)}
}

func (d *door) try(t testing.TB) error {
	t.Helper()
	_, err := d.auth.Authenticate(t.Context(), d.key.Plaintext)
	return err
}

// elsewhere is the same database in what could be another process.
func (d *door) elsewhere(t testing.TB) *Repository {
	t.Helper()
	return NewRepository(openDB(t, d.path), Options{Now: d.clock.now})
}

func testAuthenticate(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{Environment: Test, Scopes: Read | Trace, Limits: Limits{Burst: 9}})
	for range 2 { // from the database, then from memory
		who, err := d.auth.Authenticate(t.Context(), d.key.Plaintext)
		k := d.key.Key
		want := Principal{
			KeyID: k.ID, PublicID: k.PublicID, WorkspaceID: k.WorkspaceID, Plan: Growth, Kind: Ordinary,
			Scopes: Read | Trace | Verify, Policy: k.Policy, Environment: Test,
		}
		if err != nil || who != want {
			t.Errorf("%+v, %v\nwant %+v", who, err, want)
		}
		for presented, want := range map[string]error{
			"": ErrMalformed, "svc_live_x": ErrMalformed, d.key.Plaintext + " ": ErrMalformed,
			testKey(t, 3, Live): ErrUnknown, testKey(t, 3, Test): ErrUnknown,
		} {
			who, err := d.auth.Authenticate(t.Context(), presented)
			if !errors.Is(err, want) || who != (Principal{}) {
				t.Errorf("%q: %+v, %v", presented, who, err)
			}
		}
	}
}

func testRevokedElsewhereIsRefusedWithinASecond(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{})
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	d.clock.advance(freshFor / 2)
	if _, _, err := d.elsewhere(t).RevokeKey(t.Context(), d.key.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	if err := d.try(t); err != nil {
		t.Fatalf("the answer is not from memory: %v", err)
	}
	d.clock.advance(freshFor / 2) // it was last asked for before it was revoked
	if err := d.try(t); !errors.Is(err, ErrUnknown) {
		t.Errorf("a revoked key: %v", err)
	}
	if freshFor >= time.Second {
		t.Errorf("a key is remembered for %v", freshFor)
	}
}

func testRevokedHereIsRefusedAtOnce(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{})
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.RevokeKey(t.Context(), d.key.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	if err := d.try(t); !errors.Is(err, ErrUnknown) {
		t.Errorf("a revoked key: %v", err)
	}
}

func testRotatedHereAtOnce(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{})
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	now, _, err := d.Rotate(t.Context(), d.key.Key.PublicID)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.try(t); !errors.Is(err, ErrUnknown) {
		t.Errorf("the old key: %v", err)
	}
	if _, err := d.auth.Authenticate(t.Context(), now.Plaintext); err != nil {
		t.Errorf("the new key: %v", err)
	}
}

func testExpires(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{Lifetime: 500 * time.Millisecond})
	d.clock.advance(500*time.Millisecond - time.Microsecond)
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	d.clock.advance(time.Microsecond) // while the answer in memory is fresh
	if err := d.try(t); !errors.Is(err, ErrUnknown) {
		t.Errorf("an expired key in memory: %v", err)
	}
	fresh := NewAuthenticator(d.Repository, nil)
	if _, err := fresh.Authenticate(t.Context(), d.key.Plaintext); !errors.Is(err, ErrUnknown) {
		t.Errorf("an expired key in the database: %v", err)
	}
}

// TestClockGoesBack: an answer from the future is not trusted.
func TestClockGoesBack(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.elsewhere(t).RevokeKey(t.Context(), d.key.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	d.clock.advance(-time.Hour)
	if err := d.try(t); !errors.Is(err, ErrUnknown) {
		t.Errorf("a revoked key: %v", err)
	}
}

// TestWithoutDatabase shows which answers come from memory, and that a database
// that cannot be asked never lets anybody in nor calls a key invalid.
func TestWithoutDatabase(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	stranger := testKey(t, 5, Live)
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	if _, err := d.auth.Authenticate(t.Context(), stranger); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	if err := d.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.try(t); err != nil {
		t.Errorf("a known key: %v", err)
	}
	d.clock.advance(9 * time.Second)
	if _, err := d.auth.Authenticate(t.Context(), stranger); !errors.Is(err, ErrUnknown) {
		t.Errorf("a refused key: %v", err)
	}
	for name, key := range map[string]string{"stale": d.key.Plaintext, "new": testKey(t, 6, Live)} {
		who, err := d.auth.Authenticate(t.Context(), key)
		if err == nil || errors.Is(err, ErrUnknown) || errors.Is(err, ErrMalformed) || who != (Principal{}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
		if err != nil && strings.Contains(err.Error(), key[prefixSize:]) {
			t.Errorf("%s: the error holds the key", name)
		}
	}
}

// TestFloodOfStrangers: keys that nobody knows wait in line; known ones do not,
// and are not forgotten for them.
func TestFloodOfStrangers(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	if err := d.try(t); err != nil {
		t.Fatal(err)
	}
	for range maxStrangers {
		d.auth.strangers <- struct{}{} // lookups that take long
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.auth.Authenticate(ctx, testKey(t, 9, Live)); !errors.Is(err, context.Canceled) {
		t.Errorf("a stranger: %v", err)
	}
	d.clock.advance(time.Hour)
	if err := d.try(t); err != nil {
		t.Errorf("a known key: %v", err)
	}
	for i := range uint64(10 * shards * generation) {
		var made digest
		binary.BigEndian.PutUint64(made[8:], i)
		made[0] = byte(i)
		d.auth.refused.put(&made, refused{})
	}
	if n := d.auth.refused.len(); n > 2*shards*generation {
		t.Errorf("%d refused keys are kept", n)
	}
	if err := d.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.try(t); err != nil {
		t.Errorf("a known key after the flood: %v", err)
	}
}

func TestCacheKeepsWhatIsWrittenAgain(t *testing.T) {
	c := newCache[digest, int]()
	var hot digest
	for i := range 3 * generation {
		if i%generation == 0 {
			c.put(&hot, i)
		}
		var cold digest
		binary.BigEndian.PutUint64(cold[8:], uint64(i)+1)
		c.put(&cold, i)
		if _, ok := c.get(&hot); !ok {
			t.Fatalf("lost after %d others", i)
		}
	}
}

func TestConcurrentLookupsShareAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var asked atomic.Int32
		answer := make(chan struct{})
		ask := func(context.Context) (accepted, error) {
			asked.Add(1)
			<-answer
			return accepted{changes: 7}, nil
		}
		for range 20 {
			go func() {
				found, err := f.do(t.Context(), question{}, ask)
				if err != nil || found.changes != 7 {
					t.Errorf("%+v, %v", found, err)
				}
			}()
		}
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.do(impatient, question{}, ask); !errors.Is(err, context.Canceled) {
			t.Errorf("who does not wait: %v", err)
		}
		close(answer)
		synctest.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if len(f.pending) != 0 {
			t.Error("a flight is left")
		}
	})
}

// TestAnotherAsksWhenTheFirstGivesUp: one client that hangs up fails nobody else.
func TestAnotherAsksWhenTheFirstGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var asked atomic.Int32
		ask := func(ctx context.Context) (accepted, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return accepted{}, ctx.Err()
			}
			return accepted{changes: 7}, nil
		}
		first, hangUp := context.WithCancel(t.Context())
		go func() {
			if _, err := f.do(first, question{}, ask); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		}()
		synctest.Wait()
		for range 5 {
			go func() {
				if found, err := f.do(t.Context(), question{}, ask); err != nil || found.changes != 7 {
					t.Errorf("another: %+v, %v", found, err)
				}
			}()
		}
		synctest.Wait()
		hangUp()
		synctest.Wait()
		if n := asked.Load(); n < 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func testConcurrentAuthenticate(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{})
	wrong := testKey(t, 8, Live)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				if err := d.try(t); err != nil {
					t.Error(err)
				}
				if _, err := d.auth.Authenticate(t.Context(), wrong); !errors.Is(err, ErrUnknown) {
					t.Error(err)
				}
				if i%20 == 0 {
					d.clock.advance(time.Second)
					if err := d.auth.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func testLastUse(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{})
	idle := d.bench.key(t, NewKey{WorkspaceID: d.key.Key.WorkspaceID, Label: "idle"})
	last := func() *time.Time {
		t.Helper()
		for _, k := range d.list(t, "") {
			switch {
			case k.PublicID == idle.Key.PublicID && k.LastUsedAt != nil:
				t.Errorf("the idle key was used at %v", k.LastUsedAt)
			case k.PublicID == d.key.Key.PublicID:
				return k.LastUsedAt
			}
		}
		return nil
	}
	flush := func() {
		t.Helper()
		if err := d.auth.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	use := func() {
		t.Helper()
		if err := d.try(t); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		use()
		d.clock.advance(50 * time.Millisecond)
	}
	d.clock.advance(-50 * time.Millisecond)
	if last() != nil {
		t.Error("a request wrote to the database")
	}
	if n := len(d.auth.usage.list); n != 1 {
		t.Errorf("%d notes of one key", n)
	}
	flush()
	if got := last(); got == nil || !got.Equal(d.clock.now()) {
		t.Errorf("used at %v, want %v", got, d.clock.now())
	}
	// Used again, and again after another process saw it later.
	d.clock.advance(time.Minute)
	use()
	flush()
	later := d.clock.now()
	if got := last(); !got.Equal(later) {
		t.Errorf("used at %v, want %v", got, later)
	}
	d.clock.advance(-time.Second)
	use()
	flush()
	if got := last(); !got.Equal(later) {
		t.Errorf("the time went back to %v", got)
	}
}

// TestRunWritesWhenItStops, and logs failures without keys.
func TestRunWritesWhenItStops(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	var log strings.Builder
	d.auth = NewAuthenticator(d.Repository, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	run := func(during func()) {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); d.auth.Run(ctx) }()
			during()
			stop()
			<-done
		})
	}
	run(func() {
		if err := d.try(t); err != nil {
			t.Error(err)
		}
		time.Sleep(flushEvery + time.Second) // the bubble's time
		if k := d.list(t, "")[0]; k.LastUsedAt == nil {
			t.Error("not written after ten seconds")
		}
		d.clock.advance(time.Minute)
		if err := d.try(t); err != nil {
			t.Error(err)
		}
	})
	if k := d.list(t, "")[0]; k.LastUsedAt == nil || !k.LastUsedAt.Equal(d.clock.now()) {
		t.Errorf("used at %v, want %v", k.LastUsedAt, d.clock.now())
	}
	if log.Len() != 0 {
		t.Errorf("logged %s", log.String())
	}
	run(func() {
		if err := d.try(t); err != nil {
			t.Error(err)
		}
		if err := d.db.Close(); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(log.String(), "write when keys were used") || strings.Contains(log.String(), d.key.Plaintext[prefixSize:]) {
		t.Errorf("logged %q", log.String())
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	d := newDoor(b, onFile, NewKey{})
	d.auth.repo.now = time.Now
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.auth.Authenticate(b.Context(), d.key.Plaintext); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("known/parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := d.auth.Authenticate(b.Context(), d.key.Plaintext); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("refused", func(b *testing.B) {
		b.ReportAllocs()
		wrong := testKey(b, 8, Live)
		for b.Loop() {
			if _, err := d.auth.Authenticate(b.Context(), wrong); !errors.Is(err, ErrUnknown) {
				b.Fatal(err)
			}
		}
	})
	b.Run("database", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.changes.Add(1) // forgets everything
			if _, err := d.auth.Authenticate(b.Context(), d.key.Plaintext); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("malformed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.auth.Authenticate(b.Context(), d.key.Plaintext[1:]); !errors.Is(err, ErrMalformed) {
				b.Fatal(err)
			}
		}
	})
}

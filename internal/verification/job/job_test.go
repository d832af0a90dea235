package job

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/receipt"
)

// testLife: a job goes the whole way, and every step of it is in the audit log.
func testLife(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	data, p := tree(t, 1, 3*chunkBytes)
	if len(data) <= chunkBytes {
		t.Fatalf("%d bytes are one chunk", len(data))
	}
	j := b.create(t, 0, "k", p)
	if !regexp.MustCompile(`^vrf_[a-z0-9]{24,40}$`).MatchString(j.ID) || j.State != AwaitingUpload || !j.UploadExpiresAt.Equal(b.clock.Now().Add(15*time.Minute)) {
		t.Fatalf("created %+v", j)
	}
	if w, err := b.Claim(t.Context(), Chain, "w1", time.Minute); w != nil || err != nil {
		t.Fatalf("a job without a source was claimed: %v, %v", w, err)
	}
	j, err := b.Upload(t.Context(), "key_1", j, data, nil)
	if err != nil || j.State != Queued || !j.SourceDeletesAt.Equal(b.clock.Now().Add(24*time.Hour)) {
		t.Fatalf("uploaded %+v, %v", j, err)
	}
	w := b.claim(t)
	got, err := io.ReadAll(b.other.Source(t.Context(), w.Job))
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("the source reads as %d bytes, %v", len(got), err)
	}
	if err := b.Compare(t.Context(), w); err != nil || w.ReceiptID != 1 || w.State != Comparing {
		t.Fatalf("compare: %+v, %v", w, err)
	}
	wrong := b.signed(t, w)
	wrong.Evidence.ReceiptID++
	if err := b.Admit(t.Context(), w, wrong, nil); err == nil || b.state(t, j.ID) != Comparing {
		t.Fatalf("a receipt of another number was admitted: %v", err)
	}
	failing := errors.New("the log is full")
	if err := b.Admit(t.Context(), w, b.signed(t, w), func(context.Context, *sql.Tx) error { return failing }); !errors.Is(err, failing) || b.state(t, j.ID) != Comparing {
		t.Fatalf("admitted without what joins: %v", err)
	}
	signed := b.signed(t, w)
	if err := b.Admit(t.Context(), w, signed, nil); err != nil {
		t.Fatal(err)
	}
	text, err := b.other.Receipt(t.Context(), b.workspaces[0], Chain, j.ID)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := receipt.Parse(text); err != nil || r.Signature != signed.Signature {
		t.Fatalf("the receipt is %s, %v", text, err)
	}
	if list, err := b.Numbers(t.Context(), Chain, 0, 10); err != nil || !slices.Equal(list, []uint64{1}) {
		t.Fatalf("there are the receipts %v, %v", list, err)
	}
	if list, err := b.Numbers(t.Context(), Chain, 1, 10); err != nil || len(list) != 0 {
		t.Fatalf("above the last one there are %v, %v", list, err)
	}
	if all, err := b.Documents(t.Context(), Chain, 1, 9); err != nil || len(all) != 1 || !bytes.Equal(all[1], text) {
		t.Fatalf("they are %v, %v", all, err)
	}
	if list, err := b.Numbers(t.Context(), "SN_SEPOLIA", 0, 10); err != nil || len(list) != 0 {
		t.Fatalf("another chain has %v, %v", list, err)
	}
	want := []string{"verification.create", "verification.commit", "verification.accept", "verification.claim", "verification.compare", "verification.admit"}
	if got := b.events(t, j.ID); !slices.Equal(got, want) {
		t.Errorf("the audit log says %v", got)
	}
	if r, err := b.db.VerifyAudit(t.Context(), nil); err != nil || !r.Intact {
		t.Errorf("the audit log: %+v, %v", r, err)
	}
}

// testPairs: every event against every state does what the table says, once, with an
// entry in the audit log, or nothing at all.
func testPairs(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	_, p := tree(t, 1, 10)
	id := b.create(t, 0, "k", p).ID
	for _, s := range States() {
		for _, e := range Events() {
			active := 1
			if s.Terminal() {
				active = 0
			}
			var before, after int
			err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
				if _, err := tx.Exec(`UPDATE verification_job SET state = $1, active = $2 WHERE id = $3`, string(s), active, id); err != nil {
					return err
				}
				before = len(b.events(t, id))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want, allowed := Next(s, e)
			err = b.db.Update(t.Context(), func(tx *sql.Tx) error {
				j, err := one(t.Context(), tx, `id = $1`, id)
				if err != nil {
					return err
				}
				_, err = b.move(t.Context(), tx, j, change{event: e, actor: "test"})
				return err
			})
			after = len(b.events(t, id))
			var refused *StateError
			switch {
			case allowed && (err != nil || b.state(t, id) != want || after != before+1):
				t.Errorf("%s of %s: %v, %s, %d entries", e, s, err, b.state(t, id), after-before)
			case !allowed && (!errors.As(err, &refused) || refused.State != s || b.state(t, id) != s || after != before):
				t.Errorf("%s of %s: %v, %s, %d entries", e, s, err, b.state(t, id), after-before)
			case s.Terminal() && allowed:
				t.Errorf("%s leaves %s", e, s)
			}
		}
	}
	// A job that was read before somebody else moved it on is not moved.
	stale := &Job{ID: id, WorkspaceID: b.workspaces[0], State: Queued}
	err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := b.move(t.Context(), tx, stale, change{event: Claim, actor: "test"})
		return err
	})
	var refused *StateError
	if !errors.As(err, &refused) || refused.State != Expired {
		t.Errorf("an event of a state that is gone: %v", err)
	}
}

func testIdempotency(t *testing.T, at place) {
	b := newBench(t, at, 2, Standard)
	_, p := tree(t, 1, 10)
	_, q := tree(t, 2, 10)
	j := b.create(t, 0, "k:1", p)
	again, created, err := b.other.Create(t.Context(), b.request(0, "k:1", p))
	if err != nil || created || again.ID != j.ID {
		t.Fatalf("the same again: %v, %v, %v", again, created, err)
	}
	if _, _, err := b.Create(t.Context(), b.request(0, "k:1", q)); !errors.Is(err, ErrKeyReused) {
		t.Errorf("another package under the key: %v", err)
	}
	if other, created, err := b.Create(t.Context(), b.request(1, "k:1", q)); err != nil || !created || other.ID == j.ID {
		t.Errorf("the key in another workspace: %v, %v", created, err)
	}
	// Also when jobs are not taken, and when the job has ended.
	if err := b.Pause(t.Context(), "operator", "disk"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Cancel(t.Context(), "key_1", b.workspaces[0], Chain, j.ID); err != nil {
		t.Fatal(err)
	}
	again, created, err = b.Create(t.Context(), b.request(0, "k:1", p))
	if err != nil || created || again.State != Cancelled {
		t.Errorf("of an ended job: %+v, %v, %v", again, created, err)
	}
	if n := len(b.events(t, j.ID)); n != 2 {
		t.Errorf("%d entries", n)
	}
}

func testQuotas(t *testing.T, at place) {
	l := Standard
	l.Active = 2
	b := newBench(t, at, 3, l)
	_, p := tree(t, 1, 10)
	var last *Job
	for i := range l.PerDay {
		last = b.create(t, 0, fmt.Sprint(i), p)
		if _, _, err := b.Create(t.Context(), b.request(0, "more", p)); !errors.Is(err, ErrActive) {
			t.Fatalf("a second active job: %v", err)
		}
		if _, err := b.Cancel(t.Context(), "key_1", b.workspaces[0], Chain, last.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, created, err := b.Create(t.Context(), b.request(0, "0", p)); err != nil || created {
		t.Errorf("a replay counts: %v", err)
	}
	if _, _, err := b.Create(t.Context(), b.request(0, "sixth", p)); !errors.Is(err, ErrDaily) {
		t.Fatalf("a sixth job: %v", err)
	}
	if d := b.UntilTomorrow(); d != 23*time.Hour {
		t.Errorf("tomorrow is in %s", d)
	}
	b.create(t, 1, "k", p)
	b.create(t, 2, "k", p)
	b.clock.advance(b.UntilTomorrow())
	b.ready(t)
	// Those of yesterday have expired, and nobody had to tidy up before.
	if _, _, err := b.Create(t.Context(), b.request(0, "next day", p)); !errors.Is(err, ErrFull) {
		t.Errorf("more jobs than all may have: %v", err)
	}
	if done, err := b.Tidy(t.Context()); err != nil || done.Expired != 2 {
		t.Fatalf("tidied %+v, %v", done, err)
	}
	b.create(t, 0, "next day", p)
	b.clock.advance(l.UploadWindow)
	b.ready(t)
	b.create(t, 0, "the last one expired", p)

	l = Standard
	l.SourceBytes = 2*p.UploadByteLength - 1
	b = newBench(t, at, 2, l)
	b.create(t, 0, "k", p)
	if _, _, err := b.Create(t.Context(), b.request(1, "k", p)); !errors.Is(err, ErrFull) {
		t.Errorf("more source than there is room for: %v", err)
	}
}

func testIntake(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	_, p := tree(t, 1, 10)
	refused := func(why string) {
		t.Helper()
		var e *UnavailableError
		if _, _, err := b.Create(t.Context(), b.request(0, "k", p)); !errors.As(err, &e) || !strings.Contains(e.Why, why) {
			t.Errorf("want %q: %v", why, err)
		}
	}
	if err := b.Pause(t.Context(), "operator", "a new disk"); err != nil {
		t.Fatal(err)
	}
	refused("a new disk")
	if err := b.Pause(t.Context(), "operator", ""); err != nil {
		t.Fatal(err)
	}
	if err := b.Announce(t.Context(), Chain, "w", "there is no bubblewrap"); err != nil {
		t.Fatal(err)
	}
	refused("there is no bubblewrap")
	b.ready(t)
	b.clock.advance(Standard.WorkerSilent + time.Second)
	refused("has not been heard of")
	if got := b.events(t, "intake"); !slices.Equal(got, []string{"verification.pause", "verification.resume"}) {
		t.Errorf("the audit log says %v", got)
	}
	b.ready(t)
	b.create(t, 0, "k", p)
	var e *UnavailableError
	if err := b.Available(t.Context(), "SN_SEPOLIA"); !errors.As(err, &e) {
		t.Errorf("another chain: %v", err)
	}
}

// testHidden: whatever is asked about the job of another workspace is answered as of one
// that does not exist.
func testHidden(t *testing.T, at place) {
	b := newBench(t, at, 2, Standard)
	j := b.queue(t, 0, "k")
	for _, id := range []string{j.ID, "vrf_aaaaaaaaaaaaaaaaaaaaaaaa", ""} {
		_, viewed := b.View(t.Context(), b.workspaces[1], Chain, id)
		_, cancelled := b.Cancel(t.Context(), "key_2", b.workspaces[1], Chain, id)
		_, read := b.Receipt(t.Context(), b.workspaces[1], Chain, id)
		for _, err := range []error{viewed, cancelled, read} {
			if err != ErrNotFound { //nolint:errorlint // nothing may be wrapped around it
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	if _, err := b.View(t.Context(), b.workspaces[0], "SN_SEPOLIA", j.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("on another chain: %v", err)
	}
	if _, err := b.Receipt(t.Context(), b.workspaces[0], Chain, j.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("its own, before there is a receipt: %v", err)
	}
	if b.state(t, j.ID) != Queued {
		t.Error("it was changed")
	}
}

func testUploads(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	data, p := tree(t, 1, 10)
	other, _ := tree(t, 2, 10)
	j := b.create(t, 0, "k", p)
	for _, wrong := range [][]byte{other, data[1:], append(slices.Clone(data), 0), nil} {
		if _, err := b.Upload(t.Context(), "key_1", j, wrong, nil); !errors.Is(err, ErrMismatch) {
			t.Errorf("%d other bytes: %v", len(wrong), err)
		}
	}
	if b.state(t, j.ID) != AwaitingUpload || b.count(t, `SELECT COUNT(*) FROM verification_chunk`) != 0 {
		t.Fatal("a wrong upload left something")
	}
	for range 3 {
		now, err := b.Upload(t.Context(), "key_1", j, data, nil)
		if err != nil || now.State != Queued {
			t.Fatalf("upload: %+v, %v", now, err)
		}
	}
	if _, err := b.Upload(t.Context(), "key_1", j, other, nil); !errors.Is(err, ErrMismatch) {
		t.Errorf("other bytes later: %v", err)
	}
	w := b.claim(t)
	if err := b.Fail(t.Context(), w, Failure{Code: BuildFailed}); err != nil {
		t.Fatal(err)
	}
	if now, err := b.Upload(t.Context(), "key_1", j, data, nil); err != nil || now.State != Failed {
		t.Errorf("again when the job has ended: %+v, %v", now, err)
	}
	if n := b.count(t, `SELECT COUNT(*) FROM verification_upload`); n != 1 {
		t.Errorf("%d uploads are kept", n)
	}

	j = b.create(t, 0, "bad", p)
	now, err := b.Upload(t.Context(), "key_1", j, data, &archive.Error{Reason: archive.LockfileMissing})
	if err != nil || now.State != Failed || now.Failure.Code != LockfileMissing || now.Failure.Retryable || now.SourceDeletesAt != nil {
		t.Errorf("refused: %+v, %v", now, err)
	}
	if got := b.events(t, j.ID); !slices.Equal(got, []string{"verification.create", "verification.commit", "verification.fail"}) {
		t.Errorf("the audit log says %v", got)
	}

	var closed *StateError
	j = b.create(t, 0, "cancelled", p)
	if _, err := b.Cancel(t.Context(), "key_1", b.workspaces[0], Chain, j.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Upload(t.Context(), "key_1", j, data, nil); !errors.As(err, &closed) || closed.State != Cancelled {
		t.Errorf("to a cancelled job: %v", err)
	}
	j = b.create(t, 0, "late", p)
	b.clock.advance(Standard.UploadWindow)
	if _, err := b.Upload(t.Context(), "key_1", j, data, nil); !errors.As(err, &closed) || closed.State != Expired {
		t.Errorf("too late: %v", err)
	}
	if v, err := b.View(t.Context(), b.workspaces[0], Chain, j.ID); err != nil || v.State != Expired {
		t.Errorf("late: %+v, %v", v, err)
	}
	if n := b.count(t, `SELECT COUNT(*) FROM verification_upload`); n != 1 {
		t.Errorf("%d uploads are kept", n)
	}
}

package job

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
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
	if text2, _, err := b.Verified(t.Context(), Chain, "0x5eed"); err != nil || !bytes.Equal(text, text2) {
		t.Fatalf("the class has %s, %v", text2, err)
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

// testLeftBehind: what processes leave that die during an upload is taken up or deleted.
func testLeftBehind(t *testing.T, at place) {
	b := newBench(t, at, 2, Standard)
	data, p := tree(t, 1, 10)
	half := b.create(t, 0, "half", p)
	if _, err := b.stage(t.Context(), half.ID, data); err != nil {
		t.Fatal(err)
	}
	whole := b.create(t, 1, "whole", p)
	upload, err := b.stage(t.Context(), whole.ID, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error { return b.commit(t.Context(), tx, "key_1", whole.ID, upload) }); err != nil {
		t.Fatal(err)
	}
	if done, err := b.Tidy(t.Context()); err != nil || done != (Tidied{}) {
		t.Fatalf("tidied %+v, %v", done, err)
	}
	b.clock.advance(Standard.UploadSilent)
	if done, err := b.other.Tidy(t.Context()); err != nil || done != (Tidied{Validated: 1, Dropped: 1}) {
		t.Fatalf("tidied %+v, %v", done, err)
	}
	if b.state(t, whole.ID) != Queued || b.state(t, half.ID) != AwaitingUpload || b.count(t, `SELECT COUNT(*) FROM verification_upload`) != 1 {
		t.Errorf("%s, %s", b.state(t, whole.ID), b.state(t, half.ID))
	}
	if j, err := b.Upload(t.Context(), "key_1", half, data, nil); err != nil || j.State != Queued {
		t.Errorf("once more: %+v, %v", j, err)
	}
}

// testRetention: sources go when their policy says so, whatever became of the job, and
// everything else stays.
func testRetention(t *testing.T, at place) {
	b := newBench(t, at, 3, Standard)
	data, _ := tree(t, 1, 2*chunkBytes)
	policies := []submission.Retention{submission.Private24Hours, submission.Private7Days, submission.Public30Days}
	var jobs []*Job
	for i, policy := range policies {
		_, p := tree(t, 1, 2*chunkBytes)
		p.RetentionPolicyID = policy
		if policy == submission.Public30Days {
			p.SourceVisibility = submission.Public
		}
		j, err := b.Upload(t.Context(), "key_1", b.create(t, i, "k", p), data, nil)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	w := b.claim(t)
	if err := b.Compare(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err := b.Admit(t.Context(), w, b.signed(t, w), nil); err != nil {
		t.Fatal(err)
	}
	if w.ID != jobs[0].ID {
		jobs[0], jobs[1] = jobs[1], jobs[0]
	}
	seen := 0
	for _, after := range []time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour} {
		b.clock.advance(jobs[0].CommittedAt.Add(after).Add(-time.Second).Sub(b.clock.Now()))
		if done, err := b.Tidy(t.Context()); err != nil || done.Deleted != 0 {
			t.Fatalf("a second before %s: %+v, %v", after, done, err)
		}
		b.clock.advance(time.Second)
		if done, err := b.other.Tidy(t.Context()); err != nil || done.Deleted != 1 {
			t.Fatalf("after %s: %+v, %v", after, done, err)
		}
		seen++
		if n := b.count(t, `SELECT COUNT(DISTINCT upload_id) FROM verification_chunk`); n != len(policies)-seen {
			t.Errorf("after %s the bytes of %d sources are there", after, n)
		}
	}
	succeeded, pending := 0, 0
	for i, j := range jobs {
		now, err := b.View(t.Context(), j.WorkspaceID, Chain, j.ID)
		if err != nil || now.SourceDeletedAt == nil {
			t.Fatalf("%+v, %v", now, err)
		}
		switch now.State {
		case Succeeded:
			succeeded++
			if _, err := b.Receipt(t.Context(), j.WorkspaceID, Chain, j.ID); err != nil {
				t.Errorf("the receipt went with the source: %v", err)
			}
		case Failed:
			pending++
			if now.Failure.Code != DispatchFailed || !now.Failure.Retryable {
				t.Errorf("%+v", now.Failure)
			}
		default:
			t.Errorf("job %d is %s", i, now.State)
		}
		if got := b.events(t, j.ID); !slices.Contains(got, "verification.source_delete") || got[0] != "verification.create" {
			t.Errorf("the audit log says %v", got)
		}
		if _, err := io.ReadAll(b.Source(t.Context(), j)); !errors.Is(err, ErrNoSource) {
			t.Errorf("the source reads on: %v", err)
		}
	}
	if succeeded != 1 || pending != 2 {
		t.Errorf("%d succeeded, %d failed", succeeded, pending)
	}
	for _, statement := range []string{`DELETE FROM verification_receipt`, `UPDATE verification_receipt SET class_hash = '0x1'`} {
		err := b.db.Update(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(statement); return err })
		if err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// testWorkers: a worker that is not heard of loses its job, and after three the job fails.
func testWorkers(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	j := b.queue(t, 0, "k")
	var stale *Work
	for try := 1; try <= Standard.Attempts; try++ {
		w := b.claim(t)
		if w.Attempts != try {
			t.Fatalf("try %d is %d", try, w.Attempts)
		}
		if stale != nil {
			for what, err := range map[string]error{"beat": b.Beat(t.Context(), stale, time.Minute), "compare": b.Compare(t.Context(), stale), "fail": b.Fail(t.Context(), stale, Failure{Code: BuildFailed}),
				"giveback": b.GiveBack(t.Context(), stale)} {
				if !errors.Is(err, ErrLost) {
					t.Errorf("%s by a worker that lost the job: %v", what, err)
				}
			}
		}
		stale = w
		if try == 2 {
			if err := b.Compare(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		b.clock.advance(50 * time.Second)
		if err := b.Beat(t.Context(), w, time.Minute); err != nil {
			t.Fatal(err)
		}
		b.clock.advance(59 * time.Second)
		if n, err := b.other.Recover(t.Context(), Chain); err != nil || n != 0 {
			t.Fatalf("taken from a worker that was heard of: %d, %v", n, err)
		}
		b.clock.advance(time.Second)
		if n, err := b.other.Recover(t.Context(), Chain); err != nil || n != 1 {
			t.Fatalf("left with a worker that is gone: %d, %v", n, err)
		}
	}
	now, err := b.View(t.Context(), b.workspaces[0], Chain, j.ID)
	if err != nil || now.State != Failed || now.Failure.Code != DispatchFailed || !now.Failure.Retryable {
		t.Errorf("after all tries: %+v, %v", now, err)
	}
	// A worker that stops in order costs no try, and its receipt's number is not used again.
	b.ready(t)
	b.queue(t, 0, "k2")
	w := b.claim(t)
	if err := b.Compare(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	first := w.ReceiptID
	if err := b.GiveBack(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	w = b.claim(t)
	if w.Attempts != 1 {
		t.Errorf("%d tries", w.Attempts)
	}
	if err := b.Compare(t.Context(), w); err != nil || w.ReceiptID <= first {
		t.Errorf("receipt %d after %d, %v", w.ReceiptID, first, err)
	}
	if err := b.Differ(t.Context(), w, []string{"abi", "program"}); err != nil {
		t.Fatal(err)
	}
	if now := w.Job; now.State != Mismatch || now.Failure.Code != ClassHashMismatch || !slices.Equal(now.Parts, []string{"abi", "program"}) {
		t.Errorf("%+v", now)
	}
	if l, err := b.Load(t.Context(), Chain); err != nil || len(l.Jobs) != 0 || l.SourceBytes == 0 {
		t.Errorf("load %+v, %v", l, err)
	}
	if list, err := b.List(t.Context(), Mismatch, 10); err != nil || len(list) != 1 {
		t.Errorf("list %v, %v", list, err)
	}
}

// TestDeletedForGood: the bytes of a deleted source are in the file no more.
func TestDeletedForGood(t *testing.T) {
	path := onFile(t)
	b := newBench(t, func(testing.TB) string { return path }, 1, Standard)
	data, p := tree(t, 9, chunkBytes)
	if _, err := b.Upload(t.Context(), "key_1", b.create(t, 0, "k", p), data, nil); err != nil {
		t.Fatal(err)
	}
	holds := func() bool {
		found := false
		for _, name := range []string{path, path + "-wal"} {
			text, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			found = found || bytes.Contains(text, data[len(data)/2:len(data)/2+64])
		}
		return found
	}
	if !holds() {
		t.Fatal("the bytes are not found where they are: this proves nothing")
	}
	b.clock.advance(24 * time.Hour)
	if done, err := b.Tidy(t.Context()); err != nil || done.Deleted != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, db := range []*control.DB{b.other.db, b.db} { // the last one to close takes the log into the file
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, data[len(data)/2:len(data)/2+64]) {
		t.Errorf("the bytes are still in the file, %v", err)
	}
}

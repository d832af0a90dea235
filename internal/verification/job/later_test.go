package job

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/submission"
)

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
		if n, err := b.other.Recover(t.Context(), Chain, time.Minute); err != nil || n != 0 {
			t.Fatalf("taken from a worker that was heard of: %d, %v", n, err)
		}
		b.clock.advance(time.Second)
		if n, err := b.other.Recover(t.Context(), Chain, time.Minute); err != nil || n != 1 {
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

// testDamaged: a job whose bytes were lost ends, and keeps nobody from what is due: other sources are deleted in time.
func testDamaged(t *testing.T, at place) {
	b := newBench(t, at, 2, Standard)
	data, p := tree(t, 1, 10)
	lost := b.create(t, 0, "lost", p)
	upload, err := b.stage(t.Context(), lost.ID, data)
	if err != nil {
		t.Fatal(err)
	}
	kept := b.queue(t, 1, "kept")
	b.clock.advance(24*time.Hour - Standard.UploadWindow/2)
	b.ready(t)
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`UPDATE verification_job SET upload_expires_at = $1 WHERE id = $2`, control.Micros(b.clock.Now().Add(time.Hour)), lost.ID); err != nil {
			return err
		}
		if err := b.commit(t.Context(), tx, "key_1", lost.ID, upload); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM verification_chunk WHERE upload_id = $1`, upload)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(Standard.UploadWindow)
	done, err := b.Tidy(t.Context())
	if err != nil || done.Validated != 1 || done.Deleted != 1 {
		t.Errorf("tidied %+v, %v", done, err)
	}
	now, err := b.View(t.Context(), b.workspaces[0], Chain, lost.ID)
	if err != nil || now.State != Failed || now.Failure.Code != DispatchFailed || !now.Failure.Retryable {
		t.Errorf("the job whose bytes were lost: %+v, %v", now, err)
	}
	if now, err := b.View(t.Context(), b.workspaces[1], Chain, kept.ID); err != nil || now.SourceDeletedAt == nil {
		t.Errorf("the source whose time is over: %+v, %v", now, err)
	}
}

package job

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/submission"
)

// model is what jobs should be like, in memory and without any database.
type model struct {
	now  time.Time
	jobs []*modelJob
}

type modelJob struct {
	id, key   string
	workspace int
	state     State
	created   time.Time
	committed time.Time
	lease     time.Time
	attempts  int
	holder    *Work // whose claim counts
	deleted   bool
	receipt   bool
}

func (m *model) active(workspace int) *modelJob {
	for _, j := range m.jobs {
		if j.workspace == workspace && !j.state.Terminal() {
			return j
		}
	}
	return nil
}

// expire is what everything that touches a job does first.
func (m *model) expire(j *modelJob) {
	if j != nil && j.state == AwaitingUpload && !m.now.Before(j.created.Add(Standard.UploadWindow)) {
		j.state = Expired
	}
}

func (m *model) create(workspace int) error {
	m.expire(m.active(workspace))
	today := 0
	for _, j := range m.jobs {
		if j.workspace == workspace && !j.created.Before(m.now.Truncate(24*time.Hour)) {
			today++
		}
	}
	switch {
	case m.active(workspace) != nil:
		return ErrActive
	case today >= Standard.PerDay:
		return ErrDaily
	}
	return nil
}

// testModel: random histories of three workspaces and of workers that die, against the
// model. Every method is tried on jobs of every state.
func testModel(t *testing.T, at place) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const spaces = 3
	b := newBench(t, at, spaces, Standard)
	steps, enough := 1500, 35
	if raced || !b.db.IsFile() {
		steps, enough = 200, 10
	}
	data, p := tree(t, 1, 10)
	m := &model{now: b.clock.Now()}
	var held []*Work // also by workers that lost them
	tried := map[string]bool{}
	for step := range steps {
		ctx := t.Context()
		repo := b.Repo
		if random.IntN(2) == 0 {
			repo = b.other
		}
		var j *modelJob
		if n := len(m.jobs); n > 0 {
			j = m.jobs[n-1-random.IntN(min(n, 8))]
		}
		var w *Work
		var of *modelJob
		if n := len(held); n > 0 {
			w = held[n-1-random.IntN(min(n, 3))]
			for _, k := range m.jobs {
				if k.id == w.ID {
					of = k
				}
			}
		}
		// worker holds what a worker did against the model: it must work exactly when the
		// claim counts and the machine knows the event in that state.
		worker := func(e Event, err error) bool {
			t.Helper()
			to, ok := Next(of.state, e)
			ok = ok && of.holder == w
			if ok != (err == nil) || err != nil && !Lost(err) {
				t.Fatalf("step %d: %s of %s: %v", step, e, of.state, err)
			}
			if ok {
				of.state = to
				if to != Comparing {
					of.holder = nil
				}
			}
			return ok
		}
		op := random.IntN(16)
		switch {
		case op <= 1:
			workspace, key := random.IntN(spaces), fmt.Sprint(step)
			want := m.create(workspace)
			got, created, err := repo.Create(ctx, b.request(workspace, key, p))
			if !errors.Is(err, want) || (want == nil) != created {
				t.Fatalf("step %d: create: %v, want %v", step, err, want)
			}
			if created {
				m.jobs = append(m.jobs, &modelJob{id: got.ID, key: key, workspace: workspace, state: AwaitingUpload, created: m.now})
			}
		case op == 2: // time passes
			b.clock.advance(time.Duration(random.IntN(240)) * time.Second)
			if random.IntN(3) == 0 {
				b.clock.advance(time.Duration(random.IntN(20)) * time.Hour)
			}
			m.now = b.clock.Now()
			b.ready(t)
		case op == 3:
			if _, err := repo.Tidy(ctx); err != nil {
				t.Fatal(err)
			}
			for _, k := range m.jobs {
				m.expire(k)
				if !k.committed.IsZero() && !k.deleted && !m.now.Before(k.committed.Add(24*time.Hour)) {
					k.deleted = true
					if !k.state.Terminal() {
						k.state, k.holder = Failed, nil
					}
				}
			}
		case op == 4:
			if _, err := repo.Recover(ctx, Chain, time.Minute); err != nil {
				t.Fatal(err)
			}
			for _, k := range m.jobs {
				if k.holder != nil && !m.now.Before(k.lease) {
					k.state, k.holder = Queued, nil
					if k.attempts >= Standard.Attempts {
						k.state = Failed
					}
				}
			}
		case op == 5:
			got, err := repo.Claim(ctx, Chain, "w", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			waiting := false
			for _, k := range m.jobs {
				waiting = waiting || k.state == Queued
				if got != nil && k.id == got.ID {
					if k.state != Queued {
						t.Fatalf("step %d: claimed what is %s", step, k.state)
					}
					k.state, k.holder, k.lease = Building, got, m.now.Add(time.Minute)
					k.attempts++
					held = append(held, got)
				}
			}
			if waiting && got == nil {
				t.Fatalf("step %d: a job waits and none was given", step)
			}
		case op >= 6 && op <= 8 && j != nil: // an upload
			var refused *archive.Error
			bytes := data
			switch random.IntN(4) {
			case 0:
				refused = &archive.Error{Reason: archive.HardLink}
			case 1:
				bytes = data[1:]
			}
			tried["upload "+string(j.state)] = true
			before, err := repo.View(ctx, b.workspaces[j.workspace], Chain, j.id)
			if err != nil {
				t.Fatal(err)
			}
			m.expire(j)
			_, err = repo.Upload(ctx, "key_1", before, bytes, refused)
			switch {
			case len(bytes) != len(data):
				if !errors.Is(err, ErrMismatch) {
					t.Fatalf("step %d: other bytes: %v", step, err)
				}
			case (j.state == Cancelled || j.state == Expired) && j.committed.IsZero():
				if !Lost(err) {
					t.Fatalf("step %d: upload to %s: %v", step, j.state, err)
				}
			case err != nil:
				t.Fatalf("step %d: upload to %s: %v", step, j.state, err)
			case j.state == AwaitingUpload && refused != nil:
				j.state = Failed
			case j.state == AwaitingUpload:
				j.state, j.committed = Queued, m.now
			}
		case op == 9 && j != nil:
			tried["cancel "+string(j.state)] = true
			m.expire(j)
			if _, err := repo.Cancel(ctx, "key_1", b.workspaces[j.workspace], Chain, j.id); err != nil {
				t.Fatal(err)
			}
			if !j.state.Terminal() {
				j.state, j.holder = Cancelled, nil
			}
		case op == 10 && j != nil: // a replay
			tried["create "+string(j.state)] = true
			m.expire(j)
			got, created, err := repo.Create(ctx, b.request(j.workspace, j.key, p))
			if err != nil || created || got.ID != j.id || got.State != j.state {
				t.Fatalf("step %d: replay: %+v, %v, %v", step, got, created, err)
			}
		case of == nil:
		case op == 11:
			tried["compare "+string(of.state)] = true
			worker(Compare, repo.Compare(ctx, w))
		case op == 12:
			tried["beat "+string(of.state)] = true
			if err := repo.Beat(ctx, w, time.Minute); (err == nil) != (of.holder == w) {
				t.Fatalf("step %d: beat of %s: %v", step, of.state, err)
			} else if err == nil {
				of.lease = m.now.Add(time.Minute)
			}
		case op == 13:
			tried["admit "+string(of.state)] = true
			if w.ReceiptID == 0 {
				continue
			}
			if worker(Admit, repo.Admit(ctx, w, b.signed(t, w), nil)) {
				of.receipt = true
			}
		case op == 14:
			tried["differ or fail "+string(of.state)] = true
			if random.IntN(2) == 0 {
				worker(Differ, repo.Differ(ctx, w, nil))
			} else {
				worker(Fail, repo.Fail(ctx, w, Failure{Code: BuildFailed}))
			}
		case op == 15:
			tried["giveback "+string(of.state)] = true
			if worker(GiveBack, repo.GiveBack(ctx, w)) {
				of.attempts--
			}
		}
		if step%50 == 0 || step == steps-1 {
			compare(t, b, m, step)
		}
	}
	t.Logf("%d jobs, %d kinds of steps in states", len(m.jobs), len(tried))
	if len(m.jobs) < enough/2 || len(tried) < enough {
		t.Errorf("only %d jobs and %d kinds: this proves little", len(m.jobs), len(tried))
	}
	if r, err := b.db.VerifyAudit(t.Context(), nil); err != nil || !r.Intact {
		t.Errorf("the audit log: %+v, %v", r, err)
	}
}

// compare holds all jobs against the model.
func compare(t *testing.T, b *bench, m *model, step int) {
	t.Helper()
	for _, want := range m.jobs {
		m.expire(want) // looking at it does
		got, err := b.View(t.Context(), b.workspaces[want.workspace], Chain, want.id)
		if err != nil {
			t.Fatal(err)
		}
		_, noReceipt := b.Receipt(t.Context(), b.workspaces[want.workspace], Chain, want.id)
		if got.State != want.state || got.Attempts != want.attempts || (got.SourceDeletedAt != nil) != want.deleted || (got.CommittedAt != nil) != !want.committed.IsZero() ||
			(noReceipt == nil) != want.receipt || want.receipt != (got.State == Succeeded) || got.Package.RetentionPolicyID != submission.Private24Hours {
			t.Fatalf("step %d: %+v, and the model has %+v", step, got, want)
		}
	}
}

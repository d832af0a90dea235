package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/control"
	verification "chainexplorer/internal/verification/job"
)

type verificationCommands struct {
	Jobs   verificationJobsCommand   `cmd:"" help:"List the newest verification jobs of all workspaces, without anything of their sources."`
	Worker verificationWorkerCommand `cmd:"" help:"Show the worker that verifies sources: when it was heard of, what keeps it from working, and what a build may use."`
	Pause  verificationPauseCommand  `cmd:"" help:"Take no new verification jobs. Those that are there go on."`
	Resume verificationResumeCommand `cmd:"" help:"Take verification jobs again."`

	Withdraw verificationWithdrawCommand `cmd:"" help:"Take receipts back that should not have been issued, for good: the reads call their classes verified no more, and the transparency log says so."`
}

type verificationJobsCommand struct {
	controlFlags
	State string `placeholder:"STATE" help:"Only jobs in this state, such as queued."`
	Limit int    `default:"50" help:"How many; 50 unless set, 1000 at most."`
}

// verificationJob is what an operator sees of a job.
type verificationJob struct {
	JobID           string     `json:"jobId"`
	WorkspaceID     string     `json:"workspaceId"`
	ChainID         string     `json:"chainId"`
	ClassHash       string     `json:"classHash"`
	State           string     `json:"state"`
	FailureCode     string     `json:"failureCode,omitempty"`
	Damage          string     `json:"damage,omitempty"` // what is wrong with what is stored of the job
	Attempts        int        `json:"attempts"`
	Worker          string     `json:"worker,omitempty"`
	SourceDeletesAt *time.Time `json:"sourceDeletesAt"`
	SourceDeletedAt *time.Time `json:"sourceDeletedAt"`
	WithdrawnAt     *time.Time `json:"withdrawnAt"`
	CreatedAt       time.Time  `json:"createdAt"`
	UpdatedAt       time.Time  `json:"updatedAt"`
}

// Run lists jobs.
func (c *verificationJobsCommand) Run(ctx context.Context, con *console) error {
	state := verification.State(c.State)
	if c.State != "" && !slices.Contains(verification.States(), state) {
		var names []string
		for _, s := range verification.States() {
			names = append(names, string(s))
		}
		return &usageError{fmt.Sprintf("--state %s: want one of %s", c.State, strings.Join(names, ", "))}
	}
	if c.Limit < 1 || c.Limit > 1000 {
		return &usageError{"--limit must be 1 to 1000"}
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		list, err := verification.New(db, verification.Options{}).List(ctx, state, c.Limit)
		if err != nil {
			return err
		}
		views := []verificationJob{}
		rows := [][]string{{"JOB", "WORKSPACE", "CLASS", "STATE", "FAILURE", "TRIES", "CREATED", "IN STATE SINCE"}}
		for _, j := range list {
			v := verificationJob{JobID: j.ID, WorkspaceID: j.WorkspaceID, ChainID: j.Chain, State: string(j.State), Attempts: j.Attempts, Worker: j.Worker,
				SourceDeletesAt: j.SourceDeletesAt, SourceDeletedAt: j.SourceDeletedAt, WithdrawnAt: j.Withdrawn, CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt}
			if j.Damage != nil {
				v.Damage = j.Damage.Why.Error()
			} else {
				v.ClassHash = j.Package.SelectedClassHash
			}
			if j.Failure != nil {
				v.FailureCode = string(j.Failure.Code)
			}
			views = append(views, v)
			shown := v.State
			if v.WithdrawnAt != nil {
				shown += ", withdrawn"
			}
			if v.Damage != "" {
				shown += ", damaged"
			}
			rows = append(rows, []string{v.JobID, v.WorkspaceID, v.ClassHash, shown, v.FailureCode, fmt.Sprint(v.Attempts), v.CreatedAt.Format(time.RFC3339), v.UpdatedAt.Format(time.RFC3339)})
		}
		if c.JSON {
			return printJSON(con.out, views)
		}
		return table(con.out, rows)
	})
}

type verificationWorkerCommand struct{ controlFlags }

// workerView is what an operator sees of the worker.
type workerView struct {
	Worker    string        `json:"worker"`
	SeenAt    time.Time     `json:"seenAt"`
	Available bool          `json:"available"` // whether new jobs are taken
	Why       string        `json:"why,omitempty"`
	Settings  *verifierView `json:"settings"` // null when the worker did not say
}

// Run shows the worker as it last described itself.
func (c *verificationWorkerCommand) Run(ctx context.Context, con *console) error {
	return c.open(ctx, con, false, func(db *control.DB) error {
		repo := verification.New(db, verification.Options{})
		w, err := repo.Worker(ctx, verification.Chain)
		if err != nil {
			return err
		}
		if w == nil {
			return errors.New("no worker has ever verified with this control database: start 'serve' or 'worker' of SN_MAIN")
		}
		v := workerView{Worker: w.Name, SeenAt: w.Seen, Available: true}
		if w.Settings != "" {
			if err := json.Unmarshal([]byte(w.Settings), &v.Settings); err != nil {
				return fmt.Errorf("settings of the worker: %w", err)
			}
		}
		var unavailable *verification.UnavailableError
		if err := repo.Available(ctx, verification.Chain); errors.As(err, &unavailable) {
			v.Available, v.Why = false, unavailable.Why
		} else if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, v)
		}
		rows := [][]string{{"worker", v.Worker}, {"heard of", v.SeenAt.Format(time.RFC3339)}, {"new jobs", "taken"}}
		if !v.Available {
			rows[2][1] = "not taken: " + v.Why
		}
		if v.Settings != nil {
			rows = append(rows, v.Settings.rows()...)
		}
		return table(con.out, rows)
	})
}

type verificationPauseCommand struct {
	controlFlags
	Reason string `default:"maintenance" help:"Why, for /readyz and the audit log."`
}

// Run pauses the intake.
func (c *verificationPauseCommand) Run(ctx context.Context, con *console) error {
	if strings.TrimSpace(c.Reason) == "" || len(c.Reason) > 200 {
		return &usageError{"--reason must have 1 to 200 characters"}
	}
	return pauseVerification(ctx, con, &c.controlFlags, c.Reason)
}

type verificationResumeCommand struct{ controlFlags }

// Run ends a pause.
func (c *verificationResumeCommand) Run(ctx context.Context, con *console) error {
	return pauseVerification(ctx, con, &c.controlFlags, "")
}

func pauseVerification(ctx context.Context, con *console, f *controlFlags, reason string) error {
	return f.open(ctx, con, false, func(db *control.DB) error {
		if err := verification.New(db, verification.Options{}).Pause(ctx, "operator", reason); err != nil {
			return err
		}
		if f.JSON {
			return printJSON(con.out, map[string]any{"paused": reason != "", "reason": reason})
		}
		text := "verification jobs are taken again"
		if reason != "" {
			text = "no new verification jobs are taken: " + reason
		}
		_, err := fmt.Fprintln(con.out, text)
		return err
	})
}

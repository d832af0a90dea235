package controller

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
)

const (
	childDB    = "VERIFICATION_TEST_DB"
	childPoint = "VERIFICATION_TEST_POINT"
)

// TestWorkerProcess is the worker of TestKillNine: it works until its job has ended, or
// waits for its end where it is told to.
func TestWorkerProcess(t *testing.T) {
	path, point := os.Getenv(childDB), os.Getenv(childPoint)
	if path == "" {
		return // only TestKillNine runs it
	}
	b := newBenchOn(t, path)
	reach := func(here string) {
		if here == point {
			fmt.Println("reached " + here)
			select {}
		}
	}
	result, sign := b.result, b.sign
	b.result = func(ctx context.Context) (*build.Result, error) { reach("build"); return result(ctx) }
	b.sign = func(e receipt.Evidence) (*receipt.Receipt, error) {
		reach("sign")
		signed, err := sign(e)
		reach("signed")
		return signed, err
	}
	b.Join = func(context.Context, *sql.Tx, *receipt.Receipt) error { reach("admit"); return nil }
	until(t, func() bool {
		b.step()
		list, err := b.Jobs.List(t.Context(), "", 1)
		return err == nil && len(list) == 1 && list[0].State.Terminal()
	})
	reach("ended")
}

// TestKillNine kills the process of a worker in every state that it brings a job to, and
// between signing and admission. Another worker ends the job, with one receipt.
func TestKillNine(t *testing.T) {
	path := t.TempDir() + "/c.db"
	b := newBenchOn(t, path)
	b.step()
	j := b.queue(b.declared)
	worker := func(point string) (*exec.Cmd, io.Reader) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWorkerProcess$", "-test.v")
		cmd.Env = append(os.Environ(), childDB+"="+path, childPoint+"="+point, "TMPDIR="+t.TempDir()) // which the killed leave as it is
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	kills := 0
	for _, c := range []struct {
		point string
		state job.State
	}{{"build", job.Building}, {"sign", job.Comparing}, {"signed", job.Comparing}, {"admit", job.Comparing}, {"ended", job.Succeeded}} {
		cmd, out := worker(c.point)
		lines := bufio.NewScanner(out)
		reached := false
		for !reached && lines.Scan() {
			reached = strings.Contains(lines.Text(), "reached "+c.point)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() //nolint:errcheck // it was killed
		if !reached {
			t.Fatalf("the worker did not get to %s", c.point)
		}
		kills++
		got := b.view(j.ID)
		if got.State != c.state || got.Attempts != kills {
			t.Errorf("killed at %s: %s after %d tries", c.point, got.State, got.Attempts)
		}
		_, err := b.Jobs.Receipt(t.Context(), b.workspace, job.Chain, j.ID)
		if (err == nil) != (c.state == job.Succeeded) {
			t.Errorf("killed at %s: receipt %v", c.point, err)
		}
	}
	if r, err := b.db.VerifyAudit(t.Context(), nil); err != nil || !r.Intact {
		t.Errorf("the audit log: %+v, %v", r, err)
	}
}

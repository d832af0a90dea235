package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/client"
	"chainexplorer/internal/verification/publication"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
)

// How a verification that was waited for ended, as exit statuses; docs/verification.md lists them.
const (
	exitMismatch   = 3
	exitUnverified = 4
	exitUnfinished = 5
)

// keyVariable holds the API key: a key on the command line could be read by others.
const keyVariable = "SERVICE_API_KEY"

// serviceFlags say whom to ask.
type serviceFlags struct {
	Service string `required:"" env:"SERVICE_BASE_URL" placeholder:"URL" help:"Address of the service, such as https://explorer.example; the variable SERVICE_BASE_URL does, too."`
	Chain   string `default:"SN_MAIN" help:"Chain of the class; SN_MAIN unless set."`
	KeyFile string `type:"existingfile" placeholder:"FILE" help:"File with an API key that has the scope verify. Default: the variable SERVICE_API_KEY."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (f *serviceFlags) client() (*client.Client, error) {
	key := os.Getenv(keyVariable)
	if f.KeyFile != "" {
		data, err := readBounded(f.KeyFile, 4<<10)
		if err != nil {
			return nil, err
		}
		key = string(data)
	}
	if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, " \t\r\n") {
		return nil, &usageError{"an API key is needed: set " + keyVariable + ", or name a file that holds it with --key-file"}
	}
	c, err := client.New(client.Options{Base: f.Service, Chain: f.Chain, Key: key})
	if err != nil {
		return nil, &usageError{"--service " + err.Error()}
	}
	return c, nil
}

// exitError ends the program with a status of its own.
type exitError struct {
	code   int
	reason string
}

func (e *exitError) Error() string { return e.reason }

// outcome is nil for a job that succeeded or goes on.
func outcome(j *client.Job) error {
	detail := ""
	if j.FailureCode != nil {
		detail = " (" + *j.FailureCode + ")"
	}
	if j.FailureMessage != nil {
		detail += ": " + *j.FailureMessage
	}
	switch {
	case j.WithdrawnAt != nil:
		if j.WithdrawnReason != nil {
			detail = ": " + *j.WithdrawnReason
		}
		return &exitError{exitUnverified, "not verified any more: the service withdrew the receipt at " + *j.WithdrawnAt + detail + ". Submit the source with another --idempotency-key to have it verified anew"}
	case !j.Ended() || j.State == "succeeded":
		return nil
	case j.State == "mismatch":
		return &exitError{exitMismatch, "the source gives another class" + detail + differing(j.MismatchParts)}
	case j.Retryable != nil && *j.Retryable:
		detail += " A new job may fare better."
	}
	return &exitError{exitUnverified, "not verified: the job is " + j.State + detail}
}

func differing(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "; what differs: " + strings.Join(parts, ", ")
}

func printJob(con *console, asJSON bool, j *client.Job) error {
	if asJSON {
		return printJSON(con.out, j)
	}
	_, err := fmt.Fprintf(con.out, "%s  %s\n", j.JobID, j.State)
	return err
}

type verifySubmitCommand struct {
	Dir string `arg:"" type:"existingdir" help:"Folder that 'verify prepare' wrote, such as counter/.chainexplorer."`
	serviceFlags
	IdempotencyKey string        `placeholder:"KEY" help:"Finds the job again when it is submitted twice. Default: made of the package's digest; give another for a new try of the same package."`
	Wait           bool          `help:"Wait until the job has ended."`
	WaitTime       time.Duration `default:"30m" placeholder:"TIME" help:"How long to wait at most; 30m unless set."`
}

// Run creates the job and hands the source over. Neither is repeated when it fails: submit again to
// go on with the same job.
func (c *verifySubmitCommand) Run(ctx context.Context, con *console) error {
	service, err := c.client()
	if err != nil {
		return err
	}
	text, err := readBounded(filepath.Join(c.Dir, packageFile), submission.MaxBytes)
	if err != nil {
		return err
	}
	p, err := submission.Parse(text)
	if err != nil {
		return err
	}
	source, err := readBounded(filepath.Join(c.Dir, archiveFile), archive.Standard.Compressed)
	if err != nil {
		return err
	}
	s, err := archive.Read(bytes.NewReader(source), archive.Standard, func(archive.File) error { return nil })
	if err != nil {
		return err
	}
	if s.Digest != p.UploadDigest || s.Compressed != p.UploadByteLength {
		return errors.New("the package is for another archive (verification_upload_mismatch): prepare again")
	}
	if c.IdempotencyKey == "" {
		digest, err := p.Digest()
		if err != nil {
			return err
		}
		c.IdempotencyKey = digest
	}
	j, err := service.Create(ctx, text, c.IdempotencyKey)
	if err != nil {
		return err
	}
	if j.State == "awaiting_upload" {
		id := j.JobID
		if j, err = service.Upload(ctx, id, source); err != nil {
			return fmt.Errorf("job %s was created, and its source not taken: %w", id, err)
		}
	}
	if c.Wait {
		return c.waitFor(ctx, con, service, j.JobID, c.WaitTime)
	}
	if err := printJob(con, c.JSON, j); err != nil {
		return err
	}
	return outcome(j)
}

// waitFor looks until a job has ended.
func (f *serviceFlags) waitFor(ctx context.Context, con *console, service *client.Client, id string, limit time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	j, err := service.Wait(bounded, id, func(j *client.Job) {
		if !f.JSON && !j.Ended() {
			printJob(con, false, j) //nolint:errcheck // the last one tells
		}
	})
	if err != nil {
		if bounded.Err() != nil {
			return &exitError{exitUnfinished, "job " + id + " has not ended yet; look again with 'chainexplorer verify status'"}
		}
		return err
	}
	if err := printJob(con, f.JSON, j); err != nil {
		return err
	}
	return outcome(j)
}

type verifyStatusCommand struct {
	Job string `arg:"" help:"Id of the job."`
	serviceFlags
	Wait     bool          `help:"Wait until the job has ended."`
	WaitTime time.Duration `default:"30m" placeholder:"TIME" help:"How long to wait at most; 30m unless set."`
}

// Run looks at a job.
func (c *verifyStatusCommand) Run(ctx context.Context, con *console) error {
	service, err := c.client()
	if err != nil {
		return err
	}
	if c.Wait {
		return c.waitFor(ctx, con, service, c.Job, c.WaitTime)
	}
	j, err := service.Status(ctx, c.Job)
	if err != nil {
		return err
	}
	if err := printJob(con, c.JSON, j); err != nil {
		return err
	}
	return outcome(j)
}

type verifyCancelCommand struct {
	Job string `arg:"" help:"Id of the job."`
	serviceFlags
}

// Run asks for a job's end, once, and prints what became of it.
func (c *verifyCancelCommand) Run(ctx context.Context, con *console) error {
	service, err := c.client()
	if err != nil {
		return err
	}
	j, err := service.Cancel(ctx, c.Job)
	if err != nil {
		return err
	}
	return printJob(con, c.JSON, j)
}

type verifyGetReceiptCommand struct {
	Job string `arg:"" help:"Id of the job."`
	serviceFlags
	Out      string `placeholder:"FILE" help:"File to write. Default: it is printed."`
	LogProof string `placeholder:"FILE" help:"File to write the proof to that the receipt is in the transparency log. Default: none is asked for."`
}

// Run gets a receipt, byte by byte as the service has it. Nothing is written unless all is there.
func (c *verifyGetReceiptCommand) Run(ctx context.Context, con *console) error {
	service, err := c.client()
	if err != nil {
		return err
	}
	data, err := service.Receipt(ctx, c.Job)
	if err != nil {
		return err
	}
	if c.LogProof != "" {
		signed, err := receipt.Parse(data)
		if err != nil {
			return err
		}
		path, err := publication.ProofPath(signed)
		if err != nil {
			return err
		}
		proof, err := service.LogProof(ctx, path)
		if err != nil {
			return err
		}
		if err := durable.WriteFile(c.LogProof, proof, 0o644); err != nil {
			return err
		}
	}
	if c.Out == "" {
		_, err = fmt.Fprintf(con.out, "%s\n", bytes.TrimSpace(data))
		return err
	}
	if err := durable.WriteFile(c.Out, data, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: not checked yet; see 'chainexplorer verify verify-receipt'\n", c.Out)
	return err
}

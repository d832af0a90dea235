// Package client asks the service for exact verifications. It never repeats a request that changes
// something: whether to do so is for whoever sent it to decide. Looking is repeated, as slowly as
// the service asks for.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
)

const (
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 256 << 10
	// Answers that do not say when to look again; and how often in a row looking may fail.
	usualWait, leastWait, longestWait = 5 * time.Second, time.Second, 5 * time.Minute
	patience                          = 5
)

// Options say whom to ask, and as whom.
type Options struct {
	// Base is the address of the service, such as https://explorer.example.
	Base string
	// Chain is the chain of the class.
	Chain string
	// Key is the API key; it goes into a header and nowhere else.
	Key string
	// HTTP is a client that follows no redirect, unless a test sets one.
	HTTP *http.Client
	// Sleep waits, unless a test sets it.
	Sleep func(context.Context, time.Duration) error
}

// Client asks one service.
type Client struct {
	Options
	base string // of jobs
	root *url.URL
}

// New checks the options. A key is not sent in the clear, except to this machine.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.Base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%.200q is no address of a service, such as https://explorer.example", o.Base)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%.200s: a key is sent over https alone, except to this machine", o.Base)
	}
	if o.Key == "" {
		return nil, errors.New("there is no API key")
	}
	if o.HTTP == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the library's own
		transport.DisableKeepAlives = true                           // the library would send again what met a connection that had ended
		o.HTTP = &http.Client{Transport: transport, Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Client{Options: o, root: u, base: u.JoinPath("v1", o.Chain, "verification-jobs").String()}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Job is what the service says of a job.
type Job struct {
	JobID            string   `json:"jobId"`
	IdempotencyKey   string   `json:"idempotencyKey,omitempty"`
	State            string   `json:"state"`
	Retryable        *bool    `json:"retryable"`
	FailureCode      *string  `json:"failureCode"`
	FailureReason    *string  `json:"failureReason"`
	FailureMessage   *string  `json:"failureMessage"`
	MismatchParts    []string `json:"mismatchParts"`
	WithdrawnAt      *string  `json:"withdrawnAt"`
	WithdrawnReason  *string  `json:"withdrawnReason"`
	UploadExpiresAt  string   `json:"uploadExpiresAt"`
	PollAfterSeconds *int     `json:"pollAfterSeconds"`
}

// Ended says whether a job's state is its last.
func (j *Job) Ended() bool {
	switch j.State {
	case "succeeded", "mismatch", "failed", "cancelled", "expired":
		return true
	}
	return false
}

// Refusal is an answer that is none: what the service said instead.
type Refusal struct {
	Status     int
	Code       string
	Message    string
	RequestID  string
	RetryAfter time.Duration // 0 when it does not say
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("the service answered %d (%s): %s", r.Status, r.Code, r.Message)
	if r.RetryAfter > 0 {
		text += fmt.Sprintf(" Try again in %s.", r.RetryAfter)
	}
	if r.RequestID != "" {
		text += " Request " + r.RequestID + "."
	}
	return text
}

var jobIDs = regexp.MustCompile(`^vrf_[a-z0-9]{24,40}$`)

// at is the address of a job. An id that is none is not sent.
func (c *Client) at(id, what string) (string, error) {
	if !jobIDs.MatchString(id) {
		return "", fmt.Errorf("%.60q is not the id of a verification job", id)
	}
	return c.base + "/" + id + what, nil
}

// Create creates a job, or finds the one that the same key and package made.
func (c *Client) Create(ctx context.Context, pkg []byte, idempotencyKey string) (*Job, error) {
	return c.job(ctx, http.MethodPost, c.base, pkg, "Content-Type", "application/json", "Idempotency-Key", idempotencyKey)
}

// Upload hands the source over.
func (c *Client) Upload(ctx context.Context, id string, archive []byte) (*Job, error) {
	address, err := c.at(id, "/source")
	if err != nil {
		return nil, err
	}
	return c.job(ctx, http.MethodPut, address, archive, "Content-Type", "application/gzip")
}

// Status looks at a job once.
func (c *Client) Status(ctx context.Context, id string) (*Job, error) {
	address, err := c.at(id, "")
	if err != nil {
		return nil, err
	}
	return c.job(ctx, http.MethodGet, address, nil)
}

// Cancel asks for a job's end.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	address, err := c.at(id, "/cancel")
	if err != nil {
		return nil, err
	}
	return c.job(ctx, http.MethodPost, address, nil)
}

// Receipt is the receipt of a job that succeeded. It is well formed; whether it is to be
// believed, only a trust document tells that came another way.
func (c *Client) Receipt(ctx context.Context, id string) ([]byte, error) {
	address, err := c.at(id, "/receipt")
	if err != nil {
		return nil, err
	}
	data, err := c.ask(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r, err := receipt.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("the service sent no receipt: %w", err)
	}
	if r.Evidence.JobID != id {
		return nil, fmt.Errorf("the service sent the receipt of another job, %s", r.Evidence.JobID)
	}
	return data, nil
}

// LogProof is the proof of a receipt, at its path. The head of the log is signed soon after a
// receipt was admitted: until then it is asked for again, a few times.
func (c *Client) LogProof(ctx context.Context, path string) ([]byte, error) {
	for try := 1; ; try++ {
		data, err := c.ask(ctx, http.MethodGet, c.root.JoinPath(path).String(), nil)
		var refusal *Refusal
		if err == nil {
			if _, err := logproof.Parse(data); err != nil {
				return nil, fmt.Errorf("the service sent no proof: %w", err)
			}
			return data, nil
		}
		if !errors.As(err, &refusal) || refusal.Status != http.StatusServiceUnavailable || try > patience {
			return nil, fmt.Errorf("proof of the transparency log: %w", err)
		}
		if err := c.Sleep(ctx, min(max(refusal.RetryAfter, leastWait), longestWait)); err != nil {
			return nil, err
		}
	}
}

// Wait looks at a job until it has ended, and tells each new state. A service that asks for time
// gets it; one that cannot be reached is tried a few times.
func (c *Client) Wait(ctx context.Context, id string, tell func(*Job)) (*Job, error) {
	last, failed := "", 0
	for {
		j, err := c.Status(ctx, id)
		wait := usualWait
		var refusal *Refusal
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &refusal) && refusal.Status != http.StatusTooManyRequests && refusal.Status < 500:
			return nil, err
		case err != nil:
			if failed++; failed >= patience {
				return nil, err
			}
			wait <<= failed - 1
			if refusal != nil && refusal.RetryAfter > 0 {
				wait = refusal.RetryAfter
			}
		default:
			failed = 0
			if j.State != last && tell != nil {
				tell(j)
			}
			if last = j.State; j.Ended() {
				return j, nil
			}
			if j.PollAfterSeconds != nil {
				wait = time.Duration(*j.PollAfterSeconds) * time.Second
			}
		}
		if err := c.Sleep(ctx, min(max(wait, leastWait), longestWait)); err != nil {
			return nil, err
		}
	}
}

func (c *Client) job(ctx context.Context, method, address string, body []byte, header ...string) (*Job, error) {
	data, err := c.ask(ctx, method, address, body, header...)
	if err != nil {
		return nil, err
	}
	var j Job
	if err := json.Unmarshal(data, &j); err != nil || !jobIDs.MatchString(j.JobID) || j.State == "" {
		return nil, errors.New("the service sent no job")
	}
	return &j, nil
}

// ask sends one request, once.
func (c *Client) ask(ctx context.Context, method, address string, body []byte, header ...string) ([]byte, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	req.GetBody = nil // so that a connection that broke is not tried again with it
	req.Header.Set("X-API-Key", c.Key)
	req.Header.Set("Accept", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the service: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read as far as it counts
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if resp.StatusCode/100 == 2 {
		return data, nil
	}
	r := &Refusal{Status: resp.StatusCode, Code: "no_code", Message: http.StatusText(resp.StatusCode) + ".", RequestID: resp.Header.Get("X-Request-Id")}
	var envelope struct{ Code, Message string }
	if json.Unmarshal(data, &envelope) == nil && envelope.Code != "" {
		r.Code, r.Message = envelope.Code, envelope.Message
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		r.RetryAfter = time.Duration(seconds) * time.Second
	}
	return nil, r
}

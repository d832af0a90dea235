// Package routes serves exact verification: the five routes by which a workspace creates
// a job, hands its source over, looks at it, cancels it and gets its receipt.
package routes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
)

// Options are what the routes work on.
type Options struct {
	Jobs *job.Repo
	// Chains are those that this service serves.
	Chains []string
	// UploadStall is how long an upload may pause (default 10 s).
	UploadStall time.Duration
}

type routes struct {
	Options
	server  *kernel.Server
	uploads *kernel.Seats
}

// How often it pays to look at a job again.
const (
	pollWaiting = 5
	pollBusy    = 2
)

// VerificationJob is what its owner sees of a job.
type VerificationJob struct {
	JobID             string     `json:"jobId" pattern:"^vrf_[a-z0-9]{24,40}$" doc:"Names the job."`
	ChainID           string     `json:"chainId" doc:"The chain that the class is declared on."`
	IdempotencyKey    string     `json:"idempotencyKey" doc:"The Idempotency-Key that the job was created with."`
	SelectedClassHash string     `json:"selectedClassHash" doc:"The declared class that the source is to reproduce."`
	State             string     `json:"state" enum:"awaiting_upload,validating,queued,building,comparing,succeeded,mismatch,failed,cancelled,expired" doc:"Where the job is. Only succeeded is a verification; the last five never change."`
	Retryable         *bool      `json:"retryable" doc:"Of a job that failed: whether a new job with the same source may fare better. Null for others."`
	FailureCode       *string    `json:"failureCode" doc:"Why the job failed, or class_hash_mismatch of a mismatch; null for others. New ones may be added."`
	FailureReason     *string    `json:"failureReason" doc:"Finer than the code where there is more to tell: of invalid_source_archive the rule that the archive breaks."`
	FailureMessage    *string    `json:"failureMessage" doc:"The code in words. It holds nothing of the source and nothing that a compiler wrote."`
	MismatchParts     []string   `json:"mismatchParts" enum:"abi,entry_points,program" doc:"Of a mismatch: which parts of the class hash differ. Empty when that could not be found out."`
	UploadExpiresAt   time.Time  `json:"uploadExpiresAt" doc:"By when the source must be there."`
	SourceDeletesAt   *time.Time `json:"sourceDeletesAt" doc:"When the source is deleted, by its policy; null while there is none."`
	SourceDeletedAt   *time.Time `json:"sourceDeletedAt" doc:"When the source was deleted; null while it is kept, or there never was one."`
	WithdrawnAt       *time.Time `json:"withdrawnAt" doc:"When the receipt of the job was withdrawn: it counts no more, and the class has to be verified anew. Null while it stands, and for jobs without one."`
	WithdrawnReason   *string    `json:"withdrawnReason" doc:"Why, in the operator's words."`
	CreatedAt         time.Time  `json:"createdAt" doc:"When the job was created."`
	UpdatedAt         time.Time  `json:"updatedAt" doc:"When the job got into its state."`
	PollAfterSeconds  *int       `json:"pollAfterSeconds" doc:"How long to wait before looking again, in seconds; null for a job that has ended."`
}

func view(j *job.Job) VerificationJob {
	out := VerificationJob{JobID: j.ID, ChainID: j.Chain, IdempotencyKey: j.IdempotencyKey, SelectedClassHash: j.Package.SelectedClassHash, State: string(j.State), MismatchParts: append([]string{}, j.Parts...),
		UploadExpiresAt: j.UploadExpiresAt, SourceDeletesAt: j.SourceDeletesAt, SourceDeletedAt: j.SourceDeletedAt, CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt}
	if out.WithdrawnAt = j.Withdrawn; j.Withdrawn != nil {
		out.WithdrawnReason = &j.WithdrawnReason
	}
	if f := j.Failure; f != nil {
		code, message := string(f.Code), job.Message(f.Code)
		out.FailureCode, out.FailureMessage = &code, &message
		if f.Reason != "" {
			out.FailureReason = &f.Reason
		}
		if j.State == job.Failed {
			out.Retryable = &f.Retryable
		}
	}
	poll := pollWaiting
	switch {
	case j.State.Terminal():
		return out
	case j.State == job.Building || j.State == job.Comparing || j.State == job.Validating:
		poll = pollBusy
	}
	out.PollAfterSeconds = &poll
	return out
}

type answer struct {
	Status int
	Body   VerificationJob
}

// New registers the routes. It is called before the documents are made.
func New(s *kernel.Server, o Options) {
	if o.UploadStall == 0 {
		o.UploadStall = uploadStall
	}
	r := &routes{Options: o, server: s, uploads: kernel.NewSeats(uploadsAtOnce, uploadsPerCaller, uploadsPerCaller)}
	base := kernel.Route{Family: "Verification", Path: "/v1/{chain}/verification-jobs", Class: kernel.Heavy, Scope: account.Verify, Tier: kernel.TierOfficial,
		Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnCaller | kernel.OnClock}
	create := base
	create.ID, create.Method, create.Summary = "createVerificationJob", http.MethodPost, "Create a verification job"
	create.Description = "Takes Package V1: what is to be rebuilt, and the digest of the source that will be uploaded. 201 with the new job; 200 with the job that the same key and package made before, which counts for no quota. " +
		"A workspace has one active job, and creates at most five a day of UTC. SN_MAIN and the policy service-exact-v25 alone are verified. A key of a workspace with the scope verify is needed. See [verification](/docs/guide/verification)."
	create.Statuses = []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}
	create.MaxBody, create.Verbatim = submission.MaxBytes, true
	create.ExampleStatus = http.StatusServiceUnavailable
	create.ExampleCurl = `-H "Idempotency-Key: counter-2026-03-01"`
	create.ExampleBody = func(e kernel.Examples) string { return examplePackage(e.Class) }
	kernel.Register(s, create, r.create)
	documentCreate(s)
	r.addUpload(s, base)
	look := base
	look.ID, look.Method, look.Path, look.Class, look.Summary = "getVerificationJob", http.MethodGet, base.Path+"/{jobId}", kernel.Light, "Look at a verification job"
	look.Description = "The job, to the workspace that owns it. Wait as long as pollAfterSeconds says before looking again. A job of another workspace is answered like one that does not exist."
	look.Statuses = []int{http.StatusNotFound}
	look.ExampleStatus = http.StatusNotFound
	kernel.Register(s, look, r.look)
	cancel := base
	cancel.ID, cancel.Method, cancel.Path, cancel.Class, cancel.Summary = "cancelVerificationJob", http.MethodPost, base.Path+"/{jobId}/cancel", kernel.Light, "Cancel a verification job"
	cancel.Description = "Ends a job that has not ended, whatever it is at. It is best effort: when the receipt was admitted first the job has succeeded, and stays so. The answer is the job as it is then. The request has no body."
	cancel.Statuses = []int{http.StatusNotFound}
	cancel.ExampleStatus, cancel.ExampleCurl = http.StatusNotFound, "-X POST"
	kernel.Register(s, cancel, r.cancel)
	get := base
	get.ID, get.Method, get.Path, get.Class, get.Summary = "getVerificationReceipt", http.MethodGet, base.Path+"/{jobId}/receipt", kernel.Light, "Get the receipt of a verification"
	get.Description = "The signed receipt of a job that succeeded. It is worth something to who holds it against a trust document that came another way: see [verification](/docs/guide/verification). A job without a receipt is answered like one that does not exist."
	get.Statuses = []int{http.StatusNotFound}
	get.ExampleStatus = http.StatusNotFound
	kernel.Register(s, get, r.receipt)
}

// ChainPath is what all paths name; the framework looks into exported types alone.
type ChainPath struct {
	Chain string `path:"chain" doc:"The chain, such as SN_MAIN."`
}

type jobPath struct {
	ChainPath
	JobID string `path:"jobId" doc:"Id of the job." example:"vrf_abcdefghijklmnopqrstuvwx"`
}

type createInput struct {
	ChainPath
	IdempotencyKey string `header:"Idempotency-Key" required:"true" pattern:"^[A-Za-z0-9._:-]{1,128}$" doc:"Chosen by the caller, 1 to 128 characters of A-Z a-z 0-9 . _ : and -. The same key finds the same job again; it is refused with another package." example:"counter-2026-03-01"`
	RawBody        []byte `contentType:"application/json"`

	kind string // of the body, as the caller says
}

// CheckHeaders refuses a header that is there twice: of two keys neither is the one.
func (in *createInput) CheckHeaders(h http.Header) *huma.ErrorDetail {
	in.kind = h.Get("Content-Type")
	if len(h["Idempotency-Key"]) > 1 {
		return &huma.ErrorDetail{Location: "header.Idempotency-Key", Message: "it can be given once"}
	}
	return nil
}

var idempotencyKeys = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

func (r *routes) create(ctx context.Context, in *createInput) (*answer, error) {
	who, e := r.caller(ctx)
	if e != nil {
		return nil, e
	}
	if !idempotencyKeys.MatchString(in.IdempotencyKey) {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "header.Idempotency-Key: it is not 1 to 128 characters of A-Z a-z 0-9 . _ : and -.")
	}
	if kind, _, err := mime.ParseMediaType(in.kind); in.kind != "" && (err != nil || kind != kernel.JSONType) {
		return nil, kernel.Fail(kernel.CodeUnsupportedMedia, "header.Content-Type: it must be %s.", kernel.JSONType)
	}
	if e := r.serves(in.Chain); e != nil {
		return nil, e
	}
	p, err := submission.Parse(in.RawBody)
	var refused *submission.Error
	switch {
	case errors.As(err, &refused) && refused.Code == submission.UnsupportedPolicy:
		return nil, kernel.Fail(kernel.CodeUnsupportedPolicy, "body.%s: %s.", refused.Field, refused.Reason)
	case errors.As(err, &refused) && refused.Field != "":
		return nil, kernel.Fail(kernel.CodeInvalidPackage, "body.%s: %s.", kernel.Clip(refused.Field, 60), kernel.Clip(refused.Reason, 200))
	case err != nil:
		return nil, kernel.Fail(kernel.CodeInvalidPackage, "body: %s.", kernel.Clip(reasonOf(err), 200))
	}
	if in.Chain != job.Chain {
		return nil, kernel.Fail(kernel.CodeUnsupportedPolicy, "path.chain: sources are verified for %s alone.", job.Chain)
	}
	j, created, err := r.Jobs.Create(ctx, job.Request{Actor: who.PublicID, WorkspaceID: who.WorkspaceID, Chain: in.Chain, IdempotencyKey: in.IdempotencyKey, Package: p})
	if err != nil {
		return nil, r.failure(err)
	}
	out := &answer{Status: http.StatusOK, Body: view(j)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func reasonOf(err error) string {
	var e *submission.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return "it is not Package V1"
}

func (r *routes) look(ctx context.Context, in *jobPath) (*answer, error) {
	who, e := r.caller(ctx)
	if e != nil {
		return nil, e
	}
	j, err := r.Jobs.View(ctx, who.WorkspaceID, in.Chain, in.JobID)
	if err != nil {
		return nil, r.failure(err)
	}
	return &answer{Status: http.StatusOK, Body: view(j)}, nil
}

func (r *routes) cancel(ctx context.Context, in *jobPath) (*answer, error) {
	who, e := r.caller(ctx)
	if e != nil {
		return nil, e
	}
	j, err := r.Jobs.Cancel(ctx, who.PublicID, who.WorkspaceID, in.Chain, in.JobID)
	if err != nil {
		return nil, r.failure(err)
	}
	return &answer{Status: http.StatusOK, Body: view(j)}, nil
}

func (r *routes) receipt(ctx context.Context, in *jobPath) (*receiptAnswer, error) {
	who, e := r.caller(ctx)
	if e != nil {
		return nil, e
	}
	text, err := r.Jobs.Receipt(ctx, who.WorkspaceID, in.Chain, in.JobID)
	if err != nil {
		return nil, r.failure(err)
	}
	out := &receiptAnswer{}
	if _, err = receipt.Parse(text); err == nil { // nothing that is no receipt is ever handed out as one
		err = json.Unmarshal(text, &out.Body)
	}
	if err != nil {
		return nil, fmt.Errorf("the receipt of %s: %w", in.JobID, err)
	}
	return out, nil
}

// caller is the key that asks. One of the operator's settings belongs to no workspace.
func (r *routes) caller(ctx context.Context) (*kernel.Caller, *kernel.Error) {
	who := kernel.RequestOf(ctx).Caller
	if who.Configured || who.Session || who.WorkspaceID == "" {
		return nil, kernel.Fail(kernel.CodeForbidden, "Jobs belong to workspaces: a key of one is needed.")
	}
	return who, nil
}

func (r *routes) serves(chain string) *kernel.Error {
	if !slices.Contains(r.Chains, chain) && chain != "SN_MAIN" && chain != "SN_SEPOLIA" {
		return kernel.Fail(kernel.CodeNotFound, "path.chain: %q is not served here; %s.", kernel.Clip(chain, 40), kernel.Listed(r.Chains))
	}
	return nil
}

// notFound is the one answer about what is not there, not ready, or another's.
func notFound() *kernel.Error {
	return kernel.Fail(kernel.CodeNotFound, "There is no such verification job, or it has nothing to show yet.")
}

// failure puts an error of the machine into words.
func (r *routes) failure(err error) *kernel.Error {
	var unavailable *job.UnavailableError
	var state *job.StateError
	var damage *job.DamageError
	retry := func(e *kernel.Error, after time.Duration) *kernel.Error {
		e.RetryAfter = int(math.Ceil(after.Seconds()))
		return e
	}
	switch {
	case errors.Is(err, job.ErrNotFound):
		return notFound()
	case errors.Is(err, job.ErrKeyReused):
		return kernel.Fail(kernel.CodeIdempotencyKeyReused, "header.Idempotency-Key: it was used for another package.")
	case errors.Is(err, job.ErrActive):
		return retry(kernel.Because(kernel.ReasonActiveJob, "The workspace has a verification job that has not ended."), 30*time.Second)
	case errors.Is(err, job.ErrDaily):
		return retry(kernel.Because(kernel.ReasonDailyJobs, "The workspace has created %d verification jobs today, as many as it may.", r.Jobs.Limits().PerDay), r.Jobs.UntilTomorrow())
	case errors.Is(err, job.ErrOwnFull):
		return retry(kernel.Because(kernel.ReasonSources, "The workspace has %d MiB of source kept at most, and this would be more.", r.Jobs.Limits().OwnBytes>>20), time.Hour)
	case errors.Is(err, job.ErrFull):
		return retry(kernel.Because(kernel.ReasonQueueFull, "The verification queue is full."), time.Minute)
	case errors.Is(err, job.ErrMismatch):
		return kernel.Fail(kernel.CodeUploadMismatch, "The body is not what uploadDigest and uploadByteLength of the package name.")
	case errors.As(err, &state):
		return kernel.Fail(kernel.CodeVerificationClosed, "The job takes no source any more: it is %s.", state.State)
	case errors.As(err, &damage):
		return &kernel.Error{Code: kernel.CodeInternal, Message: "What is stored of this job is damaged: nothing is built or signed by it any more. Create a new one, with a new idempotency key.", Cause: err}
	case errors.As(err, &unavailable):
		// Why is for the operator, who finds it in /readyz and in the log.
		return &kernel.Error{Code: kernel.CodeVerifierUnavailable, Message: "No verification jobs are taken right now.", RetryAfter: 60, Cause: err}
	}
	return kernel.RetryLater(1, err, "Verification jobs cannot be reached right now; try again.")
}

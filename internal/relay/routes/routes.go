// Package routes serves the prover relay: one route takes a request for a proof, the other
// tells what became of it and hands the result over, once.
package routes

import (
	"context"
	"errors"
	"math"
	"mime"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/request"
)

const (
	path = "/v1/SN_MAIN/prove"
	// RPCClass is what the header X-Service-Rpc-Class says on every answer.
	RPCClass  = "rpc_prove"
	headerKey = "Idempotency-Key"
)

const (
	// bodiesAtOnce bounds how many bodies are read at once, at up to 1 MiB each, and
	// pollsAtOnce how many polls are answered: of all, of a workspace, of a key.
	bodiesAtOnce, bodiesOfWorkspace, bodiesOfKey = 16, 8, 8
	pollsAtOnce, pollsOfWorkspace, pollsOfKey    = 128, 32, 16
	// patience is how long a request waits for the database, or for another poll that is
	// being given the result.
	patience = 8 * time.Second
)

// Options are what the routes work on.
type Options struct {
	Relay *relay.Relay
	// Secret is what processes that share the jobs know one another by.
	Secret []byte
	// Client asks other processes; http.DefaultClient unless set.
	Client *http.Client
}

type routes struct {
	*relay.Relay
	server        *kernel.Server
	bodies, polls *kernel.Seats
	hops          *hops
}

// New registers the routes. It is called before the documents are made.
func New(s *kernel.Server, o Options) {
	r := &routes{Relay: o.Relay, server: s, hops: newHops(o.Secret, o.Client),
		bodies: kernel.NewSeats(bodiesAtOnce, bodiesOfWorkspace, bodiesOfKey), polls: kernel.NewSeats(pollsAtOnce, pollsOfWorkspace, pollsOfKey)}
	base := kernel.Route{Family: "Prover relay", Scope: account.Prove, Tier: kernel.TierPartner, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnCaller | kernel.OnClock,
		Headers: map[string]string{kernel.HeaderRPCClass: RPCClass}}
	submit := base
	submit.ID, submit.Method, submit.Path, submit.Class, submit.Summary = "createProverJob", http.MethodPost, path, kernel.Heavy, "Ask for a proof"
	submit.Description = "Takes a block and an Invoke transaction, and hands them to the prover as they are. 202 with a new job; 200 with the job that the same key and body made before, which is no second proof and no second debit. " +
		"It draws on no budget of a minute: a key has so many jobs at once, and so many a day of UTC. The body holds a private key: it is kept in memory until the prover has it, and nowhere else. A key with the scope prove is needed, which the operator gives. See [the prover relay](/docs/guide/relay)."
	submit.Statuses = []int{http.StatusConflict, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	submit.MaxBody, submit.Verbatim = request.MaxBytes, true
	submit.ExampleStatus = http.StatusServiceUnavailable
	submit.ExampleCurl = `-H "Idempotency-Key: 6f1c2d3e-transfer-0001"`
	submit.ExampleBody = func(kernel.Examples) string { return exampleBody }
	r.handle(submit, submitOperation, r.submit)
	look := base
	look.ID, look.Method, look.Path, look.Class, look.Summary = "getProverJob", http.MethodGet, path+"/{jobId}", kernel.Light, "Look at a prover job, and fetch its result"
	look.Description = "The job, to the workspace that owns it. Wait as long as pollAfterSeconds says before looking again. The result, or the prover's error, is in the first answer that could be written after the job ended, and in no later one: keep it at once. " +
		"A job of another workspace is answered like one that does not exist. It draws on no budget of a minute."
	look.Statuses = []int{http.StatusNotFound}
	look.ExampleStatus = http.StatusNotFound
	r.handle(look, lookOperation, r.look)
	documentResult(s)
}

// handle registers a route whose bodies and answers are read and written here alone: no
// copy of them is kept for others, and whether an answer was written is known.
func (r *routes) handle(route kernel.Route, operation func(*kernel.Server, *kernel.Route) *huma.Operation, serve func(http.ResponseWriter, *http.Request) *kernel.Error) {
	refuse := func(w http.ResponseWriter, req *http.Request, e *kernel.Error) {
		if req.ContentLength != 0 {
			kernel.LeaveBody(w)
		}
		kernel.SendError(w, req, e, kernel.RecordOf(w).ID, &route)
	}
	r.server.HandleRaw(kernel.Raw{Route: route, Operation: operation(r.server, &route), Refuse: refuse,
		Patterns: []string{route.Method + " " + route.Path, route.Method + " /api" + route.Path},
		Serve: func(w http.ResponseWriter, req *http.Request) {
			e := noQuery(req)
			if e == nil {
				e = serve(w, req)
			}
			if e == nil {
				return
			}
			if e.Cause != nil {
				r.server.Log.Warn("request refused", "request_id", kernel.RecordOf(w).ID, "err", e.Cause)
			}
			kernel.SendError(w, req, e, kernel.RecordOf(w).ID, &route)
		}})
}

func noQuery(req *http.Request) *kernel.Error {
	if req.URL.RawQuery != "" {
		return kernel.Fail(kernel.CodeInvalidRequest, "query: this route has no parameters.")
	}
	return nil
}

// caller is the key that asks. One of the operator's settings belongs to no workspace.
func caller(ctx context.Context) (*kernel.Caller, *kernel.Error) {
	who := kernel.RequestOf(ctx).Caller
	if who.Configured || who.Session || who.WorkspaceID == "" {
		return nil, kernel.Fail(kernel.CodeForbidden, "Jobs belong to workspaces: a key of one is needed.")
	}
	return who, nil
}

// submit takes a request. Whatever it refuses before the body is read it refuses without
// waiting for it.
func (r *routes) submit(w http.ResponseWriter, req *http.Request) *kernel.Error {
	who, e := caller(req.Context())
	var key string
	if e == nil {
		key, e = idempotencyKey(req.Header)
	}
	if e == nil {
		e = isJSON(req.Header)
	}
	if e == nil {
		e = r.bodies.Enter(req.Context(), who, "whose bodies are being read")
	}
	if e != nil {
		kernel.LeaveBody(w)
		return e
	}
	defer r.bodies.Leave(who)
	// The buffer that the connection is read through has a part of the body: it is not to
	// lie about for as long as the client likes.
	w.Header().Set("Connection", "close")
	body, e := r.server.ReadSecret(w, req, request.MaxBytes)
	if e != nil {
		return e
	}
	ctx, cancel := context.WithTimeout(req.Context(), patience)
	defer cancel()
	j, created, err := r.Submit(ctx, relay.Submission{WorkspaceID: who.WorkspaceID, KeyID: who.PublicID, IdempotencyKey: key, Body: body})
	if err != nil {
		return r.failure(err)
	}
	v := &relay.View{Job: j}
	if j.State == job.Queued {
		if v.Position, err = r.Jobs.Position(ctx, j); err != nil {
			v.Position = 0 // the job is there; where in the queue is not known
		}
	}
	status := http.StatusOK
	if created {
		status = http.StatusAccepted
	}
	send(w, req, status, document(v)) //nolint:errcheck // the client went away: the same key finds the job
	return nil
}

// idempotencyKey is the one of a request. HTTP takes white space around a field's value
// away before anybody sees it.
func idempotencyKey(h http.Header) (string, *kernel.Error) {
	values := h[headerKey]
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return "", kernel.Fail(kernel.CodeIdempotencyKeyRequired, "header.%s: it is missing.", headerKey)
	}
	key := values[0]
	if len(values) > 1 || !request.IsKey(key) {
		return "", kernel.Fail(kernel.CodeInvalidIdempotencyKey, "header.%s: it must be 16 to 128 graphic ASCII characters without spaces and double quotes, once.", headerKey)
	}
	return key, nil
}

func isJSON(h http.Header) *kernel.Error {
	values := h["Content-Type"]
	if len(values) == 1 {
		if kind, _, err := mime.ParseMediaType(values[0]); err == nil && kind == kernel.JSONType {
			return nil
		}
	}
	return kernel.Fail(kernel.CodeUnsupportedMedia, "header.Content-Type: it must be %s.", kernel.JSONType)
}

// failure puts an error of the relay into words. None of them holds anything of a body.
func (r *routes) failure(err error) *kernel.Error {
	var bad *request.Error
	after := func(code kernel.Code, wait time.Duration, message string) *kernel.Error {
		e := kernel.Fail(code, "%s", message)
		e.RetryAfter = int(math.Ceil(wait.Seconds()))
		return e
	}
	switch {
	case errors.As(err, &bad):
		return kernel.Fail(kernel.CodeInvalidRequest, "%s.", bad.Error())
	case errors.Is(err, job.ErrNotFound):
		return kernel.Fail(kernel.CodeNotFound, "There is no such prover job.")
	case errors.Is(err, job.ErrKeyReused):
		return kernel.Fail(kernel.CodeIdempotencyKeyReused, "header.%s: it was used for another request.", headerKey)
	case errors.Is(err, job.ErrDaily):
		return after(kernel.CodeProverDailyBudget, r.Jobs.UntilTomorrow(), "The key has created as many prover jobs today as it may.")
	case errors.Is(err, job.ErrConcurrency):
		return after(kernel.CodeProverConcurrency, 10*time.Second, "The key has as many prover jobs that have not ended as it may have.")
	case errors.Is(err, relay.ErrUnfetched):
		return after(kernel.CodeProverConcurrency, 10*time.Second, "The workspace has as many jobs under way and results that nobody fetched as it may have.")
	case errors.Is(err, relay.ErrFull):
		return after(kernel.CodeProverQueueFull, 30*time.Second, "The prover's queue is full.")
	case errors.Is(err, relay.ErrAway):
		return after(kernel.CodeProverUnavailable, 30*time.Second, "The prover takes no requests right now.")
	}
	return kernel.RetryLater(1, err, "Prover jobs cannot be reached right now; try again.")
}

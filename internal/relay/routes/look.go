package routes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/job"
)

// gone is why a job that succeeded has no result.
const gone = "delivered_or_expired"

// ProverJob is what its owner sees of a job.
type ProverJob struct {
	JobID                   string       `json:"jobId" pattern:"^prv_[0-9a-f]{24}$" doc:"Names the job."`
	Status                  string       `json:"status" enum:"queued,dispatched,succeeded,failed,unavailable,unknown_delivery" doc:"Where the job is. After unavailable nothing was proven, and the same key may try again; after unknown_delivery the prover may have the request, and it is not sent again."`
	Terminal                bool         `json:"terminal" doc:"Whether the work on the job has ended: poll no longer."`
	AttemptCount            int          `json:"attemptCount" doc:"How often the request was sent, or was about to be."`
	QueuePosition           *int         `json:"queuePosition,omitempty" doc:"Of a queued job: its place among those that wait, from 1."`
	PollAfterSeconds        *int         `json:"pollAfterSeconds,omitempty" doc:"How long to wait before looking again, in seconds, of a job that has not ended."`
	CreatedAt               time.Time    `json:"createdAt" doc:"When the job was created."`
	CompletedAt             *time.Time   `json:"completedAt,omitempty" doc:"When it ended."`
	ResultUnavailableReason string       `json:"resultUnavailableReason,omitempty" enum:"delivered_or_expired" doc:"Of a job that succeeded: why there is no result. It was handed over before, nobody fetched it in time, or the process that had it is gone."`
	Error                   *ProverError `json:"error,omitempty" doc:"Of a job that ended without a proof: why."`
}

// ProverError says why there is no proof.
type ProverError struct {
	Code    any             `json:"code" doc:"The prover's own code, a number, when source is prover; otherwise prover_unavailable or prover_delivery_unknown."`
	Source  string          `json:"source,omitempty" enum:"prover" doc:"Who says so: prover for what was passed through."`
	Message string          `json:"message,omitempty" doc:"For people: the prover's, on the first poll alone, or ours."`
	Data    json.RawMessage `json:"data,omitempty" doc:"The prover's, as it wrote it, on the first poll alone."`
}

// Poll delays in seconds.
const (
	pollDispatched = 3
	pollQueued     = 3
	pollMost       = 60
)

func viewOf(v *relay.View) ProverJob {
	out := ProverJob{JobID: v.ID, Status: string(v.State), Terminal: v.State.Terminal(), AttemptCount: v.Attempts, CreatedAt: v.CreatedAt, CompletedAt: v.CompletedAt}
	poll := pollDispatched
	switch v.State {
	case job.Queued:
		if v.Position > 0 {
			out.QueuePosition = &v.Position
		}
		poll = min(pollQueued*max(v.Position, 1), pollMost)
		fallthrough
	case job.Dispatched:
		out.PollAfterSeconds = &poll
	case job.Failed:
		out.Error = proverError(v)
	case job.Unavailable:
		out.Error = &ProverError{Code: "prover_unavailable", Message: "The prover could not be had. Nothing was proven: send the same request with the same key."}
	case job.UnknownDelivery:
		out.Error = &ProverError{Code: "prover_delivery_unknown", Message: "The prover may have the request, and its answer did not arrive. It is not sent again by itself."}
	}
	return out
}

// proverError is the prover's error in full, or what is left of it.
func proverError(v *relay.View) *ProverError {
	out := &ProverError{Source: "prover", Code: nil}
	if v.Code != nil {
		out.Code = *v.Code
	}
	if v.Parcel == nil {
		return out
	}
	var said struct {
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(v.Parcel.Error, &said) == nil {
		out.Message, out.Data = said.Message, said.Data
	}
	return out
}

// document writes a job. The result goes in byte for byte.
func document(v *relay.View) []byte {
	out := viewOf(v)
	result := v.State == job.Succeeded && v.Parcel != nil
	if v.State == job.Succeeded && !result && !v.Held { // while it is held, a poll gets it
		out.ResultUnavailableReason = gone
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		panic(fmt.Sprintf("a prover job cannot be written: %T", err)) // texts, numbers and what was read as JSON always encode
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	if result {
		text = append(append(text, `,"result":`...), v.Parcel.Result...)
	}
	return append(text, '}')
}

// send writes an answer, and says whether all of it was taken.
func send(w http.ResponseWriter, req *http.Request, status int, text []byte) error {
	h := w.Header()
	h.Set("Content-Type", kernel.JSONType)
	h.Set("Cache-Control", "private, no-store")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if req.Method == http.MethodHead {
		return nil
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// look answers a poll.
func (r *routes) look(w http.ResponseWriter, req *http.Request) *kernel.Error {
	who, e := caller(req.Context())
	if e == nil {
		e = r.polls.Enter(req.Context(), who, "that look at prover jobs")
	}
	if e != nil {
		return e
	}
	defer r.polls.Leave(who)
	id := req.PathValue("jobId")
	peer := r.hops.from(req.Header, id)
	if peer && r.hops.settle(req.Header, id) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	ctx, cancel := context.WithTimeout(req.Context(), patience)
	defer cancel()
	v, err := r.Poll(ctx, who.WorkspaceID, id, req.Method != http.MethodHead)
	switch {
	case err != nil:
		return r.failure(err)
	case v.Elsewhere != nil && peer: // whoever had it is not here any more
		w.WriteHeader(http.StatusGone)
		return nil
	case v.Elsewhere != nil:
		return r.fetch(w, req, v)
	case v.Parcel == nil:
		send(w, req, http.StatusOK, document(v)) //nolint:errcheck // it can be asked for again
		return nil
	case peer:
		r.hops.hand(w, req, v)
		return nil
	}
	r.deliver(w, req, v)
	return nil
}

// deliver hands a parcel over: it counts as delivered when all of the answer was handed to
// the connection.
func (r *routes) deliver(w http.ResponseWriter, req *http.Request, v *relay.View) {
	delivered := false
	defer func() { v.Parcel.Done(delivered) }()
	if req.Context().Err() == nil {
		delivered = send(w, req, http.StatusOK, document(v)) == nil
	}
}

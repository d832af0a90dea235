package routes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/http"
	"strconv"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/job"
)

const (
	// uploadsAtOnce bounds how many sources are in memory, at up to 10 MiB each; those
	// of one workspace are fewer, and enough for a retry beside the first try.
	uploadsAtOnce    = 8
	uploadsPerCaller = 2
	uploadPace       = 64 << 10 // bytes a second
	uploadStall      = 10 * time.Second
	// storeTime bounds what follows the last byte.
	storeTime = 30 * time.Second
)

const gzipType = "application/gzip"

// addUpload registers the route that takes a source. Its bytes are what they are: no
// encoding is undone, and they are checked while they arrive.
func (r *routes) addUpload(s *kernel.Server, base kernel.Route) {
	base.ID, base.Method, base.Path, base.Summary = "uploadVerificationSource", http.MethodPut, base.Path+"/{jobId}/source", "Upload the source of a verification job"
	base.Description = "The archive that the package names, byte for byte, with its Content-Length and without a Content-Encoding. Digest, length and the rules of archives are checked while it arrives; other bytes are refused and change nothing. " +
		"Sending the same bytes again, also at the same time, is safe and answered with the job as it is. When the answer is 200 the source is stored."
	base.Statuses = []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}
	base.MaxBody = archive.Standard.Compressed
	base.ExampleStatus, base.ExampleCurl = http.StatusNotFound, `-X PUT -H "Content-Type: application/gzip" --data-binary @source.tar.gz`
	route := base
	refuse := func(w http.ResponseWriter, req *http.Request, e *kernel.Error) {
		kernel.LeaveBody(w)
		kernel.SendError(w, req, e, kernel.RecordOf(w).ID, &route)
	}
	s.HandleRaw(kernel.Raw{Route: route, Operation: uploadOperation(&route), Refuse: refuse,
		Patterns: []string{"PUT " + base.Path, "PUT /api" + base.Path},
		Serve: func(w http.ResponseWriter, req *http.Request) {
			j, e := r.upload(w, req)
			if e != nil {
				if e.Cause != nil {
					s.Log.Warn("upload refused", "request_id", kernel.RecordOf(w).ID, "err", e.Cause)
				}
				kernel.SendError(w, req, e, kernel.RecordOf(w).ID, &route)
				return
			}
			send(w, view(j))
		}})
}

func send(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // times, texts and numbers always encode
	}
	h := w.Header()
	h.Set("Content-Type", kernel.JSONType)
	h.Set("Cache-Control", "private, no-store")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusOK)
	w.Write(text) //nolint:errcheck // the client went away
}

// upload takes a source. Whatever it refuses before the body is read it refuses without
// waiting for it.
func (r *routes) upload(w http.ResponseWriter, req *http.Request) (*job.Job, *kernel.Error) {
	ctx := req.Context()
	who, e := r.caller(ctx)
	if e == nil {
		e = r.charge(w, req, who)
	}
	if e == nil {
		e = checkHeaders(req)
	}
	if e != nil {
		kernel.LeaveBody(w)
		return nil, e
	}
	j, err := r.Jobs.View(ctx, who.WorkspaceID, req.PathValue("chain"), req.PathValue("jobId"))
	switch {
	case err != nil:
		e = r.failure(err)
	case req.ContentLength != j.Package.UploadByteLength:
		e = r.failure(job.ErrMismatch)
	default:
		e = r.uploads.Enter(ctx, who, "whose sources are being read")
	}
	if e != nil {
		kernel.LeaveBody(w)
		return nil, e
	}
	defer r.uploads.Leave(who)
	c := newChecker(j)
	data, e := r.server.ReadUpload(w, req, kernel.Upload{Size: j.Package.UploadByteLength, Pace: uploadPace, Stall: r.UploadStall, Watch: c})
	refused, err := c.end()
	if e != nil {
		return nil, e
	}
	if err != nil {
		return nil, r.failure(err)
	}
	// The client may go away now: what it sent is worth keeping for its retry.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if j, err = r.Jobs.Upload(ctx, who.PublicID, j, data, refused); err != nil {
		return nil, r.failure(err)
	}
	return j, nil
}

// charge draws the request on the caller's budget.
func (r *routes) charge(w http.ResponseWriter, req *http.Request, who *kernel.Caller) *kernel.Error {
	v, e := r.server.Spend(req.Context(), who, kernel.Heavy, 1)
	kernel.RequestOf(req.Context()).Budget = v
	kernel.TellBudget(w.Header(), v, kernel.Heavy)
	return e
}

// checkHeaders holds a request against what every upload must be like.
func checkHeaders(req *http.Request) *kernel.Error {
	kinds, encodings := req.Header["Content-Type"], req.Header["Content-Encoding"]
	switch {
	case req.URL.RawQuery != "":
		return kernel.Fail(kernel.CodeInvalidRequest, "query: this route has no parameters.")
	case len(kinds) != 1 || kinds[0] != gzipType:
		return kernel.Fail(kernel.CodeUnsupportedMedia, "header.Content-Type: it must be %s.", gzipType)
	case len(encodings) > 0:
		return kernel.Fail(kernel.CodeUnsupportedMedia, "header.Content-Encoding: the archive is sent as it is, without one.")
	case len(req.Header["Content-Range"]) > 0:
		return kernel.Fail(kernel.CodeInvalidRequest, "header.Content-Range: the archive is sent whole.")
	case req.ContentLength < 0:
		return kernel.Fail(kernel.CodeInvalidRequest, "header.Content-Length: it is needed.")
	case req.ContentLength > archive.Standard.Compressed:
		return kernel.Fail(kernel.CodePayloadTooLarge, "The body is larger than %d bytes.", archive.Standard.Compressed)
	}
	return nil
}

// checker digests a source and reads it as an archive, both while it arrives.
type checker struct {
	digest hash.Hash
	want   string
	in     *io.PipeWriter
	out    chan error
}

func newChecker(j *job.Job) *checker {
	from, to := io.Pipe()
	c := &checker{digest: sha256.New(), want: j.Package.UploadDigest, in: to, out: make(chan error, 1)}
	go func() {
		_, err := archive.Read(from, archive.Standard, nil)
		io.Copy(io.Discard, from) //nolint:errcheck // what is wrong was found out; the digest is still wanted
		c.out <- err
	}()
	return c
}

func (c *checker) Write(b []byte) (int, error) {
	c.digest.Write(b)
	return c.in.Write(b)
}

// end says whether the bytes are those that were named, and what is wrong with them as
// an archive.
func (c *checker) end() (*archive.Error, error) {
	c.in.Close() //nolint:errcheck // a pipe's never fails
	err := <-c.out
	if "sha256:"+hex.EncodeToString(c.digest.Sum(nil)) != c.want {
		return nil, job.ErrMismatch
	}
	var refused *archive.Error
	if errors.As(err, &refused) {
		return refused, nil
	}
	return nil, err
}

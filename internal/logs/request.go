package logs

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"chainexplorer/internal/jsonrow"
)

// Request is a request that was answered. It is the record that a process writes most of.
type Request struct {
	At                          time.Time
	ID, Method, Path, Operation string
	Status                      int
	Bytes                       int64
	Took                        time.Duration
	Key                         string
	Remote                      netip.Addr
}

// Write has a handler write the request, at the level of information.
func (r *Request) Write(ctx context.Context, h slog.Handler) {
	if own, ok := h.(*requests); ok {
		own.write(r)
		return
	}
	// A record of its own says where it comes from by its message, and needs no look at the stack.
	record := slog.NewRecord(r.At, slog.LevelInfo, message, 0)
	record.AddAttrs(
		slog.String("request_id", r.ID), slog.String("method", r.Method), slog.String("path", r.Path),
		slog.String("operation", r.Operation), slog.Int("status", r.Status), slog.Int64("bytes", r.Bytes),
		slog.Duration("took", r.Took), slog.String("key", r.Key), slog.String("remote", r.Remote.String()))
	h.Handle(ctx, record) //nolint:errcheck // nobody is left to be told
}

const message = "request"

// requests writes requests by itself, to the same place and as the handler would, in a fraction of its
// time. What is derived from it, with attributes or a group, is the handler's alone.
type requests struct {
	slog.Handler
	lines *lines
}

// lines writes one at a time.
type lines struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// buffers are used again for other requests. A line is a few hundred bytes long, as paths are clipped.
var buffers = sync.Pool{New: func() any { return &[]byte{} }}

func (h *requests) write(r *Request) {
	mem := buffers.Get().(*[]byte)
	defer buffers.Put(mem)
	*mem = r.append((*mem)[:0])
	h.lines.Write(*mem) //nolint:errcheck // nobody is left to be told
}

// append appends the line.
func (r *Request) append(b []byte) []byte {
	b = r.At.AppendFormat(append(b, `{"time":"`...), time.RFC3339Nano)
	b = append(b, `","level":"INFO","msg":"`+message+`"`...)
	b = jsonrow.Text(b, `,"request_id":`, r.ID)
	b = jsonrow.Text(b, `,"method":`, r.Method)
	b = jsonrow.Text(b, `,"path":`, r.Path)
	b = jsonrow.Text(b, `,"operation":`, r.Operation)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(r.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), r.Bytes, 10)
	b = append(append(b, `,"took":"`...), roundDuration(r.Took).String()...)
	b = jsonrow.Text(b, `","key":`, r.Key)
	b = append(b, `,"remote":"`...)
	if r.Remote.IsValid() {
		b = r.Remote.AppendTo(b)
	} else {
		b = append(b, r.Remote.String()...)
	}
	return append(b, "\"}\n"...)
}

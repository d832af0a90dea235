package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"chainexplorer/internal/edge"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/kernel"
)

// front serves from the moment the address is taken: who watches over the process
// can tell one that waits for its node or its index from one that hangs.
type front struct {
	server  *http.Server
	handler atomic.Pointer[http.Handler]
	ended   chan error
	leaving atomic.Bool
}

// newFront serves a listener, with answers that say so until there is a handler.
func newFront(l net.Listener, bounds edge.Options, origins []string, log *slog.Logger) *front {
	f := &front{ended: make(chan error, 1)}
	f.open(kernel.Starting(origins, gateway.Refuse))
	wire := kernel.WireOptions{Origins: origins, Logger: log}
	bounds.Name, bounds.Refusal = "api", wire.Refused
	bound := edge.Bound(kernel.NewListener(l, wire), bounds) // bounds how long an answer takes, too
	f.server = &http.Server{
		Handler:           http.HandlerFunc(f.serve),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    48 << 10, // an address of up to 32 KiB, and headers
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),

		DisableGeneralOptionsHandler: true, // the kernel answers OPTIONS * too
	}
	bound.Attach(f.server)
	go func() {
		err := f.server.Serve(bound)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		} else {
			err = fmt.Errorf("serve: %w", err)
		}
		f.ended <- err
	}()
	return f
}

// open lets requests through.
func (f *front) open(h http.Handler) { f.handler.Store(&h) }

// leave makes /readyz fail and lets no connection be used again, while all else is
// answered.
func (f *front) leave() { f.leaving.Store(true) }

func (f *front) serve(w http.ResponseWriter, r *http.Request) {
	h := *f.handler.Load()
	if f.leaving.Load() {
		w.Header().Set("Connection", "close")
		if r.URL.Path == "/readyz" {
			h = kernel.Stopping()
		}
	}
	h.ServeHTTP(w, r)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"chainexplorer/internal/edge"
)

// newRegistry is the registry of a process, with what every process tells.
func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// mostProfile is how long a profile may take, in seconds.
const mostProfile = 30

// bounded refuses profiles that would take long.
func bounded(profile http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s := r.URL.Query().Get("seconds"); s != "" {
			if n, err := strconv.Atoi(s); err != nil || n < 1 || n > mostProfile {
				http.Error(w, fmt.Sprintf("seconds must be 1 to %d", mostProfile), http.StatusBadRequest)
				return
			}
		}
		profile(w, r)
	}
}

// serveMetrics serves the operator's address: /metrics, /healthz, which says that
// the process answers, backups and new ledgers to whoever asks for them by POST, and profiles. See
// operatorGate for who is let in. Pages of other origins in the operator's browser
// are refused.
func serveMetrics(addr string, f *operatorFlags, reg *prometheus.Registry, b *backups, log *slog.Logger) (stop func(), err error) {
	mux := http.NewServeMux()
	gate, err := newOperatorGate(f, addr, b.dir, mux)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte("ok\n")) //nolint:errcheck // whoever asked is gone
	})
	mux.Handle("POST /backup", http.NewCrossOriginProtection().Handler(b))
	mux.Handle("POST "+rematerializePath, http.NewCrossOriginProtection().Handler(rematerialize(b, log)))
	mux.HandleFunc("GET /debug/pprof/", bounded(pprof.Index))
	mux.HandleFunc("GET /debug/pprof/profile", bounded(pprof.Profile))
	// Callers of this machine all have one address, so that there is no share for each.
	bound := edge.Bound(l, edge.Options{Name: "operator", Connections: mostOperatorConnections, PerAddress: mostOperatorConnections, Registerer: reg, Refusal: func(edge.Refusal) []byte {
		return []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n")
	}})
	srv := &http.Server{Handler: gate, ReadHeaderTimeout: 2 * time.Second, ReadTimeout: 5 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	bound.Attach(srv)
	go func() {
		if err := srv.Serve(bound); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics listener failed", "err", err)
		}
	}()
	log.Info("serving metrics", "address", "http://"+l.Addr().String()+"/metrics")
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		srv.Shutdown(ctx) //nolint:errcheck // the process ends anyway
	}, nil
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// healthz says that the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	sendPlain(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz says whether every chain has an index that can be asked.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	status, chains := http.StatusOK, map[string]string{}
	for _, id := range s.order {
		chains[id] = s.chains[id].readiness(ctx)
		if chains[id] != "ready" {
			status = http.StatusServiceUnavailable
		}
	}
	word := "ready"
	if status != http.StatusOK {
		word = "not_ready"
		w.Header().Set("Retry-After", "2")
	}
	sendPlain(w, status, map[string]any{"status": word, "chains": chains})
}

func (c *Chain) readiness(ctx context.Context) string {
	state := "no_blocks"
	err := c.Store.View(ctx, func(r store.Reader) error {
		s, err := chain.Read(ctx, r)
		if err == nil && s.HasHead {
			state = "ready"
		}
		return err
	})
	if layout := new(chain.LayoutError); errors.As(err, &layout) {
		return "other_layout"
	}
	if err != nil {
		return "unavailable"
	}
	return state
}

// Starting answers until a Server can: the process lives, and is not ready. A
// service may have to wait for its node, or for an indexer to begin.
func Starting() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			sendPlain(w, http.StatusOK, map[string]string{"status": "ok"})
		case "/readyz":
			w.Header().Set("Retry-After", "2")
			sendPlain(w, http.StatusServiceUnavailable, map[string]any{"status": "not_ready", "chains": map[string]string{}})
		default:
			id := requestID(r)
			w.Header().Set(headerRequestID, id)
			sendError(w, r, retryLater(5, nil, "The service is starting."), id, nil)
		}
	})
}

func sendPlain(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client went away
}

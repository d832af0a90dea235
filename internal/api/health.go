package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
)

// Healthz says that the process answers.
func (s *Routes) Healthz(w http.ResponseWriter, _ *http.Request) {
	kernel.SendPlain(w, http.StatusOK, map[string]string{"status": "ok"})
}

// Readyz says whether every chain has an index that can be asked. One that may be
// old is still worth asking, and says so in its answers: it makes the service
// degraded, or catching up, not unready, because a node that is away would otherwise take every
// process that serves its chain out of rotation at once.
func (s *Routes) Readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	status, word, chains := http.StatusOK, "ready", map[string]string{}
	for _, id := range s.Order {
		state, usable := s.Chains[id].readiness(ctx)
		switch chains[id] = state; {
		case !usable:
			status, word = http.StatusServiceUnavailable, "not_ready"
		case state == catchingUp && word == "ready":
			word = catchingUp
		case state != "ready" && state != catchingUp && status == http.StatusOK:
			word = "degraded"
		}
	}
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "2")
	}
	out := map[string]any{"status": word, "chains": chains}
	if s.verification != nil { // a surface of its own: without it all else is as good as before
		out["verification"] = "available"
		if err := s.verification(ctx); err != nil {
			out["verification"] = "unavailable: " + err.Error()
		}
	}
	if s.prover != nil { // likewise
		out["prover"] = "available"
		if err := s.prover(); err != nil {
			out["prover"] = "unavailable: " + err.Error()
		}
	}
	kernel.SendPlain(w, status, out)
}

// readiness is a word for a chain's index, and whether it can be asked at all.
func (c *Chain) readiness(ctx context.Context) (word string, usable bool) {
	var state chain.State
	contradicted := false
	err := c.Store.View(ctx, func(r explorer.Reader) (err error) {
		if state, err = chain.Read(ctx, r); err != nil {
			return err
		}
		s, _, err := audit.Read(ctx, r)
		if explorer.Damaged(err) {
			return nil // as in status
		}
		worst, found := s.Worst()
		contradicted = found && worst.Counts()
		return err
	})
	if layout := new(chain.LayoutError); errors.As(err, &layout) {
		return "other_layout", false
	}
	if err != nil {
		return "unavailable", false
	}
	if !state.HasHead {
		return "no_blocks", false
	}
	switch f := c.freshness(&state); {
	case contradicted && (f.current() || f.code == reasonBehind):
		return ReasonAudit, true
	case f.current():
		return "ready", true
	case f.code == reasonBehind:
		return catchingUp, true
	default:
		return f.code, true
	}
}

// catchingUp is said of an index that is on its way to a head that a node told of
// lately.
const catchingUp = "catching_up"

package api

import (
	"context"
	"net/http"
	"strings"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// keptAnswer looks for an answer that somebody else got. The revision is as of
// before a handler's own view, so that an answer can only be kept under one that
// is too old, which nobody asks for any more.
func (s *Server) keptAnswer(c *Chain, r *http.Request) (a *answer, key answerKey, ok bool) {
	now, err := c.revision(r.Context())
	if err != nil {
		return nil, key, false // the handler will fail in its own way
	}
	// The escaped path, because an encoded slash is not a slash.
	key = answerKey{c.ID, now.Lasting(), strings.TrimPrefix(r.URL.EscapedPath(), "/api"), r.URL.RawQuery}
	a = s.kept.get(key)
	if key.at = now; a == nil {
		a = s.fresh.get(key)
	}
	return a, key, true
}

// known is the revision of a chain after so many commits.
type known struct {
	commits  uint64
	revision chain.Revision
}

// revision reads the chain's revision, or remembers it where the store is
// written by this process and can tell that nothing was.
func (c *Chain) revision(ctx context.Context) (now chain.Revision, err error) {
	counter, ok := c.Store.(store.Counter)
	var commits uint64
	if ok {
		commits = counter.Commits() // before the view, which may be newer but not older
		if k := c.known.Load(); k != nil && k.commits == commits {
			return k.revision, nil
		}
	}
	err = c.Store.View(ctx, func(r store.Reader) error {
		now, err = chain.Now(ctx, r)
		return err
	})
	if ok && err == nil {
		c.known.Store(&known{commits, now})
	}
	return now, err
}

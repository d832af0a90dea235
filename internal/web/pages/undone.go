package pages

import (
	"net/http"
	"strings"
	"time"

	"chainexplorer/internal/felt"
)

// forkLately is how long a fork is told of where something is not found.
const forkLately = time.Hour

// undone is what a fork may have to do with something that is not found. The index keeps no
// hashes of what was undone, but for that of the head that the last fork left.
type undone struct {
	From, To uint64 // the blocks that the fork undid
	Block    bool   // a block was asked for, otherwise a transaction
	Sure     bool   // it is the block To
}

// Ancestor is the newest block that stayed.
func (u *undone) Ancestor() uint64 { return u.From - 1 }

// undone is nil where no fork can have to do with it, or none is known of late.
func (p *Pages) undone(r *http.Request, chainID string, missing bool) *undone {
	m := p.moods[chainID]
	parts := strings.Split(r.URL.Path, "/") // "", the chain, block or tx, a hash
	if !missing || m == nil || len(parts) < 4 || parts[2] != "block" && parts[2] != "tx" {
		return nil
	}
	hash, err := felt.Parse(parts[3])
	if err != nil || !strings.HasPrefix(parts[3], "0x") { // a number is there or not, whatever was undone
		return nil
	}
	s, ok := m.forks.last()
	if !ok {
		return nil
	}
	u := &undone{From: s.Ancestor + 1, To: s.Ancestor + s.Depth, Block: parts[2] == "block"}
	u.Sure = u.Block && hash == s.OldHead
	now := m.routes.Now()
	if lately := now.Sub(s.noticed) < forkLately || now.Sub(time.Unix(int64(s.at), 0)) < forkLately; !lately && !u.Sure { //nolint:gosec // a timestamp of a block
		return nil
	}
	return u
}

// last is the newest fork that is known.
func (f *forkLog) last() (seenFork, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 {
		return seenFork{}, false
	}
	return f.seen[len(f.seen)-1], true
}

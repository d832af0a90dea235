package relay

import (
	"context"
	"time"

	"chainexplorer/internal/relay/job"
)

// parcel is what waits for the first poll of a job that has ended.
type parcel struct {
	Result []byte // as the prover wrote it
	Error  []byte // likewise

	workspace string
	expires   time.Time
	free      chan struct{} // while it is being given to somebody: closed when that is over
}

// Parcel is what the prover said of a job, for one poll. Done must be called.
type Parcel struct {
	Result, Error []byte
	done          func(delivered bool)
}

// Done says whether the answer could be written. When not, the next poll gets the parcel.
func (p *Parcel) Done(delivered bool) { p.done(delivered) }

// View is what a poll sees.
type View struct {
	*job.Job
	Position int     // in the queue, of one that is queued
	Parcel   *Parcel // nil when there is none, or no more
	// Elsewhere is another process that may have the parcel; nil when none has.
	Elsewhere *job.Peer
}

func (r *Relay) hold(t *task, p *parcel) {
	p.workspace, p.expires = t.workspace, r.Now().Add(r.ResultTTL)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[t.id] = p
	t.held = true // its place is the parcel's now
}

// release forgets a parcel.
func (r *Relay) release(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.held[id]
	if p == nil {
		return
	}
	delete(r.held, id)
	r.vacateLocked(p.workspace)
}

// vacateLocked gives a place of a workspace back. Needs mu.
func (r *Relay) vacateLocked(workspace string) {
	if r.owners[workspace]--; r.owners[workspace] <= 0 {
		delete(r.owners, workspace)
	}
}

// Poll looks at a job of a workspace. Take says that the caller can be given the parcel: it
// waits for as long as another one is being given it.
func (r *Relay) Poll(ctx context.Context, workspaceID, id string, take bool) (*View, error) {
	j, err := r.Jobs.Get(ctx, workspaceID, id)
	if err != nil {
		return nil, err
	}
	v := &View{Job: j}
	switch {
	case j.State == job.Queued:
		v.Position, err = r.Jobs.Position(ctx, j)
	case !take || !j.State.Terminal():
	case j.Owner == r.process: // whatever others wrote into the row: the memory is here
		v.Parcel, err = r.claim(ctx, j)
		j.Held = v.Parcel != nil
	case j.Held:
		var peer job.Peer
		if peer, err = r.Jobs.Peer(ctx, j.Owner); err != nil {
			return v, err
		}
		if !peer.Known {
			return v, r.Lost(ctx, j)
		}
		v.Elsewhere = &peer
	}
	return v, err
}

// Lost says that what another process held for a job is gone with it.
func (r *Relay) Lost(ctx context.Context, j *job.Job) error {
	j.Held = false
	return r.Jobs.Delivered(ctx, j.ID, j.Owner)
}

// claim takes a parcel; nil when it is gone.
func (r *Relay) claim(ctx context.Context, j *job.Job) (*Parcel, error) {
	for {
		r.mu.Lock()
		p := r.held[j.ID]
		switch {
		case p == nil || !r.Now().Before(p.expires) && p.free == nil:
			r.mu.Unlock()
			r.release(j.ID)
			return nil, nil //nolint:nilnil // there is none
		case p.free == nil:
			free := make(chan struct{})
			p.free = free
			r.mu.Unlock()
			return &Parcel{Result: p.Result, Error: p.Error, done: func(delivered bool) { r.settle(j.ID, p, delivered) }}, nil
		}
		free := p.free
		r.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// settle ends a claim.
func (r *Relay) settle(id string, p *parcel, delivered bool) {
	if delivered {
		r.release(id)
		r.Metrics.delivered.Inc()
	}
	r.mu.Lock()
	free := p.free
	p.free = nil
	r.mu.Unlock()
	close(free)
	if delivered {
		r.undeliverable(id)
	}
}

// undeliverable says in the row that nothing is held. It matters to other processes alone,
// which ask this one in vain until they know.
func (r *Relay) undeliverable(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if err := r.Jobs.Delivered(ctx, id, r.process); err != nil {
		r.Logger.Warn("that a prover result is gone could not be stored", "job", id, "err", err)
	}
}

// expire drops what nobody fetched in time.
func (r *Relay) expire(context.Context) {
	var gone []string
	r.mu.Lock()
	for id, p := range r.held {
		if p.free == nil && !r.Now().Before(p.expires) {
			gone = append(gone, id)
		}
	}
	r.mu.Unlock()
	for _, id := range gone {
		r.release(id)
		r.Metrics.expired.Inc()
		r.undeliverable(id)
	}
}

// forget drops everything.
func (r *Relay) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.held)
	clear(r.owners)
}

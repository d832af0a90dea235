package pebble

import (
	"context"
	"errors"
	"fmt"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// The lease is one record under the table id that no table has:
//
//	key    00 'l' 'e' 'a' 's' 'e'
//	value  version (1) | held (1) | epoch (8) | expires, Unix nanoseconds (8) | owner
//
// It stays after a release, since epochs must never fall.
var leaseKey = []byte("\x00lease")

const (
	leaseVersion = 1
	leaseHeader  = 1 + 1 + 8 + 8
	maxOwner     = 1 << 10
)

// lease is the record in memory. It is read and changed under the writer's
// token alone, and always equals what is on disk, but for Open's release.
type lease struct {
	held    bool
	epoch   uint64
	expires time.Time
	owner   string
}

func (l *lease) encode() []byte {
	b := make([]byte, 0, leaseHeader+len(l.owner))
	b = append(b, leaseVersion, 0)
	if l.held {
		b[1] = 1
	}
	b = store.AppendUint64(b, l.epoch)
	b = store.AppendUint64(b, uint64(l.expires.UnixNano()))
	return append(b, l.owner...)
}

func decodeLease(b []byte) (lease, error) {
	if len(b) < leaseHeader || b[0] != leaseVersion {
		return lease{}, fmt.Errorf("the lease record of %d bytes is not of version %d", len(b), leaseVersion)
	}
	epoch, rest, _ := store.Uint64(b[2:])
	expires, rest, _ := store.Uint64(rest)
	return lease{held: b[1] == 1, epoch: epoch, expires: time.Unix(0, int64(expires)), owner: string(rest)}, nil
}

func (l *lease) granted() store.Lease {
	return store.Lease{Owner: l.owner, Epoch: l.epoch, Expires: l.expires}
}

func (e *Engine) loadLease() (lease, error) {
	value, closer, err := e.db.Get(leaseKey)
	if errors.Is(err, lsm.ErrNotFound) {
		return lease{}, nil
	}
	if err != nil {
		return lease{}, fmt.Errorf("read the lease: %w", err)
	}
	defer func() { _ = closer.Close() }()
	return decodeLease(value)
}

// Acquire takes the lease for ttl.
func (e *Engine) Acquire(ctx context.Context, owner string, ttl time.Duration) (store.Lease, error) {
	if owner == "" || len(owner) > maxOwner {
		return store.Lease{}, fmt.Errorf("%w: the owner of a lease has 1 to %d bytes, got %d", store.ErrInvalid, maxOwner, len(owner))
	}
	return e.changeLease(ctx, ttl, func(l *lease, now time.Time) error {
		if l.held && l.owner != owner && now.Before(l.expires) {
			return store.ErrLeaseHeld
		}
		*l = lease{held: true, epoch: l.epoch + 1, expires: now.Add(ttl), owner: owner}
		return nil
	})
}

// Renew extends the lease l, if it is the current one.
func (e *Engine) Renew(ctx context.Context, l store.Lease, ttl time.Duration) (store.Lease, error) {
	return e.changeLease(ctx, ttl, func(cur *lease, now time.Time) error {
		if !cur.held || cur.epoch != l.Epoch || cur.owner != l.Owner {
			return store.ErrFenced
		}
		cur.expires = now.Add(ttl)
		return nil
	})
}

// Release ends the lease l, if it is the current one.
func (e *Engine) Release(ctx context.Context, l store.Lease) error {
	notCurrent := errors.New("not current")
	_, err := e.changeLease(ctx, 1, func(cur *lease, _ time.Time) error {
		if !cur.held || cur.epoch != l.Epoch || cur.owner != l.Owner {
			return notCurrent
		}
		cur.held = false
		return nil
	})
	if errors.Is(err, notCurrent) {
		return nil
	}
	return err
}

// changeLease makes one durable change of the lease.
func (e *Engine) changeLease(ctx context.Context, ttl time.Duration, change func(*lease, time.Time) error) (store.Lease, error) {
	if err := e.begin(ctx); err != nil {
		return store.Lease{}, err
	}
	defer e.running.Done()
	if e.readOnly {
		return store.Lease{}, ErrReadOnly
	}
	if ttl <= 0 {
		return store.Lease{}, fmt.Errorf("%w: a lease needs a positive time, got %v", store.ErrInvalid, ttl)
	}
	if err := e.takeWriter(ctx); err != nil {
		return store.Lease{}, err
	}
	defer e.giveWriter()
	next := e.lease
	if err := change(&next, e.now()); err != nil {
		return store.Lease{}, err
	}
	batch := e.db.NewBatch()
	if err := batch.Set(leaseKey, next.encode(), nil); err != nil {
		return store.Lease{}, fmt.Errorf("write the lease: %w", err)
	}
	view, err := e.apply(batch)
	if err != nil {
		return store.Lease{}, fmt.Errorf("write the lease of store %s: %w", e.dir, err)
	}
	e.publish(view)
	e.lease = next
	return next.granted(), nil
}

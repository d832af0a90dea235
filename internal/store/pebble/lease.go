package pebble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// A lease is one record under the table id that no table has:
//
//	key    00 'l' 'e' 'a' 's' 'e', and for all but the writer's '/' and the name
//	value  version (1) | held (1) | epoch (8) | expires, Unix nanoseconds (8) | owner
//
// It stays after a release, since epochs must never fall.
const leaseKey = "\x00lease"

func keyOfLease(name string) []byte {
	if name == store.Writer {
		return []byte(leaseKey)
	}
	return []byte(leaseKey + "/" + name)
}

const (
	leaseVersion = 1
	leaseHeader  = 1 + 1 + 8 + 8
)

// lease is the record in memory. What is on disk is for the epoch's sake: the next process
// takes every lease as released. So a renewal changes memory alone, and waits for no commit
// under way, which a slow disk may keep for longer than a lease lasts.
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

func (l *lease) granted(name string) store.Lease {
	return store.Lease{Name: name, Owner: l.owner, Epoch: l.epoch, Expires: l.expires}
}

// loadLeases reads all leases, as released ones.
func (e *engine) loadLeases() (leases map[string]lease, err error) {
	leases = map[string]lease{}
	it, err := e.db.NewIter(&lsm.IterOptions{LowerBound: []byte(leaseKey), UpperBound: store.PrefixEnd([]byte(leaseKey))})
	if err != nil {
		return nil, fmt.Errorf("read the leases: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.First(); it.Valid(); it.Next() {
		rest := string(it.Key()[len(leaseKey):])
		name, named := strings.CutPrefix(rest, "/")
		if named != (rest != "") {
			return nil, fmt.Errorf("%q is not the key of a lease", it.Key())
		}
		l, err := decodeLease(it.Value())
		if err != nil {
			return nil, fmt.Errorf("lease %q: %w", name, err)
		}
		l.held = false
		leases[name] = l
	}
	return leases, it.Error()
}

// Acquire takes the lease of a name for ttl.
func (e *engine) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (store.Lease, error) {
	if err := store.CheckLeaseOwner(owner); err != nil {
		return store.Lease{}, err
	}
	return e.changeLease(ctx, name, ttl, func(l *lease, now time.Time) error {
		if l.held && l.owner != owner && now.Before(l.expires) {
			return store.ErrLeaseHeld
		}
		if l.epoch == 0 && name != store.Writer && e.namedLeases() >= store.MaxLeases {
			return store.TooManyLeases(name)
		}
		*l = lease{held: true, epoch: l.epoch + 1, expires: now.Add(ttl), owner: owner}
		return nil
	})
}

// namedLeases counts the names beside the writer's.
func (e *engine) namedLeases() int {
	n := len(e.leases)
	if _, ok := e.leases[store.Writer]; ok {
		n--
	}
	return n
}

// Renew extends the lease l, if it is the current one.
func (e *engine) Renew(ctx context.Context, l store.Lease, ttl time.Duration) (store.Lease, error) {
	if err := e.beginLease(ctx, l.Name, ttl); err != nil {
		return store.Lease{}, err
	}
	defer e.running.Done()
	if err := e.stop.get(); err != nil {
		return store.Lease{}, err
	}
	e.leasing.Lock()
	defer e.leasing.Unlock()
	cur := e.leases[l.Name]
	if !cur.held || cur.epoch != l.Epoch || cur.owner != l.Owner {
		return store.Lease{}, store.ErrFenced
	}
	cur.expires = e.now().Add(ttl)
	e.leases[l.Name] = cur
	return cur.granted(l.Name), nil
}

// Release ends the lease l, if it is the current one.
func (e *engine) Release(ctx context.Context, l store.Lease) error {
	notCurrent := errors.New("not current")
	_, err := e.changeLease(ctx, l.Name, 1, func(cur *lease, _ time.Time) error {
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

// changeLease makes one durable change of a lease. Whoever had it before is fenced from
// then on, and does not renew it meanwhile.
func (e *engine) changeLease(ctx context.Context, name string, ttl time.Duration, change func(*lease, time.Time) error) (store.Lease, error) {
	if err := e.beginLease(ctx, name, ttl); err != nil {
		return store.Lease{}, err
	}
	defer e.running.Done()
	if err := e.takeWriter(ctx); err != nil {
		return store.Lease{}, err
	}
	defer e.giveWriter()
	next, err := e.replaceLease(name, change)
	if err != nil {
		return store.Lease{}, err
	}
	batch := e.db.NewBatch()
	if err := batch.Set(keyOfLease(name), next.encode(), nil); err != nil {
		return store.Lease{}, fmt.Errorf("write the lease: %w", err)
	}
	view, err := e.write(batch)
	if err != nil {
		return store.Lease{}, fmt.Errorf("write the lease of store %s: %w", e.dir, err)
	}
	e.publish(view)
	return next.granted(name), nil
}

// replaceLease makes the change in memory.
func (e *engine) replaceLease(name string, change func(*lease, time.Time) error) (lease, error) {
	e.leasing.Lock()
	defer e.leasing.Unlock()
	next := e.leases[name]
	if err := change(&next, e.now()); err != nil {
		return lease{}, err
	}
	e.leases[name] = next
	return next, nil
}

// leaseOf is the lease of a name as it is.
func (e *engine) leaseOf(name string) lease {
	e.leasing.Lock()
	defer e.leasing.Unlock()
	return e.leases[name]
}

// beginLease begins a call that changes a lease, unless it asks for what there is not.
func (e *engine) beginLease(ctx context.Context, name string, ttl time.Duration) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	err := store.CheckLeaseName(name)
	switch {
	case e.readOnly:
		err = ErrReadOnly
	case err == nil && ttl <= 0:
		err = fmt.Errorf("%w: a lease needs a positive time, got %v", store.ErrInvalid, ttl)
	}
	if err != nil {
		e.running.Done()
	}
	return err
}

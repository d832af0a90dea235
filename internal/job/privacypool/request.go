package privacypool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/store"
)

// requestLease is held by whoever asks for a new generation, for a moment: the job has
// a lease of its own, and goes on meanwhile.
const requestLease = "admin/privacy-pool"

// ErrAsking says that somebody else is asking at this moment.
var ErrAsking = errors.New("somebody else is asking for the same")

// Rematerialize asks for a new generation of the ledger, which the job makes beside the
// one that is served, whichever process does it. It returns how often that was asked for.
// Asking again while one is being made begins anew.
func Rematerialize(ctx context.Context, e store.Engine, owner string) (asked uint64, err error) {
	lease, err := e.Acquire(ctx, requestLease, owner, 10*time.Second)
	if errors.Is(err, store.ErrLeaseHeld) {
		return 0, ErrAsking
	}
	if err != nil {
		return 0, fmt.Errorf("ask for a new ledger of privacy pools: %w", err)
	}
	defer e.Release(context.WithoutCancel(ctx), lease) //nolint:errcheck // it runs out
	err = e.View(ctx, func(r store.Reader) (err error) {
		asked, err = ledger.ReadRequest(ctx, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	asked++
	b := &store.Batch{}
	b.Put(ledger.RequestKey, ledger.EncodeRequest(asked))
	b.Under(lease)
	if err := e.Commit(ctx, b); err != nil {
		return 0, fmt.Errorf("ask for a new ledger of privacy pools: %w", err)
	}
	return asked, nil
}

// Package authority tells who holds power over a token: who owns it, who may make
// more of it, stop it or replace its code, and when that last changed.
//
// It has no rows. What contracts announce of their owners, roles, pauses and
// upgrades is in the lists of events by emitter and selector; what their code can
// do is in the ABI of their class, and what it was in the history of classes.
// Announcements are rare: a token has a handful, and at most MaxEvents of the
// newest are looked at, so that the cost is one search of a few short lists, one
// scan of the class history and one GetMany, and one page of mints where the rest
// says that there can be none.
//
// Nothing is concluded from silence alone: a contract need not announce what it
// does. ImmutableClass is said only where the code itself rules the opposite out,
// and Fixed where, besides, no function is known by a name that mints, and nothing
// was minted after the block in which the contract got its class.
// NotDetected means just that, and all else is Unknown.
package authority

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// The bounds of a reading.
const (
	MaxEvents  = 500 // announcements, newest first
	MaxChanges = 50  // classes, newest first
)

// The statuses of facts.
const (
	Fixed          = "fixed"
	Mintable       = "mintable"
	MinterDetected = "minter_detected"

	Pausable          = "pausable"
	Freezable         = "freezable"
	BlocklistDetected = "blocklist_detected"
	NotDetected       = "not_detected"

	AdminDetected = "admin_detected"
	Renounced     = "renounced"

	ProxyAdminDetected = "proxy_admin_detected"
	ImmutableClass     = "immutable_class"

	Unknown = "unknown"
)

// Fact is one kind of power: whether it is there, and who has it, if known.
type Fact struct {
	Status string
	Actor  *felt.Felt
}

// Controls is what is known of a token's controls at a block.
type Controls struct {
	Class felt.Felt
	// ABI is what is known of the class; nil when it could not be had yet.
	ABI *class.ABI

	Supply, Transfer, Metadata, Upgrade Fact

	Owner  *felt.Felt // as last announced; zero when given up
	Paused *bool      // as last announced
	Roles  []Role     // held now, newest first

	Announcements []Announcement    // newest first
	Classes       []contract.Change // newest first
	// Complete says that no announcement or class is left out.
	Complete bool
}

// Read tells the controls of a contract at the head of a view, whose number is
// given. It is nil when there is no such contract.
func Read(ctx context.Context, r store.Reader, address felt.Felt, head uint64) (*Controls, error) {
	changes, err := contract.Changes(ctx, r, address, head, MaxChanges)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	c := &Controls{Class: changes[0].Class, Classes: changes, Complete: len(changes) < MaxChanges}
	abis, _, err := class.ABIsOf(ctx, r, []felt.Felt{c.Class})
	if err != nil {
		return nil, fmt.Errorf("class of %s: %w", address, err)
	}
	if a := abis[0]; a != nil && a.Status != class.Absent {
		c.ABI = a
	}
	q := event.Query{Emitters: []felt.Felt{address}, To: head, Limit: MaxEvents}
	for _, k := range kinds {
		q.Keys[0] = append(q.Keys[0], k.selector)
	}
	page, err := event.Search(ctx, r, q)
	if err != nil {
		return nil, fmt.Errorf("controls of %s: %w", address, err)
	}
	c.Complete = c.Complete && page.Done
	for i := range page.Events {
		if a, ok := read(&page.Events[i]); ok {
			c.Announcements = append(c.Announcements, a)
		}
	}
	c.settle()
	if c.Supply.Status == Fixed {
		minted, err := mintedAfter(ctx, r, address, changes[0].Block, head)
		if err != nil {
			return nil, err
		}
		if minted {
			c.Supply = Fact{Status: Unknown}
		}
	}
	return c, nil
}

// mintedAfter says whether a token announced a mint behind a block, or may have: a
// function need not be called mint to make more of a token, such as one that takes a
// deposit for it. Mints of the block itself may be the constructor's.
func mintedAfter(ctx context.Context, r store.Reader, token felt.Felt, block, head uint64) (bool, error) {
	if block >= head {
		return false, nil
	}
	page, err := transfer.ListByPair(ctx, r, felt.Zero, token, transfer.Query{Side: transfer.Out, Exactly: true, From: block + 1, To: head, Limit: 1})
	if err != nil {
		return false, fmt.Errorf("mints of %s: %w", token, err)
	}
	return len(page.Transfers) > 0 || !page.Done, nil
}

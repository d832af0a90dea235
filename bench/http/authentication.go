package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/account"
)

// authenticationLimit is how much of a processor the check of a key may take.
const authenticationLimit = 10 * time.Microsecond

// authentication measures what it costs to find out who asks, with the questions to the
// database that keep a revoked key from being believed for long, and then how long one
// is: after it was revoked here, and by another process on the same database.
func (s *service) authentication(o options) error {
	ctx := context.Background()
	var costs []float64
	for range o.rounds {
		before, begin, n := spent.CPU(), time.Now(), 0
		for ; n%1024 != 0 || time.Since(begin) < o.round; n++ {
			if _, err := s.keys.Authenticate(ctx, s.key); err != nil {
				return err
			}
		}
		costs = append(costs, float64((spent.CPU()-before).Nanoseconds())/float64(n)/1000)
	}
	here, err := s.believed(s.accounts)
	if err != nil {
		return err
	}
	elsewhere, err := s.believed(s.elsewhere)
	if err != nil {
		return err
	}
	fmt.Printf("\n%-40s %14s %14s %14s %14s\n", "authentication", "µs of CPU", "limit, µs", "revoked here", "elsewhere")
	fmt.Printf("%-40s %14.2f %14.0f %14s %14s\n", "a known key", median(costs), float64(authenticationLimit)/float64(time.Microsecond), here.Round(time.Microsecond), elsewhere.Round(time.Millisecond))
	if got := median(costs); got > float64(authenticationLimit)/float64(time.Microsecond) {
		return fmt.Errorf("a key costs %.2f µs of CPU", got)
	}
	return nil
}

// believed makes a key, uses it, revokes it by way of a repository, and tells for how
// long it is let in after that.
func (s *service) believed(by *account.Repository) (time.Duration, error) {
	ctx := context.Background()
	k, err := s.accounts.CreateKey(ctx, account.NewKey{WorkspaceID: s.space.ID})
	if err != nil {
		return 0, err
	}
	if _, err := s.keys.Authenticate(ctx, k.Plaintext); err != nil {
		return 0, err
	}
	if _, _, err := by.RevokeKey(ctx, k.Key.PublicID); err != nil {
		return 0, err
	}
	for begin := time.Now(); ; {
		_, err := s.keys.Authenticate(ctx, k.Plaintext)
		if errors.Is(err, account.ErrUnknown) {
			return time.Since(begin), nil
		} else if err != nil {
			return 0, err
		}
		if time.Since(begin) > time.Second {
			return 0, errors.New("a revoked key is let in for more than a second")
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// drainTime is how long requests may go on after the listener was closed.
const drainTime = 10 * time.Second

// Run serves until ctx ends. Then the indexers stop at a commit, /readyz fails for
// the lame-duck time while requests are still answered, and at last new connections
// are refused and requests under way are finished.
func (s *service) Run(ctx context.Context) error {
	s.con.patience(s.opts.LameDuck + drainTime + closeTime)
	g, gctx := errgroup.WithContext(ctx)
	served, end := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { return <-s.front.ended })
	g.Go(func() error {
		defer end()
		<-gctx.Done()
		if ctx.Err() != nil { // asked to stop, not failed
			s.lameDuck()
		}
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := s.front.server.Shutdown(drain); err != nil {
			s.con.log.Warn("requests were cut off", "err", err)
			s.front.server.Close() //nolint:errcheck // the process ends
		}
		return nil
	})
	g.Go(func() error {
		s.keys.Run(served) // as long as requests are answered
		return nil
	})
	if s.places != nil {
		g.Go(func() error {
			s.places.Run(served)
			return nil
		})
	}
	g.Go(func() error {
		s.usage.Run(served)
		return nil
	})
	if s.proven != nil {
		g.Go(func() error {
			s.proven.Run(served) // as long as requests are answered
			return nil
		})
	}
	if s.relay != nil {
		g.Go(func() error {
			s.relay.Run(gctx, served) // results can be fetched as long as requests are answered
			return nil
		})
	}
	g.Go(func() error {
		s.keepPublishing(gctx, s.receipts, s.signer)
		return nil
	})
	for _, c := range s.chains {
		if c.pool != nil {
			g.Go(func() error { return c.refuseStrangers(gctx) })
		}
		if c.indexer != nil {
			g.Go(func() error { return s.keepWriting(gctx, c) })
		}
	}
	return g.Wait()
}

// lameDuck lets whoever balances load take this process out of its list while it
// still answers. A second signal cuts it short with the process.
func (s *service) lameDuck() {
	s.front.leave()
	if s.opts.LameDuck > 0 {
		s.con.log.Info("stopping: /readyz fails from now on", "lame_duck", s.opts.LameDuck.String())
		time.Sleep(s.opts.LameDuck)
	}
}

// keepWriting writes the index of a chain until ctx ends. A disk that fails or is
// full does not end it, nor the other chains: what is there can be read, and
// writing goes on when that is possible.
func (s *service) keepWriting(ctx context.Context, c *chainParts) error {
	disk, onDisk := c.engine.(*diskStore)
	x := c.indexer
	for wait := leastReopen; ; wait = min(2*wait, mostReopen) {
		if !onDisk || disk.stands() == nil {
			begin := time.Now()
			err := s.write(ctx, c, x)
			if err == nil || ctx.Err() != nil || !onDisk || !errors.Is(err, store.ErrStopped) {
				return err
			}
			disk.stopped(err)
			if time.Since(begin) > mostReopen { // it worked for a while
				wait = leastReopen
			}
		}
		if disk.awaitRoom(ctx, wait) != nil {
			return nil
		}
		if disk.reopen(ctx) != nil {
			continue // it says why, and can be read
		}
		s.con.log.Info("the index can be written again", "chain", c.id)
		var err error
		if x, err = index.New(c.indexer.Options); err != nil {
			return err
		}
	}
}

// write indexes a chain, with the jobs beside it, until ctx ends or the store is
// gone. An index that stands still for another reason can be read, and its jobs go
// on; the status says why there are no more blocks.
func (s *service) write(ctx context.Context, c *chainParts, x *index.Indexer) error {
	worked, stopWorking := c.work(ctx)
	defer stopWorking()
	err := keepIndexing(ctx, x, s.Store.shared(), c.log,
		func(ctx context.Context, x *index.Indexer) error { return s.con.shown(ctx, c.id, x, x.Run) })
	if err == nil || ctx.Err() != nil {
		return nil
	}
	s.con.log.Error("the index stands still", "chain", c.id, "err", err)
	if errors.Is(err, store.ErrStopped) || errors.Is(err, store.ErrClosed) {
		return fmt.Errorf("index of %s: %w", c.id, err)
	}
	<-worked
	return nil
}

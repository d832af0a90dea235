package fsck

import (
	"context"
	"runtime"
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
)

// loaded is a block as it is stored, with what follows from it alone.
type loaded struct {
	block    *explorer.Block
	row      *block.Summary
	replayed *index.Replayed
	own      []tableSum // of its rows
	digest   *chain.Digest
	// What of it failed, if anything did.
	unread, unprojected, undigested error
}

// ahead reads blocks and projects them before their turn comes, on all cores.
type ahead struct {
	queue  chan chan *loaded // in the order of the blocks
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// ahead begins with the first block and ends with the one before end.
func (c *checker) ahead(end uint64) *ahead {
	ctx, cancel := context.WithCancel(c.ctx)
	type job struct {
		number uint64
		slot   chan *loaded
	}
	workers := runtime.GOMAXPROCS(0)
	a := &ahead{queue: make(chan chan *loaded, 2*workers), cancel: cancel}
	jobs := make(chan job)
	a.work.Go(func() {
		defer close(jobs)
		defer close(a.queue)
		for n := range end {
			j := job{n, make(chan *loaded, 1)}
			select {
			case a.queue <- j.slot:
			case <-ctx.Done():
				return
			}
			jobs <- j // which a worker takes in any case, since what waits has a slot
		}
	})
	for range workers {
		adder := c.adder.another()
		a.work.Go(func() {
			for j := range jobs {
				j.slot <- c.load(ctx, j.number, adder)
			}
		})
	}
	return a
}

// stop ends the work: nothing may read when the view has ended.
func (a *ahead) stop() {
	a.cancel()
	a.work.Wait()
}

// load reads a block and does with it what needs no other.
func (c *checker) load(ctx context.Context, number uint64, adder *adder) *loaded {
	l := &loaded{}
	if l.block, l.row, l.unread = index.LoadBlock(ctx, c.r, number); l.unread != nil {
		return l
	}
	if l.replayed, l.unprojected = c.replay.Begin(l.block); l.unprojected != nil {
		return l
	}
	l.own = adder.ofChanges(l.replayed.Own().Changes())
	digest, found, err := chain.DigestAt(ctx, c.r, number)
	if l.undigested = err; found {
		l.digest = &digest
	}
	return l
}

package sim

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// slow is a store whose commits of blocks take as long as the test says.
type slow struct {
	store.Engine
	ends  chan struct{}
	heads []uint64 // of its commits
}

func (s *slow) Commit(ctx context.Context, b *store.Batch) error {
	if row, some := b.Changes().Last(chain.HeadKey); some {
		head, err := chain.DecodeHead(row)
		if err != nil {
			return err
		}
		s.heads = append(s.heads, head.Number)
		<-s.ends
	}
	return s.Engine.Commit(ctx, b)
}

// TestNearTheHead: there a block is committed at once, and those that come while another is
// being committed together as soon as it is. None waits for a block that is not there yet.
func TestNearTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &gated{quiet(5, 30, 5, UnknownVersion), 15, make(chan struct{})}
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		o := options(node)
		disk := &slow{Engine: engine, ends: make(chan struct{})}
		o.Store, o.TailBlocks = disk, 20
		x, ended := newIndexer(t, o), make(chan error, 1)
		go func() { ended <- x.RunTo(t.Context(), 29) }()

		wait := func(then func(), heads ...uint64) {
			t.Helper()
			then()
			if synctest.Wait(); !slices.Equal(disk.heads, heads) {
				t.Errorf("commits end at %d, want %d", disk.heads, heads)
			}
		}
		next := func() { disk.ends <- struct{}{} }
		wait(func() {}, 10)
		wait(next, 10, 14)
		wait(func() { close(node.announced) }, 10, 14)
		wait(next, 10, 14, 29)
		close(disk.ends)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		checkSound(t, engine)
	})
}

package privacypool_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

// work counts what is read.
type work struct {
	store.Reader
	gets, scans, rows, rounds int
}

func (w *work) Get(ctx context.Context, k store.Key) ([]byte, error) {
	w.gets++
	return w.Reader.Get(ctx, k)
}

func (w *work) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	w.rounds++
	w.rows += len(ks)
	return w.Reader.GetMany(ctx, ks)
}

func (w *work) Scan(ctx context.Context, r store.Range) iter.Seq2[store.Row, error] {
	w.scans++
	return func(yield func(store.Row, error) bool) {
		for row, err := range w.Reader.Scan(ctx, r) {
			if w.rows++; !yield(row, err) {
				return
			}
		}
	}
}

// TestCosts: every question costs what the package says, however many events there are.
func TestCosts(t *testing.T) {
	var costs [2]map[string]work
	for i, uses := range []int{1, 8} {
		w := newWorld(t, simnode.Config{Seed: 6, Blocks: 100, PoolUses: uses, BlockTime: 40 * time.Minute})
		w.run(nil, nil)
		l := w.read()
		if i == 1 && l.Events < 2000 {
			t.Fatalf("%d events", l.Events)
		}
		costs[i] = map[string]work{}
		w.view(func(r store.Reader) {
			ask := func(name string, most work, question func(r store.Reader) error) {
				got := work{Reader: r}
				if err := question(&got); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got.Reader = nil
				if costs[i][name] = got; got.gets > most.gets || got.scans > most.scans || got.rounds > most.rounds || got.rows > most.rows {
					t.Errorf("%s: %+v, want at most %+v", name, got, most)
				}
			}
			ctx := t.Context()
			week := ledger.Window{Length: ledger.Day, Limit: 7}
			ask("the ledger", work{gets: 2}, func(r store.Reader) error { _, err := ledger.Read(ctx, r, w.pools); return err })
			ask("assets", work{scans: 1, rows: int(l.TokenCount)}, func(r store.Reader) error { _, _, err := l.Assets(ctx, r); return err })
			ask("hours", work{scans: 1, rounds: 1, rows: 49}, func(r store.Reader) error { _, _, err := l.Hours(ctx, r, 0, 1<<40, 1000); return err })
			ask("days", work{scans: 2, rows: 8}, func(r store.Reader) error { _, err := l.Buckets(ctx, r, week); return err })
			ask("flows", work{scans: 2, rows: 8}, func(r store.Reader) error { _, err := l.Flows(ctx, r, contracts.STRK, week); return err })
			ask("fees", work{scans: 2, rows: 8}, func(r store.Reader) error { _, err := l.Fees(ctx, r, contracts.STRK, week); return err })
			ask("weeks", work{scans: 2, rows: 15}, func(r store.Reader) error {
				_, err := l.Buckets(ctx, r, ledger.Window{Length: ledger.Week, Limit: 2})
				return err
			})
		})
	}
	for name, short := range costs[0] {
		if long := costs[1][name]; name != "assets" && (long.gets != short.gets || long.scans != short.scans || long.rounds != short.rounds) {
			t.Errorf("%s costs %+v with many events and %+v with few", name, long, short)
		}
	}
}

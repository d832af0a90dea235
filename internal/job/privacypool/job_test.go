package privacypool_test

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

// TestEveryPrefix: whatever block the ledger has come to, it is the sum of the public
// movements up to there, token by token and in every row.
func TestEveryPrefix(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 5, Blocks: 130, PoolUses: 2, BlockTime: 23 * time.Minute})
	w.events, w.hours = 3, 2
	prefixes := map[uint64]bool{}
	w.run(nil, func() {
		l := w.read()
		if l == nil || prefixes[l.Through] {
			return
		}
		prefixes[l.Through] = true
		if gap := l.Degraded(); gap != nil {
			t.Fatalf("block %d: %+v", l.Through, *gap)
		}
		w.view(func(r store.Reader) { w.check(r, l) })
	})
	if len(prefixes) < 20 {
		t.Fatalf("%d prefixes were looked at", len(prefixes))
	}
	l := w.read()
	head, _ := w.chain.Head()
	if l.Backfilling || l.Through != head-depth || l.Events < 100 || l.TokenCount < 3 || l.Wallets < 3 || l.FeeTransfers < 50 {
		t.Fatalf("the chain does too little for this test: %+v", *l.Generation)
	}
}

// check holds all that a ledger says against the chain's own books.
func (w *world) check(r store.Reader, l *ledger.Ledger) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	facts := w.chain.PoolFacts(0, l.Through)
	if l.Events != uint64(len(facts)) {
		t.Fatalf("block %d: %d events, want %d", l.Through, l.Events, len(facts))
	}
	wallets := map[[32]byte]bool{}
	positions := map[[2]uint64]bool{}
	var notes, nullifiers uint64
	for _, f := range facts {
		positions[[2]uint64{f.Block, uint64(f.TxIndex)}] = true
		switch f.Kind {
		case simnode.PoolViewingKeySet:
			wallets[f.Party] = true
		case simnode.PoolEncNoteCreated, simnode.PoolOpenNoteCreated:
			notes++
		case simnode.PoolNoteUsed:
			nullifiers++
		}
	}
	if l.Wallets != uint64(len(wallets)) || l.Transactions != uint64(len(positions)) || l.CountOf("note_used") != nullifiers || l.CountOf("enc_note_created")+l.CountOf("open_note_created") != notes {
		t.Fatalf("block %d: %+v", l.Through, *l.Generation)
	}
	fees, paid := new(big.Int), uint64(0)
	for _, f := range w.chain.PoolFees(0, l.Through) {
		if f.Evident {
			fees.Add(fees, f.Amount)
			paid++
		}
	}
	list, err := l.Fees(ctx, r, w.pools[0].FeeToken, ledger.Window{Length: ledger.Day, Limit: ledger.MaxBuckets})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := sum(list); got.Cmp(fees) != 0 || l.FeeTransfers != paid || len(list) > 0 && list[len(list)-1].TotalIn.Cmp(fees) != 0 {
		t.Fatalf("block %d: %d fees, %s together, want %d, %s", l.Through, l.FeeTransfers, got, paid, fees)
	}
	assets, truncated, err := l.Assets(ctx, r)
	if err != nil || truncated {
		t.Fatal(truncated, err)
	}
	w.sameAssets(assets, l.Through, true)
	for i := range assets {
		a := &assets[i]
		if a.Unreconciled != 0 {
			t.Fatalf("block %d: %d movements of %s have no transfer", l.Through, a.Unreconciled, a.Token)
		}
		for _, length := range []ledger.Length{ledger.Hour, ledger.Day, ledger.Week} {
			flows, err := l.Flows(ctx, r, a.Token, ledger.Window{Length: length, Limit: ledger.MaxBuckets})
			if err != nil {
				t.Fatal(err)
			}
			in, out := sum(flows)
			end := &flows[len(flows)-1]
			if in.Cmp(a.Deposited) != 0 || out.Cmp(a.Withdrawn) != 0 || end.Net().Cmp(a.Protected()) != 0 {
				t.Fatalf("block %d: flows of length %d of %s: %s in, %s out, %s left; want %+v", l.Through, length, a.Token, in, out, end.Net(), a)
			}
		}
	}
	for _, length := range []ledger.Length{ledger.Hour, ledger.Day, ledger.Week} {
		buckets, err := l.Buckets(ctx, r, ledger.Window{Length: length, Limit: ledger.MaxBuckets})
		if err != nil {
			t.Fatal(err)
		}
		var events, fresh, transactions uint64
		for i := range buckets {
			b := &buckets[i]
			if events, fresh, transactions = events+b.Events, fresh+b.NewWallets, transactions+b.Transactions; b.Wallets != fresh {
				t.Fatalf("block %d: bucket %d has %d wallets, want %d", l.Through, b.Start, b.Wallets, fresh)
			}
			if i > 0 && b.Start != buckets[i-1].Start+length.Seconds() {
				t.Fatalf("block %d: no bucket between %d and %d", l.Through, buckets[i-1].Start, b.Start)
			}
			if b.Closed != (i < len(buckets)-1) && b.Closed != (l.Time >= b.Start+length.Seconds()) {
				t.Fatalf("block %d: bucket %d is closed: %t", l.Through, b.Start, b.Closed)
			}
		}
		if events != l.Events || fresh != l.Wallets || transactions != l.Transactions {
			t.Fatalf("block %d: buckets of length %d have %d events, %d wallets, %d transactions, want %+v", l.Through, length, events, fresh, transactions, *l.Generation)
		}
	}
	w.checkHours(r, l)
}

// checkHours walks all points and holds each against the chain at its block.
func (w *world) checkHours(r store.Reader, l *ledger.Ledger) {
	t := w.t
	t.Helper()
	if l.First == nil {
		return
	}
	var points []ledger.Point
	for from := uint64(1); from != 0; {
		page, next, err := l.Hours(t.Context(), r, from, 1<<60, 5)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, page...)
		from = next
	}
	for i := range points {
		p := &points[i]
		if i == 0 && p.Hour != ledger.Hour.Start(l.FirstTime) || i > 0 && p.Hour != points[i-1].Hour+3600 || p.Hour%3600 != 0 {
			t.Fatalf("hour %d follows %d", p.Hour, points[max(0, i-1)].Hour)
		}
		b, after := w.chain.BlockAt(p.AsOf), w.chain.BlockAt(p.AsOf+1)
		if b.Hash != p.Hash || b.Timestamp != p.Timestamp || b.Timestamp >= p.Hour+3600 || after.Timestamp < p.Hour+3600 || p.AsOf > l.Through {
			t.Fatalf("hour %d is as of block %d", p.Hour, p.AsOf)
		}
		if !p.Complete() || p.MissingAmounts != 0 || p.PoolCount != 1 || p.MaterializedAt != uint64(w.now.UnixMilli()) {
			t.Fatalf("%+v", p)
		}
		w.sameAssets(p.Assets, p.AsOf, false)
	}
}

// TestSameRows: whatever the size of the steps, kills and forks on the way, the rows are
// those of one undisturbed reading of the chain.
func TestSameRows(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 11, Blocks: 90, PoolUses: 1, BlockTime: 41 * time.Minute})
	clean := func() string {
		fresh := w.fresh(memory(t))
		fresh.run(nil, nil)
		return fresh.dump()
	}
	rng := rand.New(rand.NewPCG(1, 1))
	killed := func() error {
		if rng.IntN(3) == 0 {
			return errKilled
		}
		return nil
	}
	for _, size := range []int{1, 7, 1000} {
		w.events, w.hours, w.rows = size, max(1, size/3), size
		w.run(killed, nil)
		if got, want := w.dump(), clean(); got != want {
			t.Fatalf("steps of %d:\n%s\nwant\n%s", size, got, want)
		}
		before := w.read()
		w.chain.Fork(20 + size%17) // below what was read
		w.chain.Extend(5)
		w.catchUp()
		if l := w.read(); l != nil {
			t.Fatalf("generation %d of a branch that is gone is still served", l.Number)
		}
		w.run(killed, nil)
		if l := w.read(); l == nil || l.Number <= before.Number {
			t.Fatalf("%+v follows generation %d", l, before.Number)
		}
		if got, want := w.dump(), clean(); got != want {
			t.Fatalf("after a fork, steps of %d:\n%s\nwant\n%s", size, got, want)
		}
		w.chain.Extend(9)
		w.catchUp()
		w.run(killed, nil)
		if got, want := w.dump(), clean(); got != want {
			t.Fatalf("extended, steps of %d:\n%s\nwant\n%s", size, got, want)
		}
	}
}

// TestPointsStay: a point is made once, and stays as it was made while the chain goes on.
func TestPointsStay(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 14, Blocks: 40, PoolUses: 1, BlockTime: 25 * time.Minute})
	w.run(nil, nil)
	before := w.points(w.read())
	w.now = w.now.Add(time.Hour)
	w.chain.Extend(12)
	w.catchUp()
	w.run(nil, nil)
	after := w.points(w.read())
	if len(before) < 5 || len(after) < len(before)+3 || !reflect.DeepEqual(after[:len(before)], before) {
		t.Fatalf("%d points became %d, or others", len(before), len(after))
	}
	for _, p := range after[len(before):] {
		if p.MaterializedAt != uint64(w.now.UnixMilli()) {
			t.Errorf("hour %d was made at %d", p.Hour, p.MaterializedAt)
		}
	}
}

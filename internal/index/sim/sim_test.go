package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/storetest"
)

// defaultSeeds is how many histories an ordinary test run goes through.
const defaultSeeds = 40

// some are the cases of a table that are played: under the race detector every third,
// since those between them differ by what the chain holds, not by who does what at once.
func some[T any](cases []T) []T {
	if !raced {
		return cases
	}
	var few []T
	for i := 0; i < len(cases); i += 3 {
		few = append(few, cases[i])
	}
	return few
}

// skipRaced leaves out what the race detector sees in another test: TestForks undoes
// blocks and TestLyingHistories changes branches, with all that the indexer does at once.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
}

// kept are seeds that once failed.
var kept = []uint64{
	370, // a wrong parent of block 0 was not noticed
}

// TestSimulation runs whole histories: a chain that grows, forks and shrinks, a
// node that fails and lags, and a process that is killed or whose disk fails,
// again and again. The index must end like one built in one quiet run.
func TestSimulation(t *testing.T) {
	seeds := append([]uint64(nil), kept...)
	n := defaultSeeds
	if raced {
		n, seeds = 1, nil
	}
	if s := os.Getenv("SIM_SEEDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("SIM_SEEDS: %v", err)
		}
	}
	for i := range n {
		seeds = append(seeds, uint64(i))
	}
	var total tally
	for _, seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, planFor(seed, false), &total) })
		})
		// A store whose disk failed leaves goroutines frozen, which virtual
		// time cannot wait for: such histories run in real time, in a hurry.
		t.Run(strconv.FormatUint(seed, 10)+"-disk", func(t *testing.T) {
			simulate(t, planFor(seed, true), &total)
		})
	}
	t.Logf("%d histories: %+v", 2*len(seeds), total)
	if n >= defaultSeeds && (total.Kills == 0 || total.DiskFailures == 0 || total.Forks == 0 || total.BelowL1 == 0 ||
		total.ClassFaults == 0 || total.Missing == 0 || total.Bulk == 0 || total.Streamed == 0) {
		t.Errorf("the histories were too quiet to prove anything: %+v", total)
	}
}

// tally says what the histories went through.
type tally struct {
	Runs, Kills, DiskFailures, Forks, BelowL1, ClassFaults, Missing int
	Bulk                                                            int // commits that went past the log
	Streamed                                                        int // those with tables of streams
}

// plan is everything that a seed decides.
type plan struct {
	seed    uint64
	rng     *rand.Rand
	options index.Options
	disk    bool // the disk fails; time is real
	blocks  int
	l1Lag   int
	faults  Faults
	changes int
	maxFork int
	keepL1  bool // the chain keeps what L1 accepted, and the indexer has no leave to undo it
	bulk    int  // from how many bytes on a commit goes past the log
}

func planFor(seed uint64, disk bool) *plan {
	rng := rand.New(rand.NewPCG(seed, 7))
	some := func(p float64) float64 {
		if rng.IntN(2) == 0 {
			return 0
		}
		return p * rng.Float64()
	}
	p := &plan{
		seed:   seed,
		rng:    rng,
		disk:   disk,
		blocks: 1 + rng.IntN(90),
		l1Lag:  rng.IntN(30),
		faults: Faults{Error: some(0.2), Latency: some(0.3), Lag: some(0.2), Truncated: some(0.1),
			Mixed: some(0.1), Parent: some(0.1), Change: 0.02 + 0.2*rng.Float64(), Class: some(0.8)},
		changes: 5 + rng.IntN(40),
		maxFork: 1 + rng.IntN(40),
		options: randomOptions(rng),
		bulk:    leastBulk << (seed % 6),
	}
	if p.keepL1 = seed%2 == 1; !p.keepL1 {
		p.options.AllowForkBelowL1 = new(uint64)
	}
	if disk {
		p.faults.Latency = 0
		p.hurry(&p.options)
	}
	return p
}

// hurry shortens every wait.
func (p *plan) hurry(o *index.Options) {
	if p.disk {
		o.RetryMin, o.RetryMax = time.Millisecond, 3*time.Millisecond
		o.PollInterval, o.L1Interval = time.Millisecond, 5*time.Millisecond
		o.ForkPatience = 5 * time.Millisecond
	}
}

// randomOptions are settings that must not change the outcome.
func randomOptions(rng *rand.Rand) index.Options {
	return index.Options{
		Subjects:   Subjects(),
		Unverified: index.UnverifiedStore,
		Window:     1 + rng.IntN(20),
		Workers:    1 + rng.IntN(8),
		BatchBytes: 1 << (8 + rng.IntN(12)),
		TailBlocks: uint64(1 + rng.IntN(20)),
		UndoBlocks: uint64(42 + rng.IntN(30)),
		UndoBytes:  1 << (10 + rng.IntN(10)),
		L1Interval: time.Duration(1+rng.IntN(20)) * time.Second,
		MaxStuck:   1 << 20, // simulated nodes contradict themselves more than real ones
	}
}

func simulate(t *testing.T, p *plan, total *tally) {
	world := NewWorld(NewChain(p.seed, p.blocks, p.l1Lag, UnknownVersion), p.seed, p.faults, p.changes, p.maxFork)
	world.keepL1 = p.keepL1
	p.options.Source = world
	p.options.Announce = func(a index.Announcement) {
		if a.Fork != nil {
			total.Forks++
			if a.Fork.BelowL1 {
				total.BelowL1++
				if p.keepL1 {
					t.Errorf("blocks that L1 had accepted were undone: %+v", a.Fork)
				}
			}
		}
	}
	fs := vfs.NewCrashableMem()
	for life := 0; !world.Done() && life < 200; life++ {
		total.Runs++
		fs = p.live(t, fs, total)
	}
	last := world.Settle()
	total.ClassFaults += world.classFaults
	engine := openStore(t, fs)
	defer closeStore(t, engine)
	total.Missing += countMissing(t, engine)
	runTo(t, engine, p.options, last)
	compareWithQuietRun(t, p, world, engine, last)
}

// live runs the indexer once, until something kills it, and returns the disk
// as the next process finds it.
func (p *plan) live(t *testing.T, fs *vfs.MemFS, total *tally) *vfs.MemFS {
	life := time.Duration(5+p.rng.IntN(120)) * time.Second
	if p.disk {
		life /= 1000
	}
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	// Of what was not synced all is lost or nothing. A part, chosen at random, could
	// keep the marker of a manifest without its file, which no file system does that
	// orders its metadata; logs that were written in part are tested with the engine.
	crash := vfs.CrashCloneCfg{UnsyncedDataPercent: 100 * p.rng.IntN(2), RNG: rand.New(rand.NewPCG(p.rng.Uint64(), 3))}
	var killing sync.Mutex // the disk is used from many goroutines
	var left *vfs.MemFS
	kill := func() {
		killing.Lock()
		defer killing.Unlock()
		if left == nil {
			left = fs.CrashClone(crash)
			cancel()
		}
	}
	at := 1 + p.rng.IntN(12)  // commit at which the process is killed
	op := 1 + p.rng.IntN(300) // operation at which the disk is copied, or fails
	var disk vfs.FS = fs
	after := false
	var opened atomic.Bool
	kind := p.rng.IntN(4)
	if p.disk {
		kind = 4
	}
	switch kind {
	case 0: // a quiet stop when the time is up
		at = -1
	case 1:
		after = true
	case 2: // just before the commit
	case 3, 4: // in the middle of whatever the disk is doing, or the disk fails there
		at = -1
		var ops atomic.Int64
		// Pebble leaves goroutines behind when opening fails: the disk holds until then.
		disk = errorfs.Wrap(fs, errorfs.InjectorFunc(func(o errorfs.Op) error {
			if o.Kind.ReadOrWrite() == errorfs.OpIsRead {
				return nil
			}
			n := int(ops.Add(1))
			if n == op && kind == 3 {
				kill()
			}
			if n >= op && opened.Load() && kind == 4 {
				return errorfs.ErrInjected
			}
			return nil
		}))
	}
	engine := openStoreWith(t, disk, p.bulk)
	opened.Store(true)
	o := p.options
	mortal := &killer{Engine: engine, at: at, after: after, kill: kill, bulk: p.bulk}
	if o.Store = mortal; p.seed%4 != 3 {
		o.Store = streamingKiller{mortal}
	}
	err := newIndexer(t, o).Run(ctx)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
	case kind == 4 && errors.Is(err, store.ErrStopped):
		total.DiskFailures++
	default:
		t.Errorf("the run ended with %v", err)
	}
	total.Bulk += mortal.bulks
	total.Streamed += mortal.streams
	killing.Lock()
	if left == nil {
		left = fs.CrashClone(crash)
	} else {
		total.Kills++
	}
	killing.Unlock()
	engine.Close() //nolint:errcheck // it may have failed on purpose
	return left
}

// killer ends the process around one of its commits.
type killer struct {
	store.Engine
	at    int
	after bool
	kill  func()
	bulk  int // from how many bytes on a commit is one of bulks, and a stream one of streams
	bulks int

	streams int
}

// streamingKiller also lets rows be written down before their commits.
type streamingKiller struct{ *killer }

func (k streamingKiller) Stream() store.Stream { return k.Engine.(store.Streamer).Stream() }

// TakesCuts: as the engine does.
func (k *killer) TakesCuts() {}

func (k *killer) Commit(ctx context.Context, b *store.Batch) error {
	k.at--
	if b.Bytes() >= k.bulk {
		k.bulks++
	}
	if s := b.Stream(); s != nil && s.Bytes() >= k.bulk {
		k.streams++
	}
	if k.at == 0 && !k.after {
		k.kill()
	}
	err := k.Engine.Commit(ctx, b)
	if k.at == 0 && k.after {
		k.kill()
	}
	return err
}

// compareWithQuietRun builds the same chain in one go with other settings.
func compareWithQuietRun(t *testing.T, p *plan, world *World, engine store.Engine, last uint64) {
	quiet := openStore(t, vfs.NewCrashableMem())
	defer closeStore(t, quiet)
	o := randomOptions(p.rng)
	p.hurry(&o)
	o.Source = world
	runTo(t, quiet, o, last)
	want, got := simsource.State(t, quiet), simsource.State(t, engine)
	if got.Head != want.Head {
		t.Errorf("head is %+v, of a quiet run %+v", got.Head, want.Head)
	}
	var tables []*store.Table
	for _, table := range Tables() {
		if table.Name != "meta" && table.Name != "undo" && table != chain.Verifications && !enriched(table) { // they tell how the index came to be
			tables = append(tables, table)
		}
	}
	diffs, err := storetest.Diff(t.Context(), engine, quiet, tables, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diffs {
		t.Errorf("differs from a quiet run: %s", d)
	}
	compareClasses(t, engine, quiet)
	checkSound(t, engine)
}

func checkSound(t *testing.T, engine store.Engine) {
	t.Helper()
	scratch := openStore(t, vfs.NewCrashableMem())
	defer closeStore(t, scratch)
	report, err := fsck.Check(t.Context(), fsck.Options{Store: engine, Scratch: scratch, Subjects: Subjects()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("fsck: %s", p)
	}
}

// leastBulk lets commits of a few blocks go past the log, as those of megabytes do
// in earnest, so that histories have both ways one after the other.
const leastBulk = 2 << 10

func openStore(t *testing.T, fs vfs.FS) pebble.Engine {
	t.Helper()
	if raced { // Pebble keeps a stack of whoever opens a table then, and many small ones take long
		return openStoreWith(t, fs, leastBulk<<5)
	}
	return openStoreWith(t, fs, leastBulk)
}

func openStoreWith(t *testing.T, fs vfs.FS, bulk int) pebble.Engine {
	t.Helper()
	o := pebble.MemOptions(fs, Tables())
	o.BulkBytes = bulk
	e, err := pebble.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func closeStore(t *testing.T, e pebble.Engine) {
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func newIndexer(t *testing.T, o index.Options) *index.Indexer {
	t.Helper()
	x, err := index.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func runTo(t *testing.T, e store.Engine, o index.Options, last uint64) {
	t.Helper()
	o.Store = e
	if err := newIndexer(t, o).RunTo(t.Context(), last); err != nil {
		t.Fatalf("run to block %d: %v", last, err)
	}
	if got := simsource.State(t, e).Head.Number; got != last {
		t.Fatalf("the index ends at block %d, want %d", got, last)
	}
}

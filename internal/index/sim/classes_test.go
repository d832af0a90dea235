package sim

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// enriched says that a table's rows come from calls to the node.
func enriched(t *store.Table) bool { return slices.Contains(catalog.Enrichment(), t) }

func countMissing(t *testing.T, e store.Engine) (n int) {
	t.Helper()
	for _, l := range dump(t, e) {
		if l.Table == class.Missing {
			n++
		}
	}
	return n
}

func classRows(t *testing.T, e store.Engine) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, l := range dump(t, e) {
		if l.Table == class.ABIs {
			out[string(l.Partition)] = l.Value
		}
	}
	return out
}

// compareClasses holds the classes of an index against those of one whose node
// served them all: it knows of each, and what it has of one is the same.
func compareClasses(t *testing.T, engine, quiet store.Engine) {
	t.Helper()
	got := classRows(t, engine)
	if n := countMissing(t, quiet); n > 0 {
		t.Errorf("%d classes are missing after a quiet run", n)
	}
	for hash, want := range classRows(t, quiet) {
		row, there := got[hash]
		if !there {
			t.Errorf("nothing is known of class %x", hash)
			continue
		}
		a, err := class.DecodeABI(row)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != class.Absent && !bytes.Equal(row, want) {
			t.Errorf("class %x is %x, after a quiet run %x", hash, row, want)
		}
	}
}

// classless is a node that has no classes until it gets them, and counts how
// often it is asked.
type classless struct {
	*World
	have  bool
	err   error
	asked map[felt.Felt]int
}

func (c *classless) Class(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
	c.mu.Lock()
	c.asked[hash]++
	have, err := c.have, c.err
	c.mu.Unlock()
	if !have {
		return nil, "", err
	}
	return c.World.Class(ctx, number, hash)
}

func (c *classless) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.asked {
		n += k
	}
	return n
}

// TestMissingClassesAreFoundLater: a node without classes does not hold the
// chain back; when it has them, they are filled in, and nobody asks again.
func TestMissingClassesAreFoundLater(t *testing.T) {
	for _, fault := range []error{errNode, index.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			w := &classless{World: quiet(9, 40, 10, UnknownVersion), err: fault, asked: map[felt.Felt]int{}}
			engine := openStore(t, vfs.NewCrashableMem())
			defer closeStore(t, engine)
			o := options(w)
			o.Store, o.L1Interval = engine, 30*time.Second
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			x := newIndexer(t, o)
			start := time.Now()
			go func() { ended <- x.Run(ctx) }()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if got := simsource.State(t, engine).Head.Number; got != 39 {
				t.Fatalf("the index is at block %d after %s", got, time.Since(start))
			}
			missing := countMissing(t, engine)
			if missing < 10 || missing != len(classRows(t, engine)) {
				t.Fatalf("%d classes are missing of %d", missing, len(classRows(t, engine)))
			}
			checkSound(t, engine)
			// Eight may be asking when the third failure ends it.
			if before := w.total(); errors.Is(fault, errNode) && before > 8+3 {
				t.Errorf("a node without classes was asked %d times for %d", before, missing)
			}
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if got := countMissing(t, engine); got != missing {
				t.Errorf("%d classes are missing, want %d", got, missing)
			}
			w.mu.Lock()
			w.have = true
			clear(w.asked)
			w.mu.Unlock()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if got := countMissing(t, engine); got != 0 {
				t.Errorf("%d classes are still missing", got)
			}
			if got := w.total(); got != missing {
				t.Errorf("asked %d times for %d missing classes", got, missing)
			}
			w.mu.Lock()
			w.chain.Extend(30)
			w.mu.Unlock()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			for hash, n := range w.asked {
				if n != 1 {
					t.Errorf("asked %d times for class %s", n, hash)
				}
			}
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			compareWithQuietRun(t, planFor(1, false), w.World, engine, 69)
		})
	}
}

// forger serves another class under a hash.
type forger struct {
	*World
	forge func(*starknet.Class) *starknet.Class
}

func (f *forger) Class(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
	raw, node, err := f.World.Class(ctx, number, hash)
	if err != nil {
		return nil, "", err
	}
	c, err := starknet.DecodeClass(raw)
	if err != nil {
		return nil, "", err
	}
	return starknet.AppendClass(nil, f.forge(c)), node, nil
}

// TestFalseClasses: a class that is not what its hash says stops the run where
// blocks are verified, and is not stored.
func TestFalseClasses(t *testing.T) {
	otherABI := func(c *starknet.Class) *starknet.Class {
		if c.Sierra != nil {
			c.Sierra.ABI += " "
		}
		return c
	}
	otherKind := func(c *starknet.Class) *starknet.Class {
		if c.Sierra != nil {
			return &starknet.Class{Cairo0: &starknet.Cairo0Class{Program: "H4sI"}}
		}
		return c
	}
	for _, c := range []struct {
		name   string
		forge  func(*starknet.Class) *starknet.Class
		verify index.VerifyMode
		caught bool
	}{
		{"another ABI", otherABI, index.VerifyTail, true},
		{"another kind", otherKind, index.VerifyTail, true},
		{"another ABI, not looked at", otherABI, index.VerifyOff, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := quiet(3, 40, 1000, UnknownVersion)
				engine := openStore(t, vfs.NewCrashableMem())
				defer closeStore(t, engine)
				o := options(&forger{w, c.forge})
				o.Store, o.Verify = engine, c.verify
				err := newIndexer(t, o).RunTo(t.Context(), 39)
				var verify *index.VerifyError
				if caught := errors.As(err, &verify); caught != c.caught || !caught && err != nil {
					t.Fatalf("got %v, want caught %v", err, c.caught)
				}
				if !c.caught {
					return
				}
				if verify.Node != "sim" || !simsource.State(t, engine).HasFault {
					t.Errorf("blames node %q", verify.Node)
				}
				o.Source = w
				runTo(t, engine, o, 39)
				compareWithQuietRun(t, planFor(1, false), w, engine, 39)
			})
		})
	}
}

// TestMissedClassesObeyVerify: a class that is fetched after its block is held
// against its hash where blocks are, and nowhere else.
func TestMissedClassesObeyVerify(t *testing.T) {
	for mode, believed := range map[index.VerifyMode]bool{index.VerifyOff: true, index.VerifyTail: false, index.VerifyAll: false} {
		synctest.Test(t, func(t *testing.T) {
			w := quiet(9, 40, 10, UnknownVersion)
			engine := openStore(t, vfs.NewCrashableMem())
			defer closeStore(t, engine)
			o := options(&classless{World: w, err: index.ErrNotFound, asked: map[felt.Felt]int{}})
			o.Verify = mode
			runTo(t, engine, o, 39)
			missing := countMissing(t, engine)
			o.Source = &forger{w, func(c *starknet.Class) *starknet.Class {
				if c.Sierra != nil {
					c.Sierra.ABI += " "
				}
				return c
			}}
			runFor(t, engine, o, 5*time.Minute)
			left := countMissing(t, engine)
			if believed && left != 0 || !believed && (left == 0 || left >= missing) {
				t.Errorf("verify %s: of %d missing classes %d still are when a node serves forged ones", mode, missing, left)
			}
		})
	}
}

// TestOtherCairo0Classes: a Cairo 0 class that does not have its hash is noted,
// nothing of it is used, and it is filled in when a node serves it as it was
// declared.
func TestOtherCairo0Classes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forged := &forger{quiet(9, 40, 10, UnknownVersion), func(c *starknet.Class) *starknet.Class {
			if c.Cairo0 != nil {
				c.Cairo0.ABI = []byte(`[{"type":"event","name":"Planted","keys":[],"data":[]}]`)
			}
			return c
		}}
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		o := options(forged)
		o.Verify = index.VerifyAll
		runTo(t, engine, o, 39)
		unverified := 0
		for hash, row := range classRows(t, engine) {
			a, err := class.DecodeABI(row)
			if err != nil {
				t.Fatal(err)
			}
			if a.Status == class.Unverified {
				unverified++
				if a.Schema != nil || a.Kind != class.KindUnknown {
					t.Errorf("class %x is believed: %+v", hash, a)
				}
			}
		}
		if unverified == 0 || countMissing(t, engine) != unverified {
			t.Fatalf("%d classes are unverified, %d missing", unverified, countMissing(t, engine))
		}
		checkSound(t, engine)
		for _, source := range []struct {
			index.Source
			left int
		}{{forged, unverified}, {forged.World, 0}} {
			o := options(source.Source)
			o.Store, o.Verify, o.L1Interval = engine, index.VerifyAll, 30*time.Second
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			x := newIndexer(t, o)
			go func() { ended <- x.Run(ctx) }()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if got := countMissing(t, engine); got != source.left {
				t.Errorf("%d classes are missing, want %d", got, source.left)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		compareWithQuietRun(t, planFor(1, false), forged.World, engine, 39)
	})
}

// TestNoClasses: with fetching off the node is not asked, and the chain's own
// rows are the same.
func TestNoClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &classless{World: quiet(9, 40, 10, UnknownVersion), asked: map[felt.Felt]int{}}
		engine, other := openStore(t, vfs.NewCrashableMem()), openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		defer closeStore(t, other)
		o := options(w)
		o.NoClasses = true
		runTo(t, engine, o, 39)
		runTo(t, other, options(w.World), 39)
		if w.total() != 0 || len(classRows(t, engine)) != 0 {
			t.Errorf("asked %d times, %d rows", w.total(), len(classRows(t, engine)))
		}
		if simsource.State(t, engine).Head != simsource.State(t, other).Head {
			t.Error("classes changed the digest")
		}
		checkSound(t, engine)
	})
}

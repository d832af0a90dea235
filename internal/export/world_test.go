package export_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/export"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// world is a simulated chain and its index.
type world struct {
	*simnode.Chain
	store.Engine
	t testing.TB
}

func newWorld(t testing.TB, c *simnode.Chain) *world {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	w := &world{c, e, t}
	w.index()
	return w
}

// index follows the chain to its head.
func (w *world) index() uint64 {
	w.t.Helper()
	return w.indexFrom(simsource.Source{Chain: w.Chain})
}

// indexFrom follows what a source tells of the chain.
func (w *world) indexFrom(source index.Source) uint64 {
	w.t.Helper()
	x, err := index.New(index.Options{Store: w.Engine, Source: source, Verify: index.VerifyOff})
	if err != nil {
		w.t.Fatal(err)
	}
	head, _ := w.Head()
	if err := x.RunTo(context.WithoutCancel(w.t.Context()), head); err != nil {
		w.t.Fatal(err)
	}
	return head
}

const (
	blocksPerFile = 16
	depth         = 10
)

func (w *world) options(dir string) export.Options {
	return export.Options{Index: w.Engine, Dir: dir, BlocksPerFile: blocksPerFile, Depth: depth, Parallel: 2, Program: "test"}
}

// export runs an export that must succeed.
func (w *world) export(o export.Options) *export.Report {
	w.t.Helper()
	r, err := export.Run(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// fresh is the folder of an export in one go.
func (w *world) fresh(change func(*export.Options)) string {
	w.t.Helper()
	o := w.options(filepath.Join(w.t.TempDir(), "fresh"))
	if change != nil {
		change(&o)
	}
	w.export(o)
	return o.Dir
}

// same holds the files of two folders against each other.
func same(t testing.TB, got, want string) {
	t.Helper()
	a, b := filesIn(t, got), filesIn(t, want)
	for name := range b {
		if _, there := a[name]; !there {
			t.Errorf("%s is missing", name)
		}
	}
	for name, text := range a {
		if other, there := b[name]; !there {
			t.Errorf("%s should not be there", name)
		} else if !bytes.Equal(text, other) {
			t.Errorf("%s has other bytes than in an export in one go", name)
		}
	}
}

func filesIn(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no files", dir)
	}
	return out
}

// rows reads a family, in the order of its files.
func rows[T any](t testing.TB, dir, family string) (out []T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, family, "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", family, err)
	}
	for _, name := range files {
		list, err := parquet.ReadFile[T](name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, list...)
	}
	return out
}

package export_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/internal/export"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// TestRefuses changes nothing where it cannot go on, and says why.
func TestRefuses(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 65, Blocks: 30}))
	other := newWorld(t, simnode.New(simnode.Config{Seed: 65, Blocks: 30, ChainID: felt.MustShortString("SN_MAIN")}))
	empty := newWorld(t, simnode.New(simnode.Config{Seed: 65, Blocks: 5}))
	dir := w.fresh(func(o *export.Options) { o.Families = []string{"blocks", "events"} })
	before := filesIn(t, dir)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	high := uint64(25)
	for _, c := range []struct {
		name, want string
		w          *world
		change     func(*export.Options)
	}{
		{"another chain", "holds an export of SN_SEPOLIA, and the index is of SN_MAIN", other, nil},
		{"other ranges", "has 16 blocks per file, which cannot change", w, func(o *export.Options) { o.BlocksPerFile = 32 }},
		{"a family", `there is no family "gas"`, w, func(o *export.Options) { o.Families = []string{"blocks", "gas"} }},
		{"no family", `there is no family ""`, w, func(o *export.Options) { o.Families = []string{""} }},
		{"a beginning of its own ranges", "3 is none of 16", w, func(o *export.Options) { o.First, o.BlocksPerFile = 3, 0 }},
		{"too long", "1 to", w, func(o *export.Options) { o.BlocksPerFile = 10_000_001 }},
		{"a beginning", "must be a multiple", w, func(o *export.Options) { o.First = 3 }},
		{"behind the end", "comes after the last", w, func(o *export.Options) { o.First = 32 }},
		{"no workers", "written at once", w, func(o *export.Options) { o.Parallel = 0 }},
		{"not final", "block 25 is not finalized", w, func(o *export.Options) { o.Last = &high }},
		{"nothing final", "no block is finalized yet", empty, func(o *export.Options) { o.Dir = filepath.Join(full, "x") }},
		{"not empty", "is not empty and holds no export", w, func(o *export.Options) { o.Dir = full }},
		{"a file", "notes.txt", w, func(o *export.Options) { o.Dir = filepath.Join(full, "notes.txt") }},
	} {
		o := c.w.options(dir)
		o.Families = []string{"blocks"}
		if c.change != nil {
			c.change(&o)
		}
		if _, err := export.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if !reflect.DeepEqual(before, filesIn(t, dir)) {
		t.Error("files were changed")
	}
	if _, err := os.Stat(filepath.Join(full, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made for nothing: %v", err)
	}
}

// TestDamage writes again what is missing or cut short, and refuses to guess what an
// export.json that it cannot read was.
func TestDamage(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 66, Blocks: 50}))
	dir := w.fresh(nil)
	want := w.fresh(nil)
	if err := os.Remove(filepath.Join(dir, "blocks", "blocks-0000000000-0000000015.parquet")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "events", "blocks-0000000016-0000000031.parquet"), 1000); err != nil {
		t.Fatal(err)
	}
	if r := w.export(w.options(dir)); r.Undone != 2 || r.Written != 3 {
		t.Errorf("%d undone, %d written", r.Undone, r.Written)
	}
	same(t, dir, want)

	for _, text := range []string{"{", `{"format":3,"blocksPerFile":16,"files":[{"family":"events","path":"../../etc/passwd","firstBlock":0}]}`} {
		if err := os.WriteFile(filepath.Join(dir, "export.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := export.Run(t.Context(), w.options(dir)); err == nil || !strings.Contains(err.Error(), "export.json is damaged") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestOneAtATime lets nobody else write to a folder meanwhile.
func TestOneAtATime(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 67, Blocks: 30}))
	o := w.options(filepath.Join(t.TempDir(), "out"))
	var second error
	tried := false
	o.Parallel = 1
	o.Progress = func(export.Progress) {
		if !tried {
			tried = true
			_, second = export.Run(t.Context(), w.options(o.Dir))
		}
	}
	w.export(o)
	if second == nil || !strings.Contains(second.Error(), "another process writes to") {
		t.Errorf("the second export: %v", second)
	}
}

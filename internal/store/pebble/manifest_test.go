package pebble_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store/pebble"
)

// TestDamagedManifest: whichever byte of the manifest is changed, or wherever it is cut, the store is as it was, or does
// not open, also for who only reads: it never opens without some of its tables, whose rows would be missing in the midst
// of the others and whose files would be removed. What a crash leaves opens.
func TestDamagedManifest(t *testing.T) {
	const commits = 121
	w := ways[0]
	disk := vfs.NewCrashableMem()
	e := openLog(t, logOptionsBy(disk, w))
	l := lease(t, e, "writer")
	for n := uint64(1); n <= commits; n++ {
		if n == commits {
			if err := e.Compact(t.Context()); err != nil { // what it writes to the manifest is noted by the next commit
				t.Fatal(err)
			}
		}
		if err := w.append(t.Context(), e, l.Epoch, n); err != nil {
			t.Fatal(err)
		}
	}
	disk = disk.CrashClone(vfs.CrashCloneCfg{})
	if n, err := checkLog(t.Context(), openLog(t, logOptionsBy(disk.CrashClone(vfs.CrashCloneCfg{}), w))); n != commits || err != nil {
		t.Errorf("after a crash: %d, %v", n, err)
	}
	name, whole := manifest(t, disk)
	refused := 0
	try := func(what string, text []byte) {
		t.Helper()
		damaged := disk.CrashClone(vfs.CrashCloneCfg{})
		f, err := damaged.Create("/store/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			t.Fatal(err)
		}
		f.Close() //nolint:errcheck // in memory
		for _, readOnly := range []bool{true, false} {
			o := logOptionsBy(damaged, w)
			o.ReadOnly = readOnly
			again, err := pebble.Open(o)
			if err != nil {
				if refused++; !pebble.Damaged(err) {
					t.Errorf("%s: %v", what, err)
				}
				continue
			}
			if n, err := checkLog(t.Context(), again); n != commits || err != nil {
				t.Errorf("%s: the store opens with %d: %v", what, n, err)
			}
			again.Close() //nolint:errcheck // in memory
		}
	}
	for i := range whole {
		text := slices.Clone(whole)
		text[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("byte %d of %d changed", i, len(whole)), text)
		try(fmt.Sprintf("cut at %d of %d", i, len(whole)), whole[:i])
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// manifest is the newest one.
func manifest(t *testing.T, disk vfs.FS) (name string, text []byte) {
	t.Helper()
	names, err := disk.List("/store")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(n, "MANIFEST-") && n > name {
			name = n
		}
	}
	f, err := disk.Open("/store/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // in memory
	if text, err = io.ReadAll(f); err != nil {
		t.Fatal(err)
	}
	return name, text
}

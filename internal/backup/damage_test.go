package backup_test

import (
	"encoding/binary"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/backup"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// fill puts rows that cannot be compressed into a table of a store, in files of their own.
func fill(t *testing.T, e store.Engine) {
	t.Helper()
	tables := catalog.Tables()
	var table *store.Table
	for _, c := range tables {
		if !c.Series && !c.Ascending && c.SortLen == 0 {
			table = c
		}
	}
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Under(lease)
	random := rand.NewChaCha8([32]byte{1})
	for i := range uint64(64) {
		value := make([]byte, 4<<10)
		random.Read(value) //nolint:errcheck // never fails
		b.Put(store.Key{Table: table, Partition: make([]byte, table.PartitionLen), Sort: binary.BigEndian.AppendUint64(nil, i)}, value)
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := e.(pebble.Engine).Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestDamage: a backup with a changed byte anywhere, a file too many or too few is not
// restored, and leaves nothing behind.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	folder, target := filepath.Join(dir, "backup"), filepath.Join(dir, "data")
	s := source(t)
	fill(t, s.Stores["SN_MAIN"])
	if _, err := backup.Take(t.Context(), s, folder); err != nil {
		t.Fatal(err)
	}
	refused := func(what string) {
		t.Helper()
		if _, err := backup.Restore(t.Context(), folder, target, quiet, nil); err == nil {
			t.Errorf("restored with %s", what)
			if err := os.RemoveAll(target); err != nil {
				t.Fatal(err)
			}
		} else if got := names(t, target); got != "" {
			t.Errorf("a failed restore left %s", got)
		}
	}
	var files []string
	if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "backup.json" {
			files = append(files, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, path := range files {
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(path, folder)
		reach := len(sound)
		if strings.HasSuffix(path, ".sst") { // what stands behind the rows tells of them
			reach = reach * 9 / 10
			rows++
		}
		write := func(text []byte) {
			if err := os.Remove(path); err != nil { // it may be linked
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 6 {
			if reach == 0 {
				break
			}
			changed := append([]byte{}, sound...)
			changed[i*(reach-1)/5] ^= 4
			write(changed)
			refused("another byte in " + name)
		}
		write(append(append([]byte{}, sound...), 0))
		refused("one more byte in " + name)
		if err := os.Rename(path, filepath.Join(dir, "away")); err != nil {
			t.Fatal(err)
		}
		refused("no " + name)
		if err := os.Rename(filepath.Join(dir, "away"), path); err != nil {
			t.Fatal(err)
		}
		write(sound)
	}
	if rows == 0 {
		t.Error("there is no file of rows")
	}
	extra := filepath.Join(folder, "SN_MAIN", "MANIFEST-999999")
	if err := os.WriteFile(extra, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("one more file")
	if err := os.Remove(extra); err != nil {
		t.Fatal(err)
	}

	for range 2 { // the second one is from before files were listed
		if _, err := backup.Restore(t.Context(), folder, target, quiet, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(target); err != nil {
			t.Fatal(err)
		}
		unlist(t, folder)
	}
}

// unlist makes a backup one from before files were listed.
func unlist(t *testing.T, folder string) {
	t.Helper()
	manifest := filepath.Join(folder, "backup.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "files")
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

package signer_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/verification/signer"
)

// TestTornJournal cuts the journal at many bytes: what was acknowledged before the last line
// stays, and the line that was cut is signed anew.
func TestTornJournal(t *testing.T) {
	b := newBench(t)
	s := b.open()
	var whole []byte
	var ends []int
	signatures := map[uint64]string{}
	for id := uint64(1); id <= 3; id++ {
		r, err := s.Sign(t.Context(), b.evidence(id))
		if err != nil {
			t.Fatal(err)
		}
		signatures[id] = r.Signature
		if whole, err = os.ReadFile(b.journal()); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, len(whole))
	}
	s.Close()       //nolint:errcheck // opened again
	const step = 17 // each try waits for the disk
	for cut := ends[0]; cut < len(whole); cut += step {
		for _, tail := range []string{"", "\x00\x00\n"} {
			if err := os.WriteFile(b.journal(), append(bytes.Clone(whole[:cut]), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := signer.Open(signer.Options{Keys: b.keys, Now: b.now})
			if err != nil {
				t.Fatalf("cut at %d with %q behind: %v", cut, tail, err)
			}
			changed := b.evidence(1)
			changed.ClassHash = "0x777"
			if _, err := s.Sign(t.Context(), changed); code(err) != signer.Reused {
				t.Fatalf("cut at %d: receipt 1 was forgotten (%v)", cut, err)
			}
			if r, err := s.Sign(t.Context(), b.evidence(3)); err != nil || r.Signature != signatures[3] {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			s.Close() //nolint:errcheck // opened again
		}
	}
}

func TestDamagedJournal(t *testing.T) {
	b := newBench(t)
	s := b.open()
	for id := uint64(1); id <= 3; id++ {
		if _, err := s.Sign(t.Context(), b.evidence(id)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close() //nolint:errcheck // opened again
	whole, err := os.ReadFile(b.journal())
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for name, data := range map[string][]byte{
		"a bit":         append([]byte{whole[0] ^ 1}, whole[1:]...),
		"a line twice":  append(bytes.Clone(whole[:first]), whole...),
		"a long line":   append(bytes.Repeat([]byte("x"), 10000), whole...),
		"an empty line": append([]byte("\n"), whole...),
	} {
		if err := os.WriteFile(b.journal(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := signer.Open(signer.Options{Keys: b.keys}); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(b.journal()); err != nil || !bytes.Equal(after, data) {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
}

// tree is a log in memory.
type tree struct{ hashes []tlog.Hash }

func (m *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, m.hashes[i])
	}
	return out, nil
}

func grown(t *testing.T, leaves ...string) *tree {
	t.Helper()
	m := &tree{}
	for i, leaf := range leaves {
		more, err := tlog.StoredHashes(int64(i), []byte(leaf), m)
		if err != nil {
			t.Fatal(err)
		}
		m.hashes = append(m.hashes, more...)
	}
	return m
}

func (m *tree) growth(t *testing.T, old, size int64) signer.Growth {
	t.Helper()
	root, err := tlog.TreeHash(size, m)
	if err != nil {
		t.Fatal(err)
	}
	g := signer.Growth{Size: size, Root: root, OldSize: old}
	if old > 0 {
		if g.Proof, err = tlog.ProveTree(size, old, m); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestCheckpointsOnlyGrow(t *testing.T) {
	b := newBench(t)
	s := b.open()
	log, fork := grown(t, "a", "b", "c", "d", "e", "f"), grown(t, "a", "x", "c", "d", "e", "f")
	try := func(g signer.Growth, want signer.Code) {
		t.Helper()
		if _, err := s.SignCheckpoint(t.Context(), g); code(err) != want {
			t.Errorf("%d after %d: %v, want %q", g.Size, g.OldSize, err, want)
		}
	}
	try(signer.Growth{}, signer.Malformed)
	try(log.growth(t, 0, 3), "")
	try(log.growth(t, 0, 3), "") // once more
	try(fork.growth(t, 0, 3), signer.LogForked)
	try(log.growth(t, 0, 2), signer.LogShrunk)
	try(log.growth(t, 2, 5), signer.LogBase)
	try(fork.growth(t, 3, 5), signer.LogForked)
	wrong := log.growth(t, 3, 5)
	wrong.Proof[0][0] ^= 1
	try(wrong, signer.LogForked)
	try(log.growth(t, 3, 5), "")
	// What was signed is known after a restart.
	s.Close() //nolint:errcheck // opened again
	s = b.open()
	try(log.growth(t, 0, 3), signer.LogShrunk)
	try(fork.growth(t, 5, 6), signer.LogForked)
	try(log.growth(t, 5, 6), "")
}

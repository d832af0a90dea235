package translog_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/translog"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestOnFile(t *testing.T) {
	runBoth(t, func(t *testing.T) string { t.Helper(); return controltest.File(t) })
}

func TestOnPostgres(t *testing.T) {
	runBoth(t, func(t *testing.T) string { t.Helper(); return controltest.Server(t) })
}

func runBoth(t *testing.T, at func(*testing.T) string) {
	for name, test := range map[string]func(*testing.T, *bench){
		"EveryPrefix": testEveryPrefix, "Tiles": testTiles, "Forks": testForks, "AppendOnly": testAppendOnly, "Rollback": testRollback, "LostCheckpoint": testLostCheckpoint,
	} {
		t.Run(name, func(t *testing.T) { test(t, newBench(t, at(t))) })
	}
}

type bench struct {
	db     *control.DB
	log    *translog.Log
	key    note.Verifier
	signer *signer.Signer
}

func newBench(t *testing.T, path string) *bench {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	b := &bench{db: db}
	b.signer, b.key = newSigner(t)
	b.log = translog.New(db, b.key)
	return b
}

func newSigner(t *testing.T) (*signer.Signer, note.Verifier) {
	t.Helper()
	ring := &keyring.Ring{Dir: filepath.Join(t.TempDir(), "keys")}
	m, err := ring.Create(keyring.New{}, "log.example/receipts")
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := keyring.ReadLogPublic(m.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	s, err := signer.Open(signer.Options{Keys: []string{m.Path}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // a test's
	return s, key
}

func newReceipt(t *testing.T, id int) (*receipt.Receipt, []byte) {
	t.Helper()
	r, err := receipt.Sign(receipt.Evidence{
		JobID: "vrf_" + strings.Repeat("a", 24), ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: uint64(id), Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-05-01T12:00:00Z",
	}, "test", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, text
}

// add admits receipts first to last, in one transaction.
func (b *bench) add(t *testing.T, first, last int) {
	t.Helper()
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		for id := first; id <= last; id++ {
			_, text := newReceipt(t, id)
			place, err := translog.Append(t.Context(), tx, text)
			if err != nil {
				return err
			}
			if place != int64(id-1) {
				return fmt.Errorf("receipt %d has place %d", id, place)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) publish(t *testing.T, want int64) {
	t.Helper()
	if size, err := b.log.Publish(t.Context(), b.signer); err != nil || size != want {
		t.Fatalf("published %d leaves, want %d (%v)", size, want, err)
	}
}

func (b *bench) prove(t *testing.T, id int) error {
	t.Helper()
	r, _ := newReceipt(t, id)
	entry, err := logproof.Entry(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.log.Prove(t.Context(), entry)
	if err != nil {
		return err
	}
	read, err := logproof.Parse(p.Text())
	if err != nil {
		return err
	}
	_, err = read.Verify(r, b.key)
	return err
}

// testEveryPrefix publishes after every receipt: all of the past stay provable, and what is
// not published yet is not.
func testEveryPrefix(t *testing.T, b *bench) {
	if size, err := b.log.Publish(t.Context(), b.signer); err != nil || size != 0 {
		t.Errorf("an empty log: %d (%v)", size, err)
	}
	if _, _, err := b.log.Checkpoint(t.Context()); !errors.Is(err, translog.ErrNotPublished) {
		t.Errorf("the checkpoint of an empty log: %v", err)
	}
	for size := 1; size <= 12; size++ {
		b.add(t, size, size)
		if err := b.prove(t, size); !errors.Is(err, translog.ErrNotPublished) {
			t.Errorf("receipt %d before it is published: %v", size, err)
		}
		b.publish(t, int64(size))
		b.publish(t, int64(size)) // once more
		for id := 1; id <= size; id++ {
			if err := b.prove(t, id); err != nil {
				t.Errorf("receipt %d of %d: %v", id, size, err)
			}
		}
	}
	if err := b.prove(t, 13); !errors.Is(err, translog.ErrUnknown) {
		t.Errorf("a receipt that is not there: %v", err)
	}
}

// testTiles rebuilds the tree from tiles alone, as a monitor does, and sees when one is changed.
func testTiles(t *testing.T, b *bench) {
	const leaves = 300
	b.add(t, 1, leaves)
	b.publish(t, leaves)
	b.add(t, leaves+1, leaves+1) // not published
	_, signed, err := b.log.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := logproof.OpenCheckpoint(signed, b.key)
	if err != nil {
		t.Fatal(err)
	}
	fetch := &tiles{t: t, log: b.log}
	trusted := tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: c.Root}, fetch)
	for id := 1; id <= leaves; id += 37 {
		r, _ := newReceipt(t, id)
		entry, err := logproof.Entry(r)
		if err != nil {
			t.Fatal(err)
		}
		hashes, err := trusted.ReadHashes([]int64{tlog.StoredHashIndex(0, int64(id-1))})
		if err != nil || hashes[0] != tlog.RecordHash(entry) {
			t.Errorf("leaf %d by its tile: %v", id-1, err)
		}
		data, err := b.log.Tile(t.Context(), tlog.Tile{H: 8, L: -1, N: int64(id-1) / 256, W: min(256, leaves-(id-1)/256*256)})
		if err != nil || !bytes.Equal(data[(id-1)%256*34:][:34], append([]byte{0, 32}, entry...)) {
			t.Errorf("entry %d: %v", id-1, err)
		}
	}
	fetch.tamper = true
	if _, err := tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: c.Root}, fetch).ReadHashes([]int64{tlog.StoredHashIndex(0, 3)}); err == nil {
		t.Error("a tile that was changed is believed")
	}
	for _, tile := range []tlog.Tile{
		{H: 8, L: 0, N: 1, W: 45}, {H: 8, L: 0, N: 2, W: 1}, {H: 8, L: 1, N: 0, W: 2}, {H: 8, L: 0, N: -1, W: 1}, {H: 8, L: 0, N: 0, W: 0}, {H: 8, L: 0, N: 0, W: 257},
		{H: 4, L: 0, N: 0, W: 1}, {H: 8, L: 9, N: 0, W: 1}, {H: 8, L: 0, N: 1 << 60, W: 1}, {H: 8, L: -1, N: 1, W: 45},
	} {
		if _, err := b.log.Tile(t.Context(), tile); !errors.Is(err, translog.ErrUnknown) {
			t.Errorf("tile %+v: %v", tile, err)
		}
	}
}

type tiles struct {
	t      *testing.T
	log    *translog.Log
	tamper bool
}

func (f *tiles) Height() int { return translog.Height }

func (f *tiles) ReadTiles(list []tlog.Tile) (out [][]byte, err error) {
	for _, tile := range list {
		data, err := f.log.Tile(f.t.Context(), tile)
		if err != nil {
			return nil, err
		}
		if f.tamper {
			data = bytes.Clone(data)
			data[5] ^= 1
		}
		out = append(out, data)
	}
	return out, nil
}

func (f *tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// testForks shows the signer another log than the one that it signed.
func testForks(t *testing.T, b *bench) {
	b.add(t, 1, 5)
	b.publish(t, 5)
	other := newBench(t, filepath.Join(t.TempDir(), "other.db"))
	other.log = translog.New(other.db, b.key)
	other.add(t, 1, 3)
	var refused *signer.Refused
	if _, err := other.log.Publish(t.Context(), b.signer); !errors.As(err, &refused) || refused.Code != signer.LogShrunk {
		t.Errorf("a log that was restored from an old backup: %v", err)
	}
	if err := other.db.Update(t.Context(), func(tx *sql.Tx) error {
		for _, id := range []int{9, 10, 11, 12} {
			_, text := newReceipt(t, id)
			if _, err := translog.Append(t.Context(), tx, text); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.log.Publish(t.Context(), b.signer); !errors.As(err, &refused) || refused.Code != signer.LogForked {
		t.Errorf("a log with another history: %v", err)
	}
	if _, _, err := other.log.Checkpoint(t.Context()); !errors.Is(err, translog.ErrNotPublished) {
		t.Errorf("the fork was published: %v", err)
	}
	// A signer with another key signs what this log does not take.
	stranger, _ := newSigner(t)
	b.add(t, 6, 6)
	if _, err := b.log.Publish(t.Context(), stranger); err == nil {
		t.Error("a checkpoint of another key was published")
	}
	b.publish(t, 6)
}

func testAppendOnly(t *testing.T, b *bench) {
	b.add(t, 1, 2)
	for _, statement := range []string{`DELETE FROM receipt_log_leaf`, `UPDATE receipt_log_leaf SET place = 7 WHERE place = 0`, `DELETE FROM receipt_log_hash`, `UPDATE receipt_log_hash SET n = 9 WHERE n = 0`} {
		err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	_, text := newReceipt(t, 1)
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := translog.Append(t.Context(), tx, text)
		return err
	}); err == nil {
		t.Error("a receipt is there twice")
	}
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := translog.Append(t.Context(), tx, []byte("{}"))
		return err
	}); err == nil {
		t.Error("something that is no receipt was logged")
	}
	b.publish(t, 2)
}

// testRollback: a receipt that was not admitted is not in the log.
func testRollback(t *testing.T, b *bench) {
	b.add(t, 1, 3)
	stop := errors.New("cancel won")
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, text := newReceipt(t, 4)
		if _, err := translog.Append(t.Context(), tx, text); err != nil {
			return err
		}
		return stop
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	b.publish(t, 3)
	if err := b.prove(t, 4); !errors.Is(err, translog.ErrUnknown) {
		t.Error(err)
	}
	b.add(t, 4, 4)
	b.publish(t, 4)
}

// lossy signs, and the answer is lost.
type lossy struct{ *signer.Signer }

func (l lossy) SignCheckpoint(ctx context.Context, g signer.Growth) ([]byte, error) {
	if _, err := l.Signer.SignCheckpoint(ctx, g); err != nil {
		return nil, err
	}
	return nil, errors.New("the connection broke")
}

// testLostCheckpoint: the signer is ahead of what is kept, with and without new leaves since.
func testLostCheckpoint(t *testing.T, b *bench) {
	b.add(t, 1, 3)
	b.publish(t, 3)
	b.add(t, 4, 5)
	if _, err := b.log.Publish(t.Context(), lossy{b.signer}); err == nil {
		t.Fatal("the answer was not lost")
	}
	b.publish(t, 5)
	b.add(t, 6, 6)
	if _, err := b.log.Publish(t.Context(), lossy{b.signer}); err == nil {
		t.Fatal("the answer was not lost")
	}
	b.add(t, 7, 9)
	b.publish(t, 9)
	if err := b.prove(t, 9); err != nil {
		t.Error(err)
	}
	// The loop publishes by itself, and ends with its context.
	b.add(t, 10, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.log.Run(ctx, b.signer, time.Millisecond, func(err error) { t.Error(err) })
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if size, _, err := b.log.Checkpoint(t.Context()); err != nil || time.Now().After(deadline) {
			t.Fatalf("not published: %d (%v)", size, err)
		} else if size == 10 {
			break
		}
	}
	cancel()
	<-ended
}

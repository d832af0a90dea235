package logproof_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
)

// tree is a log in memory.
type tree struct{ hashes []tlog.Hash }

func (m *tree) ReadHashes(indexes []int64) (out []tlog.Hash, err error) {
	for _, i := range indexes {
		out = append(out, m.hashes[i])
	}
	return out, nil
}

func newReceipt(t *testing.T, id uint64) *receipt.Receipt {
	t.Helper()
	r, err := receipt.Sign(receipt.Evidence{
		JobID: "vrf_" + strings.Repeat("a", 24), ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: id, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-05-01T12:00:00Z",
	}, "test", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newLogKey(t *testing.T, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	v, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// TestProofs proves every leaf in every prefix of a log, and changes every line of each proof.
func TestProofs(t *testing.T) {
	const leaves = 9
	key, public := newLogKey(t, "log.example/receipts")
	_, other := newLogKey(t, "log.example/receipts")
	log := &tree{}
	for size := int64(1); size <= leaves; size++ {
		entry, err := logproof.Entry(newReceipt(t, uint64(size)))
		if err != nil {
			t.Fatal(err)
		}
		more, err := tlog.StoredHashes(size-1, entry, log)
		if err != nil {
			t.Fatal(err)
		}
		log.hashes = append(log.hashes, more...)
		root, err := tlog.TreeHash(size, log)
		if err != nil {
			t.Fatal(err)
		}
		head := logproof.Checkpoint{Origin: key.Name(), Size: size, Root: root}
		signed, err := head.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		for index := range size {
			hashes, err := tlog.ProveRecord(size, index, log)
			if err != nil {
				t.Fatal(err)
			}
			text := (&logproof.Proof{Index: index, Hashes: hashes, Checkpoint: signed}).Text()
			verify := func(text []byte, id int64, key note.Verifier) (*logproof.Checkpoint, error) {
				p, err := logproof.Parse(text)
				if err != nil {
					return nil, err
				}
				return p.Verify(newReceipt(t, uint64(id)), key)
			}
			if c, err := verify(text, index+1, public); err != nil || c.Size != size {
				t.Fatalf("leaf %d of %d: %v", index, size, err)
			}
			if _, err := verify(text, index+2, public); err == nil {
				t.Errorf("leaf %d of %d is taken for another receipt", index, size)
			}
			if _, err := verify(text, index+1, other); err == nil {
				t.Errorf("leaf %d of %d is believed by another key", index, size)
			}
			lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
			for i, line := range lines {
				for _, c := range []string{"", line + line, "x" + line, strings.Replace(line, "A", "B", 1) + " "} {
					changed := strings.Join(lines[:i], "") + c + strings.Join(lines[i+1:], "")
					if _, err := verify([]byte(changed), index+1, public); err == nil {
						t.Errorf("leaf %d of %d: line %d (%q) became %q and is believed", index, size, i, line, c)
					}
				}
			}
		}
	}
}

func TestCheckpointsRefused(t *testing.T) {
	key, public := newLogKey(t, "log.example")
	c := logproof.Checkpoint{Origin: "log.example", Size: 3}
	good, err := c.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := logproof.OpenCheckpoint(good, public); err != nil || *got != c {
		t.Errorf("%+v (%v)", got, err)
	}
	if _, err := (&logproof.Checkpoint{Origin: "other.example", Size: 3}).Sign(key); err == nil {
		t.Error("a key signed for another log")
	}
	root := strings.Split(c.Text(), "\n")[2]
	for _, text := range []string{
		"", "log.example\n3\n", "log.example\n03\n" + root + "\n", "log.example\n-3\n" + root + "\n", "log.example\n3\nAAAA\n", "log.example\n3\n" + root[:43] + "\n", "other\n3\n" + root + "\n",
		"log.example\n3 \n" + root + "\n", "log.example\n99999999999999999999\n" + root + "\n",
	} {
		signed, err := note.Sign(&note.Note{Text: text}, key)
		if err != nil {
			if text != "" {
				t.Fatal(err)
			}
			continue
		}
		if _, err := logproof.OpenCheckpoint(signed, public); err == nil {
			t.Errorf("%q is a checkpoint", text)
		}
	}
	if _, err := logproof.OpenCheckpoint(append(good, bytes.Repeat([]byte("x"), logproof.MaxCheckpoint)...), public); err == nil {
		t.Error("a checkpoint without an end")
	}
	for _, text := range []string{"", "c2sp.org/tlog-proof@v2\nindex 1\n\n", "c2sp.org/tlog-proof@v1\n\nx", "c2sp.org/tlog-proof@v1\nindex 01\n\nx", "c2sp.org/tlog-proof@v1\nindex 1",
		"c2sp.org/tlog-proof@v1\nindex 1\n" + strings.Repeat(root+"\n", 64) + "\nx", fmt.Sprintf("%020000d", 1)} {
		if _, err := logproof.Parse([]byte(text)); err == nil {
			t.Errorf("%.60q is a proof", text)
		}
	}
	if _, err := logproof.Parse([]byte("c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n\n" + string(good))); err != nil {
		t.Errorf("extra data: %v", err)
	}
}

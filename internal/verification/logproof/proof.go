package logproof

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/verification/receipt"
)

// MaxBytes bounds a proof: a tree of 2^63 leaves has proofs of 63 hashes.
const MaxBytes = 16 << 10

// header is the first line of a proof.
const header = "c2sp.org/tlog-proof@v1"

func entryOf(canonical []byte) []byte {
	sum := sha256.Sum256(canonical)
	return sum[:]
}

// Proof says that a leaf is in the tree of a checkpoint.
type Proof struct {
	Index      int64
	Hashes     tlog.RecordProof
	Checkpoint []byte // signed
}

// Text writes a proof, so that Parse reads it.
func (p *Proof) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", header, p.Index)
	for _, h := range p.Hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteString("\n")
	b.Write(p.Checkpoint)
	return []byte(b.String())
}

// Parse reads a proof. That says nothing of what it proves: see Verify.
func Parse(data []byte) (*Proof, error) {
	p, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("log proof: %w", err)
	}
	return p, nil
}

func parse(data []byte) (*Proof, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	head, checkpoint, ok := strings.Cut(string(data), "\n\n")
	if !ok {
		return nil, errors.New("it has no checkpoint")
	}
	lines := strings.Split(head, "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("its first line is not %s", header)
	}
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") { // for others' use
		lines = lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "index ") {
		return nil, errors.New("it has no index")
	}
	p := &Proof{Checkpoint: []byte(checkpoint)}
	var err error
	if p.Index, err = count(strings.TrimPrefix(lines[0], "index ")); err != nil {
		return nil, fmt.Errorf("its index: %w", err)
	}
	if len(lines) > 64 {
		return nil, errors.New("it has more hashes than any tree asks for")
	}
	for _, line := range lines[1:] {
		h, err := hash(line)
		if err != nil {
			return nil, err
		}
		p.Hashes = append(p.Hashes, h)
	}
	return p, nil
}

// Verify says whether the log with this key holds the receipt, and in which checkpoint.
func (p *Proof) Verify(r *receipt.Receipt, key note.Verifier) (*Checkpoint, error) {
	return p.leadsFrom(r, key, "the receipt", func(entry []byte) []byte { return entry })
}

// VerifyWithdrawal says whether the log with this key holds that the receipt was withdrawn.
func (p *Proof) VerifyWithdrawal(r *receipt.Receipt, key note.Verifier) (*Checkpoint, error) {
	return p.leadsFrom(r, key, "the receipt's withdrawal", Withdrawal)
}

// leadsFrom says whether the proof leads from a leaf, which follows from the receipt's own, to
// the root of a checkpoint that the key signed.
func (p *Proof) leadsFrom(r *receipt.Receipt, key note.Verifier, what string, leaf func(entry []byte) []byte) (*Checkpoint, error) {
	c, err := OpenCheckpoint(p.Checkpoint, key)
	if err != nil {
		return nil, err
	}
	entry, err := Entry(r)
	if err != nil {
		return nil, err
	}
	if p.Index >= c.Size {
		return nil, fmt.Errorf("log proof: leaf %d is not in a tree of %d", p.Index, c.Size)
	}
	if err := tlog.CheckRecord(p.Hashes, c.Size, c.Root, p.Index, tlog.RecordHash(leaf(entry))); err != nil {
		return nil, fmt.Errorf("log proof: it does not lead from %s to the checkpoint's root", what)
	}
	return c, nil
}

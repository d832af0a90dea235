// Package logproof is what is needed to believe, offline, that a receipt is in the
// transparency log: the checkpoint that a log signs (C2SP tlog-checkpoint, a signed note), and
// the proof that a leaf is in the tree of a checkpoint (C2SP tlog-proof). Nothing here needs a
// network, a file system or the service.
package logproof

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/strictjson"
)

// MaxCheckpoint bounds a checkpoint with its signatures; a real one has about 250 bytes.
const MaxCheckpoint = 8 << 10

// Checkpoint is the head of a log: how many leaves it has, and the root over them.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   tlog.Hash
}

// Text is what is signed.
func (c *Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

// Sign makes the signed note. The key must bear the name of the log.
func (c *Checkpoint) Sign(key note.Signer) ([]byte, error) {
	if key.Name() != c.Origin {
		return nil, fmt.Errorf("sign a checkpoint: the key is of the log %s, the checkpoint of %s", key.Name(), c.Origin)
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, key)
	if err != nil {
		return nil, fmt.Errorf("sign a checkpoint: %w", err)
	}
	return signed, nil
}

// OpenCheckpoint reads a checkpoint that the log with this key signed.
func OpenCheckpoint(signed []byte, key note.Verifier) (*Checkpoint, error) {
	c, err := openCheckpoint(signed, key)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return c, nil
}

func openCheckpoint(signed []byte, key note.Verifier) (*Checkpoint, error) {
	if len(signed) > MaxCheckpoint {
		return nil, fmt.Errorf("it has more than %d bytes", MaxCheckpoint)
	}
	n, err := note.Open(signed, note.VerifierList(key))
	if err != nil {
		return nil, fmt.Errorf("the log %s did not sign it: %w", key.Name(), err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) < 4 || lines[len(lines)-1] != "" {
		return nil, errors.New("it is not a name, a size and a root")
	}
	size, err := count(lines[1])
	if err != nil {
		return nil, fmt.Errorf("its size: %w", err)
	}
	root, err := hash(lines[2])
	if err != nil {
		return nil, fmt.Errorf("its root: %w", err)
	}
	if lines[0] != key.Name() {
		return nil, fmt.Errorf("it is of the log %.100q, and the key of %s", lines[0], key.Name())
	}
	return &Checkpoint{Origin: lines[0], Size: size, Root: root}, nil
}

// count reads a number in its shortest spelling.
func count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%.30q is no number in its shortest form", text)
	}
	return n, nil
}

// hash reads 32 bytes of base64 in their only spelling.
func hash(text string) (h tlog.Hash, err error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != tlog.HashSize || base64.StdEncoding.EncodeToString(b) != text {
		return h, fmt.Errorf("%.60q is not 32 bytes in base64", text)
	}
	copy(h[:], b)
	return h, nil
}

// Entry is what the log holds of a receipt: the digest of its canonical form, and nothing
// that tells whose job it was.
func Entry(r *receipt.Receipt) ([]byte, error) {
	canonical, err := strictjson.Canonical(r)
	if err != nil {
		return nil, fmt.Errorf("log entry: %w", err)
	}
	return entryOf(canonical), nil
}

// Withdrawal is what the log holds when a receipt is withdrawn, by the receipt's own entry.
// Who has a receipt can compute it and look for it.
func Withdrawal(entry []byte) []byte {
	return entryOf([]byte("service-receipt-withdrawal-v1 " + Digest(entry) + "\n"))
}

// Digest is an entry as text.
func Digest(entry []byte) string { return "sha256:" + hex.EncodeToString(entry) }

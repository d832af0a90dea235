package signer

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/verification/receipt"
)

// The journal is a file of lines: a checksum of eight hex digits, a space, and a record. It is
// only appended to, and each line is on disk before what it tells of is handed out.

// maxLine bounds a line; a real one has about 350 bytes.
const maxLine = 2 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is a line: a receipt, a head of the log, or a key that was revoked.
type record struct {
	ReceiptID uint64 `json:"receiptId,omitempty"`
	Evidence  string `json:"evidence,omitempty"` // digest, in hex
	KeyID     string `json:"keyId,omitempty"`
	Signature string `json:"signature,omitempty"`

	LogSize int64      `json:"logSize,omitempty"`
	LogRoot *tlog.Hash `json:"logRoot,omitempty"`

	Revoked string `json:"revoked,omitempty"` // public key, in hex
}

// signed is what is known of a receipt.
type signed struct {
	digest           [32]byte
	keyID, signature string
}

// place is where a receipt's line is.
type place struct {
	offset int64
	length int32
}

type journal struct {
	file     *os.File
	size     int64
	receipts map[uint64]place
	revoked  map[string]struct{} // public keys, in hex
	head     tlog.Tree           // of the last checkpoint; N is 0 without one
	broken   error               // nothing is signed after a write that may be there or not
}

// openJournal replays the journal. A line at its end that is not whole is one that was being
// written when the power went, of which nobody was told: it is cut off. Any other damage is refused.
func openJournal(path string, log *slog.Logger) (_ *journal, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close() //nolint:errcheck // the first error is the one to tell
		}
	}()
	if err := durable.Lock(f); err != nil {
		return nil, errors.New("another signer uses it")
	}
	j := &journal{file: f, receipts: map[uint64]place{}, revoked: map[string]struct{}{}}
	total, err := j.replay()
	if err != nil {
		return nil, err
	}
	if j.size < total {
		log.Warn("the signer's journal ends in a line that was not written to its end: it is cut off", "bytes", total-j.size)
		if err := f.Truncate(j.size); err != nil {
			return nil, err
		}
	}
	return j, errors.Join(f.Sync(), durable.SyncDir(filepath.Dir(path)))
}

// replay reads all lines and leaves the length of those that count in size.
func (j *journal) replay() (total int64, err error) {
	info, err := j.file.Stat()
	if err != nil {
		return 0, err
	}
	total = info.Size()
	in := bufio.NewReaderSize(j.file, maxLine)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF): // also with a part of a line
			return total, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
		r, ok := parseLine(line)
		if !ok && j.size+int64(len(line)) == total { // the last one
			return total, nil
		}
		if !ok || !j.apply(r, len(line)) {
			return 0, fmt.Errorf("line %d is damaged: restore the file from a backup. Without it the signer cannot know what it signed", number)
		}
	}
}

// apply takes a line into account, and says whether it can be.
func (j *journal) apply(r *record, length int) bool {
	switch {
	case r.Revoked != "":
		if _, there := j.revoked[r.Revoked]; there {
			return false
		}
		j.revoked[r.Revoked] = struct{}{}
	case r.LogRoot != nil:
		if r.LogSize <= j.head.N {
			return false
		}
		j.head = tlog.Tree{N: r.LogSize, Hash: *r.LogRoot}
	default:
		if _, there := j.receipts[r.ReceiptID]; there {
			return false
		}
		j.receipts[r.ReceiptID] = place{j.size, int32(length)}
	}
	j.size += int64(length)
	return true
}

func parseLine(line []byte) (*record, bool) {
	sum, text, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if !ok || string(sum) != checksum(text) {
		return nil, false
	}
	var r record
	if json.Unmarshal(text, &r) != nil {
		return nil, false
	}
	kinds := 0
	for _, is := range []bool{r.ReceiptID != 0, r.LogRoot != nil, r.Revoked != ""} {
		if is {
			kinds++
		}
	}
	return &r, kinds == 1
}

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) }

// receipt looks a receipt up.
func (j *journal) receipt(id uint64) (signed, bool, error) {
	at, ok := j.receipts[id]
	if !ok {
		return signed{}, false, nil
	}
	line := make([]byte, at.length)
	if _, err := j.file.ReadAt(line, at.offset); err != nil {
		return signed{}, false, err
	}
	r, ok := parseLine(line)
	if !ok || r.ReceiptID != id {
		return signed{}, false, errors.New("a line changed")
	}
	digest, err := hex.DecodeString(r.Evidence)
	if err != nil || len(digest) != 32 {
		return signed{}, false, errors.New("a line has no digest")
	}
	return signed{[32]byte(digest), r.KeyID, r.Signature}, true, nil
}

func (j *journal) addReceipt(id uint64, digest [32]byte, r *receipt.Receipt) error {
	return j.add(&record{ReceiptID: id, Evidence: hex.EncodeToString(digest[:]), KeyID: r.KeyID, Signature: r.Signature})
}

func (j *journal) addHead(t tlog.Tree) error {
	return j.add(&record{LogSize: t.N, LogRoot: &t.Hash})
}

func (j *journal) addRevoked(key ed25519.PublicKey) error {
	return j.add(&record{Revoked: hex.EncodeToString(key)})
}

func (j *journal) isRevoked(key ed25519.PublicKey) bool {
	_, revoked := j.revoked[hex.EncodeToString(key)]
	return revoked
}

// add appends a line and returns when it is on disk.
func (j *journal) add(r *record) error {
	if j.broken != nil {
		return j.broken
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line := []byte(strings.Join([]string{checksum(text), " ", string(text), "\n"}, ""))
	if _, err = j.file.WriteAt(line, j.size); err == nil {
		err = j.file.Sync()
	}
	if err != nil { // what is on disk now, nobody knows before a restart
		j.broken = fmt.Errorf("the journal failed: %w", err)
		return j.broken
	}
	if !j.apply(r, len(line)) {
		j.broken = errors.New("the journal was given a line that it must not have")
		return j.broken
	}
	return nil
}

func (j *journal) Close() error {
	if j.broken == nil {
		j.broken = errors.New("the signer was closed")
	}
	return j.file.Close()
}

// Package archivetest forges source archives for tests, those that must be refused above all: made by a program
// from tables of attacks, with every byte in the test's hands.
package archivetest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// Forged is a tar header and what follows it, with every byte in the test's hands.
type Forged struct {
	header [512]byte
	body   []byte // with its padding
}

// Change alters a header before its checksum is made.
type Change func(*Forged)

// At writes bytes into a header.
func At(offset int, text string) Change {
	return func(f *Forged) { copy(f.header[offset:], text) }
}

// Prefixed puts a path into the prefix of a header.
func Prefixed(prefix string) Change { return At(345, prefix) }
func typed(flag byte) Change        { return At(156, string(flag)) }
func sized(n int64) Change          { return At(124, fmt.Sprintf("%011o\x00", n)) }

// Entry makes a correct header of a file and applies the changes.
func Entry(path, content string, changes ...Change) Forged {
	f := Forged{body: make([]byte, (len(content)+511)/512*512)}
	copy(f.body, content)
	for _, c := range append([]Change{
		At(0, path), At(100, "0000644\x00"), At(108, "0000000\x00"), At(116, "0000000\x00"), sized(int64(len(content))),
		At(136, "00000000000\x00"), typed('0'), At(257, "ustar\x0000"), At(329, "0000000\x00"), At(337, "0000000\x00"),
	}, changes...) {
		c(&f)
	}
	f.sum()
	return f
}

// Folder makes a correct header of a folder and applies the changes.
func Folder(path string, changes ...Change) Forged {
	return Entry(path, "", append([]Change{typed('5'), At(100, "0000755\x00")}, changes...)...)
}

func (f *Forged) sum() {
	copy(f.header[148:156], "        ")
	sum := 0
	for _, c := range f.header {
		sum += int(c)
	}
	copy(f.header[148:], fmt.Sprintf("%06o\x00 ", sum))
}

// after alters a header when its checksum is made already.
func (f Forged) after(c Change) Forged {
	c(&f)
	return f
}

// Two files without which no tree is complete. Their names sort before small letters.
var (
	lockEntry     = Entry("Scarb.lock", "version = 1\n")
	manifestEntry = Entry("Scarb.toml", "[package]\nname = \"a\"\n")
)

// Around puts the entries behind the two that must be there.
func Around(entries ...Forged) []byte {
	return tarOf(append([]Forged{lockEntry, manifestEntry}, entries...)...)
}

func tarOf(entries ...Forged) []byte { return append(blocksOf(entries...), make([]byte, 1024)...) }

func blocksOf(entries ...Forged) []byte {
	var b []byte
	for _, e := range entries {
		b = append(append(b, e.header[:]...), e.body...)
	}
	return b
}

// Zip packs a tar as the service wants it.
func Zip(tar []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(tar); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// padded is Zip with twenty thousand blocks in one place that say nothing.
func padded(at int, tar []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for i := range 20_000 + 2 {
		var err error
		switch i {
		case 0:
			_, err = w.Write(tar[:at])
		case 20_001:
			_, err = w.Write(tar[at:])
		default:
			err = w.Flush()
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Store is Zip without the work: blocks that are not compressed.
func Store(tar []byte) []byte {
	b := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	for rest, last := tar, byte(0); last == 0; {
		n := min(len(rest), 1<<16-1)
		if n == len(rest) {
			last = 1
		}
		b = append(b, last)
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
		b = binary.LittleEndian.AppendUint16(b, ^uint16(n))
		b = append(b, rest[:n]...)
		rest = rest[n:]
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(tar))
	return binary.LittleEndian.AppendUint32(b, uint32(len(tar)))
}

// Resummed gives what looks like headers correct checksums, so that a fuzzer gets past them.
func Resummed(tar []byte) []byte {
	tar = bytes.Clone(tar)
	for i := 0; i+512 <= len(tar); i += 512 {
		if f := (Forged{header: [512]byte(tar[i:])}); bytes.HasPrefix(f.header[257:], []byte("ustar")) {
			f.sum()
			copy(tar[i:], f.header[:])
		}
	}
	return tar
}

// Noise is text that cannot be compressed much.
func Noise(n int) string {
	var b strings.Builder
	x := uint32(1)
	for b.Len() < n {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b.WriteByte(32 + byte(x>>8)%95)
	}
	return b.String()
}

func with(b []byte, i int, c byte) []byte {
	b = bytes.Clone(b)
	if i < 0 {
		i += len(b)
	}
	b[i] = c
	return b
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

package archive_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// forged is a tar header and what follows it, with every byte in the test's hands.
type forged struct {
	header [512]byte
	body   []byte // with its padding
}

// change alters a header before its checksum is made.
type change func(*forged)

// at writes bytes into a header.
func at(offset int, text string) change {
	return func(f *forged) { copy(f.header[offset:], text) }
}

func prefixed(prefix string) change { return at(345, prefix) }
func typed(flag byte) change        { return at(156, string(flag)) }
func sized(n int64) change          { return at(124, fmt.Sprintf("%011o\x00", n)) }

// entry makes a correct header of a file and applies the changes.
func entry(path, content string, changes ...change) forged {
	f := forged{body: make([]byte, (len(content)+511)/512*512)}
	copy(f.body, content)
	for _, c := range append([]change{
		at(0, path), at(100, "0000644\x00"), at(108, "0000000\x00"), at(116, "0000000\x00"), sized(int64(len(content))),
		at(136, "00000000000\x00"), typed('0'), at(257, "ustar\x0000"), at(329, "0000000\x00"), at(337, "0000000\x00"),
	}, changes...) {
		c(&f)
	}
	f.sum()
	return f
}

func folder(path string, changes ...change) forged {
	return entry(path, "", append([]change{typed('5'), at(100, "0000755\x00")}, changes...)...)
}

func (f *forged) sum() {
	copy(f.header[148:156], "        ")
	sum := 0
	for _, c := range f.header {
		sum += int(c)
	}
	copy(f.header[148:], fmt.Sprintf("%06o\x00 ", sum))
}

// after alters a header when its checksum is made already.
func (f forged) after(c change) forged {
	c(&f)
	return f
}

// Two files without which no tree is complete. Their names sort before small letters.
var (
	lockEntry     = entry("Scarb.lock", "version = 1\n")
	manifestEntry = entry("Scarb.toml", "[package]\nname = \"a\"\n")
)

// around puts the entries behind the two that must be there.
func around(entries ...forged) []byte {
	return tarOf(append([]forged{lockEntry, manifestEntry}, entries...)...)
}

func tarOf(entries ...forged) []byte { return append(blocksOf(entries...), make([]byte, 1024)...) }

func blocksOf(entries ...forged) []byte {
	var b []byte
	for _, e := range entries {
		b = append(append(b, e.header[:]...), e.body...)
	}
	return b
}

func zip(tar []byte) []byte {
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

// store is zip without the work: blocks that are not compressed.
func store(tar []byte) []byte {
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

// resummed gives what looks like headers correct checksums, so that a fuzzer gets past them.
func resummed(tar []byte) []byte {
	tar = bytes.Clone(tar)
	for i := 0; i+512 <= len(tar); i += 512 {
		if f := (forged{header: [512]byte(tar[i:])}); bytes.HasPrefix(f.header[257:], []byte("ustar")) {
			f.sum()
			copy(tar[i:], f.header[:])
		}
	}
	return tar
}

// noise is text that cannot be compressed much.
func noise(n int) string {
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

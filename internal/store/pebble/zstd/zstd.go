// Package zstd stands in for the C library that Pebble packs blocks with where there is
// a C compiler: go.mod puts it in the place of github.com/DataDog/zstd. It has what
// Pebble calls of that, in plain Go. Whoever builds the program for the first time would
// wait for a minute of C otherwise, for a way to pack blocks that released binaries,
// which are built without C, do not have. What either packs the other can unpack.
//
// All contexts share one packer and one unpacker, which have memory for as many blocks at
// once as there are processors. Both are made before anything runs: they hold channels, and
// those of a test's bubble (testing/synctest) could not be used outside of it.
package zstd

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// ErrSize says that packed bytes are not those of as many bytes as were expected.
var ErrSize = errors.New("zstd: unpacks to another size")

const (
	// level is the one that the store packs with.
	level = 1
	// window is how far back a match is looked for. Blocks of the store are smaller.
	window = 256 << 10
)

var (
	packer   = newPacker(level, runtime.GOMAXPROCS(0))
	unpacker = newUnpacker()
)

func newPacker(level, atOnce int) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithEncoderConcurrency(atOnce), zstd.WithWindowSize(window), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options do not go together
	}
	e.EncodeAll(nil, nil) // its channel is made by the first use
	return e
}

func newUnpacker() *zstd.Decoder {
	// Nothing is unpacked past the end of a buffer, however much a block says that it holds.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options do not go together
	}
	return d
}

// Ctx packs and unpacks.
type Ctx interface {
	// CompressLevel packs src into dst, or into a new buffer if dst is too small.
	CompressLevel(dst, src []byte, level int) ([]byte, error)
	// DecompressInto unpacks src, which must fill dst.
	DecompressInto(dst, src []byte) (int, error)
}

type context struct{}

// NewCtx returns a context.
func NewCtx() Ctx { return context{} }

// CompressBound is how large n bytes can become. It is never less than what CompressLevel needs.
func CompressBound(n int) int {
	const small = 128 << 10
	return n + n>>8 + max(small-n, 0)>>11
}

func (context) CompressLevel(dst, src []byte, l int) ([]byte, error) {
	e := packer
	if l != level {
		e = newPacker(l, 1) // nothing of the program's does
	}
	return e.EncodeAll(src, dst[:0]), nil
}

func (context) DecompressInto(dst, src []byte) (int, error) {
	got, err := unpacker.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return 0, fmt.Errorf("zstd: unpack %d bytes into %d: %w", len(src), len(dst), err)
	}
	if len(got) != len(dst) {
		return 0, fmt.Errorf("%w: %d in place of %d bytes", ErrSize, len(got), len(dst))
	}
	return len(got), nil
}

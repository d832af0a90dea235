// Package zstd stands in for the C library that Pebble packs blocks with where there is
// a C compiler: go.mod puts it in the place of github.com/DataDog/zstd. It has what
// Pebble calls of that, in plain Go. Whoever builds the program for the first time would
// wait for a minute of C otherwise, for a way to pack blocks that released binaries,
// which are built without C, do not have. What either packs the other can unpack.
//
// A context is used by one goroutine at a time. It keeps its buffers for the next block:
// Pebble has a pool of contexts.
package zstd

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// ErrSize says that packed bytes are not those of as many bytes as were expected.
var ErrSize = errors.New("zstd: unpacks to another size")

// window is how far back a match is looked for. Blocks of the store are smaller.
const window = 256 << 10

// Ctx packs and unpacks, one block after the other.
type Ctx interface {
	// CompressLevel packs src into dst, or into a new buffer if dst is too small.
	CompressLevel(dst, src []byte, level int) ([]byte, error)
	// DecompressInto unpacks src, which must fill dst.
	DecompressInto(dst, src []byte) (int, error)
}

type context struct {
	encoder *zstd.Encoder
	level   int
	decoder *zstd.Decoder
}

// NewCtx returns a context that has no buffers yet.
func NewCtx() Ctx { return new(context) }

// CompressBound is how large n bytes can become. It is never less than what CompressLevel needs.
func CompressBound(n int) int {
	const small = 128 << 10
	return n + n>>8 + max(small-n, 0)>>11
}

func (c *context) CompressLevel(dst, src []byte, level int) ([]byte, error) {
	if c.encoder == nil || c.level != level {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderCRC(false))
		if err != nil {
			return nil, fmt.Errorf("zstd: level %d: %w", level, err)
		}
		c.encoder, c.level = e, level
	}
	return c.encoder.EncodeAll(src, dst[:0]), nil
}

func (c *context) DecompressInto(dst, src []byte) (int, error) {
	if c.decoder == nil {
		// Nothing is unpacked past the end of dst, however much src says that it holds.
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, fmt.Errorf("zstd: %w", err)
		}
		c.decoder = d
	}
	got, err := c.decoder.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return 0, fmt.Errorf("zstd: unpack %d bytes into %d: %w", len(src), len(dst), err)
	}
	if len(got) != len(dst) {
		return 0, fmt.Errorf("%w: %d in place of %d bytes", ErrSize, len(got), len(dst))
	}
	return len(got), nil
}

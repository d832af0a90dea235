// Package unpack reads what strangers sent in gzip: callers their bodies, nodes and provers their answers. How much
// comes of it is for its callers to bound; here is what it may cost to get there.
package unpack

import (
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// padding is by how much what is packed may be ahead of what came of it.
const padding = 64 << 10

// ErrPadded is of something that is larger packed than what it stands for. Nobody sends such a thing but to have it
// unpacked: blocks that say nothing take a hundred times as long as others of as many bytes.
var ErrPadded = errors.New("unpack: it is larger in gzip than what it stands for")

// Reader reads gzip.
type Reader struct {
	src io.Reader
	z   *gzip.Reader
	in  int64 // bytes that were read of src
	out int64 // bytes that came of them
}

// Gzip begins to read. An error says that src is not in gzip, or is one of src.
func Gzip(src io.Reader) (*Reader, error) {
	r := &Reader{src: src}
	z, err := gzip.NewReader(packed{r})
	r.z = z
	return r, err
}

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.z.Read(p)
	r.out += int64(n)
	return n, err
}

// packed is what is unpacked. It ends as soon as there is too much of it.
type packed struct{ r *Reader }

func (p packed) Read(b []byte) (int, error) {
	if p.r.in > p.r.out+padding {
		return 0, ErrPadded
	}
	n, err := p.r.src.Read(b)
	p.r.in += int64(n)
	return n, err
}

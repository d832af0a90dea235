package kernel

import (
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// padding is by how much a packed body may be larger than what was unpacked of it so far.
const padding = 64 << 10

// errPadded is a packed body that is larger than what it stands for. Nobody sends such a one but to have it
// unpacked: a byte of nothing can take as long as a hundred of text.
var errPadded = errors.New("kernel: a packed body is larger than what it stands for")

// unpacked reads gzip.
type unpacked struct {
	src io.Reader
	z   *gzip.Reader
	in  int64 // bytes that were read of src
	out int64 // bytes that came of them
}

func unpack(src io.Reader) (*unpacked, error) {
	u := &unpacked{src: src}
	z, err := gzip.NewReader(packed{u})
	u.z = z
	return u, err
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	u.out += int64(n)
	return n, err
}

// packed is what is unpacked. It ends as soon as there is too much of it.
type packed struct{ u *unpacked }

func (p packed) Read(b []byte) (int, error) {
	if p.u.in > p.u.out+padding {
		return 0, errPadded
	}
	n, err := p.u.src.Read(b)
	p.u.in += int64(n)
	return n, err
}

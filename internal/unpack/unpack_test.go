package unpack_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"chainexplorer/internal/unpack"
)

func pack(t *testing.T, level, flushes int, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		for range flushes {
			z.Flush() //nolint:errcheck // a buffer
		}
		io.WriteString(z, p) //nolint:errcheck // as above
	}
	z.Close() //nolint:errcheck // as above
	return b.Bytes()
}

// TestGzip: what is honest is read, however badly it was packed, and what is larger than what it stands for is not
// read to its end.
func TestGzip(t *testing.T) {
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	lines := strings.SplitAfter(strings.Repeat(`{"a line":"of an answer"},`+"\n", 5000), "\n")
	text := strings.Join(lines, "")
	for name, c := range map[string]struct {
		data []byte
		want string
		err  error
	}{
		"text":                    {pack(t, 9, 0, text), text, nil},
		"nothing":                 {pack(t, 9, 0), "", nil},
		"noise":                   {pack(t, 9, 0, string(noise)), string(noise), nil},
		"noise, stored":           {pack(t, 0, 0, string(noise)), string(noise), nil},
		"line by line":            {pack(t, 1, 1, lines...), text, nil},
		"many members":            {bytes.Repeat(pack(t, 1, 0, text), 3), strings.Repeat(text, 3), nil},
		"much of nothing before":  {pack(t, 1, 20_000, text), "", unpack.ErrPadded},
		"much of nothing between": {pack(t, 1, 14_000, "a", "b"), "a", unpack.ErrPadded},
		"empty members":           {bytes.Repeat(pack(t, 1, 0), 10_000), "", unpack.ErrPadded},
	} {
		for how, src := range map[string]io.Reader{"at once": bytes.NewReader(c.data), "in halves": iotest.HalfReader(bytes.NewReader(c.data))} {
			r, err := unpack.Gzip(src)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := io.ReadAll(r)
			if !errors.Is(err, c.err) || c.err == nil && string(got) != c.want {
				t.Errorf("%s, %s: %d bytes, %v", name, how, len(got), err)
			}
		}
	}
	if _, err := unpack.Gzip(strings.NewReader("no gzip at all")); err == nil {
		t.Error("what is no gzip was taken")
	}
}

package pebble_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/DataDog/zstd"
	peer "github.com/klauspost/compress/zstd"
)

// blocks are what a context meets one after the other: nothing, what cannot be made
// smaller, what can, and more than its window.
func blocks() map[string][]byte {
	random := make([]byte, 600<<10)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(random) //nolint:errcheck // never fails
	return map[string][]byte{
		"one byte":     {7},
		"random":       random[:16<<10],
		"large random": random,
		"equal":        make([]byte, 16<<10),
		"rows":         bytes.Repeat(random[:700], 100),
		"far apart":    append(bytes.Clone(random), random...),
	}
}

func TestPackedBlocksFitAndComeBack(t *testing.T) {
	c := zstd.NewCtx()
	reader, err := peer.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for name, block := range blocks() {
		for _, level := range []int{1, 3, 1} {
			room := make([]byte, zstd.CompressBound(len(block)))
			packed, err := c.CompressLevel(room, block, level)
			if err != nil {
				t.Fatalf("%s at level %d: %v", name, level, err)
			}
			if &packed[0] != &room[0] {
				t.Fatalf("%s at level %d: %d bytes did not fit into %d", name, level, len(packed), len(room))
			}
			// Nothing behind the block is touched.
			out := bytes.Repeat([]byte{0xee}, len(block)+8)
			if _, err := c.DecompressInto(out[:len(block)], packed); err != nil || !bytes.Equal(out[:len(block)], block) {
				t.Fatalf("%s at level %d does not come back: %v", name, level, err)
			}
			if !bytes.Equal(out[len(block):], bytes.Repeat([]byte{0xee}, 8)) {
				t.Fatalf("%s at level %d: wrote behind the block", name, level)
			}
			if other, err := reader.DecodeAll(packed, nil); err != nil || !bytes.Equal(other, block) {
				t.Fatalf("%s at level %d: another reader finds %d bytes: %v", name, level, len(other), err)
			}
			if len(block) > 1 {
				if _, err := c.DecompressInto(out[:len(block)-1], packed); err == nil {
					t.Fatalf("%s at level %d unpacks to fewer bytes than it has", name, level)
				}
			}
			if _, err := c.DecompressInto(out[:len(block)+1], packed); err == nil {
				t.Fatalf("%s at level %d unpacks to more bytes than it has", name, level)
			}
		}
	}
}

// TestContextsLeaveBubbles: Pebble keeps contexts for whoever comes next, and that may be
// outside of the bubble in which they were made.
func TestContextsLeaveBubbles(t *testing.T) {
	block := make([]byte, 1<<10)
	var c zstd.Ctx
	use := func(t *testing.T) {
		if c == nil {
			c = zstd.NewCtx()
		}
		packed, err := c.CompressLevel(make([]byte, zstd.CompressBound(len(block))), block, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DecompressInto(make([]byte, len(block)), packed); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, use)
	use(t)
	synctest.Test(t, use)
}

// FuzzUnpack gives a context bytes that no context packed: it fails or fills the block,
// and serves the next one.
func FuzzUnpack(f *testing.F) {
	c := zstd.NewCtx()
	good := bytes.Repeat([]byte("a row of the store "), 40)
	packed, err := c.CompressLevel(make([]byte, zstd.CompressBound(len(good))), good, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed, uint32(len(good)-1))
	f.Add(packed[:len(packed)/2], uint32(len(good)-1))
	f.Add([]byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, src []byte, most uint32) {
		size := 1 + int(most%(1<<20))
		dst := make([]byte, size)
		if n, err := c.DecompressInto(dst, src); err == nil && n != size {
			t.Fatalf("%d of %d bytes, and no error", n, size)
		}
		out := make([]byte, len(good))
		if _, err := c.DecompressInto(out, packed); err != nil || !bytes.Equal(out, good) {
			t.Fatalf("the next block does not come back: %v", err)
		}
	})
}

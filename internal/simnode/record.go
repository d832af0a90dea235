package simnode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"chainexplorer/internal/starknet"
)

// record is a block with everything that the node can be asked about it. What
// it says never changes; only how it is held does.
type record struct {
	header starknet.Header
	// callEnds holds, per transaction, how many events had been emitted at
	// the end of each call of its multicall: what a trace is made from.
	callEnds [][]uint16

	body atomic.Pointer[body]
	// packed is set before body is cleared, and never after.
	packed []byte
}

type body struct {
	block  *starknet.Block
	update *starknet.StateUpdate
}

// loose is how many of the newest blocks of a compact chain are not packed.
const loose = 64

func newRecord(b *starknet.Block, u *starknet.StateUpdate, callEnds [][]uint16) *record {
	r := &record{header: b.Header, callEnds: callEnds}
	r.body.Store(&body{b, u})
	return r
}

func (r *record) block() *starknet.Block { return r.load().block }

func (r *record) update() *starknet.StateUpdate { return r.load().update }

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// pack holds the block as the compressed wire form from now on: the length of
// the block's text, the block, the state update.
func (r *record) pack() {
	b := r.body.Load()
	if b == nil {
		return
	}
	text := starknet.AppendBlock(make([]byte, 8), b.block, starknet.V010)
	binary.BigEndian.PutUint64(text, uint64(len(text)))
	text = starknet.AppendStateUpdate(text, b.update, starknet.V010)
	r.packed = bytes.Clone(packer().EncodeAll(text, nil)) // the encoder leaves room to spare
	r.body.Store(nil)
}

func (r *record) load() *body {
	if b := r.body.Load(); b != nil {
		return b
	}
	text, err := unpacker().DecodeAll(r.packed, nil)
	if err != nil {
		panic(fmt.Sprintf("simnode: packed block %d: %v", r.header.Number, err))
	}
	end := binary.BigEndian.Uint64(text)
	block, err := starknet.DecodeBlock(text[8:end])
	if err != nil {
		panic(fmt.Sprintf("simnode: packed block %d: %v", r.header.Number, err))
	}
	update, err := starknet.DecodeStateUpdate(text[end:])
	if err != nil {
		panic(fmt.Sprintf("simnode: packed state update %d: %v", r.header.Number, err))
	}
	return &body{block, update}
}

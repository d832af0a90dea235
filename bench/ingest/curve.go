package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// The curve is taken over a chain that no process can hold. Another process makes a
// piece of it, holds it, and hands it over as fast as it is read, so that neither the
// CPU nor the memory of making blocks is in the figures.

// pieceBlocks are made at a time.
const pieceBlocks = 2_500

// grown asks for a chain that has grown before the second line of the curve.
var grown bool

// makeBlocks writes a chain to the standard output: of each block its hash, the JSON
// of the block and that of its state update, each with its length in front.
func makeBlocks(blocks, tx int, events float64) error {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var held [][]byte
	hand := func() error {
		for _, b := range held {
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
		held = held[:0]
		return out.Flush()
	}
	cfg := simnode.Config{Seed: 1, Blocks: blocks, TxPerBlock: tx, EventsPerTx: events, ChainID: contracts.ChainSepolia, Grown: grown}
	err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		b.Status = starknet.AcceptedOnL1
		record := appendSized(nil, b.Hash[:])
		record = appendSized(record, starknet.AppendBlock(nil, b, starknet.V010))
		held = append(held, appendSized(record, starknet.AppendStateUpdate(nil, su, starknet.V010)))
		if len(held) == pieceBlocks {
			return hand()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return hand()
}

func appendSized(b, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(part))), part...)
}

func readSized(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.LittleEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

// stream is a source that reads what makeBlocks writes, as far as it is asked for.
type stream struct {
	in     *bufio.Reader
	length uint64

	mu      sync.Mutex
	read    uint64 // blocks so far
	offered uint64 // blocks that Head has told of
	ahead   map[uint64]index.Raw
	hashes  []felt.Felt
	pace    *pace
}

func (s *stream) ChainID(context.Context) (felt.Felt, error) { return contracts.ChainSepolia, nil }

// Head is the last block of a line of the curve, so that the indexer commits all of them
// before it asks again, and a line has the work that is its own.
func (s *stream) Head(context.Context) (index.BlockRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == s.offered && s.read < s.length {
		if err := s.pace.line(int(s.read)); err != nil {
			return index.BlockRef{}, err
		}
		s.offered = min(s.offered+stepBlocks, s.length)
	}
	ref := index.BlockRef{Number: s.offered - 1}
	if s.read == s.offered {
		ref.Hash = s.hashes[s.read-1]
	}
	return ref, nil
}

func (s *stream) L1Accepted(ctx context.Context) (index.BlockRef, error) { return s.Head(ctx) }

func (s *stream) Heads(context.Context) <-chan struct{} { return nil }

func (s *stream) Class(context.Context, uint64, felt.Felt) ([]byte, string, error) {
	return nil, "", index.ErrNotFound
}

func (s *stream) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.read <= n {
		if err := s.next(); err != nil {
			return index.Raw{}, err
		}
	}
	raw, ok := s.ahead[n]
	if !ok {
		return raw, fmt.Errorf("block %d was asked for twice", n)
	}
	delete(s.ahead, n)
	return raw, nil
}

// next reads a block. The caller holds mu.
func (s *stream) next() error {
	if s.read >= s.length {
		return index.ErrNotFound
	}
	if s.read%pieceBlocks == 0 {
		if err := s.pace.wait(s.waitForPiece); err != nil {
			return err
		}
	}
	hash, err := readSized(s.in)
	if err != nil {
		return err
	}
	raw := index.Raw{Node: "memory"}
	if raw.Block, err = readSized(s.in); err != nil {
		return err
	}
	if raw.StateUpdate, err = readSized(s.in); err != nil {
		return err
	}
	s.hashes = append(s.hashes, felt.Felt(hash))
	s.ahead[s.read] = raw
	s.read++
	return nil
}

func (s *stream) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= s.read {
		return felt.Felt{}, index.ErrNotFound
	}
	return s.hashes[n], nil
}

// waitForPiece waits until the next piece is made.
func (s *stream) waitForPiece() error {
	_, err := s.in.Peek(1)
	return err
}

// pace prints how the rate goes. One indexer does all, as in the program: what it remembers
// of earlier blocks is part of the rate.
type pace struct {
	stats func() (store.Stats, error)

	committed atomic.Int64 // when the indexer last had, in nanoseconds of Unix time

	done         int // blocks, at the last line
	began        time.Time
	idle, worked time.Duration
	before       store.Stats
	first        float64
}

// wait waits for the blocks behind those that are done. The indexer has little left to do
// meanwhile: blocks that it has fetched, and a commit, until the end of which its time
// counts. The processor time of what the store does counts all the while.
func (p *pace) wait(wait func() error) error {
	asked := time.Now()
	if err := wait(); err != nil {
		return err
	}
	if at := time.Unix(0, p.committed.Load()); at.After(asked) {
		asked = at
	}
	p.idle += time.Since(asked)
	return nil
}

func (p *pace) begin(done int) { p.done, p.began, p.idle, p.worked = done, time.Now(), 0, spent.CPU() }

// line tells of the blocks since the line before, all of which are committed.
func (p *pace) line(done int) error {
	if done == 0 {
		p.begin(0)
		return nil
	}
	blocks := float64(done - p.done)
	took := (time.Since(p.began) - p.idle).Seconds()
	perBlock := (spent.CPU() - p.worked).Seconds() * 1e3 / blocks
	ratio := "growing" // a line that is like no other
	if !grown || done > stepBlocks {
		if p.first == 0 {
			p.first = perBlock
		}
		ratio = strconv.FormatFloat(p.first/perBlock, 'f', 2, 64)
	}
	stats, err := p.stats()
	if err != nil {
		return err
	}
	fmt.Printf("%10d %12.0f %18.2f %14s %12.0f %18.0f %12d\n", done, blocks/took, perBlock, ratio, float64(stats.BulkRows-p.before.BulkRows)/blocks,
		float64(stats.MergedBytes-p.before.MergedBytes)/blocks/1e3, peakMemory()>>20)
	p.before = stats
	p.begin(done)
	return nil
}

// runCurve indexes everything without undo records, with the settings that the
// program has by default, and prints how the rate goes as the chain grows.
func runCurve(ctx context.Context, blocks, tx int, events float64, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, self, "-make", strconv.Itoa(blocks), "-tx", strconv.Itoa(tx), "-events", fmt.Sprint(events), "-grown="+strconv.FormatBool(grown))
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	defer func() {
		out.Close()    //nolint:errcheck // nothing more is read
		command.Wait() //nolint:errcheck // it may not have come to its end
	}()
	pebble.LimitGarbage()
	target, err := openPebble(dir)
	if err != nil {
		return err
	}
	defer target.close()
	stopProfile, err := startProfile()
	if err != nil {
		return err
	}
	p := &pace{stats: func() (store.Stats, error) { return target.Stats(ctx) }}
	s := &stream{in: bufio.NewReaderSize(out, 1<<20), length: uint64(blocks), ahead: map[uint64]index.Raw{}, pace: p}
	x, err := index.New(index.Options{
		Store: target.Engine, Source: s, Verify: index.VerifyOff, UndoBlocks: 1, NoClasses: true,
		Announce: func(index.Announcement) { p.committed.Store(time.Now().UnixNano()) },
	})
	if err != nil {
		return err
	}
	fmt.Printf("%10s %12s %18s %14s %12s %18s %12s\n", "blocks", "blocks/s", "CPU ms a block", "of the first", "rows a block", "merged KB a block", "peak MiB")
	if err := x.RunTo(ctx, uint64(blocks-1)); err != nil {
		return err
	}
	if err := p.line(blocks); err != nil {
		return err
	}
	stopProfile()
	if err := target.Compact(ctx); err != nil {
		return err
	}
	tables, _, err := target.size()
	if err != nil {
		return err
	}
	perBlock := math.Round(float64(tables) / float64(blocks))
	fmt.Printf("%.0f bytes on disk a block after a compaction, which the peak above is without; %d MiB with it\n", perBlock, peakMemory()>>20)
	return nil
}

// stepBlocks are a line of the curve.
const stepBlocks = 2 * pieceBlocks

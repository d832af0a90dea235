package pebble

import (
	"fmt"
	"runtime"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"chainexplorer/internal/store"
)

// Compression is how the blocks of the store are packed.
type Compression int

const (
	// Balanced packs the bottom level, where nine tenths of the data end up,
	// with zstd where that saves a fifth more than the fast algorithm does.
	// All else is packed with the fast one: MinLZ, or Snappy where MinLZ has
	// no assembly.
	Balanced Compression = iota
	// Fast packs everything with the fast algorithm.
	Fast
)

func (c Compression) settings() (lsm.DBCompressionSettings, error) {
	switch c {
	case Balanced:
		return lsm.DBCompressionBalanced, nil
	case Fast:
		return lsm.DBCompressionFastest, nil
	}
	return lsm.DBCompressionSettings{}, fmt.Errorf("%w: compression %d is unknown", store.ErrInvalid, c)
}

const (
	defaultCacheBytes = 128 << 20
	// Memtables take their room from the cache. What is large goes past them, so that they can
	// be small: the filters of tables, which every read of a missing row looks at, have to fit.
	defaultMemTableBytes = 16 << 20
	minMemTableBytes     = 256 << 10
	maxMemTableBytes     = 1 << 30

	bloomBitsPerKey = 10
	blockBytes      = 16 << 10
	indexBlockBytes = 64 << 10
	firstTableBytes = 4 << 20
	lastTableBytes  = 64 << 20
)

// settings turns the options into Pebble's.
func settings(o Options) (*lsm.Options, error) {
	if o.CacheBytes < 0 || o.MemTableBytes < 0 {
		return nil, fmt.Errorf("%w: negative memory for the store", store.ErrInvalid)
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = defaultMemTableBytes
	}
	compression, err := o.Compression.settings()
	if err != nil {
		return nil, err
	}
	s := &lsm.Options{
		FormatMajorVersion: lsm.FormatNewest,
		ReadOnly:           o.ReadOnly,
		ErrorIfNotExists:   o.ReadOnly,
		CacheSize:          o.CacheBytes,
		MemTableSize:       uint64(min(max(o.MemTableBytes, minMemTableBytes), maxMemTableBytes)),
		MaxOpenFiles:       2000,

		// While the chain is being caught up with, writes come faster than
		// compactions can follow. Four memtables and a deep level 0 let a
		// burst pass; the stop threshold still bounds what a read must look at.
		// Half of the compaction threshold is how many tables lie above each other
		// before they are merged into the next level, as much of which is written
		// again each time: six, since each is what one commit holds. Every scan looks
		// into all of them: with twelve it takes more than twice as long.
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       12,
		L0StopWritesThreshold:       40,
		// What six of them hold is merged into a level of about the same size, and each level
		// is five times the one before, where Pebble's own would be ten: a merge writes less
		// of the next level again for each row that comes. It is one level more to look into,
		// also for an index of hundreds of gigabytes, since there are seven at most.
		LBaseMaxBytes: 64 << 20,

		// Write-back is spread out, so that the sync of a commit finds little
		// left to do.
		BytesPerSync:    1 << 20,
		WALBytesPerSync: 1 << 20,
	}
	s.Experimental.LevelMultiplier = 5
	s.CompactionConcurrencyRange = compactions
	s.Experimental.L0CompactionConcurrency = 4
	s.Experimental.CompactionDebtConcurrency = 512 << 20
	// A read never starts a compaction: it could then wait for a disk that has
	// failed.
	s.Experimental.ReadSamplingMultiplier = -1
	for i, size := 0, int64(firstTableBytes); i < len(s.TargetFileSizes); i++ {
		s.TargetFileSizes[i] = size
		size = min(2*size, lastTableBytes)
	}
	all := bloom.FilterPolicy(bloomBitsPerKey)
	filter := rowFilter{bloom: all, listed: listedIn(o.Tables)}
	// Tables of earlier versions have filters of all rows.
	s.Filters = map[string]lsm.FilterPolicy{all.Name(): all}
	for i := range s.Levels {
		s.Levels[i] = lsm.LevelOptions{
			BlockSize:      blockBytes,
			IndexBlockSize: indexBlockBytes,
			FilterPolicy:   filter,
			FilterType:     lsm.TableFilter,
		}
	}
	s.ApplyCompressionSettings(func() lsm.DBCompressionSettings { return compression })
	return s, nil
}

// compactions bounds how many compactions run at once: one at rest, and under
// load as many as there are cores, up to six, where the disk is the limit.
func compactions() (lower, upper int) {
	upper = min(max(runtime.NumCPU(), 2), 6)
	return max(1, upper/3), upper
}

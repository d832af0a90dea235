package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/registry"
)

// Format is the number of the columns and the layout. It is raised with every change.
const Format = 3

// Options say what to export.
type Options struct {
	Index explorer.Index
	// Dir is the folder: one that is missing or empty, or one that holds an export of the
	// same chain.
	Dir string
	// Families are what to write; all when empty.
	Families []string
	// BlocksPerFile is the length of a range. An export keeps the one that it began with, which
	// is also what 0 stands for; a new one has DefaultBlocks then.
	BlocksPerFile uint64
	// First is the first block: a multiple of BlocksPerFile.
	First uint64
	// Last is the last block; nil is the newest that is finalized, or with Latest the newest.
	Last   *uint64
	Latest bool
	// Depth is how far below the head a block is finalized.
	Depth uint64
	// Parallel is how many ranges are written at once.
	Parallel int
	// Registry settles the standards of the tokens that it lists; nil lists none.
	Registry *registry.Chain
	Program  string // its version
	// Progress, unless nil, is told how far it has come, by one goroutine at a time.
	Progress func(Progress)
}

// Progress is how far an export has come.
type Progress struct {
	Blocks, Total uint64 // of those that were not there yet
}

// Report is what a run did.
type Report struct {
	Manifest Manifest
	Written  int // files
	Kept     int // files of blocks up to the last one that were there already
	Undone   int // files that were taken away because a fork undid their blocks, or that were damaged
	Last     uint64
}

// BadOptionError says that an option cannot be.
type BadOptionError struct{ text string }

func (e *BadOptionError) Error() string { return e.text }

// ErrNothingFinal says that no block is finalized yet.
var ErrNothingFinal = errors.New("no block is finalized yet")

// run is one run.
type run struct {
	Options
	families []family
	tokens   bool
	state    chain.State

	mu       sync.Mutex
	manifest *Manifest
	report   Report
	progress Progress
}

// Run brings the export in a folder up to a block.
func Run(ctx context.Context, o Options) (*Report, error) {
	var err error
	if o.BlocksPerFile == 0 {
		if o.BlocksPerFile, err = begunWith(o.Dir); err != nil {
			return nil, err
		}
	}
	x := &run{Options: o}
	if x.families, x.tokens, err = choose(o.Families); err != nil {
		return nil, err
	}
	switch {
	case o.BlocksPerFile < 1 || o.BlocksPerFile > maxBlocks:
		return nil, &BadOptionError{fmt.Sprintf("a file has 1 to %d blocks", maxBlocks)}
	case o.First%o.BlocksPerFile != 0:
		return nil, &BadOptionError{fmt.Sprintf("the first block must be a multiple of the blocks per file: %d is none of %d", o.First, o.BlocksPerFile)}
	case o.Parallel < 1 || o.Parallel > maxParallel:
		return nil, &BadOptionError{fmt.Sprintf("1 to %d ranges are written at once", maxParallel)}
	}
	last, err := x.last(ctx)
	if err != nil {
		return nil, err
	}
	x.report.Last = last
	unlock, err := x.openDir()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := x.drop(ctx); err != nil {
		return nil, err
	}
	jobs := x.missing(last)
	group, work := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for i := range jobs {
		if work.Err() != nil {
			break
		}
		group.Go(func() error { return x.write(work, &jobs[i]) })
	}
	if err := errors.Join(group.Wait(), ctx.Err()); err != nil {
		return nil, err
	}
	return &x.report, nil
}

// begunWith is how many blocks a file has in the export of a folder. Whoever began another one meanwhile is found by open.
func begunWith(dir string) (uint64, error) {
	m, err := ReadManifest(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return DefaultBlocks, nil
	case err != nil:
		return 0, err
	}
	return cmp.Or(m.BlocksPerFile, DefaultBlocks), nil
}

// DefaultBlocks is how many blocks a file has unless somebody says so.
const DefaultBlocks = 10_000

const (
	maxBlocks   = 10_000_000
	maxParallel = 16
)

// last is the block to end with.
func (x *run) last(ctx context.Context) (last uint64, err error) {
	err = x.Index.View(ctx, func(r explorer.Reader) (err error) {
		x.state, err = chain.Read(ctx, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	if !x.state.HasHead {
		return 0, errors.New("there is nothing to export: no block is indexed")
	}
	final, ok := x.state.FinalizedBlock(x.Depth)
	switch {
	case x.Latest:
		last = x.state.Head.Number
	case !ok:
		return 0, ErrNothingFinal
	case x.Last == nil:
		last = final
	case *x.Last > final:
		return 0, &BadOptionError{fmt.Sprintf("block %d is not finalized: the newest that is has the number %d", *x.Last, final)}
	default:
		last = *x.Last
	}
	if last < x.First {
		return 0, &BadOptionError{fmt.Sprintf("the first block, %d, comes after the last one, %d", x.First, last)}
	}
	return last, nil
}

// openDir makes the folder, or takes what is in it, for this process alone.
func (x *run) openDir() (unlock func(), err error) {
	if err := os.MkdirAll(x.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	dir, err := os.Open(x.Dir)
	if err != nil {
		return nil, err
	}
	if err := durable.Lock(dir); err != nil {
		dir.Close() //nolint:errcheck // opened for reading
		return nil, fmt.Errorf("another process writes to %s: %w", x.Dir, err)
	}
	unlock = func() { dir.Close() } //nolint:errcheck // opened for reading
	if err := x.open(); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

func (x *run) open() error {
	name := index.ChainName(x.state.Format.ChainID)
	fresh := &Manifest{Format: Format, Program: x.Program, Chain: name, ChainID: x.state.Format.ChainID.String(), BlocksPerFile: x.BlocksPerFile}
	m, err := ReadManifest(x.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		entries, err := os.ReadDir(x.Dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), "."+manifestName) { // one that was never finished
				return &BadOptionError{fmt.Sprintf("%s is not empty and holds no export: give another folder", x.Dir)}
			}
		}
		m = fresh
	case err != nil:
		return err
	case m.Format != Format:
		return &BadOptionError{fmt.Sprintf("%s holds an export of format %d, and this program writes format %d: give another folder", x.Dir, m.Format, Format)}
	case m.ChainID != fresh.ChainID:
		return &BadOptionError{fmt.Sprintf("%s holds an export of %s, and the index is of %s", x.Dir, m.Chain, name)}
	case m.BlocksPerFile != x.BlocksPerFile:
		return &BadOptionError{fmt.Sprintf("the export in %s has %d blocks per file, which cannot change", x.Dir, m.BlocksPerFile)}
	}
	m.Program = x.Program
	x.manifest = m
	patterns := []string{filepath.Join(globless(x.Dir), "."+manifestName+".*")}
	for _, name := range Families() {
		patterns = append(patterns, filepath.Join(globless(filepath.Join(x.Dir, name)), ".*"+unfinished))
	}
	for _, pattern := range patterns {
		left, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, f := range left {
			if err := os.Remove(f); err != nil {
				return fmt.Errorf("remove what a run left behind: %w", err)
			}
		}
	}
	return x.save()
}

// globless is a folder as a part of a pattern that means nothing but itself.
func globless(folder string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(folder)
}

// fed notes how many blocks of a job are done.
func (x *run) fed(j *job, blocks uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.progress.Blocks += blocks - j.fed // of one that is begun again, back to where it began
	j.fed = blocks
	if x.Progress != nil {
		x.Progress(x.progress)
	}
}

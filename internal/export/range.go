package export

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

const (
	// headerRows is how many blocks are read in one view.
	headerRows = 500
	// viewRows and viewBytes bound what one view gives of the transactions.
	viewRows  = 1000
	viewBytes = 8 << 20
	// tries is how often a range is begun again whose blocks a fork undid meanwhile.
	tries = 5
)

// errMoved says that a range is not part of the chain any more.
var errMoved = errors.New("a fork undid blocks that were being exported")

// pin is what all views of a range must have: its last block, and with it all before.
type pin struct {
	last      block.Ref
	firstHash felt.Felt
	digest    chain.Digest
}

// write makes the files of a job.
func (x *run) write(ctx context.Context, j *job) (err error) {
	for range tries {
		if err = x.try(ctx, j); !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("blocks %d to %d, %d times: %w", j.first, j.last, tries, err)
}

// output is a file of a job.
type output struct {
	family string
	*file
	feeder
}

func (x *run) try(ctx context.Context, j *job) (err error) {
	var p pin
	err = x.Index.View(ctx, func(r explorer.Reader) (err error) {
		p, err = pinOf(ctx, r, j.first, j.last)
		return err
	})
	if err != nil {
		return fmt.Errorf("export blocks %d to %d: %w", j.first, j.last, err)
	}
	var outputs []output
	defer func() {
		if err == nil {
			return
		}
		for _, o := range outputs {
			if o.file != nil {
				err = errors.Join(err, o.discard())
			}
		}
	}()
	x.fed(j, 0)
	var names []string
	for _, f := range j.families {
		names = append(names, f.name)
	}
	if names == nil {
		names = []string{Tokens}
	}
	for i, name := range names {
		path := filepath.Join(x.Dir, filepath.FromSlash(pathOf(name, j.first, x.BlocksPerFile)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		f, err := create(path)
		if err != nil {
			return fmt.Errorf("make a file: %w", err)
		}
		outputs = append(outputs, output{family: name, file: f})
		if len(j.families) > 0 {
			outputs[i].feeder = j.families[i].feed(f, x.metadata(name, j, &p), x.Registry)
		}
	}
	if len(j.families) == 0 {
		err = x.feedTokens(ctx, j, &p, outputs[0].file)
	} else {
		err = x.feed(ctx, j, &p, outputs)
	}
	if err != nil {
		return fmt.Errorf("export blocks %d to %d: %w", j.first, j.last, err)
	}
	files := make([]File, 0, len(outputs))
	for i := range outputs {
		o := &outputs[i]
		f := o.file
		o.file = nil // finish discards what it cannot finish
		if err := f.finish(); err != nil {
			return fmt.Errorf("finish %s: %w", f.path, err)
		}
		files = append(files, File{Family: o.family, Path: pathOf(o.family, j.first, x.BlocksPerFile), First: j.first, Last: j.last,
			LastHash: p.last.Hash.String(), Digest: hex.EncodeToString(p.digest[:]), Rows: f.rows, Bytes: f.size, SHA256: f.digest(), KnownTokens: x.knownTokens(o.family)})
	}
	return x.done(files)
}

// metadata is what the footer of a file says of it.
func (x *run) metadata(family string, j *job, p *pin) map[string]string {
	return map[string]string{
		"chainexplorer.format":           strconv.Itoa(Format),
		"chainexplorer.program":          x.Program,
		"chainexplorer.family":           family,
		"chainexplorer.chain":            x.manifest.Chain,
		"chainexplorer.chain_id":         x.manifest.ChainID,
		"chainexplorer.first_block":      strconv.FormatUint(j.first, 10),
		"chainexplorer.first_block_hash": p.firstHash.String(),
		"chainexplorer.last_block":       strconv.FormatUint(j.last, 10),
		"chainexplorer.last_block_hash":  p.last.Hash.String(),
		"chainexplorer.digest":           hex.EncodeToString(p.digest[:]),
	}
}

func pinOf(ctx context.Context, r explorer.Reader, first, last uint64) (p pin, err error) {
	ends, err := block.GetMany(ctx, r, []uint64{first, last})
	if err != nil {
		return p, err
	}
	p.firstHash, p.last = ends[0].Hash, ends[1].Ref()
	digest, found, err := chain.DigestAt(ctx, r, last)
	if err == nil && !found {
		err = fmt.Errorf("block %d has no digest", last)
	}
	p.digest = digest
	return p, err
}

// view reads in a view that has the blocks of the pin.
func (x *run) view(ctx context.Context, p *pin, fn func(explorer.Reader) error) error {
	return x.Index.View(ctx, func(r explorer.Reader) error {
		digest, found, err := chain.DigestAt(ctx, r, p.last.Number)
		if err != nil {
			return err
		}
		if !found || digest != p.digest {
			return errMoved
		}
		return fn(r)
	})
}

// feed reads a range once and hands it to all families.
func (x *run) feed(ctx context.Context, j *job, p *pin, outputs []output) error {
	each := func(fn func(*feeder) error) error {
		for i := range outputs {
			if err := fn(&outputs[i].feeder); err != nil {
				return fmt.Errorf("%s: %w", outputs[i].family, err)
			}
		}
		return nil
	}
	needs := func(fn func(*feeder) bool) bool {
		return slices.ContainsFunc(outputs, func(o output) bool { return fn(&o.feeder) })
	}
	states := needs(func(f *feeder) bool { return f.state != nil })
	if states || needs(func(f *feeder) bool { return f.header != nil }) {
		if err := x.headers(ctx, j, p, states, each); err != nil {
			return err
		}
	}
	if needs(func(f *feeder) bool { return f.transaction != nil }) {
		if err := x.transactions(ctx, j, p, each); err != nil {
			return err
		}
	}
	if err := each(func(f *feeder) error { return f.end() }); err != nil {
		return err
	}
	x.fed(j, j.last-j.first+1)
	return nil
}

// headers feeds headers and, if wanted, states.
func (x *run) headers(ctx context.Context, j *job, p *pin, states bool, each func(func(*feeder) error) error) error {
	for first := j.first; first <= j.last; first += headerRows {
		last := min(j.last, first+headerRows-1)
		var list []*block.Summary
		var diffs []starknet.StateDiff
		err := x.view(ctx, p, func(r explorer.Reader) (err error) {
			if list, err = block.List(ctx, r, last, int(last-first+1)); err != nil {
				return err
			}
			slices.Reverse(list)
			if uint64(len(list)) != last-first+1 || list[0].Number != first {
				return fmt.Errorf("%d headers of the blocks %d to %d: some are missing", len(list), first, last)
			}
			if !states {
				return nil
			}
			numbers := make([]uint64, len(list))
			for i, b := range list {
				numbers[i] = b.Number
			}
			diffs, err = block.StatesOf(ctx, r, numbers)
			return err
		})
		if err != nil {
			return err
		}
		for i, b := range list {
			err := each(func(f *feeder) error {
				if f.header != nil {
					return f.header(b)
				}
				if f.state != nil {
					return f.state(b, &diffs[i])
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// transactions feeds transactions, and tells the ends of blocks.
func (x *run) transactions(ctx context.Context, j *job, p *pin, each func(func(*feeder) error) error) error {
	blockEnd := func(f *feeder) error {
		if f.blockEnd == nil {
			return nil
		}
		return f.blockEnd()
	}
	from, open := explorer.Position{Block: j.first}, false
	at := j.first // the block whose transactions are being fed
	for done := false; !done; {
		var list []*transaction.Record
		err := x.view(ctx, p, func(r explorer.Reader) error {
			list = list[:0]
			size := 0
			end, all, err := transaction.Walk(ctx, r, from, j.last, viewRows, func(rec *transaction.Record) bool {
				list = append(list, rec)
				size += sizeOf(rec)
				return size < viewBytes
			})
			done = all
			from = explorer.Position{Block: end.Block, Index: end.Tx + 1}
			if end.Tx == explorer.BehindAll {
				from = explorer.Position{Block: end.Block + 1}
			}
			return err
		})
		if err != nil {
			return err
		}
		x.fed(j, at-j.first)
		for _, rec := range list {
			if open && rec.Block != at {
				if err := each(blockEnd); err != nil {
					return err
				}
			}
			at, open = rec.Block, true
			err := each(func(f *feeder) error {
				if f.transaction == nil {
					return nil
				}
				return f.transaction(rec)
			})
			if err != nil {
				return err
			}
		}
	}
	if !open {
		return nil
	}
	return each(blockEnd)
}

// sizeOf is about what a transaction takes in memory.
func sizeOf(rec *transaction.Record) int {
	n := len(rec.Calldata) + len(rec.Signature) + len(rec.ConstructorCalldata) + len(rec.PaymasterData) + len(rec.AccountDeploymentData) + len(rec.ProofFacts)
	for i := range rec.Receipt.Events {
		n += 4 + len(rec.Receipt.Events[i].Keys) + len(rec.Receipt.Events[i].Data)
	}
	for i := range rec.Receipt.MessagesSent {
		n += 4 + len(rec.Receipt.MessagesSent[i].Payload)
	}
	return 1000 + n*felt.Size + len(rec.Receipt.RevertReason)
}

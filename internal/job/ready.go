package job

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// errOtherChain says that the store and the nodes do not belong together.
var errOtherChain = errors.New("the index and the node do not belong together")

// ready says why the jobs cannot begin, or nothing. An error is errOtherChain,
// which no waiting cures, or one of the store.
func (r *Runner) ready(ctx context.Context) (why string, err error) {
	err = r.Store.View(ctx, func(v store.Reader) error {
		f, present, err := chain.FormatNow(ctx, v)
		switch {
		case err != nil:
			return err
		case !present:
			why = "an indexer that begins the index"
		case f.ChainID != r.Chain:
			return fmt.Errorf("%w: the index holds chain %s and the node serves chain %s", errOtherChain, named(f.ChainID), named(r.Chain))
		case f.Layout != chain.Layout:
			why = fmt.Sprintf("an index of layout %d, which this program works on: the index has layout %d. Run the same version everywhere", chain.Layout, f.Layout)
		}
		return nil
	})
	return why, err
}

func named(id felt.Felt) string {
	if s, ok := id.ShortString(); ok {
		return s
	}
	return id.String()
}

package explorer

import (
	"context"
	"slices"

	"chainexplorer/internal/store"
)

// Plan is a Follower's work on a block, begun.
type Plan struct {
	// Keys name the earlier rows that Follow needs to see.
	Keys []store.Key
	// Chase, unless nil, finds in their values, in the order of Keys and nil for a
	// row that does not exist, which other rows are needed: those of the class that a
	// contract had so far, say. There is no third step.
	Chase func(earlier [][]byte) ([]store.Key, error)
	// Follow appends rows. earlier has the values of Keys and behind them those of
	// what Chase named. It is called once, if at all, and may use the memory of Keys
	// again.
	Follow func(earlier [][]byte, rows *Rows) error
}

// PlanError says which plan could not be followed. Other errors of Follow are those
// of its reads.
type PlanError struct {
	Plan  int
	Cause error
}

func (e *PlanError) Error() string { return e.Cause.Error() }

func (e *PlanError) Unwrap() error { return e.Cause }

// Follow carries plans out in their order, with one read for all, and one more where
// some of them have to ask twice.
func Follow(ctx context.Context, plans []Plan, getMany func(context.Context, []store.Key) ([][]byte, error), rows *Rows) error {
	asked := make([][]store.Key, len(plans))
	for i := range plans {
		asked[i] = plans[i].Keys
	}
	values, err := readFor(ctx, asked, getMany)
	if err != nil {
		return err
	}
	for i := range plans {
		asked[i] = nil
		if plans[i].Chase != nil {
			if asked[i], err = plans[i].Chase(values[i]); err != nil {
				return &PlanError{i, err}
			}
		}
	}
	chased, err := readFor(ctx, asked, getMany)
	if err != nil {
		return err
	}
	for i := range plans {
		earlier := values[i]
		if len(chased[i]) > 0 {
			earlier = slices.Concat(earlier, chased[i])
		}
		if err := plans[i].Follow(earlier, rows); err != nil {
			return &PlanError{i, err}
		}
	}
	return nil
}

// readFor reads the rows that plans ask for, in one go if there are any.
func readFor(ctx context.Context, asked [][]store.Key, getMany func(context.Context, []store.Key) ([][]byte, error)) ([][][]byte, error) {
	out := make([][][]byte, len(asked))
	keys := slices.Concat(asked...)
	if len(keys) == 0 {
		return out, nil
	}
	values, err := getMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i := range asked {
		out[i], values = values[:len(asked[i])], values[len(asked[i]):]
	}
	return out, nil
}

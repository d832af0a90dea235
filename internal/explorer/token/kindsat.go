package token

import (
	"context"

	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// KindMemo tells the standards of tokens and remembers them for one request.
type KindMemo struct {
	r      store.Reader
	tokens numbering.Few // all that were asked for
	now    []kindNow     // of them
	few    bool
}

// NewKindMemo remembers nothing yet.
func NewKindMemo(r store.Reader) *KindMemo { return &KindMemo{r: r} }

// MaxHistories is of how many tokens a memo of few histories looks into them.
const MaxHistories = 8

// FewHistories is NewKindMemo with a bound of MaxHistories scans on each At, for answers that cost the same
// whatever is asked for. The standards behind it are Ambiguous, not those of another class.
func FewHistories(r store.Reader) *KindMemo { return &KindMemo{r: r, few: true} }

// Of answers for many tokens at once, at the newest block: what Kinds costs, for those that
// were not asked for before.
func (k *KindMemo) Of(ctx context.Context, tokens []felt.Felt) ([]transfer.Standard, error) {
	for i := range tokens {
		k.tokens.Number(&tokens[i])
	}
	if err := k.read(ctx); err != nil {
		return nil, err
	}
	out := make([]transfer.Standard, len(tokens))
	for i := range tokens {
		out[i] = k.now[k.tokens.Find(&tokens[i])].standard
	}
	return out, nil
}

// At tells the standards that tokens had at blocks, in order: by the entry points of their classes there, and
// where these do not tell as Of does. It costs what Of does; the class of today settles nearly all, also in the
// block that set it. For those that were given another class later, it costs what contract.ClassesAtMany does
// and one GetMany.
func (k *KindMemo) At(ctx context.Context, list []contract.At) ([]transfer.Standard, error) {
	for i := range list {
		k.tokens.Number(&list[i].Address)
	}
	if err := k.read(ctx); err != nil {
		return nil, err
	}
	out := make([]transfer.Standard, len(list))
	var older []contract.At
	var where []int
	for i := range list {
		now := &k.now[k.tokens.Find(&list[i].Address)]
		if out[i] = now.standard; now.since > list[i].Block {
			older, where = append(older, list[i]), append(where, i)
		}
	}
	if len(older) == 0 {
		return out, nil
	}
	return out, k.before(ctx, older, where, out)
}

// before puts the standards of the classes that tokens had before those of today where they belong in out.
func (k *KindMemo) before(ctx context.Context, list []contract.At, where []int, out []transfer.Standard) error {
	if k.few {
		var looked numbering.Few
		n := 0
		for i := range list {
			if at, _ := looked.Number(&list[i].Address); at >= MaxHistories {
				out[where[i]] = transfer.Ambiguous
				continue
			}
			list[n], where[n] = list[i], where[i]
			n++
		}
		list, where = list[:n], where[:n]
	}
	classes, err := (&contract.ClassRoom{Shallow: k.few}).AtMany(ctx, k.r, list)
	if err != nil {
		return err
	}
	var hashes []felt.Felt
	var of []int
	for i, c := range classes {
		switch {
		case c != nil:
			hashes, of = append(hashes, c.After), append(of, i)
		case k.few: // it may be below what was looked at
			out[where[i]] = transfer.Ambiguous
		}
	}
	kinds, err := kindsOfClasses(ctx, k.r, hashes, of, len(list))
	if err != nil {
		return err
	}
	for i, kind := range kinds {
		if kind != transfer.Ambiguous {
			out[where[i]] = kind
		}
	}
	return nil
}

// read asks for the tokens that were numbered since it was called last.
func (k *KindMemo) read(ctx context.Context) (err error) {
	tokens := k.tokens.All()
	if len(k.now) == len(tokens) {
		return nil
	}
	now, err := kindsNow(ctx, k.r, tokens[len(k.now):], k.now)
	if err != nil {
		k.tokens.Reset() // some have no standard
		k.now = nil
		return err
	}
	k.now = now
	return nil
}

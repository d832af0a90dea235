package index_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// job fails at first, then says what its commits came to and waits for its end.
type job struct {
	runs    int
	results chan error
	ended   chan struct{}
}

func (*job) Name() string { return "test" }

func (j *job) Run(ctx context.Context, commit index.Commit) error {
	if j.runs++; j.runs < 3 {
		return errors.New("not yet")
	}
	key := class.MissingKey(felt.FromUint64(7))
	for _, k := range []store.Key{{Table: block.Subject{}.Tables()[0], Partition: make([]byte, 4), Sort: []byte{1}}, key} {
		b := &store.Batch{}
		b.Put(key, class.EncodeMissing(1))
		b.Put(k, class.EncodeMissing(2))
		j.results <- commit(ctx, b)
	}
	<-ctx.Done()
	close(j.ended)
	return ctx.Err()
}

// TestJobs: a job is started again, commits enrichment as the writer and
// nothing else, and ends before the run does.
func TestJobs(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 4, Blocks: 3})
	e := openMem(t)
	j := &job{results: make(chan error, 2), ended: make(chan struct{})}
	x, err := index.New(index.Options{Store: e, Source: serve(t, c, starknet.V010, nil, nil), Jobs: []index.Job{j},
		NoClasses: true, RetryMin: time.Millisecond, RetryMax: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	if err := <-j.results; !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a row of a block was committed: %v", err)
	}
	if err := <-j.results; err != nil {
		t.Errorf("enrichment was not committed: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	select {
	case <-j.ended:
	default:
		t.Error("the run ended before its job")
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		v, err := r.Get(t.Context(), class.MissingKey(felt.FromUint64(7)))
		if string(v) != string(class.EncodeMissing(2)) {
			t.Errorf("the row is %x", v)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

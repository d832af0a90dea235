package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"chainexplorer/internal/simprover"
)

type simproverCommand struct {
	Listen  string        `default:"127.0.0.1:9640" placeholder:"ADDRESS" help:"Where to serve JSON-RPC; 127.0.0.1:9640 unless set."`
	Workers int           `default:"2" help:"Proofs at once."`
	Queue   int           `default:"8" help:"Requests that wait for a worker; 0 for none."`
	Latency time.Duration `default:"2s" help:"How long a proof takes."`
	Answer  string        `default:"proof" placeholder:"NAME" help:"How requests are answered, unless the nonce of their transaction says otherwise; 'list' shows the names."`
}

func (c *simproverCommand) Run(ctx context.Context, con *console) error {
	if c.Answer == "list" {
		for _, a := range simprover.Answers {
			fmt.Fprintln(con.out, a)
		}
		return nil
	}
	if !slices.Contains(simprover.Answers, simprover.Answer(c.Answer)) {
		return &usageError{fmt.Sprintf("--answer %q is no answer: --answer list shows them", c.Answer)}
	}
	if c.Workers < 1 || c.Workers > 1000 || c.Queue < 0 || c.Queue > 10_000 || c.Latency < 0 {
		return &usageError{"--workers must be 1 to 1000, --queue 0 to 10000, --latency not negative"}
	}
	queue := c.Queue
	if queue == 0 {
		queue = -1 // none: zero would be the default
	}
	prover := simprover.New(simprover.Options{Workers: c.Workers, Queue: queue, Latency: c.Latency})
	prover.Always(simprover.Answer(c.Answer))
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("simprover: %w", err)
	}
	con.log.Info("serving a simulated prover; its proofs prove nothing", "address", "http://"+l.Addr().String(), "answer", c.Answer)
	srv := &http.Server{Handler: prover, ReadHeaderTimeout: 5 * time.Second}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cancel(err)
		}
	}()
	<-ctx.Done()
	stop, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	srv.Shutdown(stop) //nolint:errcheck // proofs that run end with the process
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("simprover: %w", err)
	}
	return nil
}

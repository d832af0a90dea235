package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"chainexplorer/internal/felt"
)

// Pool is a set of nodes of one chain, used as one. It is safe for concurrent use.
type Pool struct {
	cfg   Config
	log   *slog.Logger
	nodes []*node

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // background goroutines

	introduced chan struct{} // closed when every node was asked once
	unfit      error         // which of them can never be used; set before that

	mu        sync.Mutex
	chain     felt.Felt
	chainNode *node // who fixed the chain

	tail   tail
	hedges allowance
	// guestHedges is what callers' reads may be asked again: they must not use up
	// what the index needs.
	guestHedges allowance
}

// Open checks the configuration, asks every node once who it is, and watches
// their heads until Close. Nodes that do not answer now are tried later; a node
// of another chain or of an unknown version is an error. A patient pool is
// returned before they are asked.
func Open(ctx context.Context, cfg Config) (*Pool, error) {
	addrs, err := parseEndpoints(cfg.Nodes)
	if err != nil {
		return nil, fmt.Errorf("open node pool: %w", err)
	}
	cfg = cfg.withDefaults()
	p := &Pool{cfg: cfg, log: cfg.Logger, chain: cfg.Chain, introduced: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	for i, a := range addrs {
		p.nodes = append(p.nodes, &node{
			index: i, name: a.name, addr: a,
			slots:    make(chan struct{}, cfg.MaxInFlight),
			guests:   make(chan struct{}, cfg.GuestsInFlight),
			identify: make(chan struct{}, 1),
			wake:     make(chan struct{}, 1),
			looking:  make(chan struct{}, 1),
		})
		cfg.Metrics.setHealthy(a.name, true)
		cfg.Metrics.setQuarantined(a.name, false)
	}
	p.work.Go(p.introduce)
	if cfg.Patient {
		return p, nil
	}
	if err := p.Introduced(ctx); err != nil {
		p.Close()
		return nil, fmt.Errorf("open node pool: %w", err)
	}
	return p, nil
}

// introduce asks every node once who it is, and then watches them.
func (p *Pool) introduce() {
	errs := p.identifyAll(p.ctx)
	p.unfit = misconfigured(errs)
	for i, n := range p.nodes {
		if errs[i] != nil && p.ctx.Err() == nil {
			p.failed(n, errs[i], true)
		}
		p.work.Go(func() { p.watch(n) })
	}
	close(p.introduced)
}

// Introduced waits until every node was asked once who it is. It fails when one
// that answered is of another chain or of an unknown version; one that did not
// answer is no failure.
func (p *Pool) Introduced(ctx context.Context) error {
	select {
	case <-p.introduced:
		return p.unfit
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the background work and waits for it. Reads in flight are not
// cut off; new ones still work but heads are no longer followed.
func (p *Pool) Close() {
	p.tail.shut()
	p.cancel(ErrClosed)
	p.work.Wait()
	p.tail.closeAll()
	if p.cfg.HTTP.Transport != nil {
		p.cfg.HTTP.CloseIdleConnections()
	}
}

// each runs f for every node at once and waits.
func (p *Pool) each(f func(i int, n *node)) {
	var wg sync.WaitGroup
	for i, n := range p.nodes {
		wg.Go(func() { f(i, n) })
	}
	wg.Wait()
}

// watch looks at the node's head from time to time, and when woken.
func (p *Pool) watch(n *node) {
	for {
		timer := time.NewTimer(p.watchInterval(n))
		select {
		case <-p.ctx.Done():
			timer.Stop()
			return
		case <-n.wake:
			timer.Stop()
		case <-timer.C:
		}
		p.cfg.Metrics.setQuarantined(n.name, p.quarantined(n))
		if n.resting(time.Now()) {
			continue
		}
		if err := p.probe(p.ctx, n); err == nil {
			p.announce(false)
		}
	}
}

// watchInterval is short while someone follows the heads of a node that does
// not push them, or has pushed one that it did not show yet. A failing node is not
// hurried.
func (p *Pool) watchInterval(n *node) time.Duration {
	d := p.cfg.HealthInterval
	followed := p.tail.followed()
	n.mu.Lock()
	defer n.mu.Unlock()
	awaited := n.live && n.pushed > n.head.Number
	if followed && (!n.live || awaited) && n.healthyLocked() && n.refused == nil {
		d = p.cfg.PollInterval
	}
	// A little jitter keeps many nodes and many processes out of step.
	return d - time.Duration(p.cfg.Rand()*float64(d)/10)
}

func (n *node) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (p *Pool) probeLane() lane {
	return lane{timeout: min(p.cfg.RequestTimeout, max(p.cfg.HealthInterval, 2*time.Second)), probe: true}
}

// probe asks a node for its head, and who it is if that is unknown or old.
func (p *Pool) probe(ctx context.Context, n *node) error {
	n.mu.Lock()
	stale := n.id == nil || !n.healthyLocked() || time.Since(n.id.since) > identityTTL
	n.mu.Unlock()
	var err error
	if stale {
		select {
		case n.identify <- struct{}{}:
			err = p.askIdentity(ctx, n)
			<-n.identify
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	} else {
		mark := n.headMark()
		var r reply
		if r, err = p.exchangeOne(ctx, n, call{method: "starknet_blockHashAndNumber"}, p.probeLane()); err == nil {
			err = p.takeHead(ctx, n, r, mark)
		}
	}
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		p.failed(n, err, true)
		return err
	}
	p.succeeded(n, true)
	return nil
}

// parseHead reads the two fields that head answers and block headers share.
func parseHead(raw []byte, name string) (Head, error) {
	var wire struct {
		Hash   *felt.Felt `json:"block_hash"`
		Number *uint64    `json:"block_number"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Head{}, fmt.Errorf("%w: head: %w", ErrMalformed, err)
	}
	if wire.Hash == nil || wire.Number == nil {
		return Head{}, fmt.Errorf("%w: head without block_hash or block_number", ErrMalformed)
	}
	if *wire.Number > highestPossible {
		return Head{}, fmt.Errorf("%w: block %d: %w", ErrMalformed, *wire.Number, errImpossible)
	}
	return Head{Number: *wire.Number, Hash: *wire.Hash, Node: name}, nil
}

// Head is the highest head that a node showed. It asks them when what is known is
// older than the poll interval; failing nodes are not waited for.
func (p *Pool) Head(ctx context.Context) (Head, error) {
	for round := 0; ; round++ {
		errs := make([]error, len(p.nodes))
		anyHealthy := false
		for _, n := range p.nodes {
			n.mu.Lock()
			anyHealthy = anyHealthy || (n.healthyLocked() && n.refused == nil)
			n.mu.Unlock()
		}
		p.each(func(i int, n *node) {
			n.mu.Lock()
			recent := n.headKnown && time.Since(n.headTime) < p.cfg.PollInterval
			skip := recent || (n.live && n.headKnown) || n.refused != nil || (anyHealthy && !n.healthyLocked()) ||
				time.Now().Before(n.restUntil)
			n.mu.Unlock()
			if !skip {
				errs[i] = p.probe(ctx, n)
			}
		})
		if ctx.Err() != nil {
			return Head{}, context.Cause(ctx)
		}
		if h, ok := p.bestHead(time.Now()); ok {
			return h, nil
		}
		err := p.exhausted(errs)
		if errors.Is(err, ErrNoNode) && joined(errs...) == nil && anyHealthy {
			return Head{}, fmt.Errorf("head: %w", &RPCError{Code: CodeNoBlocks, Message: "the chain has no blocks"})
		}
		if round+1 >= p.cfg.MaxAttempts {
			return Head{}, fmt.Errorf("head: %w", err)
		}
		if perr := p.pause(ctx, p.waitTime(round, readOp{}, nil)); perr != nil {
			return Head{}, fmt.Errorf("head: %w: %w", perr, err)
		}
	}
}

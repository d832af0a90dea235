package places

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/control"
)

const (
	// renewEvery is how often a process renews what it holds.
	renewEvery = time.Second
	// term is how long a process may let requests in by what it was granted.
	term = 5 * time.Second
	// margin is how much longer than its time a request may be at work.
	margin = time.Second
	// askTime bounds how long a request waits for a place.
	askTime = 500 * time.Millisecond
	// awayTime is how long nobody asks again after the database did not answer.
	awayTime = time.Second
	// shutTime is how long nobody asks again after there was no place.
	shutTime = 200 * time.Millisecond
	// quietRounds is for how many renewals places are kept that nobody uses.
	quietRounds = 30
	// batch is how many owners are renewed at once.
	batch = 500
	// parts of all places are held at least, unless others are short of them.
	parts = 8
)

// Ledger is where processes write down what they hold: a control.DB.
type Ledger interface {
	AskPlaces(ctx context.Context, process string, number int64, asks []control.PlaceAsk) ([]control.PlaceGrant, error)
	LeavePlaces(ctx context.Context, process string) error
}

// Options of a Book. Only the ledger is needed.
type Options struct {
	Ledger     Ledger
	Now        func() time.Time
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Book is what one process holds. It is safe for concurrent use.
type Book struct {
	ledger  Ledger
	process string
	now     func() time.Time
	log     *slog.Logger
	asks    *prometheus.CounterVec
	asked   atomic.Int64 // questions
	away    atomic.Int64 // until when nobody asks, in nanoseconds since 1970
	shares  []*Share     // all made before the first request
}

// New makes the book of a process, which is nobody that was there before.
func New(o Options) *Book {
	var id [12]byte
	rand.Read(id[:]) //nolint:errcheck // never fails
	b := &Book{ledger: o.Ledger, process: hex.EncodeToString(id[:]), now: o.Now, log: o.Logger,
		asks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_api_place_asks_total", Help: "Questions to the control database for places of workspaces, by outcome; while they fail, each process counts on its own.",
		}, []string{"outcome"})}
	if b.now == nil {
		b.now = time.Now
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if o.Registerer != nil {
		o.Registerer.MustRegister(b.asks)
	}
	return b
}

// Share is for places of one kind, of which an owner has so many in all processes. No
// request may hold one for longer than life. It is called before the first request.
func (b *Book) Share(kind string, limit int, life time.Duration) *Share {
	s := &Share{book: b, kind: kind, limit: limit, lasts: term + life + margin, owners: map[string]*holding{}}
	b.shares = append(b.shares, s)
	return s
}

// Run renews what is held until ctx ends, and gives everything back then.
func (b *Book) Run(ctx context.Context) {
	if err := b.leave(ctx); err != nil { // tidies up behind those that were killed
		b.log.Warn("the places of processes that were killed are kept", "err", err)
	}
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if err := b.leave(context.WithoutCancel(ctx)); err != nil {
				b.log.Warn("the places of workspaces that this process held are free a little later", "err", err)
			}
			return
		case <-tick.C:
			b.Renew(ctx)
		}
	}
}

func (b *Book) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return b.ledger.LeavePlaces(ctx, b.process)
}

// Renew is one round of Run.
func (b *Book) Renew(ctx context.Context) {
	for _, s := range b.shares {
		s.renew(ctx)
	}
}

// ask puts questions to the database.
func (b *Book) ask(ctx context.Context, asks []control.PlaceAsk) ([]control.PlaceGrant, error) {
	// A client that goes away must not take its grant with it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	start := b.now()
	grants, err := b.ledger.AskPlaces(ctx, b.process, b.asked.Add(1), asks)
	if err != nil {
		b.asks.WithLabelValues("failed").Inc()
		told := b.isAway(start)
		if b.away.Store(start.Add(awayTime).UnixNano()); !told {
			b.log.Warn("requests at work are counted by this process alone", "err", err)
		}
		return nil, err
	}
	b.asks.WithLabelValues("ok").Inc()
	return grants, nil
}

// isAway says that the database did not answer a moment ago. A clock that was set back does not make it longer.
func (b *Book) isAway(now time.Time) bool {
	left := b.away.Load() - now.UnixNano()
	return left > 0 && left <= int64(awayTime)
}

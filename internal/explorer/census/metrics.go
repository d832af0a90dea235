package census

import (
	"math/big"

	"chainexplorer/internal/store/record"
)

// Metrics say how a token is spread over its holders. They are computed from all
// rows of a generation, in whole numbers: shares are rounded down.
type Metrics struct {
	Top5, Top10, Top100             *big.Int
	Top5Bps, Top10Bps, Top100Bps    uint64
	GiniPPM                         uint64
	Nakamoto50                      uint64 // the fewest holders who have more than half
	Above1Percent                   uint64 // holders with more than a hundredth
	Tiers                           [4]Tier
	Whales, WhaleBps                uint64 // holders with a hundredth or more, together
	AtLeast1, AtLeast01, AtLeast001 uint64 // holders with at least 1, 0.1 and 0.01 percent
}

// Tier is the holders whose share is at least MinBps and below that of the tier
// before it.
type Tier struct {
	Name    string
	MinBps  uint64
	Holders uint64
	Bps     uint64 // of all, together
}

// tierNames and tierBps are the tiers, largest first.
var (
	tierNames = [4]string{"whale", "large", "medium", "small"}
	tierBps   = [4]uint64{100, 10, 1, 0}
)

func (m *Metrics) sums() []**big.Int { return []**big.Int{&m.Top5, &m.Top10, &m.Top100} }

func (m *Metrics) numbers() []*uint64 {
	out := []*uint64{&m.Top5Bps, &m.Top10Bps, &m.Top100Bps, &m.GiniPPM, &m.Nakamoto50, &m.Above1Percent, &m.Whales, &m.WhaleBps, &m.AtLeast1, &m.AtLeast01, &m.AtLeast001}
	for i := range m.Tiers {
		out = append(out, &m.Tiers[i].Holders, &m.Tiers[i].Bps)
	}
	return out
}

func (m *Metrics) encode(e *record.Encoder) {
	for _, n := range m.sums() {
		encodeInt(e, *n)
	}
	for _, n := range m.numbers() {
		e.Uint(*n)
	}
}

func decodeMetrics(d *record.Decoder) *Metrics {
	m := &Metrics{}
	for _, n := range m.sums() {
		*n = decodeInt(d)
	}
	for _, n := range m.numbers() {
		*n = d.Uint()
	}
	for i := range m.Tiers {
		m.Tiers[i].Name, m.Tiers[i].MinBps = tierNames[i], tierBps[i]
	}
	return m
}

// Tally computes metrics from holders that are added in the order of their
// ranks. It takes constant memory.
type Tally struct {
	holders uint64
	total   *big.Int

	rank     uint64
	sum      *big.Int // of those added
	weighted *big.Int // of (holders+1-rank) times balance
	m        Metrics
	tierSum  [4]*big.Int
	tier     int
	above    bool // still above a hundredth
	x, y     *big.Int
}

// NewTally starts a tally of so many holders who have so much together.
func NewTally(holders uint64, total *big.Int) *Tally {
	t := &Tally{holders: holders, total: total, sum: new(big.Int), weighted: new(big.Int), above: true, x: new(big.Int), y: new(big.Int)}
	for i := range t.tierSum {
		t.tierSum[i] = new(big.Int)
		t.m.Tiers[i].Name, t.m.Tiers[i].MinBps = tierNames[i], tierBps[i]
	}
	for _, n := range t.m.sums() {
		*n = new(big.Int)
	}
	return t
}

const allBps = 10_000

// Add takes the balance of the next rank.
func (t *Tally) Add(balance *big.Int) {
	t.rank++
	t.sum.Add(t.sum, balance)
	t.weighted.Add(t.weighted, t.x.Mul(balance, t.y.SetUint64(t.holders+1-t.rank)))
	for i, n := range []uint64{5, 10, 100} {
		if t.rank <= n {
			(*t.m.sums()[i]).Set(t.sum)
		}
	}
	if t.m.Nakamoto50 == 0 && t.x.Lsh(t.sum, 1).Cmp(t.total) > 0 {
		t.m.Nakamoto50 = t.rank
	}
	if t.above {
		if t.above = t.x.Mul(balance, t.y.SetUint64(100)).Cmp(t.total) > 0; t.above {
			t.m.Above1Percent++
		}
	}
	// Balances only fall, and so do tiers.
	for t.tier < len(tierBps)-1 && t.x.Mul(balance, t.y.SetUint64(allBps)).Cmp(t.x2(tierBps[t.tier])) < 0 {
		t.tier++
	}
	t.m.Tiers[t.tier].Holders++
	t.tierSum[t.tier].Add(t.tierSum[t.tier], balance)
}

// x2 is so many bps of all, times 10,000, in y.
func (t *Tally) x2(bps uint64) *big.Int { return t.y.Mul(t.total, t.y.SetUint64(bps)) }

// share is a part of all, rounded down.
func (t *Tally) share(n *big.Int, of uint64) uint64 {
	return t.x.Quo(t.x.Mul(n, t.y.SetUint64(of)), t.total).Uint64()
}

// Done returns the metrics; nil when nobody holds anything.
func (t *Tally) Done() *Metrics {
	if t.total.Sign() == 0 || t.rank == 0 {
		return nil
	}
	m := &t.m
	m.Top5Bps, m.Top10Bps, m.Top100Bps = t.share(m.Top5, allBps), t.share(m.Top10, allBps), t.share(m.Top100, allBps)
	for i := range m.Tiers {
		m.Tiers[i].Bps = t.share(t.tierSum[i], allBps)
	}
	m.Whales, m.WhaleBps = m.Tiers[0].Holders, m.Tiers[0].Bps
	m.AtLeast1 = m.Tiers[0].Holders
	m.AtLeast01 = m.AtLeast1 + m.Tiers[1].Holders
	m.AtLeast001 = m.AtLeast01 + m.Tiers[2].Holders
	// With ranks from the largest: (2·weighted - (n+1)·total) / (n·total).
	n := new(big.Int).SetUint64(t.holders)
	up := new(big.Int).Lsh(t.weighted, 1)
	up.Sub(up, new(big.Int).Mul(new(big.Int).Add(n, big.NewInt(1)), t.total))
	up.Mul(up, big.NewInt(1_000_000))
	m.GiniPPM = up.Quo(up, n.Mul(n, t.total)).Uint64()
	return m
}

package simnode

import (
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// Versions that a chain can claim. No verifier knows the rules of CheapVersion,
// so blocks with made-up hashes are reported as unverified and never as wrong.
const (
	CheapVersion = "99.0.0"
	RealVersion  = "0.14.2"
)

// Config describes a chain. The zero value is a small chain on the test network.
type Config struct {
	Seed    uint64
	ChainID felt.Felt // SN_SEPOLIA when zero
	Blocks  int       // how many blocks New makes; Extend adds more

	// TxPerBlock is the mean number of transactions; 5 when zero. A negative
	// value asks for empty blocks.
	TxPerBlock int
	// EventsPerTx is the mean number of events; 4 when zero.
	EventsPerTx float64

	// RealHashes asks for the hashes that the protocol defines, under
	// StarknetVersion. Otherwise they are derived cheaply.
	RealHashes bool
	// StarknetVersion is RealVersion or CheapVersion when empty.
	StarknetVersion string

	StartTime time.Time     // of block 0; the first of January 2026 when zero
	BlockTime time.Duration // 2 seconds when zero
	// Times are those of blocks, in seconds since 1970, that are not as StartTime and
	// BlockTime have them.
	Times map[uint64]uint64
	// L1Lag is how many blocks the L1-accepted head is behind; 20 when zero,
	// and a negative one means that nothing is ever accepted on L1.
	L1Lag int
	// Compact keeps all but the newest blocks compressed: about half
	// the memory, for a millisecond whenever one of them is asked for.
	Compact bool
	// PoolUses is how many more uses of the privacy pool a block has than the few of an
	// ordinary chain, some through a forwarder that pays the fee and is paid back. With
	// any, the pool charges a fee from block 2 on.
	PoolUses int
	// PoolTrouble is what goes wrong with the privacy pool, and in which block.
	PoolTrouble []PoolTrouble
	// Extremes asks for a transaction now and then of amounts up to the largest, by an account
	// that calls itself as well.
	Extremes bool
	// Grown asks for the accounts and tokens of a long chain within its first 2,000 blocks,
	// each of which has more of them and hands tokens out, so that the blocks behind them
	// are like those of any later time.
	Grown bool
	// Declare are classes that block 0 declares behind its own, such as one whose source
	// is at hand.
	Declare []*contracts.Class
	// ForkRate is the chance of a fork at each step of the live driver.
	ForkRate float64
}

func (c Config) withDefaults() Config {
	if c.ChainID.IsZero() {
		c.ChainID = contracts.ChainSepolia
	}
	if c.TxPerBlock == 0 {
		c.TxPerBlock = 5
	}
	if c.EventsPerTx == 0 {
		c.EventsPerTx = 4
	}
	if c.StarknetVersion == "" {
		c.StarknetVersion = CheapVersion
		if c.RealHashes {
			c.StarknetVersion = RealVersion
		}
	}
	if c.StartTime.IsZero() {
		c.StartTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if c.BlockTime == 0 {
		c.BlockTime = 2 * time.Second
	}
	if c.L1Lag == 0 {
		c.L1Lag = 20
	}
	return c
}

// timeOf is when a block was made, in seconds since 1970.
func (c *Config) timeOf(block uint64) uint64 {
	if t, there := c.Times[block]; there {
		return t
	}
	return uint64(c.StartTime.Add(time.Duration(block) * c.BlockTime).Unix())
}

// atLeast compares dotted versions number by number.
func (c *Config) atLeast(want ...int) bool {
	parts := strings.Split(c.StarknetVersion, ".")
	for i, w := range want {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i]) // a version that is not a number is old
		}
		if n != w {
			return n > w
		}
	}
	return true
}

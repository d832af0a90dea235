package index

import (
	"errors"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/starknet"
)

// UnverifiedPolicy says what becomes of a block that can neither be shown to
// follow from its hash nor not to.
type UnverifiedPolicy string

// The policies. A block that is stored is marked, and nothing that builds on it
// is called final.
const (
	UnverifiedRefuse UnverifiedPolicy = "refuse"
	UnverifiedStore  UnverifiedPolicy = "store"
)

// verify recomputes a block. What contradicts its hashes is refused, and so is
// what cannot be held against them, unless the operator wants it.
func (x *Indexer) verify(b *starknet.Block, su *starknet.StateUpdate, node string) (f chain.Finding, err error) {
	start := time.Now()
	err = starknet.Verify(b, su, x.chainID)
	x.Metrics.stage("verify", start)
	var doubt *starknet.UnverifiedError
	switch {
	case err == nil:
		x.Metrics.verified.WithLabelValues("verified").Inc()
		return chain.Finding{Outcome: chain.Verified, Rules: starknet.RulesOf(&b.Header, x.chainID)}, nil
	case errors.As(err, &doubt) && x.Unverified == UnverifiedStore:
		x.Metrics.verified.WithLabelValues("unverified").Inc()
		x.noteUnverified(b, doubt)
		return chain.Finding{Outcome: chain.Unverified, Reason: doubt.Reason}, nil
	case errors.As(err, &doubt):
		x.Metrics.verified.WithLabelValues("refused").Inc()
	default:
		x.Metrics.verified.WithLabelValues("failed").Inc()
	}
	return f, &VerifyError{Block: b.Number, Node: node, Cause: err}
}

// noteUnverified logs once per reason and version of the protocol: a chain that
// moved on to new rules would otherwise fill the log.
func (x *Indexer) noteUnverified(b *starknet.Block, doubt *starknet.UnverifiedError) {
	key := doubt.Reason + " " + b.StarknetVersion
	if _, seen := x.Metrics.doubts.LoadOrStore(key, true); !seen {
		x.Logger.Warn("blocks are stored unverified", "block", b.Number, "starknet_version", b.StarknetVersion,
			"reason", doubt.Reason, "err", doubt)
	}
}

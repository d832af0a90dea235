package census

import (
	"time"

	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/felt"
)

// Step is what is done for a generation.
type Step uint8

// Steps, in their order.
const (
	Gathering Step = iota // balances become rows
	Ranking               // rows are read in their order
	Asking                // the contract is asked
	Ended                 // published, or given up
)

// Progress is how far the count of a token's holders has come.
type Progress struct {
	Token felt.Felt
	Step  Step
	// Holders of Total are done in this step. While they are gathered the total is
	// that of the head: how many the finalized block has is what is being counted.
	// The contract is asked for some Holders at once, and Total is 0.
	Holders, Total uint64
}

func (j *Job) progress(g *census.Generation, step Step, holders, total uint64) {
	if j.Progress != nil {
		j.Progress(Progress{Token: g.Token, Step: step, Holders: holders, Total: total})
	}
}

// tellEvery is how often a count that takes long is logged.
const tellEvery = 10 * time.Second

// tell logs how far a count has come, unless somebody else shows it, and returns
// when it last did.
func (j *Job) tell(g *census.Generation, last time.Time) time.Time {
	now := j.Now()
	if j.Progress != nil || now.Sub(last) < tellEvery {
		return last
	}
	attrs := []any{"token", g.Token, "generation", g.ID, "block", g.AsOf, "holders", g.Holders}
	if g.Previous != nil {
		attrs = append(attrs, "holders_before", g.Previous.Holders)
	}
	j.Logger.Info("counting the holders of a token", attrs...)
	return now
}

package main

import "chainexplorer/internal/job/census"

// counting shows the holder census of a chain on a terminal, beside the indexing.
// It is nil where there is none: the job logs by itself. Counts follow one another,
// and what came of each is logged, so that nothing is left behind on the screen.
func (c *console) counting(chain string) func(census.Progress) {
	if c.terminal == nil {
		return nil
	}
	what := map[census.Step]string{census.Gathering: "counting holders ", census.Ranking: "ranking holders ", census.Asking: "asking for balances "}
	var m *meter
	var step census.Step
	return func(p census.Progress) {
		if m != nil && p.Step != step {
			c.terminal.drop(&m.line)
			m = nil
		}
		if p.Step == census.Ended {
			return
		}
		if m == nil {
			m, step = c.meter(what[p.Step]+chain, "holders"), p.Step
		}
		m.at(amount{done: p.Holders, total: p.Total, detail: "token " + p.Token.String()})
	}
}

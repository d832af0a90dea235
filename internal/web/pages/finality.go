package pages

import (
	"html/template"

	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/web"
)

// Finality draws how settled a block is: a bar with three marks.
func (l *look) Finality(number uint64) (template.HTML, error) {
	tier := l.state.Finality(number, l.served.Depth)
	marks := []chart.Mark{
		{Name: "Accepted on L2", State: chart.Reached, Note: "by the sequencer"},
		{Name: "Finalized", State: chart.Waiting},
		{Name: "Accepted on L1", State: chart.Waiting, Note: "waits for a proof"},
	}
	deep := &marks[1]
	switch at, long := l.state.Below(l.served.Depth); {
	case tier >= chain.Finalized:
		deep.State, deep.Note = chart.Reached, "a fork is rare here"
	case long && number <= at:
		deep.Note = "held back: a block up to it is not verified, or not agreed on"
	default:
		deep.Note = plural(l.served.Depth+number-l.state.Head.Number, "block") + " to go"
	}
	switch proof := &marks[2]; {
	case tier == chain.AcceptedL1:
		proof.State, proof.Note = chart.Reached, "proven to Ethereum"
	case !l.state.HasL1:
		proof.State, proof.Note = chart.Unknown, "no node told"
	case number <= l.state.L1.Number:
		proof.Note = "the node says so; held back as above"
	default:
		proof.Note = "proven up to " + web.Group(l.state.L1.Number)
	}
	return chart.Finality{Title: "How settled the block is", Marks: marks}.HTML()
}

// finalizedUpTo is the newest block that is finalized, by its depth or because L1 accepted
// it, which is more: no tier lies behind one that comes after it.
func (l *look) finalizedUpTo() (uint64, bool) {
	n, ok := l.state.FinalizedBlock(l.served.Depth)
	if l.state.HasL1 && (!ok || l.state.L1.Number > n) && l.state.Finality(l.state.L1.Number, l.served.Depth) == chain.AcceptedL1 {
		return l.state.L1.Number, true
	}
	return n, ok
}

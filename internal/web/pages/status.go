package pages

import (
	"fmt"
	"html/template"

	"chainexplorer/internal/api"
)

// statusPath is for all chains.
const statusPath = "/status"

// health is what can be said of a chain's index, and of what it rests on. While nothing can
// be told of it there is no look, and Note says why.
type health struct {
	L           *look
	ID, Anchor  string
	State, Tone string
	Note        string
	S           *api.Status
	Settledness template.HTML
	Fork        template.HTML
	Audited     template.HTML
	Forks       template.HTML // drawn; "" where there were none
	Jobs        []jobRow
}

// statusPage says whether the service can be relied on right now. Rows read: the status of
// every chain, and how far its jobs are.
func statusPage(l *look) (*sheet, error) {
	var chains []*health
	for i, id := range l.p.Chains {
		h, err := l.healthOf(id)
		if err != nil {
			return nil, err
		}
		h.Anchor = fmt.Sprintf("chain-%d", i+1)
		chains = append(chains, h)
	}
	return &sheet{
		title:       "Status",
		description: "Whether the index of every chain is current and sound: its head, its nodes and their agreement, what was verified, and the last fork.",
		name:        "status.html", plain: true, data: map[string]any{"Chains": chains, "Timings": l.timingRows(), "Proven": l.proven()},
	}, nil
}

// healthOf looks at one chain. One that cannot be looked at does not hide the others.
func (l *look) healthOf(id string) (h *health, err error) {
	l.p.moods[id].now(l.ctx) // it sees forks
	err = l.on(id, func(l *look) (err error) {
		status, err := ask[api.Status](l, "getStatus", nil)
		if err != nil {
			return err
		}
		h = &health{L: l, ID: id, S: status, Note: moodOf(status), Fork: l.lastFork(status.LastFork), Audited: l.audited(status.Verification.Audit)}
		h.State, h.Tone = stateWord(status)
		if h.Settledness, err = l.settledness(status); err != nil || !l.state.HasHead {
			return err
		}
		if h.Forks, err = l.p.moods[id].forks.timeline(l, "forks-"+id); err != nil {
			return err
		}
		h.Jobs, err = l.jobRows()
		return err
	})
	if err == nil {
		return h, nil
	}
	o, err := l.overview(id) // it says why
	if err != nil {
		return nil, err
	}
	return &health{ID: id, State: o.State, Tone: o.Tone, Note: o.Note}, nil
}

// auditWords are the states of the auditor in words, with their tones.
var auditWords = map[string][2]string{
	"current": {"good", "found nothing"}, "stale": {"warn", "has not looked for more than an hour"}, "disputed": {"warn", "nodes contradict one another"},
	"mismatch": {"bad", "found a contradiction"}, "damaged": {"bad", "cannot read a part of the index"},
}

// unqualified tells of balances that differ where the index does not claim to know them.
func unqualified(n uint64) template.HTML {
	if n == 0 {
		return ""
	}
	return template.HTML("; " + plural(n, "balance") + ` <abbr title="Of tokens whose transfers nobody found to tell all: their balances are not told from transfers, so that nothing here is wrong by them.">of other tokens</abbr> differed from their transfers`) //nolint:gosec // a number and fixed text
}

// audited tells what the auditor has done.
func (l *look) audited(a *api.Audit) template.HTML {
	if a == nil {
		return `<span class="unknown">no auditor has run</span>`
	}
	words := auditWords[a.Status]
	if words[1] == "" {
		words = [2]string{"warn", a.Status}
	}
	return badge(words[0], words[1], fmt.Sprintf("The auditor computes old blocks anew and asks nodes for samples: %s agreed with their hashes, %s of balances, classes and nonces agreed with a node, and %s contradicted the index.",
		plural(a.VerifiedBlocks, "block"), plural(a.SamplesChecked.Balances+a.SamplesChecked.ClassHashes+a.SamplesChecked.Nonces+a.SamplesChecked.Classes, "sample"), plural(a.Mismatches, "finding"))) +
		" last looked " + l.Time(a.ObservedAt) + ", next at block " + l.Block(a.NextBlockNumber) + unqualified(a.UnqualifiedDifferences)
}

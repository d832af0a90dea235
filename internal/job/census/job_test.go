package census_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/contractcall"
	rows "chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

// TestWrongTokens: of tokens that move without events, overdraw or rebase none
// is ever certified, whoever qualified them; the others are, and are right.
func TestWrongTokens(t *testing.T) {
	w := newWorld(t, 80, nil)
	for range 3 {
		w.mustRun()
		head, _ := w.chain.Head()
		verdicts := map[simnode.Lie]map[rows.Verdict]int{}
		for _, token := range w.chain.Tokens(head - depth) {
			g := w.newest(token.Address)
			if token.Standard != simnode.ERC20 || g == nil {
				continue
			}
			if verdicts[token.Lie] == nil {
				verdicts[token.Lie] = map[rows.Verdict]int{}
			}
			verdicts[token.Lie][g.Verdict]++
			if token.Lie != simnode.Honest {
				continue
			}
			want := w.chain.Holders(token.Address, g.AsOf)
			if g.Verdict != rows.Certified || g.Holders != uint64(len(want)) || g.Total.Cmp(w.chain.SupplyAt(token.Address, g.AsOf)) != 0 {
				t.Errorf("%s: %d %s, %d holders of %d", token.Symbol, g.Verdict, g.Reason, g.Holders, len(want))
			}
		}
		for _, lie := range []simnode.Lie{simnode.Silent, simnode.Overdrawn, simnode.Rebasing} {
			if v := verdicts[lie]; v[rows.AuditFailed] == 0 || v[rows.Certified] > 0 || v[rows.NotRun] > 0 {
				t.Errorf("tokens of lie %d: %v", lie, v)
			}
		}
		if verdicts[simnode.Honest][rows.Certified] < 5 {
			t.Errorf("verdicts %v", verdicts)
		}
		w.chain.Extend(15)
		w.catchUp()
		w.now = w.now.Add(3 * time.Hour)
	}
	for _, at := range w.asked {
		if w.chain.BlockAt(at.Number).Hash != at.Hash {
			t.Errorf("asked at %+v", at)
		}
	}
}

// TestProgress: a count is told of from its beginning to its end, by token, and
// never says that more is done than there is.
func TestProgress(t *testing.T) {
	var seen []census.Progress
	w := newWorld(t, 80, func(j *census.Job) {
		j.Chunk = 3
		j.Progress = func(p census.Progress) { seen = append(seen, p) }
	})
	w.mustRun()
	ended := map[felt.Felt]int{}
	var last census.Progress
	ranked := map[felt.Felt]uint64{}
	for i, p := range seen {
		if p.Total > 0 && p.Holders > p.Total {
			t.Errorf("%d of %d", p.Holders, p.Total)
		}
		if begins := i == 0 || last.Step == census.Ended; begins != (p.Step == census.Gathering && p.Holders == 0) || !begins && p.Token != last.Token {
			t.Errorf("%+v after %+v", p, last)
		}
		if !(p.Step == last.Step && p.Holders >= last.Holders || p.Step == last.Step+1) && p.Step != census.Gathering {
			t.Errorf("%+v after %+v", p, last)
		}
		if p.Step == census.Ranking {
			ranked[p.Token] = p.Holders
		}
		if p.Step == census.Ended {
			ended[p.Token]++
		}
		last = p
	}
	g := w.newest(contracts.STRK)
	if g == nil || ended[contracts.STRK] != 1 || ranked[contracts.STRK] != g.Holders || g.Holders < 6 {
		t.Errorf("generation %+v ended %d times, %d ranked", g, ended[contracts.STRK], ranked[contracts.STRK])
	}
}

// TestKilled fails every commit of a building in turn: what is seen is never
// half of a generation, and in the end no row is left that belongs to none.
func TestKilled(t *testing.T) {
	only := func(w *world) {
		strk, err := registry.New(registry.Entries{Tokens: []registry.Token{{Address: contracts.STRK, Symbol: "T", Name: "T", Census: registry.Census{Qualified: true, Reason: "test"}}}})
		if err != nil {
			w.t.Fatal(err)
		}
		w.known = strk
		w.restart(nil)
	}
	w := newWorld(t, 60, nil)
	only(w)
	for kill := 1; ; kill++ {
		// Another process begins, much later, on a longer chain.
		w.now = w.now.Add(3 * time.Hour)
		w.chain.Extend(1)
		w.catchUp()
		w.restart(nil)
		w.commits, w.kill = 0, kill
		err := w.run()
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		head, _ := w.chain.Head()
		all, counts := w.generations()
		for _, g := range all {
			if g.Shown() && (g.Holders != counts[g.ID] || g.Holders != uint64(len(w.chain.Holders(contracts.STRK, g.AsOf)))) {
				t.Fatalf("killed at commit %d: generation %d has %d of %d rows", kill, g.ID, counts[g.ID], g.Holders)
			}
		}
		if err == nil {
			if kill < 8 {
				t.Fatalf("only %d commits", w.commits)
			}
			break
		}
		if kill%2 == 0 {
			w.kill = 0
			w.mustRun()
			g := w.newest(contracts.STRK)
			if g == nil || g.Verdict != rows.Certified || g.AsOf != head-depth {
				t.Fatalf("after a kill at commit %d: %+v", kill, g)
			}
		}
	}
	w.kill = 0
	w.now = w.now.Add(24 * time.Hour)
	w.chain.Extend(1)
	w.catchUp()
	w.mustRun()
	all, counts := w.generations()
	if len(all) != 1 || len(counts) != 1 || counts[all[0].ID] != all[0].Holders {
		t.Errorf("%d generations, rows %v", len(all), counts)
	}
}

// TestNodeAway: without a node a generation is published uncertified, and
// certified when the node is back.
func TestNodeAway(t *testing.T) {
	w := newWorld(t, 60, nil)
	w.away = true
	w.mustRun()
	g := w.newest(contracts.STRK)
	if g == nil || g.Verdict != rows.NotRun || g.Checked != 0 || g.Holders == 0 {
		t.Fatalf("%+v", g)
	}
	w.away = false
	w.mustRun() // too early to try again
	if again := w.newest(contracts.STRK); again.Verdict != rows.NotRun {
		t.Errorf("tried again at once: %+v", again)
	}
	w.now = w.now.Add(2 * time.Minute)
	w.mustRun()
	if again := w.newest(contracts.STRK); again.Verdict != rows.Certified || again.ID != g.ID || again.Digest != g.Digest || again.Expires != g.Expires {
		t.Errorf("%+v", again)
	}
}

// TestLaterAudit: a sample that disagrees later revokes what was certified.
func TestLaterAudit(t *testing.T) {
	w := newWorld(t, 60, nil)
	w.mustRun()
	before := w.newest(contracts.STRK)
	w.now = w.now.Add(31 * time.Minute)
	w.mustRun()
	if g := w.newest(contracts.STRK); g.ID != before.ID || g.Checked <= before.Checked || g.Verdict != rows.Certified {
		t.Fatalf("it was not looked at again: %+v", g)
	}
	poor := w.chain.Holders(contracts.STRK, before.AsOf)[3].Address
	w.lie = func(c contractcall.Call, r *contractcall.Result) {
		if c.Contract == contracts.STRK && len(c.Calldata) == 1 && c.Calldata[0] == poor {
			r.Values = []felt.Felt{felt.Zero, felt.Zero}
		}
	}
	w.now = w.now.Add(31 * time.Minute)
	w.mustRun()
	all, _ := w.generations()
	for _, g := range all {
		if g.Token == contracts.STRK && g.ID == before.ID && (g.Status != rows.Revoked || !strings.Contains(g.Reason, poor.String())) {
			t.Errorf("%+v", g)
		}
	}
	if g := w.newest(contracts.STRK); g.ID == before.ID || g.Verdict != rows.AuditFailed {
		t.Errorf("the next one: %+v", g)
	}
}

// TestEachCheckCounts: a supply that disagrees, or an impossible balance, is enough
// although all that is sampled agrees.
func TestEachCheckCounts(t *testing.T) {
	w := newWorld(t, 80, nil)
	var overdrawn felt.Felt
	for _, made := range w.chain.Tokens(70) {
		if made.Lie == simnode.Overdrawn {
			overdrawn = made.Address
		}
	}
	u256 := func(n *big.Int) contractcall.Result {
		low, high := felt.SplitU256([32]byte(n.FillBytes(make([]byte, 32))))
		return contractcall.Result{Values: []felt.Felt{low, high}}
	}
	positive := func(at uint64) (total *big.Int, balances map[felt.Felt]*big.Int) {
		total, balances = new(big.Int), map[felt.Felt]*big.Int{}
		err := w.engine.View(t.Context(), func(r store.Reader) error {
			for h, err := range token.Holders(t.Context(), r, overdrawn, at, nil) {
				if err != nil {
					return err
				}
				if n := h.Amount.Big(); n.Sign() > 0 {
					balances[h.Holder] = n
					total.Add(total, n)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return total, balances
	}
	total, balances := positive(79 - depth)
	w.lie = func(c contractcall.Call, r *contractcall.Result) {
		switch {
		case c.Contract == contracts.STRK && len(c.Calldata) == 0:
			*r = u256(big.NewInt(1))
		case c.Contract == overdrawn && len(c.Calldata) == 0:
			*r = u256(total)
		case c.Contract == overdrawn:
			*r = u256(balances[c.Calldata[0]])
		}
	}
	w.mustRun()
	if g := w.newest(contracts.STRK); g.Verdict != rows.AuditFailed || !strings.Contains(g.Reason, "supply") {
		t.Errorf("%d %s", g.Verdict, g.Reason)
	}
	if g := w.newest(overdrawn); g.Verdict != rows.AuditFailed || !strings.Contains(g.Reason, "impossible") || g.Wrong == 0 || g.Checked == 0 {
		t.Errorf("%d %s", g.Verdict, g.Reason)
	}
}

// TestContractThatDoesNotAnswer is neither certified nor failed.
func TestContractThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, 60, nil)
	w.lie = func(c contractcall.Call, r *contractcall.Result) {
		if c.Contract == contracts.STRK && len(c.Calldata) == 0 {
			*r = contractcall.Result{Fault: contractcall.NoEntryPoint}
		}
	}
	w.mustRun()
	if g := w.newest(contracts.STRK); g.Verdict != rows.Unavailable {
		t.Errorf("%+v", g)
	}
}

// TestLife: a token that does not move keeps its generation, which is renewed;
// one that moves is counted again, and the old one goes when it has expired.
func TestLife(t *testing.T) {
	w := newWorld(t, 60, nil)
	w.mustRun()
	first := w.newest(contracts.STRK)
	for range 5 {
		w.now = w.now.Add(2*time.Hour + time.Second)
		w.mustRun()
	}
	// Nothing final happened: the chain stood still.
	g := w.newest(contracts.STRK)
	if moved := w.lastMove(contracts.STRK) > first.AsOf; !moved && (g.ID != first.ID || g.Expires <= uint64(w.now.Unix())) {
		t.Errorf("%+v, want %d renewed", g, first.ID)
	}
	w.chain.Extend(30)
	w.catchUp()
	w.now = w.now.Add(2*time.Hour + time.Second)
	w.mustRun()
	next := w.newest(contracts.STRK)
	if next.ID <= g.ID || next.Previous == nil || next.Previous.ID != g.ID || next.Previous.Holders != g.Holders || next.Previous.Total.Cmp(g.Total) != 0 {
		t.Fatalf("%+v after %d", next, g.ID)
	}
	w.now = time.Unix(int64(g.Expires), 0).Add(30 * time.Second) // within the grace
	w.mustRun()
	if _, counts := w.generations(); counts[g.ID] != g.Holders {
		t.Errorf("generation %d has lost rows", g.ID)
	}
	w.now = w.now.Add(time.Minute)
	w.mustRun()
	if _, counts := w.generations(); counts[g.ID] != 0 {
		t.Errorf("generation %d still has %d rows", g.ID, counts[g.ID])
	}
	// Disqualified: it goes when its time has come.
	w.known = nil
	w.restart(nil)
	w.now = w.now.Add(24 * time.Hour)
	w.mustRun()
	if all, counts := w.generations(); len(all) != 0 || len(counts) != 0 {
		t.Errorf("%d generations left, rows %v", len(all), counts)
	}
}

// TestClockAhead: what was counted while the clock was days ahead is counted again when
// the clock is right, and not only when those days are over.
func TestClockAhead(t *testing.T) {
	w := newWorld(t, 60, nil)
	w.now = w.now.Add(5 * 24 * time.Hour)
	w.mustRun()
	first := w.newest(contracts.STRK)
	w.now = w.now.Add(-5 * 24 * time.Hour)
	w.chain.Extend(30)
	w.catchUp()
	w.mustRun()
	next := w.newest(contracts.STRK)
	if next.ID <= first.ID || next.AsOf <= first.AsOf || next.Published != uint64(w.now.Unix()) {
		t.Errorf("%+v after %+v", next, first)
	}
	// A little ahead is not wrong: the processes' clocks differ.
	w.now = w.now.Add(-time.Minute)
	w.chain.Extend(5)
	w.catchUp()
	w.mustRun()
	if again := w.newest(contracts.STRK); again.ID != next.ID {
		t.Errorf("counted again at once: %+v", again)
	}
}

func (w *world) lastMove(token felt.Felt) (n uint64) {
	head, _ := w.chain.Head()
	for _, ref := range w.chain.Events(simnode.EventFilter{To: head, Addresses: []felt.Felt{token}, Keys: [][]felt.Felt{{contracts.SelTransfer}}}) {
		n = ref.Block.Number
	}
	return n
}

// TestYoungChain: nothing is final yet, and nothing is counted.
func TestYoungChain(t *testing.T) {
	w := newWorld(t, depth, nil)
	w.mustRun()
	if all, _ := w.generations(); len(all) != 0 {
		t.Errorf("%d generations", len(all))
	}
}

// TestCatchingUp: while the nodes are far ahead nothing is counted.
func TestCatchingUp(t *testing.T) {
	tip := uint64(60 + depth)
	w := newWorld(t, 60, func(j *census.Job) { j.Tip = func() (uint64, bool) { return tip, true } })
	w.mustRun()
	if all, _ := w.generations(); len(all) != 0 {
		t.Errorf("%d generations", len(all))
	}
	tip--
	w.mustRun()
	if g := w.newest(contracts.STRK); g == nil {
		t.Error("not counted at the head")
	}
}

// TestTally holds metrics of random lists against the definitions; the API's
// tests do so for all of them.
func TestTally(t *testing.T) {
	for _, list := range [][]int64{{1}, {5, 5}, {100, 0}, {9, 3, 3, 1}, {1000, 1, 1, 1, 1}} {
		total := new(big.Int)
		for _, n := range list {
			total.Add(total, big.NewInt(n))
		}
		tally := rows.NewTally(uint64(len(list)), total)
		differences := int64(0)
		for i, n := range list {
			tally.Add(big.NewInt(n))
			for _, m := range list[:i] {
				differences += m - n
			}
		}
		want := uint64(differences * 1_000_000 / (int64(len(list)) * total.Int64()))
		if m := tally.Done(); m.GiniPPM != want {
			t.Errorf("%v: %d, want %d", list, m.GiniPPM, want)
		}
	}
	if rows.NewTally(0, new(big.Int)).Done() != nil {
		t.Error("metrics of nobody")
	}
}

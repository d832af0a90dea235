package pages_test

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// censusAge is long enough for another census.
const censusAge = 3 * time.Hour

// tokenPages compares all pages of all tokens that moved.
func (l *ledger) tokenPages(blocks []uint64) {
	l.T.Helper()
	counted, pooled := 0, 0
	for i, k := range l.Chain.Tokens(l.head) {
		var own []*shift
		for _, s := range slices.Backward(l.shifts) {
			if s.token.Address == k.Address {
				own = append(own, s)
			}
		}
		if len(own) == 0 {
			continue
		}
		l.token(&k, own)
		l.tokenTransfers(&k, own)
		if _, known := l.Registry.Token(k.Address); known {
			counted += l.tokenHolders(&k)
		}
		pooled += l.tokenPools(&k)
		for _, block := range blocks {
			if i%4 == 0 && k.Standard == simnode.ERC20 {
				l.supply(&k, block)
			}
		}
	}
	if counted < 4 || pooled == 0 {
		l.T.Errorf("%d tokens were counted, and %d pools seen: too little was looked at", counted, pooled)
	}
}

// minted is what mints and burns leave of a token; false where events do not tell, or there
// are many supplies.
func (l *ledger) minted(k *simnode.Token) (*big.Int, bool) {
	if k.Standard == simnode.ERC1155 {
		return nil, false
	}
	sum := new(big.Int)
	for _, s := range l.shifts {
		if s.token.Address != k.Address {
			continue
		}
		if s.from.IsZero() {
			sum.Add(sum, s.value)
		}
		if s.to.IsZero() {
			sum.Sub(sum, s.value)
		}
	}
	if supply := l.Chain.SupplyAt(k.Address, l.head); k.Lie == simnode.Honest && k.Standard == simnode.ERC20 && sum.Cmp(supply) != 0 {
		l.T.Errorf("%s: events leave %s, the state has %s", k.Address, sum, supply)
	}
	return sum, sum.Sign() >= 0
}

// token compares the first page of a token.
func (l *ledger) token(k *simnode.Token, own []*shift) {
	l.T.Helper()
	s := l.reads("/token/" + k.Address.String())
	var x exactly
	fact := func(term string, values ...any) {
		l.T.Helper()
		s.is(l.T, term, values...)
		x.add(values...)
	}
	x.token(l, k)
	if k.Standard == simnode.ERC20 {
		var asked uint64
		if got := s.facts["Supply, as the contract said"]; len(got) == 2 {
			asked, _ = strconv.ParseUint(got[1], 10, 64)
		}
		if asked > l.head {
			l.T.Errorf("%s: the supply is as of block %d", s.path, asked)
		}
		fact("Supply, as the contract said", l.Chain.SupplyAt(k.Address, asked), asked)
	}
	if sum, told := l.minted(k); told {
		fact("Supply, by indexed events", sum)
	}
	senders, receivers := map[felt.Felt]bool{}, map[felt.Felt]bool{}
	for _, m := range own {
		senders[m.from], receivers[m.to] = true, true
	}
	delete(senders, felt.Zero)
	delete(receivers, felt.Zero)
	fact("Transfers", len(own), own[0].block.Number)
	fact("Senders and receivers", len(senders), len(receivers))
	if k.Standard == simnode.ERC20 {
		fact("Decimals", k.Decimals)
	}
	l.controls(k, s, &x)
	x.add(len(receivers))
	for _, m := range own[:min(10, len(own))] {
		x.tokenShift(m)
	}
	x.asOf(l)
	x.shown(l, s)
}

// token adds what all pages of a token begin with: where it is, and the known one that it is
// taken for.
func (x *exactly) token(l *ledger, k *simnode.Token) {
	x.add(k.Address)
	for _, text := range []string{k.Symbol, k.Name} {
		if like, yes := l.Registry.Resembles(k.Address, text); yes {
			x.add(like.Address)
			return
		}
	}
}

// tokenShift adds a row of a token's transfers.
func (x *exactly) tokenShift(m *shift) {
	for _, side := range []felt.Felt{m.from, m.to} {
		if !side.IsZero() {
			x.add(side)
		}
	}
	x.amount(m)
	x.add(iso(m.block.Timestamp), m.block.Transactions[m.tx].Hash)
}

// controls compares who controls a token: those of the simulated chain announce no owners
// and no roles, but classes.
func (l *ledger) controls(k *simnode.Token, s *shown, x *exactly) {
	l.T.Helper()
	class, _ := l.Chain.ClassAt(k.Address, l.head)
	x.add(class.Hash, l.head)
	_, mints := class.Function(felt.Selector("mint"))
	_, upgrades := class.Function(felt.Selector("upgrade"))
	_, proxy := class.Function(felt.Zero)
	more, replaced := "unknown", "unknown"
	switch {
	case upgrades || proxy:
		replaced = "Yes"
	case class.Class.Sierra != nil:
		replaced, more = "No.", "No."
	}
	if mints {
		more = "Yes"
	}
	for term, want := range map[string]string{"Can more be made?": more, "Can the code be replaced?": replaced, "Who administers it?": "unknown"} {
		if got := s.texts[term]; !strings.HasPrefix(got, want) || len(s.facts[term]) > 0 {
			l.T.Errorf("%s: %s %q, want %q", s.path, term, got, want)
		}
	}
	// The evidence is that of upgrades and of classes, newest first, and of functions.
	var classes []string
	var last felt.Felt
	for n := range l.head + 1 {
		if c, ok := l.Chain.ClassAt(k.Address, n); ok && c.Hash != last {
			classes, last = append([]string{fmt.Sprint(c.Hash, " ", n)}, classes...), c.Hash
		}
	}
	var announced []string
	for _, ref := range l.Chain.Events(simnode.EventFilter{To: l.head, Addresses: []felt.Felt{k.Address}, Keys: [][]felt.Felt{{contracts.SelUpgraded}}}) {
		announced = append([]string{fmt.Sprint(ref.Block.Number, " ", ref.Block.Transactions[ref.TxIndex].Hash)}, announced...)
	}
	var gotClasses, gotAnnounced []string
	for _, row := range s.rows["controls"] {
		x.add(feltValues(row["Who or which"])...)
		x.add(feltValues(row["Block"])...)
		x.add(feltValues(row["Transaction"])...)
		switch what := row["What"][0]; {
		case strings.HasPrefix(what, "deployed with a class"), strings.HasPrefix(what, "the class was replaced"):
			gotClasses = append(gotClasses, row["Who or which"][0]+" "+row["Block"][0])
		case strings.HasPrefix(what, "an upgrade"):
			gotAnnounced = append(gotAnnounced, row["Block"][0]+" "+row["Transaction"][0])
		case !strings.HasPrefix(what, "the class has a function"):
			l.T.Errorf("%s: evidence that the chain does not have: %q", s.path, row)
		}
	}
	if !slices.Equal(gotClasses, classes) || !slices.Equal(gotAnnounced, announced) {
		l.T.Errorf("%s: classes %q, want %q; upgrades %q, want %q", s.path, gotClasses, classes, gotAnnounced, announced)
	}
}

// feltValues are the values of a cell that has some, and not a dash.
func feltValues(cell []string) (out []any) {
	for _, v := range cell {
		if v != "–" {
			out = append(out, v)
		}
	}
	return out
}

// tokenTransfers compares the list of a token's transfers, whole and of one party.
func (l *ledger) tokenTransfers(k *simnode.Token, own []*shift) {
	l.T.Helper()
	var all, party []exactly
	for _, m := range own {
		var row exactly
		row.tokenShift(m)
		all = append(all, row)
		if m.from == own[0].to || m.to == own[0].to {
			party = append(party, row)
		}
	}
	path := "/token/" + k.Address.String() + "/transfers"
	if len(all) > 120 {
		return // pages and pages; the busiest address walks as far
	}
	var top exactly
	top.token(l, k)
	l.listed(path, "transfers", top, all)
	l.listed(path+"?address="+own[0].to.String(), "transfers", top, party)
}

// shownHolders is how many of a census people see.
const shownHolders = 50

// tokenHolders compares the census of a token, and says how many it has compared.
func (l *ledger) tokenHolders(k *simnode.Token) int {
	l.T.Helper()
	s := l.reads("/token/" + k.Address.String() + "/holders")
	as := s.facts["Counted as of block"]
	if len(as) != 2 {
		l.T.Errorf("%s: counted as of %q", s.path, as)
		return 0
	}
	at, _ := strconv.ParseUint(as[0], 10, 64)
	newest := uint64(0)
	moved := map[felt.Felt]uint64{}
	for _, m := range l.shifts {
		if m.token.Address == k.Address && m.block.Number <= l.head-servertest.Depth {
			newest = m.block.Number
			if m.block.Number <= at {
				moved[m.from], moved[m.to] = m.block.Number, m.block.Number
			}
		}
	}
	if at > l.head-servertest.Depth || newest > at {
		l.T.Errorf("%s: counted as of block %d; the head is %d, and the last transfer before it was settled %d", s.path, at, l.head, newest)
	}
	holders, total := l.Chain.Holders(k.Address, at), l.Chain.SupplyAt(k.Address, at)
	var x exactly
	fact := func(term string, values ...any) {
		l.T.Helper()
		s.is(l.T, term, values...)
		x.add(values...)
	}
	x.token(l, k)
	fact("Holders", len(holders))
	fact("Held by all", total)
	fact("The contract's supply", total)
	fact("Counted as of block", at, l.head-at)
	bps := func(n *big.Int) *big.Int {
		n = new(big.Int).Mul(n, big.NewInt(10_000))
		return n.Quo(n, total)
	}
	half, sum, whales, share := 0, new(big.Int), 0, new(big.Int)
	together := map[int]*big.Int{}
	for i, h := range holders {
		sum = new(big.Int).Add(sum, h.Balance)
		together[i+1] = sum
		if half == 0 && new(big.Int).Lsh(sum, 1).Cmp(total) > 0 {
			half = i + 1
		}
		if new(big.Int).Mul(h.Balance, big.NewInt(100)).Cmp(total) >= 0 {
			whales++
			share.Add(share, h.Balance)
		}
	}
	fact("Have more than half together", half)
	fact("Hold one percent or more", whales, bps(share))
	if before := s.facts["Holders before"]; len(before) == 2 {
		n, _ := strconv.ParseUint(before[1], 10, 64)
		fact("Holders before", len(l.Chain.Holders(k.Address, n)), n)
	}
	var curve []string
	for _, first := range []int{5, 10, 100} {
		if first < len(holders) {
			n := bps(together[first]).Int64()
			curve = append(curve, fmt.Sprintf("%d: %d.%02d", first, n/100, n%100))
		}
	}
	if curve = append(curve, fmt.Sprintf("%d: 100", len(holders))); !slices.Equal(s.numbers["holders"], curve) {
		l.T.Errorf("%s: the curve has %q, want %q", s.path, s.numbers["holders"], curve)
	}
	for i, h := range holders[:min(shownHolders, len(holders))] {
		x.add(i+1, h.Address, h.Balance, bps(h.Balance), moved[h.Address])
	}
	x.asOf(l)
	x.shown(l, s)
	return 1
}

// tokenPools compares the pools of a token with what exchanges announced, and counts them.
func (l *ledger) tokenPools(k *simnode.Token) int {
	l.T.Helper()
	net, through := l.Chain.Network(), l.head-servertest.Depth
	s := l.reads("/token/" + k.Address.String() + "/pools")
	var rows []exactly
	for _, ref := range l.Chain.Events(simnode.EventFilter{To: through, Addresses: []felt.Felt{net.EkuboCore, net.PairFactory}, Keys: [][]felt.Felt{{contracts.SelPoolInitialized, contracts.SelPairCreated}}}) {
		d, at := ref.Event.Data, net.EkuboCore
		if ref.Event.From == net.PairFactory {
			at = d[2]
		}
		for i := range 2 {
			if d[i] == k.Address {
				var row exactly
				row.add(d[1-i], at, ref.Block.Number)
				rows = append([]exactly{row}, rows...)
			}
		}
	}
	var x exactly
	x.token(l, k)
	x.add(len(rows), through)
	for _, row := range rows[:min(len(rows), shownHolders)] {
		x = append(x, row...)
	}
	x.asOf(l)
	x.shown(l, s)
	return len(rows)
}

// supply compares what the contract says at a block.
func (l *ledger) supply(k *simnode.Token, block uint64) {
	l.T.Helper()
	s := l.reads(fmt.Sprintf("/token/%s/supply?block=%d", k.Address, block))
	var x exactly
	x.token(l, k)
	if k.Block <= block {
		s.is(l.T, "The contract says", l.Chain.SupplyAt(k.Address, block), block, l.Chain.BlockAt(block).Hash)
		x.add(l.Chain.SupplyAt(k.Address, block), block, l.Chain.BlockAt(block).Hash)
	} else if !strings.Contains(s.html, `class="notice bad"`) {
		l.T.Errorf("%s: a contract that came in block %d answers", s.path, k.Block)
	}
	if sum, told := l.minted(k); told {
		x.add(sum, l.head)
	}
	x.asOf(l)
	x.shown(l, s)
}

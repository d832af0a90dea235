package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// The chain whose addresses and tokens are all held against their pages: forkAt is the first
// block that a fork replaces after the pages were read once, and kept.
const (
	ledgerBlocks = 42
	forkDepth    = 5
	forkAt       = ledgerBlocks - forkDepth
)

// TestAddressesAndTokensAreTrue recomputes every value that the pages of addresses and of
// tokens show from the simulated chain, before a fork and after it: a row too many or too
// few fails.
func TestAddressesAndTokensAreTrue(t *testing.T) {
	w := &world{servertest.New(t, ledgerBlocks, func(o *servertest.Options) { o.CacheBytes = 1 << 22 })}
	read := func(t *testing.T) {
		l := ledgerOf(&world{w.In(t)})
		blocks := []uint64{0, 1, forkAt - 1, forkAt, l.head - 1, l.head}
		for _, a := range l.people() {
			l.overview(a, nil, nil)
			for _, block := range blocks {
				l.overview(a, &block, nil)
				l.holdings(a, block)
			}
			l.curves(a)
			l.lists(a)
		}
		if l.made == 0 || l.allowed == 0 {
			t.Errorf("%d contracts were deployed and %d approvals given: too little was looked at", l.made, l.allowed)
		}
		l.tokenPages(blocks)
	}
	t.Run("before a fork", read)
	orphan := w.Chain.BlockAt(forkAt).Hash
	w.Chain.Fork(forkDepth)
	w.Chain.Extend(2)
	w.Clock.Advance(censusAge)
	w.CatchUp()
	w.look("/"+chainID+"/address/0x5?block="+orphan.String(), http.StatusNotFound)
	t.Run("after a fork", read)
}

// people are addresses worth a look: busy ones, quiet ones, contracts, and nobody.
func (l *ledger) people() (out []felt.Felt) {
	busiest := l.order[0]
	for _, a := range l.order {
		if len(l.done[a]) > len(l.done[busiest]) && !a.IsZero() {
			busiest = a
		}
	}
	out = []felt.Felt{busiest, felt.FromUint64(12345), contracts.CurrentUDC, contracts.STRK}
	for i := 1; i < len(l.order); i += 1 + len(l.order)/4 {
		out = append(out, l.order[i])
	}
	for _, has := range []func(*deed) bool{
		func(d *deed) bool { return d.shift != nil && d.shift.from == d.shift.to },
		func(d *deed) bool { return d.shift != nil && d.shift.token.Standard == simnode.ERC1155 },
		func(d *deed) bool { return d.shift != nil && d.shift.token.Standard == simnode.ERC721 },
		func(d *deed) bool { return d.shift != nil && d.shift.token.Lie != simnode.Honest },
		func(d *deed) bool { return slices.Contains(d.parts, "l1_handler") },
		func(d *deed) bool { return d.block.Number >= forkAt && slices.Contains(d.parts, "deployed") },
	} {
		for _, a := range l.order {
			if !a.IsZero() && slices.ContainsFunc(l.done[a], has) {
				out = append(out, a)
				break
			}
		}
	}
	for _, name := range []felt.Felt{contracts.SelContractDeployed, contracts.SelApproval, contracts.SelApprovalForAll} {
		if refs := l.Chain.Events(simnode.EventFilter{To: l.head, Keys: [][]felt.Felt{{name}}}); len(refs) > 0 {
			out = append(out, refs[len(refs)/2].Block.Transactions[refs[len(refs)/2].TxIndex].Sender)
		}
	}
	slices.SortFunc(out, felt.Felt.Cmp)
	return slices.DeleteFunc(slices.Compact(out), felt.Felt.IsZero)
}

// holding is a row of what an address has; sum is nil where events do not tell.
type holding struct {
	token felt.Felt
	sum   any
	last  uint64
}

// holds are the rows of tokens.
func (l *ledger) holds(a felt.Felt, block uint64) (out []holding) {
	for _, token := range l.touched(a, true, simnode.ERC20) {
		sum, last, moved := l.held(token, a, block)
		switch {
		case !moved || sum.Sign() == 0:
		case sum.Sign() < 0:
			out = append(out, holding{token, nil, last})
		default:
			out = append(out, holding{token, sum, last})
		}
	}
	return out
}

func (x *exactly) holding(h holding) {
	if x.add(h.token); h.sum != nil {
		x.add(h.sum)
	}
	x.add(h.last)
}

const (
	firstHoldings = 8
	firstActivity = 10
)

// overview compares the first page of an address.
func (l *ledger) overview(a felt.Felt, block *uint64, token *felt.Felt) {
	l.T.Helper()
	at, path := l.head, "/address/"+a.String()
	if block != nil {
		at = *block
		path += fmt.Sprintf("?block=%d", at)
	}
	if token != nil {
		path += map[bool]string{true: "&", false: "?"}[block != nil] + "token=" + token.String()
	}
	s := l.reads(path)
	var x exactly
	x.add(a)
	l.who(a, s, &x)
	rows := l.holds(a, at)
	for i, h := range rows {
		if i < firstHoldings {
			x.holding(h)
		}
	}
	x.add(at)
	if drawn := l.drawn(rows, token); drawn != nil {
		if x.add(*drawn); l.curve(a, *drawn, at, s) {
			x.add(at)
		}
	}
	for i, d := range l.done[a] {
		if i < firstActivity {
			x.deed(a, d)
		}
	}
	x.asOf(l)
	x.shown(l, s)
}

// who compares the facts of an address.
func (l *ledger) who(a felt.Felt, s *shown, x *exactly) {
	l.T.Helper()
	shifts := 0
	for _, d := range l.done[a] {
		if d.shift != nil {
			shifts++
		}
	}
	fact := func(term string, values ...any) {
		l.T.Helper()
		s.is(l.T, term, values...)
		x.add(values...)
	}
	fact("Transactions", len(l.joined(a)))
	fact("Token transfers", shifts)
	if n := len(l.done[a]); n > 0 {
		fact("First seen", l.done[a][n-1].block.Number)
		fact("Last seen", l.done[a][0].block.Number, iso(l.done[a][0].block.Timestamp))
	} else if s.texts["First seen"] != "never" || s.texts["Last seen"] != "never" {
		l.T.Errorf("%s: seen %q, last %q", s.path, s.texts["First seen"], s.texts["Last seen"])
	}
	if class, ok := l.Chain.ClassAt(a, l.head); ok {
		fact("Class", class.Hash)
		block, tx, by := l.born(a)
		born := []any{block.Number}
		for _, f := range []*felt.Felt{tx, by} {
			if f != nil {
				born = append(born, *f)
			}
		}
		fact("Deployed", born...)
	} else if len(s.facts["Class"])+len(s.facts["Deployed"]) > 0 {
		l.T.Errorf("%s: nothing is there, and it has the class %q", s.path, s.facts["Class"])
	}
	label, known := "", false
	if e, ok := l.Registry.Label(a); ok {
		label, known = e.Name, true
	} else if e, ok := l.Registry.Token(a); ok {
		label, known = e.Name, true
	}
	if labelled := strings.Contains(s.html, "labelled, confidence"); labelled != known || known && !strings.Contains(s.heading, label) {
		l.T.Errorf("%s: labelled %v as %q, want %q", s.path, labelled, s.heading, label)
	}
}

// drawn is the token whose balance is drawn: that which was asked for, or the one that moved
// last, known ones before others.
func (l *ledger) drawn(rows []holding, asked *felt.Felt) *felt.Felt {
	if asked != nil {
		return asked
	}
	best := -1
	known := func(i int) bool { _, ok := l.Registry.Token(rows[i].token); return ok }
	for i, h := range rows[:min(len(rows), 25)] {
		if h.sum != nil && (best < 0 || known(i) && !known(best) || known(i) == known(best) && h.last > rows[best].last) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &rows[best].token
}

// curve compares the numbers behind the chart of a balance; false where there is none.
func (l *ledger) curve(a, token felt.Felt, at uint64, s *shown) bool {
	l.T.Helper()
	var want []string
	k, told := l.tokens[token], true
	for n := range at + 1 {
		if sum, last, moved := l.held(token, a, n); moved && last == n {
			text := "unknown"
			if sum.Sign() >= 0 {
				text = plainDecimal(sum, int(k.Decimals))
			}
			want = append(want, fmt.Sprintf("Block %d: %s", n, text))
		}
	}
	if sum, _, _ := l.held(token, a, at); sum.Sign() < 0 {
		told = false
	}
	if !told {
		want = nil
	}
	if !slices.Equal(s.numbers["balance"], want) {
		l.T.Errorf("%s: the chart of %s has %q, want %q", s.path, token, s.numbers["balance"], want)
	}
	return told && len(want) > 0
}

// curves compares the charts of all fungible tokens of an address, and of one that it never had.
func (l *ledger) curves(a felt.Felt) {
	l.T.Helper()
	tokens := l.touched(a, true, simnode.ERC20)
	for i, token := range tokens {
		if i%3 == 0 {
			l.overview(a, nil, &token)
		}
	}
	block := uint64(forkAt)
	if len(tokens) > 0 {
		l.overview(a, &block, &tokens[len(tokens)/2])
	}
}

// deed adds the values of a row of activity.
func (x *exactly) deed(a felt.Felt, d *deed) {
	if s := d.shift; s != nil {
		x.amount(s)
		if other := s.other(a); s.from != s.to && !other.IsZero() {
			x.add(other)
		}
	} else {
		x.add(d.other(a))
	}
	x.add(iso(d.block.Timestamp), d.hash())
}

func (s *shift) other(a felt.Felt) felt.Felt {
	if s.way(a) == "in" {
		return s.from
	}
	return s.to
}

// amount adds what a shift moves, and of what.
func (x *exactly) amount(s *shift) {
	if s.value != nil && (s.id == nil || s.value.String() != "1") {
		x.add(s.value)
	}
	if x.add(s.token.Address); s.id != nil {
		x.add(s.id)
	}
}

// listed reads a list to its end, and compares every value of its pages.
func (l *ledger) listed(path, section string, top exactly, rows []exactly) {
	l.T.Helper()
	n := 0
	for pages := 0; path != "" && pages < 100; pages++ {
		s := l.reads(path)
		x := slices.Clone(top)
		for range s.rows[section] {
			if n < len(rows) {
				x = append(x, rows[n]...)
			}
			n++
		}
		x.asOf(l)
		x.shown(l, s)
		_, path, _ = strings.Cut(s.next, "/"+chainID)
	}
	if n != len(rows) {
		l.T.Errorf("%s: %d rows of %s, want %d", top[0], n, section, len(rows))
	}
}

// lists compares the lists of an address, every row and value of them.
func (l *ledger) lists(a felt.Felt) {
	l.T.Helper()
	path := "/address/" + a.String()
	kinds, ways := map[string][]exactly{}, map[string][]exactly{}
	for _, d := range l.done[a] {
		var row exactly
		row.deed(a, d)
		kinds[""] = append(kinds[""], row)
		s := d.shift
		if s == nil {
			kinds[d.parts[0]] = append(kinds[d.parts[0]], row)
			continue
		}
		kinds["transfer_"+s.way(a)] = append(kinds["transfer_"+s.way(a)], row)
		var moved exactly
		if moved.amount(s); s.from != s.to && !s.other(a).IsZero() {
			moved.add(s.other(a))
		}
		moved.add(iso(s.block.Timestamp), s.block.Number, d.hash())
		ways[""] = append(ways[""], moved)
		if s.to == a {
			ways["in"] = append(ways["in"], moved)
		}
		if s.from == a {
			ways["out"] = append(ways["out"], moved)
		}
	}
	for _, kind := range []string{"", "sender", "called", "deployed", "l1_handler", "transfer_in", "transfer_out", "transfer_self"} {
		l.listed(path+"/activity?type="+kind, "activity", exactly{a.String()}, kinds[kind])
	}
	for _, way := range []string{"", "in", "out"} {
		l.listed(path+"/transfers?direction="+way, "transfers", exactly{a.String()}, ways[way])
	}
	var txs []exactly
	for _, d := range l.joined(a) {
		var row exactly
		row.add(d.hash(), iso(d.block.Timestamp), d.other(a))
		if top := l.largest(a, d); top != nil {
			if top.value != nil {
				row.add(top.value)
			}
			row.add(top.token.Address)
		}
		txs = append(txs, row)
	}
	l.listed(path+"/transactions", "transactions", exactly{a.String()}, txs)
	l.given(a)
}

// given compares what an address deployed, and what it allowed others.
func (l *ledger) given(a felt.Felt) {
	l.T.Helper()
	var made, allowed []exactly
	for _, d := range l.done[a] {
		if !slices.Contains(d.parts, "sender") {
			continue
		}
		r := &d.block.Receipts[d.tx]
		class := map[felt.Felt]felt.Felt{}
		for _, x := range l.Chain.StateUpdateAt(d.block.Number).Diff.Deployed {
			class[x.Address] = x.ClassHash
		}
		for _, e := range slices.Backward(r.Events) {
			var row exactly
			if m, ok := l.deployment(d.block, &e); ok {
				by := e.From
				if m.by != a {
					by = m.by
				}
				row.add(m.address, class[m.address], by, iso(d.block.Timestamp), d.hash())
				made = append(made, row)
			}
			if row.approval(a, &e) {
				row.add(iso(d.block.Timestamp), d.hash())
				allowed = append(allowed, row)
			}
		}
		if d.block.Transactions[d.tx].Type == starknet.DeployAccount {
			var row exactly
			row.add(r.ContractAddress, class[r.ContractAddress], iso(d.block.Timestamp), d.hash())
			made = append(made, row)
		}
	}
	l.listed("/address/"+a.String()+"/deployments", "deployments", exactly{a.String()}, made)
	l.listed("/address/"+a.String()+"/approvals", "approvals", exactly{a.String()}, allowed)
	l.made, l.allowed = l.made+len(made), l.allowed+len(allowed)
}

// approval adds what an event says that an address allows; false for another event.
func (x *exactly) approval(owner felt.Felt, e *starknet.Event) bool {
	whole := len(e.Keys) > 0 && e.Keys[0] == contracts.SelApprovalForAll
	if len(e.Keys) == 0 || e.Keys[0] != contracts.SelApproval && !whole {
		return false
	}
	all := append(slices.Clone(e.Keys[1:]), e.Data...)
	if len(all) < 3 || all[0] != owner {
		return false
	}
	if x.add(e.From); !all[1].IsZero() {
		x.add(all[1])
	}
	if !whole {
		x.add(wide(all[2:]))
	}
	return true
}

// largest is the shift of a transaction that moves most from or to an address, by number.
func (l *ledger) largest(a felt.Felt, d *deed) (top *shift) {
	for _, s := range l.shifts {
		if s.block != d.block || s.tx != d.tx || s.from != a && s.to != a {
			continue
		}
		if top == nil || top.value == nil && s.value != nil || s.value != nil && s.value.Cmp(top.value) > 0 {
			top = s
		}
	}
	return top
}

// holdings compares the page of all that an address has.
func (l *ledger) holdings(a felt.Felt, at uint64) {
	l.T.Helper()
	rows, first := l.holds(a, at), true
	for path := fmt.Sprintf("/address/%s/holdings?block=%d", a, at); path != ""; first = false {
		s := l.reads(path)
		var x exactly
		x.add(a)
		for range s.rows["tokens"] {
			if len(rows) > 0 {
				x.holding(rows[0])
				rows = rows[1:]
			}
		}
		x.add(at)
		if first {
			l.collections(a, at, &x)
		}
		x.asOf(l)
		x.shown(l, s)
		_, path, _ = strings.Cut(s.next, "/"+chainID)
	}
	if len(rows) > 0 {
		l.T.Errorf("%s at %d: the pages end before %s", a, at, rows[0].token)
	}
}

// collections adds the NFTs of an address.
func (l *ledger) collections(a felt.Felt, at uint64, x *exactly) {
	l.T.Helper()
	for _, token := range l.touched(a, false, simnode.ERC721, simnode.ERC1155) {
		sum, last, moved := l.held(token, a, at)
		if !moved {
			continue
		}
		x.add(token)
		if l.tokens[token].Standard == simnode.ERC721 {
			owned := 0
			for _, s := range l.shifts {
				if s.token.Address == token && s.from.IsZero() && s.block.Number <= at && l.Chain.OwnerAt(token, s.id.Uint64(), at) == a {
					owned++
				}
			}
			if sum.String() != fmt.Sprint(owned) {
				l.T.Errorf("%s: shifts leave %s of %s, and the state %d", a, sum, token, owned)
			}
			x.add(owned)
		}
		x.add(last)
	}
}

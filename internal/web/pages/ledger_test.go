package pages_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// ledger is what the simulated chain tells of everybody, from its blocks, receipts and state
// diffs alone, written down a second time and independently of the index.
type ledger struct {
	*world
	head   uint64
	tokens map[felt.Felt]*simnode.Token
	shifts []*shift              // all of them, oldest first
	done   map[felt.Felt][]*deed // by address, newest first
	order  []felt.Felt           // of first appearance
	// made and allowed count the deployments and approvals that were compared.
	made, allowed int
}

// shift is a token that changes hands.
type shift struct {
	token    *simnode.Token
	block    *starknet.Block
	tx       int
	from, to felt.Felt
	id       *big.Int // nil of an ERC-20
	value    *big.Int
}

// deed is something that an address did or was done to it: a part in a transaction, or a
// shift.
type deed struct {
	block *starknet.Block
	tx    int
	parts []string
	shift *shift
}

func (d *deed) hash() felt.Felt { return d.block.Transactions[d.tx].Hash }

// ledgerOf reads the whole chain.
func ledgerOf(w *world) *ledger {
	head, _ := w.Chain.Head()
	l := &ledger{world: w, head: head, tokens: map[felt.Felt]*simnode.Token{}, done: map[felt.Felt][]*deed{}}
	for _, k := range w.Chain.Tokens(head) {
		l.tokens[k.Address] = &k
	}
	for n := range head + 1 {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			l.parts(b, i)
			for log := range b.Receipts[i].Events {
				l.read(b, i, &b.Receipts[i].Events[log])
			}
		}
	}
	for _, list := range l.done {
		slices.Reverse(list)
	}
	return l
}

func (l *ledger) add(a felt.Felt, d *deed) {
	if l.done[a] == nil {
		l.order = append(l.order, a)
	}
	l.done[a] = append(l.done[a], d)
}

// read takes down the shifts of an event.
func (l *ledger) read(b *starknet.Block, tx int, e *starknet.Event) {
	token := l.tokens[e.From]
	if token == nil || len(e.Keys) == 0 {
		return
	}
	all := append(slices.Clone(e.Keys[1:]), e.Data...)
	add := func(from, to felt.Felt, id, value *big.Int) {
		s := &shift{token, b, tx, from, to, id, value}
		l.shifts = append(l.shifts, s)
		l.add(from, &deed{block: b, tx: tx, shift: s})
		if to != from {
			l.add(to, &deed{block: b, tx: tx, shift: s})
		}
	}
	switch name := e.Keys[0]; {
	case name == contracts.SelTransfer && token.Standard == simnode.ERC20:
		add(all[0], all[1], nil, wide(all[2:]))
	case name == contracts.SelTransfer && token.Standard == simnode.ERC721:
		add(all[0], all[1], wide(all[2:]), big.NewInt(1))
	case name == felt.Selector("TransferSingle"):
		add(all[1], all[2], wide(all[3:]), wide(all[5:]))
	case name == felt.Selector("TransferBatch"):
		n := small(all[3])
		for i := range n {
			add(all[1], all[2], wide(all[4+2*i:]), wide(all[5+2*n+2*i:]))
		}
	}
}

// wide is a number in two felts; nil when it is none.
func wide(f []felt.Felt) *big.Int {
	low, high := f[0].Big(), f[1].Big()
	if low.BitLen() > 128 || high.BitLen() > 128 {
		return nil
	}
	return low.Add(low, high.Lsh(high, 128))
}

// small is a length; what cannot be one is longer than any list.
func small(f felt.Felt) int {
	if n, ok := f.Uint64(); ok && n < 1<<20 {
		return int(n)
	}
	return 1 << 20
}

// called are the contracts that a transaction calls, in either layout of the calldata of
// accounts.
func called(t *starknet.Transaction) (out []felt.Felt) {
	if t.Type != starknet.Invoke || t.Version.IsZero() {
		return nil
	}
	n, rest := small(t.Calldata[0]), t.Calldata[1:]
	for range n {
		if len(rest) < 3 || len(rest) < 3+small(rest[2]) {
			break
		}
		out, rest = append(out, rest[0]), rest[3+small(rest[2]):]
	}
	if len(out) == n && len(rest) == 0 {
		return out
	}
	out = nil
	for i := range n {
		out = append(out, t.Calldata[1+4*i])
	}
	return out
}

// ends are who sends a transaction and what it is addressed to; nil is nobody.
func ends(b *starknet.Block, tx int) (from, to *felt.Felt) {
	t, r := &b.Transactions[tx], &b.Receipts[tx]
	switch calls := called(t); {
	case t.Type == starknet.Invoke && t.Version.IsZero():
		return &t.ContractAddress, &t.ContractAddress
	case t.Type == starknet.Invoke && len(calls) > 0:
		return &t.Sender, &calls[0]
	case t.Type == starknet.Invoke, t.Type == starknet.Declare:
		return &t.Sender, nil
	case t.Type == starknet.L1Handler:
		return &t.Calldata[0], &t.ContractAddress
	case t.Type == starknet.Deploy:
		return nil, &r.ContractAddress
	default:
		return &r.ContractAddress, &r.ContractAddress
	}
}

// partNames is the order of an address's parts in a transaction.
var partNames = []string{"sender", "deployed", "called", "l1_handler", "transfer_in", "transfer_out", "transfer_self"}

func inOrder(a, b string) int { return slices.Index(partNames, a) - slices.Index(partNames, b) }

// parts takes down who has a part in a transaction.
func (l *ledger) parts(b *starknet.Block, tx int) {
	t, r := &b.Transactions[tx], &b.Receipts[tx]
	found, names := map[felt.Felt][]string{}, []felt.Felt{}
	part := func(a felt.Felt, kind string) {
		if found[a] == nil {
			names = append(names, a)
		}
		if !slices.Contains(found[a], kind) {
			found[a] = append(found[a], kind)
		}
	}
	switch t.Type {
	case starknet.Invoke:
		if t.Version.IsZero() {
			part(t.ContractAddress, "called")
			break
		}
		part(t.Sender, "sender")
		for _, a := range called(t) {
			part(a, "called")
		}
	case starknet.Declare:
		part(t.Sender, "sender")
	case starknet.DeployAccount:
		part(r.ContractAddress, "sender")
		part(r.ContractAddress, "deployed")
	case starknet.Deploy:
		part(r.ContractAddress, "deployed")
	case starknet.L1Handler:
		part(t.ContractAddress, "l1_handler")
	}
	for _, e := range r.Events {
		if made, ok := l.deployment(b, &e); ok {
			part(made.address, "deployed")
		}
	}
	for _, a := range names {
		slices.SortFunc(found[a], inOrder)
		l.add(a, &deed{block: b, tx: tx, parts: found[a]})
	}
}

// made is a contract that a universal deployer announced.
type made struct{ address, by, class felt.Felt }

// deployment reads an event of a universal deployer, which the state must bear out.
func (l *ledger) deployment(b *starknet.Block, e *starknet.Event) (made, bool) {
	if len(e.Keys) != 1 || e.Keys[0] != contracts.SelContractDeployed || len(e.Data) < 4 || !slices.Contains([]felt.Felt{contracts.LegacyUDC, contracts.MiddleUDC, contracts.CurrentUDC}, e.From) {
		return made{}, false
	}
	there := slices.ContainsFunc(l.Chain.StateUpdateAt(b.Number).Diff.Deployed, func(d starknet.DeployedContract) bool { return d.Address == e.Data[0] })
	return made{e.Data[0], e.Data[1], e.Data[3]}, there
}

// other is with whom an address has to do in a transaction.
func (d *deed) other(a felt.Felt) *felt.Felt {
	from, to := ends(d.block, d.tx)
	switch {
	case slices.Contains(d.parts, "sender") && !slices.Contains(d.parts, "deployed"):
		return to
	case from != nil && *from == a:
		return nil
	}
	return from
}

// way is how an address sees a shift.
func (s *shift) way(a felt.Felt) string {
	switch {
	case s.from == s.to:
		return "self"
	case s.to == a:
		return "in"
	}
	return "out"
}

// joined are the transactions of an address, newest first, with all its parts.
func (l *ledger) joined(a felt.Felt) (out []*deed) {
	for _, d := range l.done[a] {
		if n := len(out); n == 0 || out[n-1].block != d.block || out[n-1].tx != d.tx {
			out = append(out, &deed{block: d.block, tx: d.tx})
		}
		last := out[len(out)-1]
		kinds := d.parts
		if d.shift != nil {
			kinds = []string{"transfer_" + d.shift.way(a)}
		}
		for _, kind := range kinds {
			if !slices.Contains(last.parts, kind) {
				last.parts = append(last.parts, kind)
			}
		}
		slices.SortFunc(last.parts, inOrder)
	}
	return out
}

// held is what shifts up to a block leave of a token with an address, in how many pieces
// where they are numbered, and the block of the last one; false where there is none. A token
// whose events are honest has it so in its state.
func (l *ledger) held(token, a felt.Felt, block uint64) (sum *big.Int, last uint64, moved bool) {
	sum = new(big.Int)
	for _, s := range l.shifts {
		if s.token.Address != token || s.block.Number > block || s.from != a && s.to != a {
			continue
		}
		last, moved = s.block.Number, true
		n := s.value
		if s.token.Standard == simnode.ERC721 {
			n = big.NewInt(1)
		}
		if s.to == a {
			sum.Add(sum, n)
		}
		if s.from == a {
			sum.Sub(sum, n)
		}
	}
	if k := l.tokens[token]; k.Lie == simnode.Honest && k.Standard == simnode.ERC20 && sum.Cmp(l.Chain.BalanceAt(token, a, block)) != 0 {
		l.T.Errorf("the events of %s leave %s with %s at %d, its state has %s", token, sum, a, block, l.Chain.BalanceAt(token, a, block))
	}
	return sum, last, moved
}

// touched are the tokens of some standards that an address ever had to do with, known ones
// first, and then by address, the highest first.
func (l *ledger) touched(a felt.Felt, registered bool, standards ...simnode.Standard) (out []felt.Felt) {
	for _, d := range l.done[a] {
		if d.shift != nil && slices.Contains(standards, d.shift.token.Standard) && !slices.Contains(out, d.shift.token.Address) {
			out = append(out, d.shift.token.Address)
		}
	}
	slices.SortFunc(out, func(x, y felt.Felt) int {
		_, first := l.Registry.Token(x)
		if _, second := l.Registry.Token(y); registered && first != second {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return y.Cmp(x)
	})
	return out
}

// born is where a contract was deployed, by which transaction and by whom; block is nil of
// what is not there.
func (l *ledger) born(a felt.Felt) (block *starknet.Block, tx, by *felt.Felt) {
	for n := range l.head + 1 {
		if !slices.ContainsFunc(l.Chain.StateUpdateAt(n).Diff.Deployed, func(d starknet.DeployedContract) bool { return d.Address == a }) {
			continue
		}
		b := l.Chain.BlockAt(n)
		block, tx, by = b, nil, nil
		for i := range b.Transactions {
			t, r := &b.Transactions[i], &b.Receipts[i]
			if (t.Type == starknet.DeployAccount || t.Type == starknet.Deploy) && r.ContractAddress == a {
				tx = &t.Hash
			}
			for _, e := range r.Events {
				if m, ok := l.deployment(b, &e); ok && m.address == a {
					tx, by = &t.Hash, &m.by
				}
			}
		}
	}
	return block, tx, by
}

// exactly are all values of a page, in order.
type exactly []string

func (x *exactly) add(values ...any) {
	for _, v := range values {
		if f, ok := v.(*felt.Felt); ok {
			if f == nil {
				continue
			}
			v = *f
		}
		*x = append(*x, fmt.Sprint(v))
	}
}

// asOf is what the foot of every page says.
func (x *exactly) asOf(l *ledger) {
	l1, _ := l.Chain.L1Head()
	x.add(l.head, iso(l.Chain.BlockAt(l.head).Timestamp), l.head-servertest.Depth, l1)
}

// shown compares all values of a page with what they should be.
func (x exactly) shown(l *ledger, s *shown) {
	l.T.Helper()
	x.same(l.T, s.path, s.every)
}

// same tells of the first value that differs.
func (x exactly) same(t *testing.T, path string, got []string) {
	t.Helper()
	at := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return "nothing more"
	}
	for i := range max(len(x), len(got)) {
		if want, is := at(x, i), at(got, i); want != is {
			t.Errorf("%s: value %d is %s, want %s (before it: %q)", path, i, is, want, x[max(0, min(i, len(x))-3):min(i, len(x))])
			return
		}
	}
}

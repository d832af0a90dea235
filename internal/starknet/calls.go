package starknet

import (
	"iter"

	"chainexplorer/internal/felt"
)

// Call is one call of an account's multicall.
type Call struct {
	To       felt.Felt
	Selector felt.Felt
	Calldata []felt.Felt // aliases the transaction's calldata
}

// AccountCalls reads the calls out of the calldata of an invoke transaction of
// version 1 or 3. Accounts of both generations are understood; ok is false when
// the calldata is not exactly such a list.
//
//	Cairo 1: n, n × (to, selector, len, len felts)
//	Cairo 0: n, n × (to, selector, offset, len), total, total felts
func AccountCalls(calldata []felt.Felt) (calls []Call, ok bool) {
	list, ok := ListCalls(calldata)
	if !ok {
		return nil, false
	}
	calls = make([]Call, 0, list.Len())
	for c := range list.All() {
		calls = append(calls, c)
	}
	return calls, true
}

// CallList are the calls of AccountCalls where they stand in the calldata, for those who look
// at them in passing.
type CallList struct {
	n     int
	heads []felt.Felt // of Cairo 1 the calls themselves
	args  []felt.Felt // of Cairo 0
	old   bool        // of Cairo 0
}

// ListCalls is AccountCalls without a list of its own.
func ListCalls(calldata []felt.Felt) (l CallList, ok bool) {
	if len(calldata) == 0 {
		return l, false
	}
	n, small := calldata[0].Uint64()
	if !small || n > uint64(len(calldata)-1)/3 {
		return l, false
	}
	l = CallList{n: int(n), heads: calldata[1:]}
	if cairo1(l.heads, l.n) {
		return l, true
	}
	return l.cairo0()
}

// HasCall says whether calldata of so many felts is a list of calls, and has one: its contract is the second
// felt. number tells the felt at a place, and whether it fits. It is ListCalls for those who have not
// read the felts, and looks at few of them.
func HasCall(felts int, number func(place int) (uint64, bool)) bool {
	if felts == 0 {
		return false
	}
	count, small := number(0)
	if !small || count == 0 || count > uint64(felts-1)/3 {
		return false
	}
	n, at := int(count), 1
	for range n {
		if felts-at < 3 {
			return hasOldCall(felts, n, number)
		}
		size, small := number(at + 2)
		if !small || size > uint64(felts-at-3) {
			return hasOldCall(felts, n, number)
		}
		at += 3 + int(size)
	}
	return at == felts || hasOldCall(felts, n, number)
}

// hasOldCall is HasCall for accounts of Cairo 0.
func hasOldCall(felts, n int, number func(place int) (uint64, bool)) bool {
	args := felts - 1 - (4*n + 1)
	if args < 0 {
		return false
	}
	if total, small := number(1 + 4*n); !small || total != uint64(args) {
		return false
	}
	for i := range n {
		offset, small1 := number(1 + 4*i + 2)
		size, small2 := number(1 + 4*i + 3)
		if !small1 || !small2 || offset > uint64(args) || size > uint64(args)-offset {
			return false
		}
	}
	return true
}

// Len is how many calls there are.
func (l *CallList) Len() int { return l.n }

// All are the calls, in order.
func (l CallList) All() iter.Seq[Call] {
	return func(yield func(Call) bool) {
		rest := l.heads
		for range l.n {
			var c Call
			if l.old {
				offset, _ := rest[2].Uint64()
				size, _ := rest[3].Uint64()
				c, rest = Call{rest[0], rest[1], l.args[offset : offset+size]}, rest[4:]
			} else {
				size, _ := rest[2].Uint64()
				c, rest = Call{rest[0], rest[1], rest[3 : 3+size]}, rest[3+size:]
			}
			if !yield(c) {
				return
			}
		}
	}
}

// First is the first of them; false when there is none.
func (l CallList) First() (Call, bool) {
	for c := range l.All() {
		return c, true
	}
	return Call{}, false
}

// cairo1 says whether calldata is so many calls, one after the other.
func cairo1(rest []felt.Felt, n int) bool {
	for range n {
		if len(rest) < 3 {
			return false
		}
		size, small := rest[2].Uint64()
		if !small || size > uint64(len(rest)-3) {
			return false
		}
		rest = rest[3+size:]
	}
	return len(rest) == 0
}

// cairo0 reads what follows the number of calls as accounts of Cairo 0 did.
func (l CallList) cairo0() (CallList, bool) {
	rest, n := l.heads, l.n
	if len(rest) < 4*n+1 {
		return CallList{}, false
	}
	l.heads, l.args, l.old = rest[:4*n], rest[4*n+1:], true
	if total, small := rest[4*n].Uint64(); !small || total != uint64(len(l.args)) {
		return CallList{}, false
	}
	for i := range n {
		offset, small1 := rest[4*i+2].Uint64()
		size, small2 := rest[4*i+3].Uint64()
		if !small1 || !small2 || offset > uint64(len(l.args)) || size > uint64(len(l.args))-offset {
			return CallList{}, false
		}
	}
	return l, true
}

// Passed is what a transaction passes on: a deployment passes constructor calldata.
func (t *Transaction) Passed() []felt.Felt {
	if t.Type == Deploy || t.Type == DeployAccount {
		return t.ConstructorCalldata
	}
	return t.Calldata
}

// From is who a transaction comes from: the account, or the L1 contract of an
// L1 handler. deployed is the contract of a deploy account transaction. A
// deploy has nobody.
func (t *Transaction) From(deployed felt.Felt) (felt.Felt, bool) {
	switch t.Type {
	case Invoke:
		if v, _ := t.PlainVersion(); v == 0 {
			return t.ContractAddress, true
		}
		return t.Sender, true
	case Declare:
		return t.Sender, true
	case DeployAccount:
		return deployed, true
	case L1Handler:
		if len(t.Calldata) > 0 {
			return t.Calldata[0], true
		}
	}
	return felt.Felt{}, false
}

// To is what a transaction is addressed to: the first call's contract, the L1
// handler's contract, or the contract that it deploys.
func (t *Transaction) To(deployed felt.Felt) (felt.Felt, bool) {
	switch t.Type {
	case Invoke:
		if v, _ := t.PlainVersion(); v == 0 {
			return t.ContractAddress, true
		}
		if calls, ok := ListCalls(t.Calldata); ok {
			first, some := calls.First()
			return first.To, some
		}
	case L1Handler:
		return t.ContractAddress, true
	case Deploy, DeployAccount:
		return deployed, true
	}
	return felt.Felt{}, false
}

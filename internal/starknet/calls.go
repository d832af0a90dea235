package starknet

import "chainexplorer/internal/felt"

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
	if len(calldata) == 0 {
		return nil, false
	}
	n, small := calldata[0].Uint64()
	if !small || n > uint64(len(calldata)-1)/3 {
		return nil, false
	}
	if calls, ok = cairo1Calls(calldata[1:], int(n)); ok {
		return calls, true
	}
	return cairo0Calls(calldata[1:], int(n))
}

func cairo1Calls(rest []felt.Felt, n int) ([]Call, bool) {
	if !cairo1(rest, n) {
		return nil, false
	}
	calls := make([]Call, 0, n)
	for range n {
		size, _ := rest[2].Uint64()
		calls = append(calls, Call{rest[0], rest[1], rest[3 : 3+size]})
		rest = rest[3+size:]
	}
	return calls, true
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

func cairo0Calls(rest []felt.Felt, n int) ([]Call, bool) {
	if len(rest) < 4*n+1 {
		return nil, false
	}
	heads, args := rest[:4*n], rest[4*n+1:]
	if total, small := rest[4*n].Uint64(); !small || total != uint64(len(args)) {
		return nil, false
	}
	calls := make([]Call, 0, n)
	for i := range n {
		h := heads[4*i:]
		offset, small1 := h[2].Uint64()
		size, small2 := h[3].Uint64()
		if !small1 || !small2 || offset > uint64(len(args)) || size > uint64(len(args))-offset {
			return nil, false
		}
		calls = append(calls, Call{h[0], h[1], args[offset : offset+size]})
	}
	return calls, true
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
		if calls, ok := AccountCalls(t.Calldata); ok && len(calls) > 0 {
			return calls[0].To, true
		}
	case L1Handler:
		return t.ContractAddress, true
	case Deploy, DeployAccount:
		return deployed, true
	}
	return felt.Felt{}, false
}

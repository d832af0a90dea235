package decoded

import (
	"slices"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// The doors that the protocol knocks at.
var (
	executeDoor     = felt.Selector("__execute__")
	constructorDoor = felt.Selector("constructor")
)

// CallsOf returns what a transaction calls by itself: the calls that an account
// signed (byAccount), or the one entry point that the protocol runs, which is the
// contract's of an invoke of version 0, a handler of L1 messages, a constructor,
// and the account's own where its calldata is no list of calls. A declaration
// calls nothing. What contracts call in turn is in no block.
func CallsOf(t *transaction.Record) (calls []Call, byAccount bool) { return AppendCalls(nil, t) }

// AppendCalls is CallsOf behind calls.
func AppendCalls(calls []Call, t *transaction.Record) (out []Call, byAccount bool) {
	if list, ok := signed(t); ok {
		calls = slices.Grow(calls, list.Len())
		for c := range list.All() {
			calls = append(calls, Call{Block: t.Block, Tx: t.Index, To: c.To, Selector: c.Selector, Calldata: c.Calldata})
		}
		return calls, true
	}
	if one, some := entryPoint(t); some {
		calls = append(calls, one)
	}
	return calls, false
}

// FirstCall is the first of CallsOf without its calldata, which is all that a name needs; false
// when there is none. It keeps nothing of the record.
func FirstCall(t *transaction.Record) (Call, bool) {
	if list, ok := signed(t); ok {
		c, some := list.First()
		return Call{Block: t.Block, Tx: t.Index, To: c.To, Selector: c.Selector}, some
	}
	one, some := entryPoint(t)
	if one.Calldata = nil; one.Class != nil {
		class := *one.Class
		one.Class = &class
	}
	return one, some
}

// signed lists the calls that an account signed; false when they are none.
func signed(t *transaction.Record) (starknet.CallList, bool) {
	if t.Type != starknet.Invoke {
		return starknet.CallList{}, false
	}
	if v, _ := t.PlainVersion(); v == 0 {
		return starknet.CallList{}, false
	}
	return starknet.ListCalls(t.Transaction.Calldata)
}

// entryPoint is what the protocol runs for a transaction whose calls are not those of an account.
func entryPoint(t *transaction.Record) (one Call, some bool) {
	one = Call{Block: t.Block, Tx: t.Index, To: t.ContractAddress, Selector: t.EntryPointSelector, Calldata: t.Transaction.Calldata}
	switch t.Type {
	case starknet.Invoke:
		if v, _ := t.PlainVersion(); v != 0 { // the calldata is no list of calls
			one.To, one.Selector = t.Sender, executeDoor
		}
	case starknet.L1Handler:
		one.Kind = abi.L1Handler
	case starknet.Deploy, starknet.DeployAccount:
		one.Kind, one.To, one.Class, one.Selector, one.Calldata = abi.Constructor, t.Receipt.ContractAddress, &t.ClassHash, constructorDoor, t.ConstructorCalldata
	default:
		return Call{}, false
	}
	return one, true
}

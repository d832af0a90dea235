package decoded

import (
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
func CallsOf(t *transaction.Record) (calls []Call, byAccount bool) {
	one := Call{Block: t.Block, Tx: t.Index, To: t.ContractAddress, Selector: t.EntryPointSelector, Calldata: t.Transaction.Calldata}
	switch t.Type {
	case starknet.Invoke:
		if v, _ := t.PlainVersion(); v == 0 {
			break
		}
		list, ok := starknet.AccountCalls(t.Transaction.Calldata)
		if !ok {
			one.To, one.Selector = t.Sender, executeDoor
			break
		}
		calls = make([]Call, len(list))
		for i, c := range list {
			calls[i] = Call{Block: t.Block, Tx: t.Index, To: c.To, Selector: c.Selector, Calldata: c.Calldata}
		}
		return calls, true
	case starknet.L1Handler:
		one.Kind = abi.L1Handler
	case starknet.Deploy, starknet.DeployAccount:
		one.Kind, one.To, one.Class, one.Selector, one.Calldata = abi.Constructor, t.Receipt.ContractAddress, &t.ClassHash, constructorDoor, t.ConstructorCalldata
	default:
		return nil, false
	}
	return []Call{one}, false
}

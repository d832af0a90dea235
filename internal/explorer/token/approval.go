package token

import (
	"math/big"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// Approval is what an event says that an owner allows somebody.
type Approval struct {
	Token, Owner, Spender felt.Felt
	// Value is an amount, or the id of an NFT: the event does not tell which. It is nil where
	// it is about all that the owner has of the contract, which All then allows or not.
	Value *big.Int
	All   bool
}

var (
	selectorApproval    = felt.Selector("Approval")
	selectorApprovalAll = felt.Selector("ApprovalForAll")
)

// ReadApproval reads an event in either layout, with the parties in its keys or in front of
// its data. False for any other.
func ReadApproval(e *starknet.Event) (a Approval, ok bool) {
	if len(e.Keys) == 0 || len(e.Keys)+len(e.Data) > 5 {
		return a, false
	}
	var all [4]felt.Felt
	n := copy(all[:], e.Keys[1:])
	n += copy(all[n:], e.Data)
	a = Approval{Token: e.From, Owner: all[0], Spender: all[1]}
	switch {
	case e.Keys[0] == selectorApproval && n == 4:
		v, err := felt.U256(all[2], all[3])
		if err != nil {
			return a, false
		}
		a.Value = new(big.Int).SetBytes(v[:])
		return a, true
	case e.Keys[0] == selectorApprovalAll && n == 3:
		flag, small := all[2].Uint64()
		a.All = flag == 1
		return a, small && flag <= 1
	}
	return a, false
}

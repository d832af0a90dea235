package asset

import (
	"math/big"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
)

// Unreadable is why a token has no balance that can be read; empty when it has one.
// What a contract answered at a block it answers again: it holds for good there, unless ForGood says otherwise.
type Unreadable string

// The reasons.
const (
	NoContract        Unreadable = "no_contract"
	NoBalanceFunction Unreadable = "no_balance_function"
	NotAnAmount       Unreadable = "not_an_amount"
	Reverted          Unreadable = "reverted"
)

// Those that do not hold for good: nobody said what the contract answers.
const (
	Unanswered Unreadable = "unanswered"
	TooLate    Unreadable = "too_late"
)

// ForGood says that asking again at the same block does not help.
func (u Unreadable) ForGood() bool { return u != Unanswered && u != TooLate }

// Balance is what the contract of a candidate says of one holder at a block.
type Balance struct {
	Amount *big.Int // nil when it cannot be read
	Why    Unreadable
}

// BalanceCalls ask the contracts of candidates for the balance of a holder, each
// under both of its names.
func BalanceCalls(owner felt.Felt, list []Candidate) (calls []contractcall.Call) {
	for i := range list {
		for _, name := range contractcall.BalanceOf {
			calls = append(calls, contractcall.Call{Contract: list[i].Token, Selector: name, Calldata: []felt.Felt{owner}})
		}
	}
	return calls
}

// Balances reads the results of BalanceCalls, in the order of the candidates.
func Balances(list []Candidate, results []contractcall.Result) []Balance {
	out := make([]Balance, len(list))
	names := len(contractcall.BalanceOf)
	for i := range list {
		out[i] = balanceOf(results[i*names : (i+1)*names])
		if out[i].Why == NoContract && list[i].Known != nil && list[i].Seen == nil {
			// A token of the registry that is not deployed at the block yet: nobody
			// has any of it, which is no gap.
			out[i] = Balance{Amount: new(big.Int)}
		}
	}
	return out
}

// balanceOf reads the answers of one contract under the names of the function.
func balanceOf(results []contractcall.Result) Balance {
	why := NoBalanceFunction
	for i := range results {
		switch r := &results[i]; r.Fault {
		case contractcall.None:
			if n, ok := contractcall.Amount(r.Values); ok {
				return Balance{Amount: n}
			}
			why = NotAnAmount
		case contractcall.Reverted:
			why = Reverted
		case contractcall.NoContract:
			return Balance{Why: NoContract}
		}
	}
	return Balance{Why: why}
}

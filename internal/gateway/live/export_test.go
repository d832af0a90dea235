package live

import "chainexplorer/internal/starknet"

// TakeApart gives all that subscriptions of every kind would get of a block.
func TakeApart(text []byte) (out [][]byte) {
	for _, v := range []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010} {
		for _, d := range []detail{headerOnly, withReceipts, withProofFacts} {
			b, err := parseBlock(text, d, v)
			if err != nil {
				continue
			}
			for _, w := range []want{
				{kind: newHeads}, {kind: events}, {kind: newReceipts}, {kind: newTransactions}, {kind: newTransactions, facts: true},
				{kind: pendingTransactions}, {kind: pendingTransactions, details: true},
			} {
				out = append(out, b.pick(w.seal())...)
			}
		}
	}
	return out
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// workload is one kind of call, with many parameters.
type workload struct {
	name   string
	bodies []string
}

func (w *workload) add(method, format string, args ...any) {
	w.bodies = append(w.bodies, call(len(w.bodies)+1, method, format, args...))
}

func call(id int, method, format string, args ...any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"starknet_%s","params":%s}`, id, method, fmt.Sprintf(format, args...))
}

// passed are calls that a node has to answer each time: about the newest state, and
// about blocks that are not settled.
func (b *bench) passed() []workload {
	nonce, balance := workload{name: "getNonce, latest"}, workload{name: "call (balanceOf), latest"}
	receipts, batch := workload{name: "getBlockWithReceipts, new"}, workload{name: "batch of 20 getNonce, latest"}
	accounts := b.Chain.Accounts(blocks - 1)
	token := b.Chain.Tokens(blocks - 1)[0].Address
	for _, a := range accounts[:min(len(accounts), 800)] {
		nonce.add("getNonce", `["latest","%s"]`, a)
		balance.add("call", `[{"contract_address":"%s","entry_point_selector":"%s","calldata":["%s"]},"latest"]`, token, felt.Selector("balanceOf"), a)
	}
	for i := range 100 {
		receipts.add("getBlockWithReceipts", `{"block_id":{"block_number":%d}}`, blocks-100+i)
	}
	for part := range slices.Chunk(nonce.bodies, 20) {
		batch.bodies = append(batch.bodies, "["+strings.Join(part, ",")+"]")
	}
	return []workload{nonce, balance, receipts, batch}
}

// known are calls whose answer the gateway keeps, or makes from the index.
func (b *bench) known() []workload {
	hashes, receipts := workload{name: "getBlockWithTxHashes, settled"}, workload{name: "getBlockWithReceipts, settled"}
	classes, nonce := workload{name: "getClass"}, workload{name: "getNonce, settled"}
	txs, outcomes := workload{name: "getTransactionByHash (index)"}, workload{name: "getTransactionReceipt (index)"}
	accounts := b.Chain.Accounts(50)
	for i := range 100 {
		n := 100 + i
		hashes.add("getBlockWithTxHashes", `[{"block_number":%d}]`, n)
		receipts.add("getBlockWithReceipts", `{"block_id":{"block_number":%d}}`, n)
		nonce.add("getNonce", `[{"block_number":%d},"%s"]`, n, accounts[i%len(accounts)])
		for _, tx := range b.Chain.BlockAt(uint64(n)).Transactions {
			txs.add("getTransactionByHash", `{"transaction_hash":"%s"}`, tx.Hash)
			outcomes.add("getTransactionReceipt", `["%s"]`, tx.Hash)
		}
	}
	for _, c := range b.Chain.Classes(100) {
		classes.add("getClass", `[{"block_number":200},"%s"]`, c.Hash)
	}
	return []workload{hashes, receipts, nonce, classes, txs, outcomes}
}

// rareEvents searches the whole chain for keys that three events have.
func (b *bench) rareEvents() (w workload, err error) {
	w.name = "getEvents, a rare key"
	head, _ := b.Chain.Head()
	for _, k := range rareKeys(b.Chain, head) {
		if len(w.bodies) == 16 {
			break
		}
		keys := strings.Repeat("[],", k.position) + `["` + k.key.String() + `"]`
		w.add("getEvents", `[{"from_block":{"block_number":0},"to_block":{"block_number":%d},"keys":[%s],"chunk_size":1000}]`, head, keys)
	}
	if len(w.bodies) == 0 {
		err = errors.New("no key of the chain is rare: it needs more blocks")
	}
	return w, err
}

type keyAt struct {
	key      felt.Felt
	position int
}

func rareKeys(c *simnode.Chain, head uint64) (out []keyAt) {
	seen := map[keyAt]int{}
	for n := range head + 1 {
		for _, r := range c.BlockAt(n).Receipts {
			for _, e := range r.Events {
				for i := 1; i < len(e.Keys); i++ {
					seen[keyAt{e.Keys[i], i}]++
				}
			}
		}
	}
	for k, n := range seen {
		if n == 3 {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b keyAt) int { return a.key.Cmp(b.key) })
	return out
}

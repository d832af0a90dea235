package simnode

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// find is a transaction of the branch that the call sees.
func (c *rpcCall) find(name string) (TxRef, error) {
	h, err := arg[felt.Felt](c, name)
	if err != nil {
		return TxRef{}, err
	}
	ref, ok := c.node.chain.transaction(c.v, h)
	if !ok {
		return TxRef{}, failure(codeTxHashNotFound)
	}
	return ref, nil
}

func transactionByHash(c *rpcCall) (any, error) {
	include, err := c.proofFacts()
	if err != nil {
		return nil, err
	}
	ref, err := c.find("transaction_hash")
	if err != nil {
		return nil, err
	}
	tx := withProofFacts(*ref.Transaction, include)
	return raw(starknet.AppendTransaction(nil, &tx, c.node.cfg.Version)), nil
}

func transactionByIndex(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	include, err := c.proofFacts()
	if err != nil {
		return nil, err
	}
	index, err := arg[int](c, "index")
	if err != nil {
		return nil, err
	}
	if p.pending || index < 0 || index >= len(p.rec.callEnds) {
		return nil, failure(codeInvalidTxIndex)
	}
	tx := withProofFacts(p.rec.block().Transactions[index], include)
	return raw(starknet.AppendTransaction(nil, &tx, c.node.cfg.Version)), nil
}

func transactionReceipt(c *rpcCall) (any, error) {
	ref, err := c.find("transaction_hash")
	if err != nil {
		return nil, err
	}
	return raw(c.receipt(ref)), nil
}

// receipt is a receipt that says in which block it is.
func (c *rpcCall) receipt(ref TxRef) []byte {
	out := starknet.AppendReceipt(nil, ref.Receipt, c.node.cfg.Version)
	out = append(out[:len(out)-1], `,"block_hash":"`...)
	out = ref.Block.Hash.AppendHex(out)
	out = append(out, `","block_number":`...)
	return append(strconv.AppendUint(out, ref.Block.Number, 10), '}')
}

// txStatus is the answer of getTransactionStatus.
type txStatus struct {
	Finality  string `json:"finality_status"`
	Execution string `json:"execution_status,omitempty"`
	Failure   string `json:"failure_reason,omitempty"`
}

func statusOf(r *starknet.Receipt) txStatus {
	return txStatus{r.Finality.String(), r.Execution.String(), r.RevertReason}
}

// status is known for transactions in blocks and for those that wait.
func (c *Chain) txStatus(v *view, h felt.Felt) (txStatus, bool) {
	if ref, ok := c.transaction(v, h); ok {
		return statusOf(ref.Receipt), true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, s := range c.mempool {
		if s.tx.Hash == h {
			return txStatus{Finality: "RECEIVED"}, true
		}
	}
	return txStatus{}, false
}

func transactionStatus(c *rpcCall) (any, error) {
	h, err := arg[felt.Felt](c, "transaction_hash")
	if err != nil {
		return nil, err
	}
	if s, ok := c.node.chain.txStatus(c.v, h); ok {
		return s, nil
	}
	return nil, failure(codeTxHashNotFound)
}

// L1TransactionHash is the hash of the transaction that sent a message on the
// simulated base layer, where every message has one of its own.
func L1TransactionHash(m Message) [32]byte {
	return sha256.Sum256(append([]byte("l1 transaction "), m.Hash[:]...))
}

func messagesStatus(c *rpcCall) (any, error) {
	text, err := arg[string](c, "transaction_hash")
	if err != nil {
		return nil, err
	}
	digits, ok := strings.CutPrefix(strings.ToLower(text), "0x")
	if !ok || len(digits) > 64 {
		return nil, failureWith(codeInvalidParams, "not a transaction hash")
	}
	want, err := hex.DecodeString(strings.Repeat("0", 64-len(digits)) + digits)
	if err != nil {
		return nil, failureWith(codeInvalidParams, "not a transaction hash")
	}
	head, _ := c.node.chain.Head()
	for _, m := range c.node.chain.Messages(0, head) {
		if m.ToL1 || L1TransactionHash(m) != [32]byte(want) {
			continue
		}
		rec := c.v.at(m.Block)
		if rec == nil || m.TxIndex >= len(rec.callEnds) {
			break
		}
		b := c.node.chain.finalized(c.v, rec)
		s := statusOf(&b.Receipts[m.TxIndex])
		out := map[string]any{"transaction_hash": b.Transactions[m.TxIndex].Hash, "finality_status": s.Finality}
		if c.node.cfg.Version >= starknet.V09 {
			out["execution_status"] = s.Execution
		}
		if s.Failure != "" {
			out["failure_reason"] = s.Failure
		}
		return []any{out}, nil
	}
	return nil, failure(codeTxHashNotFound)
}

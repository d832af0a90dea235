package own

import (
	"errors"
	"math"
	"strconv"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

func (c *call) blockNumber() ([]byte, error) {
	if !c.atHead {
		return nil, errElsewhere
	}
	return strconv.AppendUint(nil, c.s.Head.Number, 10), nil
}

func (c *call) blockHashAndNumber() ([]byte, error) {
	if !c.atHead {
		return nil, errElsewhere
	}
	out := append([]byte(`{"block_hash":"`), c.s.Head.Hash.String()...)
	out = append(out, `","block_number":`...)
	return append(strconv.AppendUint(out, c.s.Head.Number, 10), '}'), nil
}

func (c *call) transactionCount() ([]byte, error) {
	number, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	b, err := block.Get(c.ctx, c.r, number)
	if err != nil {
		return nil, err
	}
	return strconv.AppendUint(nil, b.Transactions, 10), nil
}

func (c *call) blockWithHashes() ([]byte, error) {
	return c.wholeBlock(func(out []byte, rec *transaction.Record) []byte {
		out = append(out, '"')
		return append(rec.Hash.AppendHex(out), '"')
	})
}

func (c *call) blockWithTransactions() ([]byte, error) {
	return c.wholeBlock(func(out []byte, rec *transaction.Record) []byte {
		return starknet.AppendTransaction(out, &rec.Transaction, c.v)
	})
}

func (c *call) blockWithReceipts() ([]byte, error) {
	return c.wholeBlock(func(out []byte, rec *transaction.Record) []byte {
		return starknet.AppendExecuted(out, &rec.Transaction, &rec.Receipt, c.v)
	})
}

// readAtATime is how many transactions of a block are held at a time besides what was
// made of them.
const readAtATime = 200

// wholeBlock is a block with something of each of its transactions. The versions that
// it is for have no response flags.
func (c *call) wholeBlock(item func(out []byte, rec *transaction.Record) []byte) ([]byte, error) {
	if c.v >= starknet.V010 {
		return nil, errElsewhere // the commitments of its header are not kept
	}
	number, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	status, err := c.status(number)
	if err != nil {
		return nil, err
	}
	b, err := block.Get(c.ctx, c.r, number)
	if err != nil {
		return nil, err
	}
	b.Status = status
	out := starknet.AppendHeader(nil, &b.Header, c.v)
	out = append(out[:len(out)-1], `,"transactions":[`...)
	for done := uint64(0); done < b.Transactions; {
		list, err := transaction.OfBlock(c.ctx, c.r, number, uint32(done), readAtATime)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, transaction.ErrNotFound
		}
		for _, rec := range list {
			rec.Receipt.Finality = status
			if done++; done > 1 {
				out = append(out, ',')
			}
			out = item(out, rec)
			if c.limit > 0 && int64(len(out)) > c.limit {
				return nil, errElsewhere
			}
		}
	}
	return append(out, ']', '}'), nil
}

// find is the transaction with the hash that was asked for.
func (c *call) find() (*transaction.Record, error) {
	hash, err := c.felt("transaction_hash")
	if err != nil {
		return nil, err
	}
	p, err := transaction.PositionOf(c.ctx, c.r, hash)
	if errors.Is(err, transaction.ErrNotFound) || err == nil && p.Block >= c.next {
		return nil, errElsewhere
	}
	if err != nil {
		return nil, err
	}
	return transaction.Get(c.ctx, c.r, p)
}

func (c *call) transactionByHash() ([]byte, error) {
	facts, err := c.wantsFacts()
	if err != nil {
		return nil, err
	}
	rec, err := c.find()
	if err != nil {
		return nil, err
	}
	return c.transaction(rec, facts)
}

func (c *call) transactionByIndex() ([]byte, error) {
	facts, err := c.wantsFacts()
	if err != nil {
		return nil, err
	}
	index, err := c.uint64("index")
	if err != nil {
		return nil, err
	}
	if index > math.MaxInt32 {
		return nil, errElsewhere // nodes differ in which numbers they can read
	}
	number, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	b, err := block.Get(c.ctx, c.r, number)
	if err != nil {
		return nil, err
	}
	if index >= b.Transactions {
		return nil, codeInvalidIndex
	}
	rec, err := transaction.Get(c.ctx, c.r, explorer.Position{Block: number, Index: uint32(index)})
	if err != nil {
		return nil, err
	}
	return c.transaction(rec, facts)
}

// transaction is a transaction with its proof facts, if they are wanted and known.
func (c *call) transaction(rec *transaction.Record, facts bool) ([]byte, error) {
	t := &rec.Transaction
	version, _ := t.PlainVersion()
	switch {
	case !facts:
		t.ProofFacts = nil
	case len(t.ProofFacts) == 0 && t.Type == starknet.Invoke && version == 3:
		found, err := chain.FindingAt(c.ctx, c.r, rec.Block)
		if err != nil {
			return nil, err
		}
		if found.Outcome != chain.Verified {
			return nil, errElsewhere
		}
		t.ProofFacts = []felt.Felt{}
	}
	return starknet.AppendTransaction(nil, t, c.v), nil
}

// told is the receipt that was asked for, with its finality.
func (c *call) told() (*transaction.Record, error) {
	rec, err := c.find()
	if err != nil {
		return nil, err
	}
	rec.Receipt.Finality, err = c.status(rec.Block)
	return rec, err
}

func (c *call) receipt() ([]byte, error) {
	rec, err := c.told()
	if err != nil {
		return nil, err
	}
	return starknet.AppendReceiptOf(nil, &rec.Receipt, rec.BlockHash, rec.Block, c.v), nil
}

func (c *call) transactionStatus() ([]byte, error) {
	rec, err := c.told()
	if err != nil {
		return nil, err
	}
	return starknet.AppendStatusOf(nil, &rec.Receipt), nil
}

package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// maxSimulated bounds the lists of estimates and simulations.
const maxSimulated = 200

// estimate is plausible: there is no machine here to measure with.
func (c *rpcCall) estimate(p place, calls int, unit string) map[string]any {
	h := &p.rec.header
	l2 := uint64(850_000 + 150_000*calls)
	const data = 192
	prices := func(g starknet.GasPrice) felt.Felt {
		if unit == "WEI" {
			return g.InWei
		}
		return g.InFri
	}
	price, _ := prices(h.L2GasPrice).Uint64()
	dataPrice, _ := prices(h.L1DataGasPrice).Uint64()
	fee := amountOf(l2).mul(price).add(amountOf(data).mul(dataPrice))
	return map[string]any{
		"l1_gas_consumed": "0x0", "l1_gas_price": prices(h.L1GasPrice),
		"l1_data_gas_consumed": felt.FromUint64(data), "l1_data_gas_price": prices(h.L1DataGasPrice),
		"l2_gas_consumed": felt.FromUint64(l2), "l2_gas_price": prices(h.L2GasPrice), "overall_fee": fee.low(), "unit": unit,
	}
}

// simulated reads a list of transactions and checks that their senders exist.
func (c *rpcCall) simulated(name string, p place) ([]*starknet.Transaction, error) {
	list, err := arg[[]broadcast](c, name)
	if err != nil {
		return nil, err
	}
	if len(list) > maxSimulated {
		return nil, failureWith(codeInvalidParams, "too many transactions")
	}
	txs := make([]*starknet.Transaction, len(list))
	for i := range list {
		if txs[i], err = list[i].transaction(); err != nil {
			return nil, err
		}
		sender := txs[i].Sender
		if txs[i].Type == starknet.DeployAccount {
			continue
		}
		if _, ok := c.node.chain.ClassAt(sender, p.number()); !ok {
			if c.node.cfg.Version >= starknet.V010 && name == "request" {
				return nil, failure(codeContractNotFound)
			}
			return nil, failureWith(codeExecutionError, map[string]any{
				"transaction_index": i, "execution_error": "Requested contract address " + sender.String() + " is not deployed."})
		}
	}
	return txs, nil
}

// flags reads simulation flags and checks that each is known.
func (c *rpcCall) simulationFlags() (map[string]bool, error) {
	list, err := arg[[]string](c, "simulation_flags")
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, f := range list {
		known := f == "SKIP_VALIDATE" || f == "SKIP_FEE_CHARGE" || f == "RETURN_INITIAL_READS" && c.node.cfg.Version >= starknet.V010
		if !known {
			return nil, failureWith(codeInvalidParams, "unknown flag "+f)
		}
		set[f] = true
	}
	return set, nil
}

func countCalls(tx *starknet.Transaction) int {
	calls, _ := decodeMulticall(tx.Calldata)
	return len(calls)
}

func estimateFee(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	if _, err := c.simulationFlags(); err != nil {
		return nil, err
	}
	txs, err := c.simulated("request", p)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(txs))
	for i, tx := range txs {
		out[i] = c.estimate(p, countCalls(tx), "FRI")
	}
	return out, nil
}

func estimateMessageFee(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	message, err := arg[struct {
		From     felt.Felt   `json:"from_address"`
		To       felt.Felt   `json:"to_address"`
		Selector felt.Felt   `json:"entry_point_selector"`
		Payload  []felt.Felt `json:"payload"`
	}](c, "message")
	if err != nil {
		return nil, err
	}
	class, ok := c.node.chain.ClassAt(message.To, p.number())
	if !ok {
		return nil, failure(codeContractNotFound)
	}
	if class != contracts.Classes().Bridge {
		return nil, failureWith(codeContractError, map[string]any{"revert_error": "no such L1 handler"})
	}
	return c.estimate(p, 1, "WEI"), nil
}

func simulateTransactions(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	flags, err := c.simulationFlags()
	if err != nil {
		return nil, err
	}
	txs, err := c.simulated("transactions", p)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(txs))
	for i, tx := range txs {
		r := &starknet.Receipt{Type: tx.Type, Execution: starknet.Succeeded, Resources: starknet.ExecutionResources{L2Gas: 850_000, L1DataGas: 192}}
		if tx.Type == starknet.DeployAccount {
			r.ContractAddress = contractAddressOf(tx)
		}
		trace := (&tracer{chain: c.node.chain, block: p.number(), tx: tx, r: r}).trace()
		if flags["SKIP_VALIDATE"] {
			delete(trace, "validate_invocation")
		}
		out[i] = map[string]any{"transaction_trace": trace, "fee_estimation": c.estimate(p, countCalls(tx), "FRI")}
	}
	if flags["RETURN_INITIAL_READS"] {
		return map[string]any{"simulated_transactions": out, "initial_reads": map[string]any{}}, nil
	}
	return out, nil
}

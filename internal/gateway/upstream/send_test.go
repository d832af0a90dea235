package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

var writes = map[starknet.TxType]string{
	starknet.Invoke: "starknet_addInvokeTransaction", starknet.Declare: "starknet_addDeclareTransaction", starknet.DeployAccount: "starknet_addDeployAccountTransaction",
}

// sendable is a transaction of a chain as it was once sent.
func sendable(t testing.TB, sim *simnode.Node, tx *starknet.Transaction) map[string]json.RawMessage {
	t.Helper()
	var out map[string]json.RawMessage
	if err := json.Unmarshal(starknet.AppendTransaction(nil, tx, starknet.V010), &out); err != nil {
		t.Fatal(err)
	}
	delete(out, "transaction_hash")
	if tx.Type == starknet.Declare {
		delete(out, "class_hash")
		out["contract_class"] = json.RawMessage(straight(t, sim, "starknet_getClass", fmt.Sprintf(`["latest",%q]`, tx.ClassHash)))
	}
	return out
}

// Every transaction of version 3 is found under the hash that is told of it.
func TestTransactionHashes(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 2, Blocks: 60, RealHashes: true})
	sim := simnode.NewNode(chain, simnode.NodeConfig{})
	checked := map[starknet.TxType]int{}
	facts := 0
	for n := range uint64(60) {
		b := chain.BlockAt(n)
		for i := range b.Transactions {
			tx := &b.Transactions[i]
			if v, ok := tx.PlainVersion(); !ok || v != 3 || writes[tx.Type] == "" || !tx.ResourceBounds.HasL1DataGas || checked[tx.Type] > 20 {
				continue
			}
			fields := sendable(t, sim, tx)
			fields["proof"] = json.RawMessage(`"AAAA"`) // is not hashed
			m := method.Lookup(writes[tx.Type])
			args := method.Args{m.Params[0].Name: json.RawMessage(marshal(fields))}
			hash, err := transactionHash(m, args, chain.Config().ChainID)
			if tx.Type == starknet.Declare && err != nil && strings.Contains(err.Error(), "Sierra") {
				continue
			}
			if err != nil || hash != tx.Hash {
				t.Errorf("%s %s: %s, %v", tx.Type, tx.Hash, hash, err)
			}
			checked[tx.Type]++
			if len(tx.ProofFacts) > 0 {
				facts++
			}
		}
	}
	if len(checked) < 3 {
		t.Errorf("only %v", checked)
	}
	t.Log(checked, facts)
}

const invokeText = `{"type":"INVOKE","version":"0x3","sender_address":"0x1","calldata":["0x2"],"signature":[],"nonce":"0x0",
	"resource_bounds":{"l1_gas":{"max_amount":"0x1","max_price_per_unit":"0x1"},"l2_gas":{"max_amount":"0x1","max_price_per_unit":"0x1"},"l1_data_gas":{"max_amount":"0x1","max_price_per_unit":"0x1"}},
	"tip":"0x0","paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}`

// No hash is told of what nodes may read otherwise than we do.
func TestNoHashWhereItIsNotSure(t *testing.T) {
	m := method.Lookup("starknet_addInvokeTransaction")
	id := simnode.New(simnode.Config{Blocks: 1}).Config().ChainID
	plain, err := transactionHash(m, method.Args{"invoke_transaction": json.RawMessage(invokeText)}, id)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		old, new string
		same     bool // as the plain one; otherwise none
	}{
		"escaped":          {`"type"`, `"t\u0079pe"`, true},
		"proof":            {`"tip"`, `"proof":"AAAA","tip"`, true},
		"no facts":         {`"tip"`, `"proof_facts":[],"tip"`, true},
		"twice":            {`"nonce":"0x0"`, `"nonce":"0x0","nonce":"0x1"`, false},
		"twice, escaped":   {`"nonce":"0x0"`, `"nonce":"0x0","n\u006fnce":"0x1"`, false},
		"twice, deep":      {`"max_amount":"0x1"`, `"max_amount":"0x1","max_amount":"0x2"`, false},
		"other case":       {`"nonce":"0x0"`, `"nonce":"0x0","Nonce":"0x1"`, false},
		"other version":    {`"0x3"`, `"0x1"`, false},
		"query":            {`"0x3"`, `"0x100000000000000000000000000000003"`, false},
		"two resources":    {`,"l1_data_gas":{"max_amount":"0x1","max_price_per_unit":"0x1"}`, ``, false},
		"other type":       {`"INVOKE"`, `"DEPLOY_ACCOUNT"`, false},
		"missing":          {`"sender_address":"0x1",`, ``, false},
		"not a felt":       {`["0x2"]`, `["x"]`, false},
		"field of another": {`"tip"`, `"class_hash":"0x1","tip"`, false},
		"cut":              {`"fee_data_availability_mode":"L1"}`, ``, false},
	} {
		text := strings.Replace(invokeText, c.old, c.new, 1)
		if text == invokeText {
			t.Fatalf("%s changes nothing", name)
		}
		hash, err := transactionHash(m, method.Args{"invoke_transaction": json.RawMessage(text)}, id)
		if (err == nil) != c.same || err == nil && hash != plain {
			t.Errorf("%s: %s, %v", name, hash, err)
		}
	}
	facts := strings.Replace(invokeText, `"tip"`, `"proof_facts":["0x1"],"tip"`, 1)
	if hash, err := transactionHash(m, method.Args{"invoke_transaction": json.RawMessage(facts)}, id); err != nil || hash == plain {
		t.Errorf("proof facts are not hashed: %v", err)
	}
}

// A write reaches one node, once, whatever the nodes do; and what is not known of it
// is said, with the hash to look for.
func TestSendUnderFaults(t *testing.T) {
	const name = "starknet_addInvokeTransaction"
	all := newWorld(t, simnode.Config{Seed: 2, Blocks: 5})
	for _, c := range []struct {
		what    string
		fault   simnode.Fault
		unknown bool
		code    int
	}{
		{"none", simnode.Fault{Kind: simnode.FaultLatency}, false, 0},
		{"status 500", simnode.Fault{Kind: simnode.FaultHTTPStatus, Status: 500}, true, 0},
		{"status 503", simnode.Fault{Kind: simnode.FaultHTTPStatus, Status: 503}, true, 0},
		{"cut off", simnode.Fault{Kind: simnode.FaultTruncate}, true, 0},
		{"dropped", simnode.Fault{Kind: simnode.FaultDrop}, true, 0},
		{"other id", simnode.Fault{Kind: simnode.FaultWrongID}, true, 0},
		{"refused", simnode.Fault{Kind: simnode.FaultRPCError, Code: 55, Message: "no"}, false, 55},
		{"internal", simnode.Fault{Kind: simnode.FaultRPCError, Code: -32603, Message: "no"}, false, -32603},
		{"status 429", simnode.Fault{Kind: simnode.FaultHTTPStatus, Status: 429}, false, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := all.behind(t, simnode.NodeConfig{}, simnode.NodeConfig{}, simnode.NodeConfig{})
			hits := func() (n int) {
				for _, sim := range w.nodes {
					for k := simnode.FaultLatency; k <= simnode.FaultRPCError; k++ {
						n += sim.Faults().Hits(k)
					}
				}
				return n
			}
			fault := c.fault
			fault.Method = name
			for _, sim := range w.nodes {
				sim.Faults().Set(fault)
			}
			m, raw, args := bind(t, name, `[`+invokeText+`]`, starknet.V010)
			a, err := w.up.Send(t.Context(), m, raw, args, starknet.V010)
			a.Release()
			if n := hits(); n != 1 {
				t.Errorf("it reached nodes %d times", n)
			}
			var unknown *DeliveryUnknownError
			switch {
			case c.unknown:
				want, _ := transactionHash(m, args, w.chain.Config().ChainID)
				if !errors.As(err, &unknown) || unknown.Hash == nil || *unknown.Hash != want || unknown.Node == "" {
					t.Errorf("%v", err)
				}
			case c.code != 0:
				if err != nil || a.Code != c.code {
					t.Errorf("%s, %v", a.Error, err)
				}
			case c.what != "none":
				if err == nil || errors.As(err, &unknown) {
					t.Errorf("%s, %v", a.Result, err)
				}
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// A node that answers without naming a transaction has not said that it took one.
func TestSendWithoutAcknowledgement(t *testing.T) {
	m, raw, args := bind(t, "starknet_addInvokeTransaction", `[`+invokeText+`]`, starknet.V010)
	id := simnode.New(simnode.Config{Blocks: 1}).Config().ChainID
	hash, err := transactionHash(m, args, id)
	if err != nil {
		t.Fatal(err)
	}
	for result, known := range map[string]bool{
		`null`: false, `{}`: false, `[]`: false, `"0x1"`: false, `{"transaction_hash":null}`: false, `{"transaction_hash":"x"}`: false,
		`{"transaction_hash":"0x1"}`: true, `{"more":[1],"transaction_hash":"0x1"}`: true,
	} {
		s := &scripted{chain: id, answer: answers(node.Told{Node: "n", Result: json.RawMessage(result)}, nil)}
		a, err := New(Options{Pool: s}).Send(t.Context(), m, raw, args, starknet.V010)
		a.Release()
		var unknown *DeliveryUnknownError
		switch {
		case known && (err != nil || string(a.Result) != result):
			t.Errorf("%s: %s, %v", result, a.Result, err)
		case !known && (!errors.As(err, &unknown) || unknown.Node != "n" || unknown.Hash == nil || *unknown.Hash != hash):
			t.Errorf("%s: %s, %v", result, a.Result, err)
		}
		if s.freed != 1 || len(s.asked) != 1 {
			t.Errorf("%s: sent %d times, freed %d times", result, len(s.asked), s.freed)
		}
	}
}

// A failure that is not about delivery carries no hash, and a chain that is not known
// gives none.
func TestSendWithoutAChain(t *testing.T) {
	m, raw, args := bind(t, "starknet_addInvokeTransaction", `[`+invokeText+`]`, starknet.V010)
	s := &scripted{answer: answers(node.Told{}, &node.DeliveryUnknownError{Node: "n", Err: errDown})}
	_, err := New(Options{Pool: s}).Send(t.Context(), m, raw, args, starknet.V010)
	var unknown *DeliveryUnknownError
	if !errors.As(err, &unknown) || unknown.Hash != nil || !errors.Is(err, errDown) {
		t.Errorf("%v", err)
	}
}

// Reads get past a node that fails, whatever it does.
func TestReadsUnderFaults(t *testing.T) {
	const name = "starknet_getStateUpdate"
	all := newWorld(t, simnode.Config{Seed: 2, Blocks: 30})
	for what, fault := range map[string]simnode.Fault{
		"slow":     {Kind: simnode.FaultLatency, Delay: time.Hour},
		"status":   {Kind: simnode.FaultHTTPStatus, Status: 502},
		"limited":  {Kind: simnode.FaultHTTPStatus, Status: 429, RetryAfter: time.Minute},
		"cut off":  {Kind: simnode.FaultTruncate},
		"dropped":  {Kind: simnode.FaultDrop},
		"other id": {Kind: simnode.FaultWrongID},
		"internal": {Kind: simnode.FaultRPCError, Code: -32603},
		"limit":    {Kind: simnode.FaultRPCError, Code: -32005},
	} {
		t.Run(what, func(t *testing.T) {
			wait := func(ctx context.Context, d time.Duration) error {
				<-ctx.Done() // longer than anybody waits
				return context.Cause(ctx)
			}
			w := all.behind(t, simnode.NodeConfig{Wait: wait}, simnode.NodeConfig{})
			fault.Method = name
			w.nodes[0].Faults().Set(fault)
			for n := range 12 {
				params := fmt.Sprintf(`{"block_id":{"block_number":%d}}`, n)
				a, err := w.call(name, params)
				if err != nil || string(a.Result) != straight(t, w.nodes[1], name, params) {
					t.Fatalf("block %d: %.80s %s, %v", n, a.Result, a.Error, err)
				}
			}
		})
	}
}

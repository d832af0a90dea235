package simnode_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// view calls a contract after a block.
func view(t *testing.T, n *simnode.Node, block uint64, contract felt.Felt, name string, args ...felt.Felt) []felt.Felt {
	t.Helper()
	return decode[[]felt.Felt](t, must(t, n, "call", viewParams(t, block, contract, name, args...)))
}

func viewParams(t *testing.T, block uint64, contract felt.Felt, name string, args ...felt.Felt) string {
	t.Helper()
	if args == nil {
		args = []felt.Felt{}
	}
	text, err := json.Marshal(map[string]any{"block_id": map[string]uint64{"block_number": block},
		"request": map[string]any{"contract_address": contract, "entry_point_selector": felt.Selector(name), "calldata": args}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// text reads a short string or a byte array, by its length.
func text(t *testing.T, fs []felt.Felt) string {
	t.Helper()
	if len(fs) == 1 {
		return string(fs[0].Trimmed())
	}
	b, used, err := felt.DecodeByteArray(fs)
	if err != nil || used != len(fs) {
		t.Fatalf("%v is no text: %v", fs, err)
	}
	return string(b)
}

func TestTokenViews(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 120})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	forms := map[bool]int{}
	for _, token := range chain.Tokens(119) {
		if token.Standard == simnode.ERC1155 {
			continue
		}
		name := view(t, n, 119, token.Address, "name")
		forms[len(name) == 1]++
		want := token.Name
		if len(name) == 1 {
			want = want[:min(31, len(want))]
		}
		if got := text(t, name); got != want {
			t.Errorf("name of %s is %q, want %q", token.Address, got, want)
		}
		if token.Standard != simnode.ERC20 {
			continue
		}
		if got := view(t, n, 119, token.Address, "decimals"); got[0] != felt.FromUint64(uint64(token.Decimals)) {
			t.Errorf("decimals of %q are %s", token.Name, got[0])
		}
		for _, block := range []uint64{60, 119} {
			if token.Block > block {
				continue
			}
			supply := view(t, n, block, token.Address, "totalSupply")
			if u256(t, supply[0], supply[1]).Cmp(chain.SupplyAt(token.Address, block)) != 0 {
				t.Errorf("supply of %q is wrong", token.Name)
			}
			for _, h := range chain.Holders(token.Address, block) {
				got := view(t, n, block, token.Address, "balanceOf", h.Address)
				if u256(t, got[0], got[1]).Cmp(h.Balance) != 0 {
					t.Errorf("balance of %s in %q is wrong", h.Address, token.Name)
				}
			}
		}
	}
	if forms[true] == 0 || forms[false] == 0 {
		t.Errorf("names come in one form only: %v", forms)
	}
	// A Cairo 0 contract behind the old proxy has one way of writing names,
	// and fails differently on the other.
	dai := chain.Network().DAI
	if r := ask(t, n, "call", viewParams(t, 119, dai, "total_supply")); r.Error == nil || r.Error.Code != 40 {
		t.Errorf("the proxy answered %+v", r.Error)
	}
	if class, _ := chain.ClassAt(dai, 119); class != contracts.Classes().Proxy {
		t.Error("the proxy's own class changed")
	}
	upgrades := chain.Events(simnode.EventFilter{To: 119, Addresses: []felt.Felt{dai}, Keys: [][]felt.Felt{{contracts.SelUpgraded}}})
	if len(upgrades) == 0 {
		t.Error("the proxy was never upgraded")
	}
	for _, u := range upgrades {
		if got := view(t, n, u.Block.Number, dai, "get_implementation"); len(got) != 1 || got[0] != u.Event.Data[0] {
			t.Errorf("implementation is %v", got)
		}
	}
	if r := ask(t, n, "call", viewParams(t, 0, chain.Tokens(119)[8].Address, "name")); r.Error == nil || r.Error.Code != 20 {
		t.Errorf("a token answered before it was there: %+v", r.Error)
	}
}

func TestOtherViews(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 150})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	head := uint64(149)
	owned := map[felt.Felt]int64{}
	for _, token := range chain.Tokens(head) {
		if token.Standard != simnode.ERC721 {
			continue
		}
		clear(owned)
		for number := range uint64(1000) {
			owner := chain.OwnerAt(token.Address, number, head)
			if owner.IsZero() { // burned, or not there yet
				continue
			}
			owned[owner]++
			if got := view(t, n, head, token.Address, "owner_of", felt.FromUint64(number), felt.Zero); got[0] != owner {
				t.Errorf("owner of NFT %d is %s", number, got[0])
			}
		}
		for owner, count := range owned {
			got := view(t, n, head, token.Address, "balance_of", owner)
			if u256(t, got[0], got[1]).Cmp(big.NewInt(count)) != 0 {
				t.Errorf("%s owns %s NFTs, want %d", owner, got[0], count)
			}
		}
		if got := view(t, n, head, token.Address, "supports_interface", felt.MustParse("0x33eb2f84c309543403fd69f0d0f363781ef06ef6faeb0131ff16ea3175bd943")); got[0] != felt.FromUint64(1) {
			t.Error("an NFT does not say that it is one")
		}
	}
	pool := chain.Pool()
	for _, f := range chain.PoolFacts(0, head) {
		switch f.Kind {
		case simnode.PoolNoteUsed:
			if got := view(t, n, head, pool, "nullifier_exists", f.ID); got[0] != felt.FromUint64(1) {
				t.Error("a nullifier is not known")
			}
		case simnode.PoolEncNoteCreated:
			if got := view(t, n, head, pool, "get_note", f.ID); got[0].IsZero() {
				t.Error("a note is not known")
			}
		case simnode.PoolViewingKeySet:
			if got := view(t, n, head, pool, "get_public_key", f.Party); got[0] != f.ID {
				t.Error("a viewing key is not known")
			}
		}
	}
	if got := view(t, n, head, pool, "get_version"); text(t, got) != "2.1" {
		t.Errorf("pool version is %q", text(t, got))
	}
	if got := view(t, n, 1, pool, "get_version"); text(t, got) != "1.0" {
		t.Errorf("pool version at first is %q", text(t, got))
	}
	for _, a := range chain.Accounts(head)[1:4] {
		if got := view(t, n, head, a, "supports_interface", felt.MustParse("0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd")); got[0] != felt.FromUint64(1) {
			t.Error("an account does not say that it is one")
		}
	}
}

type traceNode struct {
	Contract felt.Felt   `json:"contract_address"`
	Reason   string      `json:"revert_reason"`
	Calls    []traceNode `json:"calls"`
	Events   []struct {
		Keys []felt.Felt `json:"keys"`
		Data []felt.Felt `json:"data"`
	} `json:"events"`
	Messages []struct {
		To felt.Felt `json:"to_address"`
	} `json:"messages"`
}

// flatten lists a trace's events with their emitters.
func (n *traceNode) flatten(out *[]starknet.Event, messages *int) {
	for _, e := range n.Events {
		*out = append(*out, starknet.Event{From: n.Contract, Keys: e.Keys, Data: e.Data})
	}
	*messages += len(n.Messages)
	for i := range n.Calls {
		n.Calls[i].flatten(out, messages)
	}
}

func TestTracesHoldTheEvents(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	chain := simnode.New(simnode.Config{Seed: 4, Blocks: 60})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	for number := range uint64(60) {
		b := chain.BlockAt(number)
		traces := decode[[]struct {
			Hash felt.Felt            `json:"transaction_hash"`
			Root map[string]traceNode `json:"-"`
			Raw  json.RawMessage      `json:"trace_root"`
		}](t, must(t, n, "traceBlockTransactions", fmt.Sprintf(`{"block_id":{"block_number":%d}}`, number)))
		if len(traces) != len(b.Transactions) {
			t.Fatalf("%d traces", len(traces))
		}
		for i, tr := range traces {
			if tr.Hash != b.Transactions[i].Hash {
				t.Errorf("trace %d of block %d has another hash", i, number)
			}
			if single := must(t, n, "traceTransaction", `["`+tr.Hash.String()+`"]`); string(single) != string(tr.Raw) {
				t.Errorf("traceTransaction differs from traceBlockTransactions")
			}
			parts := decode[map[string]json.RawMessage](t, tr.Raw)
			var events []starknet.Event
			messages := 0
			for _, part := range []string{"validate_invocation", "constructor_invocation", "function_invocation", "execute_invocation", "fee_transfer_invocation"} {
				if text, ok := parts[part]; ok {
					root := decode[traceNode](t, text)
					root.flatten(&events, &messages)
				}
			}
			want := b.Receipts[i].Events
			if len(events) != len(want) || messages != len(b.Receipts[i].MessagesSent) {
				t.Errorf("block %d, transaction %d: trace has %d events and %d messages, receipt %d and %d",
					number, i, len(events), messages, len(want), len(b.Receipts[i].MessagesSent))
				continue
			}
			for _, w := range want {
				if !slices.ContainsFunc(events, func(e starknet.Event) bool {
					return e.From == w.From && slices.Equal(e.Keys, w.Keys) && slices.Equal(e.Data, w.Data)
				}) {
					t.Errorf("block %d, transaction %d: an event is not in the trace", number, i)
				}
			}
		}
	}
}

// invokeJSON is a transfer of STRK by an account of the chain.
func invokeJSON(sender, to felt.Felt, nonce, amount uint64) string {
	calldata := []felt.Felt{felt.FromUint64(1), contracts.STRK, contracts.SelFnTransfer, felt.FromUint64(3), to, felt.FromUint64(amount), felt.Zero}
	text, err := json.Marshal(map[string]any{
		"type": "INVOKE", "version": "0x3", "sender_address": sender, "calldata": calldata, "signature": []string{"0x1", "0x2"},
		"nonce": felt.FromUint64(nonce), "tip": "0x0", "paymaster_data": []any{}, "account_deployment_data": []any{},
		"nonce_data_availability_mode": "L1", "fee_data_availability_mode": "L1",
		"resource_bounds": map[string]any{
			"l1_gas":      map[string]string{"max_amount": "0x10", "max_price_per_unit": "0x10"},
			"l2_gas":      map[string]string{"max_amount": "0x1000000", "max_price_per_unit": "0x1000000000"},
			"l1_data_gas": map[string]string{"max_amount": "0x1000", "max_price_per_unit": "0x10000000"}},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestSubmittedTransactions(t *testing.T) {
	for _, real := range []bool{false, true} {
		chain := simnode.New(simnode.Config{Seed: 6, Blocks: 10, RealHashes: real, TxPerBlock: 2})
		n := simnode.NewNode(chain, simnode.NodeConfig{})
		sender, to := chain.Accounts(9)[1], felt.FromUint64(0xbeef)
		nonce, _ := chain.NonceAt(sender, 9)
		send := func(text string) response { return ask(t, n, "addInvokeTransaction", "["+text+"]") }

		first := invokeJSON(sender, to, nonce, 1234)
		r := send(first)
		if r.Error != nil {
			t.Fatalf("refused: %+v", r.Error)
		}
		hash := decode[map[string]felt.Felt](t, r.Result)["transaction_hash"]
		for code, body := range map[int]string{59: first, 52: invokeJSON(sender, to, nonce+5, 1), 58: invokeJSON(felt.FromUint64(99), to, 0, 1)} {
			if r := send(body); r.Error == nil || r.Error.Code != code {
				t.Errorf("%+v, want error %d", r.Error, code)
			}
		}
		if r := send(invokeJSON(sender, to, nonce+1, 1)); r.Error != nil {
			t.Errorf("a second transaction is refused: %+v", r.Error)
		}
		status := func() string {
			return decode[map[string]string](t, must(t, n, "getTransactionStatus", `["`+hash.String()+`"]`))["finality_status"]
		}
		if status() != "RECEIVED" || len(chain.Pending()) != 2 {
			t.Errorf("status is %s", status())
		}
		if r := ask(t, n, "traceTransaction", `["`+hash.String()+`"]`); r.Error == nil || r.Error.Code != 10 {
			t.Errorf("trace of a waiting transaction: %+v", r.Error)
		}
		chain.Extend(1)
		ref, ok := chain.TransactionByHash(hash)
		if !ok || ref.Block.Number != 10 || ref.Receipt.Execution != starknet.Succeeded || status() != "ACCEPTED_ON_L2" {
			t.Fatalf("transaction is not in block 10: %+v", ref)
		}
		if got := chain.BalanceAt(contracts.STRK, to, 10); got.Cmp(big.NewInt(1235)) != 0 {
			t.Errorf("the recipient has %s", got)
		}
		if got, _ := chain.NonceAt(sender, 10); got < nonce+2 {
			t.Errorf("nonce is %d", got)
		}
		if r := send(first); r.Error == nil || r.Error.Code != 59 {
			t.Errorf("sent again: %+v", r.Error)
		}
		checkTruth(t, chain)
		if real {
			checkVerifies(t, chain, 9)
		}
	}
}

func TestDeclareAndDeployFromOutside(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 6, Blocks: 10})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	sender := chain.Accounts(9)[2]
	nonce, _ := chain.NonceAt(sender, 9)
	var tx map[string]any
	if err := json.Unmarshal([]byte(invokeJSON(sender, felt.Zero, nonce, 0)), &tx); err != nil {
		t.Fatal(err)
	}
	delete(tx, "calldata")
	tx["type"], tx["compiled_class_hash"] = "DECLARE", "0x77"
	class := contracts.Variant(9999)
	tx["contract_class"] = json.RawMessage(starknet.AppendClass(nil, &class.Class))
	text, err := json.Marshal([]any{tx})
	if err != nil {
		t.Fatal(err)
	}
	got := decode[map[string]felt.Felt](t, must(t, n, "addDeclareTransaction", string(text)))
	if got["class_hash"] != class.Hash {
		t.Errorf("declared %s, want %s", got["class_hash"], class.Hash)
	}
	chain.Extend(1)
	must(t, n, "getClass", `["latest","`+class.Hash.String()+`"]`)
	tx["nonce"] = felt.FromUint64(nonce + 1)
	text, _ = json.Marshal([]any{tx})
	if r := ask(t, n, "addDeclareTransaction", string(text)); r.Error == nil || r.Error.Code != 51 {
		t.Errorf("declared twice: %+v", r.Error)
	}

	for _, field := range []string{"contract_class", "compiled_class_hash", "sender_address", "account_deployment_data"} {
		delete(tx, field)
	}
	account := contracts.Classes().Account.Hash
	tx["type"], tx["nonce"], tx["class_hash"], tx["contract_address_salt"], tx["constructor_calldata"] = "DEPLOY_ACCOUNT", "0x0", account, "0x5", []string{"0x6"}
	text, _ = json.Marshal([]any{tx})
	if r := ask(t, n, "addDeployAccountTransaction", string(text)); r.Error == nil || r.Error.Code != 54 {
		t.Errorf("an account without funds: %+v", r.Error)
	}
	address := starknet.ComputeContractAddress(felt.Zero, felt.FromUint64(5), account, []felt.Felt{felt.FromUint64(6)})
	next, _ := chain.NonceAt(sender, 10)
	must(t, n, "addInvokeTransaction", "["+invokeJSON(sender, address, next, 2e17)+"]")
	chain.Extend(1)
	if got := decode[map[string]felt.Felt](t, must(t, n, "addDeployAccountTransaction", string(text))); got["contract_address"] != address {
		t.Errorf("account is at %s", got["contract_address"])
	}
	chain.Extend(1)
	if class, ok := chain.ClassAt(address, 12); !ok || class.Hash != account {
		t.Error("the account is not there")
	}
	checkTruth(t, chain)

	chain.Truncate(4)
	chain.Extend(4)
	_, declared := chain.ClassByHash(class.Hash, 12)
	_, compiled := chain.CompiledHashAt(class.Hash, 12)
	_, deployed := chain.ClassAt(address, 12)
	if declared || compiled || deployed {
		t.Errorf("undone and still there: class %v, compiled class %v, account %v", declared, compiled, deployed)
	}
	checkTruth(t, chain)
}

func TestEstimates(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 10})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	tx := invokeJSON(chain.Accounts(9)[1], felt.FromUint64(5), 1, 1)
	fees := decode[[]map[string]string](t, must(t, n, "estimateFee", `[[`+tx+`,`+tx+`],["SKIP_VALIDATE"],"latest"]`))
	words := sortedWords("l1_gas_consumed l1_gas_price l1_data_gas_consumed l1_data_gas_price l2_gas_consumed l2_gas_price overall_fee unit")
	if len(fees) != 2 || len(fees[0]) != len(words) || fees[0]["unit"] != "FRI" {
		t.Errorf("fees %v", fees)
	}
	sims := decode[[]map[string]json.RawMessage](t, must(t, n, "simulateTransactions", `["latest",[`+tx+`],["SKIP_FEE_CHARGE"]]`))
	if len(sims) != 1 || sims[0]["transaction_trace"] == nil || sims[0]["fee_estimation"] == nil {
		t.Errorf("simulation %v", sims)
	}
	unknown := invokeJSON(felt.FromUint64(99), felt.FromUint64(5), 1, 1)
	if r := ask(t, n, "estimateFee", `[[`+unknown+`],[],"latest"]`); r.Error == nil || r.Error.Code != 20 {
		t.Errorf("an unknown sender: %+v", r.Error)
	}
	if r := ask(t, n, "simulateTransactions", `["latest",[`+unknown+`],[]]`); r.Error == nil || r.Error.Code != 41 {
		t.Errorf("an unknown sender: %+v", r.Error)
	}
	message := `{"from_address":"0x1","to_address":"` + chain.Network().MultiBridge.String() + `","entry_point_selector":"0x1","payload":[]}`
	if fee := decode[map[string]string](t, must(t, n, "estimateMessageFee", `[`+message+`,"latest"]`)); fee["unit"] != "WEI" {
		t.Errorf("fee of a message: %v", fee)
	}
}

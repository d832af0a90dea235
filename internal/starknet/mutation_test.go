package starknet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// subject is a true block that is mutated.
type subject struct {
	name   string
	block  *starknet.Block
	update *starknet.StateUpdate // nil where nobody has it
	chain  felt.Felt
}

// mutations is how many are tried on a block: MUTATIONS multiplies it.
func mutations(t *testing.T, n int) int {
	if s := os.Getenv("MUTATIONS"); s != "" {
		times, err := strconv.Atoi(s)
		if err != nil || times < 1 {
			t.Fatalf("MUTATIONS=%q is not a positive number", s)
		}
		n *= times
	}
	return n
}

// TestMutations changes a byte, drops a member or an element, or retypes a
// transaction, of real and simulated blocks of every version that there are any
// of. Each is refused, or means the same as the truth, but for the parts that the
// rules of its version do not cover.
func TestMutations(t *testing.T) {
	skipRaced(t)
	tried, refused := map[string]int{}, map[string]int{}
	for _, s := range append(simulatedBlocks(t), smallRealBlocks(t)...) {
		n := 30
		if starknet.RulesOf(&s.block.Header, s.chain) < starknet.RulesPoseidon {
			n = 6 // curve arithmetic
		}
		rng := rand.New(rand.NewPCG(7, uint64(len(s.name))+s.block.Number))
		for range mutations(t, n) {
			what, ok := s.mutate(t, rng)
			tried[s.block.StarknetVersion]++
			if ok {
				refused[s.block.StarknetVersion]++
			}
			if t.Failed() {
				t.Fatalf("%s: %s passes and means something else", s.name, what)
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(tried)) {
		t.Logf("version %-9q %4d mutations, %4d refused", v, tried[v], refused[v])
	}
}

func simulatedBlocks(t *testing.T) (out []subject) {
	for _, version := range []string{"0.13.2", "0.13.4", "0.14.0", "0.14.1", "0.14.2"} {
		cfg := simnode.Config{Seed: 3, Blocks: 8, TxPerBlock: 3, RealHashes: true, StarknetVersion: version}
		err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
			if b.Number >= 3 {
				out = append(out, subject{fmt.Sprintf("simulated %s block %d", version, b.Number), b, su, starknet.ChainSepolia})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func smallRealBlocks(t *testing.T) (out []subject) {
	for _, network := range slices.Sorted(maps.Keys(feederNetworks)) {
		for _, rb := range feederBlocks(t, network) {
			if len(rb.block.Transactions) > 12 || rb.block.EventCount() > 60 {
				continue
			}
			s := subject{rb.name, rb.block, rb.update, hashChain(&rb)}
			if starknet.Verify(s.block, s.update, s.chain) == nil {
				out = append(out, s)
			}
		}
	}
	return out
}

// mutate tries one mutation. refused is false for one that means the same.
func (s *subject) mutate(t *testing.T, rng *rand.Rand) (what string, refused bool) {
	blockText := starknet.AppendBlock(nil, s.block, starknet.V010)
	var updateText []byte
	if s.update != nil {
		updateText = starknet.AppendStateUpdate(nil, s.update, starknet.V010)
	}
	block, update := jsonTree(t, blockText), jsonTree(t, updateText)
	switch n := rng.IntN(10); {
	case n < 2:
		what = retype(block, rng)
	case n < 7 || update == nil:
		what = "block" + change(block, rng)
	default:
		what = "state update" + change(update, rng)
	}
	b, err := starknet.DecodeBlock(jsonText(t, block))
	if err != nil {
		return what, true
	}
	var su *starknet.StateUpdate
	if update != nil {
		if su, err = starknet.DecodeStateUpdate(jsonText(t, update)); err != nil {
			return what, true
		}
	}
	if b.Number != s.block.Number || starknet.Verify(b, su, s.chain) != nil {
		return what, true
	}
	truth, err := starknet.DecodeBlock(blockText)
	if err != nil {
		t.Fatal(err)
	}
	rules := starknet.RulesOf(&truth.Header, s.chain)
	if starknet.RulesOf(&b.Header, s.chain) != rules && rules >= starknet.RulesPoseidon {
		t.Errorf("other rules")
	}
	blank(truth, rules)
	blank(b, rules)
	if !reflect.DeepEqual(b, truth) {
		t.Errorf("got %+v, want %+v", b, truth)
	}
	if su != nil && rules >= starknet.RulesPoseidon {
		want := s.update.Diff
		su.Diff.Sort()
		want.Sort()
		if !reflect.DeepEqual(su.Diff, want) {
			t.Errorf("got %+v, want %+v", su.Diff, want)
		}
	}
	return what, false
}

// blank takes away what the rules do not cover, and what can be said in two ways.
func blank(b *starknet.Block, rules starknet.Rules) {
	b.Commitments = nil
	without := rules.Uncovered()
	open := func(part string) bool { return slices.Contains(without, part) }
	if open(starknet.PartStatus) {
		b.Status = 0
	}
	if open(starknet.PartTime) {
		b.Timestamp = 0
	}
	if open(starknet.PartSequencer) || rules < starknet.RulesPoseidon && b.Sequencer.IsZero() {
		b.Sequencer = felt.Zero
	}
	if open(starknet.PartGasPrices) {
		b.L1GasPrice, b.L1DataGasPrice, b.DAMode = starknet.GasPrice{}, starknet.GasPrice{}, 0
	}
	if open(starknet.PartL2GasPrice) {
		b.L2GasPrice = starknet.GasPrice{}
	}
	if open(starknet.PartVersion) {
		b.StarknetVersion = ""
	}
	var events []starknet.Event
	for i := range b.Receipts {
		tx, r := &b.Transactions[i], &b.Receipts[i]
		if rb := tx.ResourceBounds; rb != nil && rb.L1DataGas == (starknet.ResourceBound{}) {
			rb.HasL1DataGas = false
		}
		if len(tx.ProofFacts) == 0 {
			tx.ProofFacts = nil
		}
		if open(starknet.PartSignatures) && tx.Type != starknet.Invoke {
			tx.Signature = nil
		}
		if plain := tx.Type == starknet.Invoke || tx.Type == starknet.L1Handler; plain && tx.Version.IsZero() && open(starknet.PartTypes) {
			tx.Type, tx.Nonce, tx.HasNonce, r.Type, r.MessageHash = starknet.Invoke, felt.Zero, false, starknet.Invoke, [32]byte{}
		}
		if open(starknet.PartStatus) {
			r.Finality = 0
		}
		if open(starknet.PartL2GasUsed) {
			r.Resources.L2Gas = 0
		}
		if open(starknet.PartReceipts) {
			r.ActualFee, r.Execution, r.RevertReason, r.MessagesSent, r.Resources = felt.Zero, 0, "", nil, starknet.ExecutionResources{}
		}
		if open(starknet.PartEventOwners) {
			events = append(events, r.Events...)
			r.Events = nil
		}
	}
	if len(b.Receipts) > 0 && !open(starknet.PartEvents) && open(starknet.PartEventOwners) {
		b.Receipts[0].Events = events
	}
}

func jsonTree(t *testing.T, text []byte) (v any) {
	t.Helper()
	if text == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func jsonText(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// change walks down to a random place of the tree and changes or drops what is
// there. It returns the path.
func change(v any, rng *rand.Rand) string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return " (nothing)"
		}
		key := slices.Sorted(maps.Keys(v))[rng.IntN(len(v))]
		switch child := v[key].(type) {
		case string:
			if rng.IntN(3) == 0 {
				delete(v, key)
				return "." + key + " dropped"
			}
			v[key] = otherText(child, rng)
			return "." + key + " changed"
		case json.Number:
			if rng.IntN(3) == 0 {
				delete(v, key)
				return "." + key + " dropped"
			}
			v[key] = otherNumber(child, rng)
			return "." + key + " changed"
		default:
			if rng.IntN(12) == 0 {
				delete(v, key)
				return "." + key + " dropped"
			}
			return "." + key + change(child, rng)
		}
	case []any:
		if len(v) == 0 {
			return " (nothing)"
		}
		i := rng.IntN(len(v))
		if s, ok := v[i].(string); ok {
			v[i] = otherText(s, rng)
			return fmt.Sprintf("[%d] changed", i)
		}
		return fmt.Sprintf("[%d]", i) + change(v[i], rng)
	}
	return " (nothing)"
}

// otherText changes a digit of a number, or a letter of a word.
func otherText(s string, rng *rand.Rand) string {
	if len(s) > 2 && s[:2] == "0x" {
		return "0x" + otherDigit(s[2:], rng, "0123456789abcdef")
	}
	return otherDigit(s, rng, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.")
}

// otherNumber changes a digit. JSON numbers have no leading zero.
func otherNumber(n json.Number, rng *rand.Rand) json.Number {
	s := otherDigit(string(n), rng, "0123456789")
	if len(s) > 1 && s[0] == '0' {
		s = "1" + s[1:]
	}
	return json.Number(s)
}

func otherDigit(s string, rng *rand.Rand, digits string) string {
	if s == "" {
		return string(digits[rng.IntN(len(digits))])
	}
	b := []byte(s)
	b[rng.IntN(len(b))] = digits[rng.IntN(len(digits))]
	return string(b)
}

// kinds are all types and versions of transactions.
var kinds = []struct{ kind, version string }{
	{"INVOKE", "0x0"}, {"INVOKE", "0x1"}, {"INVOKE", "0x3"}, {"DECLARE", "0x0"}, {"DECLARE", "0x1"}, {"DECLARE", "0x2"}, {"DECLARE", "0x3"},
	{"DEPLOY", "0x0"}, {"DEPLOY", "0x1"}, {"DEPLOY_ACCOUNT", "0x1"}, {"DEPLOY_ACCOUNT", "0x3"}, {"L1_HANDLER", "0x0"},
}

// retype makes another kind of a transaction, with everything that any kind needs,
// and a receipt that fits.
func retype(block any, rng *rand.Rand) string {
	list := block.(map[string]any)["transactions"].([]any)
	if len(list) == 0 {
		return "(nothing)"
	}
	i := rng.IntN(len(list))
	pair := list[i].(map[string]any)
	tx, receipt := pair["transaction"].(map[string]any), pair["receipt"].(map[string]any)
	was := fmt.Sprint(tx["type"], " ", tx["version"])
	k := kinds[rng.IntN(len(kinds))]
	tx["type"], tx["version"], receipt["type"] = k.kind, k.version, k.kind
	zero := map[string]any{"max_amount": "0x0", "max_price_per_unit": "0x0"}
	for name, value := range map[string]any{
		"sender_address": "0x1", "contract_address": "0x1", "entry_point_selector": "0x1", "calldata": []any{"0x1"}, "max_fee": "0x0",
		"signature": []any{}, "nonce": "0x0", "class_hash": "0x1", "compiled_class_hash": "0x1", "contract_address_salt": "0x1",
		"constructor_calldata": []any{}, "resource_bounds": map[string]any{"l1_gas": zero, "l2_gas": zero, "l1_data_gas": zero}, "tip": "0x0",
		"paymaster_data": []any{}, "account_deployment_data": []any{}, "nonce_data_availability_mode": "L1", "fee_data_availability_mode": "L1",
	} {
		if _, there := tx[name]; !there {
			tx[name] = value
		}
	}
	if rng.IntN(2) == 0 {
		delete(tx, []string{"nonce", "proof_facts"}[rng.IntN(2)])
	}
	if _, there := receipt["contract_address"]; !there {
		receipt["contract_address"] = "0x1"
	}
	unit := "WEI"
	if k.version == "0x3" {
		unit = "FRI"
	}
	receipt["actual_fee"].(map[string]any)["unit"] = unit
	b, err := starknet.DecodeTransaction(append(append([]byte(`{"transaction_hash":"0x1",`), mustJSON(tx)[1:]...), '\n'))
	receipt["message_hash"] = "0x1"
	if err == nil {
		receipt["message_hash"] = fmt.Sprintf("%#x", starknet.MessageToL2Hash(b))
	}
	return fmt.Sprintf("transaction %d, %s told as %s %s", i, was, k.kind, k.version)
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a tree of plain values
	}
	return text
}

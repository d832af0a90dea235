package simprover

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"

	"chainexplorer/internal/felt"
)

// proofBytes is about what a proof of the real prover has.
const proofBytes = 220_000

// poolClass is what the payload of a pool's message begins with; none of a real pool.
var poolClass = felt.MustShortString("SIMULATED_POOL")

// proof makes the result of a request: the shape is the real prover's, the proof is noise.
func (p *Prover) proof(params []byte, screened bool) any {
	in := read(params)
	seed := sha256.Sum256(params)
	noise := rand.NewChaCha8(seed)
	body := make([]byte, proofBytes)
	noise.Read(body) //nolint:errcheck // it has no errors

	payload := []string{poolClass.String(), "0x0"}
	facts := []string{
		felt.MustShortString("PROOF1").String(), felt.MustShortString("VIRTUAL_SNOS").String(),
		felt.MustShortString("SIMULATED").String(), felt.MustShortString("VIRTUAL_SNOS0").String(),
		felt.FromUint64(in.number).String(), felt.FromUint64(noise.Uint64()).String(),
		felt.FromUint64(noise.Uint64()).String(), "0x1", felt.FromUint64(noise.Uint64()).String(),
	}
	out := struct {
		Proof      string   `json:"proof"`
		Facts      []string `json:"proof_facts"`
		Messages   []any    `json:"l2_to_l1_messages"`
		Additional any      `json:"additional_data,omitempty"`
	}{
		Proof: base64.StdEncoding.EncodeToString(body), Facts: facts,
		Messages: []any{map[string]any{"from_address": in.sender, "to_address": "0x0", "payload": payload}},
	}
	if screened {
		out.Additional = map[string]any{"signature": map[string]any{
			"issued_at": p.o.Now().Unix(),
			"sig_r":     felt.FromUint64(noise.Uint64()).String(), "sig_s": felt.FromUint64(noise.Uint64()).String(),
		}}
	}
	return out
}

type request struct {
	number uint64
	sender string
	block  json.RawMessage
	tx     map[string]json.RawMessage
	bounds map[string]struct {
		Amount string `json:"max_amount"`
		Price  string `json:"max_price_per_unit"`
	}
}

// read reads what it can of the parameters, by name or by position.
func read(params []byte) request {
	var named struct {
		Block json.RawMessage            `json:"block_id"`
		Tx    map[string]json.RawMessage `json:"transaction"`
	}
	if json.Unmarshal(params, &named) != nil {
		var placed []json.RawMessage
		if json.Unmarshal(params, &placed) == nil && len(placed) == 2 {
			named.Block = placed[0]
			json.Unmarshal(placed[1], &named.Tx) //nolint:errcheck // then there is no transaction
		}
	}
	in := request{block: named.Block, tx: named.Tx}
	var block struct {
		Number uint64 `json:"block_number"`
	}
	if json.Unmarshal(named.Block, &block) == nil {
		in.number = block.Number
	}
	json.Unmarshal(in.tx["sender_address"], &in.sender)  //nolint:errcheck // then it is empty
	json.Unmarshal(in.tx["resource_bounds"], &in.bounds) //nolint:errcheck // then there are none
	return in
}

// required are the members of an Invoke transaction of version 3.
var required = []string{
	"sender_address", "calldata", "signature", "nonce", "resource_bounds", "tip", "paymaster_data",
	"account_deployment_data", "nonce_data_availability_mode", "fee_data_availability_mode",
}

// check refuses what the real prover refuses before it proves.
func check(params []byte) (code int, message string, data any) {
	in := read(params)
	text := func(name string) (s string) {
		json.Unmarshal(in.tx[name], &s) //nolint:errcheck // then it is empty
		return s
	}
	if string(in.block) == `"pending"` {
		return 24, "Block not found", nil
	}
	if len(in.block) == 0 || in.tx == nil {
		return -32602, "Invalid params", "missing field"
	}
	if text("type") != "INVOKE" || text("version") != "0x3" {
		return 1001, "The transaction type is not supported", nil
	}
	for _, name := range required {
		if in.tx[name] == nil {
			return -32602, "Invalid params", "missing field `" + name + "`"
		}
	}
	const invalid = "Invalid transaction input"
	if text("tip") != "0x0" {
		return 1000, invalid, "tip must be 0"
	}
	for _, name := range []string{"l1_gas", "l2_gas", "l1_data_gas"} {
		if in.bounds[name].Price != "0x0" {
			return 1000, invalid, name + ": max_price_per_unit must be 0"
		}
	}
	if amount, err := felt.Parse(in.bounds["l2_gas"].Amount); err != nil || amount.IsZero() {
		return 1000, invalid, "l2_gas: max_amount must not be 0"
	}
	for _, name := range []string{"proof", "proof_facts"} {
		if v := string(in.tx[name]); v != "" && v != `""` && v != "[]" {
			return 1000, invalid, name + " must be empty"
		}
	}
	return 0, "", nil
}

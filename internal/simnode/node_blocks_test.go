package simnode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

func TestBlocksByVersion(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 60})
	for _, version := range specVersions {
		t.Run(version.String(), func(t *testing.T) {
			n := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
			words := headerWords + "status transactions "
			flags := ""
			if version == starknet.V010 {
				words += claimWords
				flags = `,["INCLUDE_PROOF_FACTS"]`
			}
			for number := range uint64(60) {
				id := fmt.Sprintf(`{"block_number":%d}`, number)
				want := chain.BlockAt(number)
				text := must(t, n, "getBlockWithReceipts", "["+id+flags+"]")
				if got := keysOf(t, text); !slices.Equal(got, sortedWords(words)) {
					t.Fatalf("block has fields %v", got)
				}
				checkBlock(t, text, want, version)
				checkUpdate(t, must(t, n, "getStateUpdate", `{"block_id":`+id+`}`), chain.StateUpdateAt(number), version)

				hashes := must(t, n, "getBlockWithTxHashes", "["+id+"]")
				if got := keysOf(t, hashes); !slices.Equal(got, sortedWords(words)) {
					t.Fatalf("block with hashes has fields %v", got)
				}
				list := decode[struct{ Transactions []felt.Felt }](t, hashes).Transactions
				for i := range want.Transactions {
					if list[i] != want.Transactions[i].Hash {
						t.Errorf("block %d: hash %d is wrong", number, i)
					}
				}
				if got := decode[int](t, must(t, n, "getBlockTransactionCount", "["+id+"]")); got != len(want.Transactions) || got != len(list) {
					t.Errorf("block %d: count %d", number, got)
				}
				txs := decode[struct {
					Transactions []map[string]json.RawMessage
				}](t, must(t, n, "getBlockWithTxs", "["+id+flags+"]")).Transactions
				for i, tx := range txs {
					if decode[felt.Felt](t, tx["transaction_hash"]) != list[i] {
						t.Errorf("block %d: transaction %d has another hash", number, i)
					}
					_, facts := tx["proof_facts"]
					v3 := string(tx["type"]) == `"INVOKE"` && string(tx["version"]) == `"0x3"`
					if facts != (v3 && version == starknet.V010) {
						t.Errorf("block %d: transaction %d: proof facts are there: %v", number, i, facts)
					}
				}
			}
		})
	}
}

// checkBlock decodes the wire form and compares it with the chain's.
func checkBlock(t *testing.T, text []byte, want *starknet.Block, version starknet.SpecVersion) {
	t.Helper()
	got, err := starknet.DecodeBlock(text)
	if err != nil {
		t.Fatalf("block %d: %v", want.Number, err)
	}
	copied := *want
	copied.Transactions = slices.Clone(want.Transactions)
	for i := range copied.Transactions {
		tx := &copied.Transactions[i]
		v, _ := tx.PlainVersion()
		if version == starknet.V010 && tx.Type == starknet.Invoke && v == 3 && tx.ProofFacts == nil {
			tx.ProofFacts = []felt.Felt{}
		}
		if got.Transactions[i].ProofFacts == nil && version == starknet.V010 && tx.ProofFacts != nil {
			got.Transactions[i].ProofFacts = []felt.Felt{}
		}
		got.Transactions[i].Hash = tx.Hash
	}
	if a, b := starknet.AppendBlock(nil, got, version), starknet.AppendBlock(nil, &copied, version); !bytes.Equal(a, b) {
		t.Errorf("block %d differs on the wire:\n%.600s\n%.600s", want.Number, a, b)
	}
	if bytes.Contains(text, []byte(`"transaction":{"transaction_hash"`)) {
		t.Errorf("block %d: a transaction beside its receipt carries its hash", want.Number)
	}
}

func checkUpdate(t *testing.T, text []byte, want *starknet.StateUpdate, version starknet.SpecVersion) {
	t.Helper()
	got, err := starknet.DecodeStateUpdate(text)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := starknet.AppendStateUpdate(nil, got, version), starknet.AppendStateUpdate(nil, want, version); !bytes.Equal(a, b) {
		t.Errorf("state update of %s differs on the wire", want.BlockHash)
	}
	migrated := bytes.Contains(text, []byte("migrated_compiled_classes"))
	if migrated != (len(want.Diff.Migrated) > 0 && version == starknet.V010) {
		t.Errorf("migrated classes are told: %v", migrated)
	}
}

func TestBlockIDsByVersion(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 30, L1Lag: 10})
	hash := chain.BlockAt(12).Hash.String()
	padded := chain.BlockAt(12).Hash.Padded()
	all := []struct {
		id   string
		want map[starknet.SpecVersion]int // block number, or a negative error code
	}{
		{`"latest"`, map[starknet.SpecVersion]int{starknet.V08: 29, starknet.V09: 29, starknet.V010: 29}},
		{`"l1_accepted"`, map[starknet.SpecVersion]int{starknet.V08: -32602, starknet.V09: 19, starknet.V010: 19}},
		{`"pending"`, map[starknet.SpecVersion]int{starknet.V08: 1000, starknet.V09: -32602, starknet.V010: -32602}},
		{`"pre_confirmed"`, map[starknet.SpecVersion]int{starknet.V08: -32602, starknet.V09: 1000, starknet.V010: 1000}},
		{`{"block_number":12}`, map[starknet.SpecVersion]int{starknet.V08: 12, starknet.V09: 12, starknet.V010: 12}},
		{`{"block_hash":"` + hash + `"}`, map[starknet.SpecVersion]int{starknet.V08: 12, starknet.V09: 12, starknet.V010: 12}},
		{`{"block_hash":"` + padded + `"}`, map[starknet.SpecVersion]int{starknet.V08: 12, starknet.V09: 12, starknet.V010: 12}},
		{`{"block_hash":"0x123"}`, map[starknet.SpecVersion]int{starknet.V08: -24, starknet.V09: -24, starknet.V010: -24}},
		{`{"block_number":30}`, map[starknet.SpecVersion]int{starknet.V08: -24, starknet.V09: -24, starknet.V010: -24}},
		{`{"block_number":-1}`, map[starknet.SpecVersion]int{starknet.V08: -32602, starknet.V09: -32602, starknet.V010: -32602}},
		{`{}`, map[starknet.SpecVersion]int{starknet.V08: -32602, starknet.V09: -32602, starknet.V010: -32602}},
		{`12`, map[starknet.SpecVersion]int{starknet.V08: -32602, starknet.V09: -32602, starknet.V010: -32602}},
		{`{"block_number":1,"block_hash":"0x1"}`, map[starknet.SpecVersion]int{starknet.V08: -32602, starknet.V09: -32602, starknet.V010: -32602}},
	}
	for _, version := range specVersions {
		n := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
		for _, c := range all {
			r := ask(t, n, "getBlockWithTxHashes", "["+c.id+"]")
			want := c.want[version]
			switch {
			case want < 0:
				code := want
				if code > -32000 {
					code = -code
				}
				if r.Error == nil || r.Error.Code != code {
					t.Errorf("%s in %s: %+v, want error %d", c.id, version, r.Error, code)
				}
			case want == 1000:
				has, _ := keysOf(t, r.Result), version
				words := "timestamp sequencer_address l1_gas_price l1_data_gas_price l2_gas_price l1_da_mode starknet_version transactions block_number"
				if version == starknet.V08 {
					words = strings.Replace(words, "block_number", "parent_hash", 1)
				}
				if !slices.Equal(has, sortedWords(words)) {
					t.Errorf("%s in %s has fields %v", c.id, version, has)
				}
			default:
				got := decode[struct {
					Number int `json:"block_number"`
				}](t, r.Result).Number
				if got != want {
					t.Errorf("%s in %s is block %d, want %d", c.id, version, got, want)
				}
			}
		}
	}
}

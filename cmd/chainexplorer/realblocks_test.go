package main

import (
	"fmt"
	"testing"
	"time"

	"chainexplorer/internal/felt"
)

// TestRealBlocks: the first blocks of the two public networks travel from a node's
// answer through verification and index to the API, which says of them what the
// world knows.
func TestRealBlocks(t *testing.T) {
	for _, tt := range []struct {
		id, network string
		blocks      int
		hashes      map[int]string // of blocks, known to everybody
		handler     string         // the first message that came from L1
	}{
		{"SN_MAIN", "mainnet", 3, map[int]string{
			0: "0x47c3637b57c2b079b93c61539950c17e868a28f46cdef28f88521067f21e943",
			1: "0x2a70fb03fe363a2d6be843343a1d81ce6abeda1e9bd5cc6ad8fa9f45e30fdeb",
			2: "0x4e1f77f39545afe866ac151ac908bd1a347a2a8a7d58bef1276db4f06fdf2f6"}, ""},
		{"SN_SEPOLIA", "sepolia", 7, map[int]string{
			0: "0x5c627d4aeb51280058bed93c7889bce78114d63baad1be0f0aeb32496d5f19c",
			6: "0x7e16179ff54fa8bb1533fe2eea930e9e2bd658faaf9972533c9d3a9303171fc"}, "L1_HANDLER"},
	} {
		t.Run(tt.id, func(t *testing.T) {
			real := readReal(t, tt.id, tt.network, tt.blocks)
			data := t.TempDir()
			l := &local{t: t, data: data, chain: tt.id}
			l.followNode(real.serve(t), "all")
			l.until("the newest block", func() bool {
				var status struct{ LatestIndexedBlockNumber *int }
				l.get("/status", &status)
				return status.LatestIndexedBlockNumber != nil && *status.LatestIndexedBlockNumber == tt.blocks-1
			})
			handlers := 0
			for n, b := range real.blocks {
				handlers += checkRealBlock(t, l, n, b)
				if want := tt.hashes[n]; want != "" && b["block_hash"] != want {
					t.Errorf("block %d is %v, not the one that everybody knows", n, b["block_hash"])
				}
			}
			if tt.handler != "" && handlers == 0 {
				t.Error("no message from L1")
			}
			l.serve.stop()
			fsckClean(t, data+"/"+tt.id)
		})
	}
}

// checkRealBlock compares all that is served of a block, and counts its handlers of
// messages from L1.
func checkRealBlock(t *testing.T, l *local, n int, want object) (handlers int) {
	t.Helper()
	var got struct {
		BlockHash, ParentHash, TimestampISO, FinalityStatus, StateRoot, StarknetVersion string
		TxCount, EventCount                                                             int
		Verification                                                                    struct{ Status string }
	}
	l.get(fmt.Sprint("/block/", n), &got)
	txs, receipts, events := list(want["transactions"]), list(want["transaction_receipts"]), 0
	for _, r := range receipts {
		events += len(list(r.(object)["events"]))
	}
	at := time.Unix(int64(want["timestamp"].(float64)), 0).UTC().Format(time.RFC3339)
	if got.BlockHash != want["block_hash"] || felted(got.ParentHash) != felted(want["parent_block_hash"]) || felted(got.StateRoot) != felted(want["state_root"]) ||
		got.TimestampISO != at || got.TxCount != len(txs) || got.EventCount != events || got.FinalityStatus != want["status"] || got.Verification.Status != "verified" {
		t.Errorf("block %d: %+v", n, got)
	}
	for i, tx := range txs {
		tx, receipt := tx.(object), receipts[i].(object)
		var got struct {
			BlockNumber, TxIndex, LogCount int
			TxType, TxVersion              string
			Receipt                        struct{ ExecutionStatus, ActualFeeAmount string }
			Calldata                       []string
			Logs                           []struct {
				Address    string
				Keys, Data []string
			}
			Messages []struct {
				Direction, FromAddress, ToAddress string
				Payload                           []string
			}
		}
		l.get(fmt.Sprint("/tx/", tx["transaction_hash"], "?logLimit=100"), &got)
		kind := map[any]string{"INVOKE_FUNCTION": "INVOKE"}[tx["type"]]
		if kind == "" {
			kind = tx["type"].(string)
		}
		if kind == "L1_HANDLER" {
			handlers++
		}
		if got.BlockNumber != n || got.TxIndex != i || got.TxType != kind || got.TxVersion != tx["version"] || got.Receipt.ExecutionStatus != receipt["execution_status"] ||
			got.Receipt.ActualFeeAmount != receipt["actual_fee"] || got.LogCount != len(list(receipt["events"])) || len(got.Logs) != got.LogCount {
			t.Errorf("block %d, transaction %d: %+v", n, i, got)
			continue
		}
		calldata := list(tx["calldata"])
		if kind == "DEPLOY" || kind == "DEPLOY_ACCOUNT" {
			calldata = list(tx["constructor_calldata"])
		}
		if fmt.Sprint(got.Calldata) != fmt.Sprint(calldata) {
			t.Errorf("block %d, transaction %d: calldata %v, want %v", n, i, got.Calldata, calldata)
		}
		for j, e := range list(receipt["events"]) {
			e := e.(object)
			if got.Logs[j].Address != e["from_address"] || fmt.Sprint(got.Logs[j].Keys) != fmt.Sprint(e["keys"]) || fmt.Sprint(got.Logs[j].Data) != fmt.Sprint(e["data"]) {
				t.Errorf("block %d, transaction %d, event %d: %+v, want %v", n, i, j, got.Logs[j], e)
			}
		}
		sent := 0
		for _, m := range got.Messages {
			if m.Direction != "l2_to_l1" {
				continue
			}
			w := list(receipt["l2_to_l1_messages"])[sent].(object)
			if m.FromAddress != w["from_address"] || felted(m.ToAddress) != felted(w["to_address"]) || fmt.Sprint(m.Payload) != fmt.Sprint(w["payload"]) {
				t.Errorf("block %d, transaction %d, message %d: %+v, want %v", n, i, sent, m, w)
			}
			sent++
		}
		if sent != len(list(receipt["l2_to_l1_messages"])) {
			t.Errorf("block %d, transaction %d: %d messages to L1", n, i, sent)
		}
	}
	return handlers
}

// felted spells a number as the service does.
func felted(v any) string { return felt.MustParse(v.(string)).String() }

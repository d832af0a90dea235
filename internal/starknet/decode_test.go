package starknet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// document is JSON as a tree, for tests that change one place of it.
type document = map[string]any

func parse(t *testing.T, data []byte) document {
	t.Helper()
	var doc document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func print(t *testing.T, doc any) []byte {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// eachField calls fn for every object member below v, with the path to it.
func eachField(v any, path string, fn func(path, key string, in document)) {
	switch v := v.(type) {
	case document:
		for key, value := range v {
			p := strings.TrimPrefix(path+"."+key, ".")
			fn(p, key, v)
			eachField(value, p, fn)
		}
	case []any:
		for i, value := range v {
			eachField(value, fmt.Sprintf("%s[%d]", path, i), fn)
		}
	}
}

// sampleBlock has a transaction of every kind, with events, messages, claims
// and everything optional.
func sampleBlock() *starknet.Block {
	return randomBlock(rand.New(rand.NewPCG(1, 2)), 40)
}

func TestDecodeUndoesEncode(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := randomBlock(r, r.IntN(30))
		got, err := starknet.DecodeBlock(starknet.AppendBlock(nil, b, starknet.V010))
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("seed %d: block differs (%v)", seed, err)
		}
		su := randomUpdate(r)
		update, err := starknet.DecodeStateUpdate(starknet.AppendStateUpdate(nil, su, starknet.V010))
		if err != nil || !reflect.DeepEqual(update, su) {
			t.Fatalf("seed %d: state update differs (%v)", seed, err)
		}
		for i := range b.Transactions {
			tx, err := starknet.DecodeTransaction(starknet.AppendTransaction(nil, &b.Transactions[i], starknet.V010))
			if err != nil || !reflect.DeepEqual(tx, &b.Transactions[i]) {
				t.Fatalf("seed %d: transaction differs (%v)", seed, err)
			}
			rc, err := starknet.DecodeReceipt(starknet.AppendReceipt(nil, &b.Receipts[i], starknet.V010))
			if err != nil || !reflect.DeepEqual(rc, &b.Receipts[i]) {
				t.Fatalf("seed %d: receipt differs (%v)", seed, err)
			}
		}
	}
}

// Before 0.10 there were no claims, proof facts and migrated classes.
func TestOlderSpecVersionsLeaveOut(t *testing.T) {
	newer := []string{"commitment", "_count", "state_diff_length", "proof_facts", "migrated_compiled_classes"}
	r := rand.New(rand.NewPCG(3, 3))
	b, su := sampleBlock(), randomUpdate(r)
	for len(su.Diff.Migrated) == 0 {
		su = randomUpdate(r)
	}
	for _, v := range []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010} {
		wire := string(starknet.AppendStateUpdate(starknet.AppendBlock(nil, b, v), su, v))
		for _, name := range newer {
			if strings.Contains(wire, name) != (v == starknet.V010) {
				t.Errorf("%s in version %s: %v", name, v, v != starknet.V010)
			}
		}
		got, err := starknet.DecodeBlock(starknet.AppendBlock(nil, b, v))
		if err != nil || (got.Commitments != nil) != (v == starknet.V010) || len(got.Transactions) != len(b.Transactions) {
			t.Errorf("version %s: %v", v, err)
		}
	}
}

// optional is what a block may lack.
func optional(key string, in document) bool {
	switch key {
	case "proof_facts", "l1_data_gas", "revert_reason":
		_, resources := in["l2_gas"].(json.Number)
		return !resources
	case "nonce":
		return in["type"] == "L1_HANDLER"
	}
	return strings.HasSuffix(key, "_commitment") || strings.HasSuffix(key, "_count") || key == "state_diff_length"
}

func TestMissingFieldsAreNamed(t *testing.T) {
	wire := starknet.AppendBlock(nil, randomBlock(rand.New(rand.NewPCG(1, 2)), len(txKinds)), starknet.V010)
	var paths []string
	eachField(parse(t, wire), "", func(path, key string, in document) {
		if !optional(key, in) {
			paths = append(paths, path)
		}
	})
	if len(paths) < 300 {
		t.Fatalf("only %d fields", len(paths))
	}
	for _, want := range paths {
		doc := parse(t, wire)
		eachField(doc, "", func(path, key string, in document) {
			if path == want {
				delete(in, key)
			}
		})
		_, err := starknet.DecodeBlock(print(t, doc))
		var de *starknet.DecodeError
		if !errors.As(err, &de) || !errors.Is(err, starknet.ErrMissing) || de.Path != want {
			t.Errorf("without %s: %v", want, err)
		}
	}
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	b := sampleBlock()
	doc := parse(t, starknet.AppendBlock(nil, b, starknet.V010))
	var objects []document
	eachField(doc, "", func(_, _ string, in document) { objects = append(objects, in) })
	for _, in := range objects {
		in["unheard_of"] = []any{document{"a": nil, "b": []any{true, 1.5e3, "\u00e9\"\\"}}, "0xzz"}
	}
	got, err := starknet.DecodeBlock(print(t, doc))
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("unknown fields change the block (%v)", err)
	}
}

// What a kind of transaction does not have is as unknown as a new name.
func TestForeignFieldsAreDropped(t *testing.T) {
	b := sampleBlock()
	doc := parse(t, starknet.AppendBlock(nil, b, starknet.V010))
	transactions, receipts := document{}, document{}
	for _, item := range doc["transactions"].([]any) {
		maps.Copy(transactions, item.(document)["transaction"].(document))
		maps.Copy(receipts, item.(document)["receipt"].(document))
	}
	for _, item := range doc["transactions"].([]any) {
		for all, own := range map[*document]document{&transactions: item.(document)["transaction"].(document), &receipts: item.(document)["receipt"].(document)} {
			for key, value := range *all {
				if _, has := own[key]; !has && key != "proof_facts" && (key != "nonce" || own["type"] != "L1_HANDLER") {
					own[key] = value
				}
			}
		}
	}
	got, err := starknet.DecodeBlock(print(t, doc))
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("foreign fields change the block (%v)", err)
	}
}

func TestPreConfirmedIsTold(t *testing.T) {
	b := sampleBlock()
	doc := parse(t, starknet.AppendBlock(nil, b, starknet.V09))
	for _, key := range []string{"status", "block_hash", "parent_hash", "new_root"} {
		delete(doc, key)
	}
	for _, tx := range doc["transactions"].([]any) {
		tx.(document)["receipt"].(document)["finality_status"] = "PRE_CONFIRMED"
	}
	data := print(t, doc)
	if _, err := starknet.DecodeBlock(data); !errors.Is(err, starknet.ErrPreConfirmed) {
		t.Errorf("block: %v", err)
	}
	if _, err := starknet.DecodeHeader(data); !errors.Is(err, starknet.ErrPreConfirmed) {
		t.Errorf("header: %v", err)
	}
	su := parse(t, starknet.AppendStateUpdate(nil, &starknet.StateUpdate{}, starknet.V010))
	delete(su, "block_hash")
	delete(su, "new_root")
	if _, err := starknet.DecodeStateUpdate(print(t, su)); !errors.Is(err, starknet.ErrPreConfirmed) {
		t.Errorf("state update: %v", err)
	}
}

func TestNewHeadsHaveNoStatus(t *testing.T) {
	h := sampleBlock().Header
	h.Status = 0
	got, err := starknet.DecodeHeader(starknet.AppendHeader(nil, &h, starknet.V010))
	if err != nil || !reflect.DeepEqual(got, &h) {
		t.Errorf("header differs (%v)", err)
	}
}

func TestBlocksThatAreRefused(t *testing.T) {
	good := string(starknet.AppendBlock(nil, sampleBlock(), starknet.V010))
	tx := `"transaction":{`
	for name, data := range map[string]string{
		"empty":               "",
		"null":                "null",
		"array":               "[]",
		"truncated":           good[:len(good)/2],
		"trailing":            good + "{}",
		"two commas":          strings.Replace(good, `","`, `",,"`, 1),
		"felt out of range":   strings.Replace(good, `"new_root":"`, `"new_root":"0x800000000000011000000000000000000000000000000000000000000000001","x":"`, 1),
		"felt without 0x":     strings.Replace(good, `"new_root":"0x`, `"new_root":"`, 1),
		"felt as number":      strings.Replace(good, `"tip":"`, `"tip":7,"x":"`, 1),
		"unknown type":        strings.Replace(good, `"type":"INVOKE"`, `"type":"INVENT"`, 1),
		"unknown status":      strings.Replace(good, `"status":"ACCEPTED`, `"status":"EXPECTED`, 1),
		"negative number":     strings.Replace(good, `"timestamp":`, `"timestamp":-`, 1),
		"time without a name": strings.Replace(good, `"timestamp":`, `"timestamp":253402300800,"x":`, 1),
		"time at the end":     strings.Replace(good, `"timestamp":`, `"timestamp":18446744073709551615,"x":`, 1),
		"fraction":            strings.Replace(good, `"timestamp":`, `"timestamp":1.5,"x":`, 1),
		"unknown version":     strings.Replace(good, tx+`"type":"INVOKE","version":"0x`, tx+`"type":"INVOKE","version":"0x7`, 1),
		"type not receipt's":  strings.Replace(good, `"receipt":{"type":"INVOKE"`, `"receipt":{"type":"DECLARE"`, 1),
		"hash not receipt's":  strings.Replace(good, tx, tx+`"transaction_hash":"0x123",`, 1),
		"control character":   strings.Replace(good, `"starknet_version":"`, "\"starknet_version\":\"\x01", 1),
		"deep":                strings.Replace(good, `{`, `{"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`,`, 1),
	} {
		if data == good {
			t.Errorf("%s: nothing replaced", name)
		}
		if _, err := starknet.DecodeBlock([]byte(data)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestTheLastSecondIsTaken(t *testing.T) {
	b := sampleBlock()
	b.Timestamp = 253402300799
	if got, err := starknet.DecodeBlock(starknet.AppendBlock(nil, b, starknet.V010)); err != nil || got.Timestamp != b.Timestamp {
		t.Error(err)
	}
}

func TestFormsThatAreAccepted(t *testing.T) {
	b := sampleBlock()
	good := string(starknet.AppendBlock(nil, b, starknet.V010))
	first := `"block_hash":"` + b.Hash.String() + `"`
	for name, data := range map[string]string{
		"padded felt":        strings.Replace(good, first, `"block_hash":"`+b.Hash.Padded()+`"`, 1),
		"upper case felt":    strings.Replace(good, first, `"block_hash":"0X`+strings.ToUpper(b.Hash.String()[2:])+`"`, 1),
		"escaped felt":       strings.Replace(good, first, `"block_hash":"\u0030\u0078`+b.Hash.String()[2:]+`"`, 1),
		"escaped key":        strings.Replace(good, first, `"block\u005fhash":"`+b.Hash.String()+`"`, 1),
		"duplicate, last":    strings.Replace(good, first, `"block_hash":"0x1",`+first, 1),
		"null where unknown": strings.Replace(good, first, `"x":null,`+first, 1),
		"white space":        strings.Replace(good, first, " \n\t\r"+first+" \n", 1) + "\n",
		"transaction hash":   strings.Replace(good, `"transaction":{`, `"transaction":{"transaction_hash":"`+b.Transactions[0].Hash.String()+`",`, 1),
	} {
		got, err := starknet.DecodeBlock([]byte(data))
		if err != nil || !reflect.DeepEqual(got, b) || data == good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The result must live on when the response buffer is used again.
func TestDecodedBlockKeepsNothingOfTheText(t *testing.T) {
	b := sampleBlock()
	data := starknet.AppendBlock(nil, b, starknet.V010)
	got, err := starknet.DecodeBlock(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 'x'
	}
	if !reflect.DeepEqual(got, b) {
		t.Error("the block changed with the buffer")
	}
}

// Lists share arrays: appending to one must not reach into the next.
func TestListsDoNotOverlap(t *testing.T) {
	b := sampleBlock()
	got, err := starknet.DecodeBlock(starknet.AppendBlock(nil, b, starknet.V010))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Receipts {
		_ = append(got.Receipts[i].Events, starknet.Event{From: felt.FromUint64(1)})
		for j := range got.Receipts[i].Events {
			_ = append(got.Receipts[i].Events[j].Keys, felt.FromUint64(1))
		}
	}
	if !reflect.DeepEqual(got, b) {
		t.Error("appending to one list changed another")
	}
}

func TestDecodeClassKinds(t *testing.T) {
	cairo0 := &starknet.Class{Cairo0: &starknet.Cairo0Class{
		Program:     "H4sIAAAA",
		EntryPoints: starknet.EntryPoints{External: []starknet.EntryPoint{{Selector: felt.FromUint64(0), Index: 58}}},
		ABI:         json.RawMessage(`[{"type":"function"}]`),
	}}
	back, err := starknet.DecodeClass(starknet.AppendClass(nil, cairo0))
	if err != nil || !reflect.DeepEqual(back, cairo0) {
		t.Errorf("Cairo 0 class differs after the wire: %+v (%v)", back, err)
	}
	for missing, data := range map[string]string{
		"sierra_program":                   `{}`,
		"entry_points_by_type":             `{"sierra_program":[]}`,
		"entry_points_by_type.EXTERNAL":    `{"program":"","entry_points_by_type":{"CONSTRUCTOR":[],"L1_HANDLER":[]}}`,
		"entry_points_by_type.EXTERNAL[0]": `{"program":"","entry_points_by_type":{"CONSTRUCTOR":[],"L1_HANDLER":[],"EXTERNAL":[{"selector":"0x1"}]}}`,
		"contract_class_version":           `{"sierra_program":[],"entry_points_by_type":{"CONSTRUCTOR":[],"L1_HANDLER":[],"EXTERNAL":[]}}`,
	} {
		_, err := starknet.DecodeClass([]byte(data))
		var de *starknet.DecodeError
		if !errors.As(err, &de) || !errors.Is(err, starknet.ErrMissing) || de.Path != missing {
			t.Errorf("class without %s: %v", missing, err)
		}
	}
}

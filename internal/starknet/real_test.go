package starknet_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// tally counts what was verified, by the version of the block.
type tally struct{ blocks, unverified, txs map[string]int }

func newTally() tally {
	return tally{map[string]int{}, map[string]int{}, map[string]int{}}
}

func (c tally) log(t *testing.T) {
	for _, version := range slices.Sorted(maps.Keys(c.txs)) {
		t.Logf("version %-9q %2d blocks verified, %2d unverified, %4d transaction hashes", version, c.blocks[version], c.unverified[version], c.txs[version])
	}
}

// hashChain is the chain id that went into a block's transaction hashes: the
// second test network first used that of the first.
func hashChain(rb *realBlock) felt.Felt {
	if strings.HasPrefix(rb.name, "goerli2") && strings.HasPrefix(rb.block.StarknetVersion, "0.10") {
		return felt.MustShortString("SN_GOERLI")
	}
	return rb.chainID
}

func TestRealBlocks(t *testing.T) {
	skipRaced(t)
	count := newTally()
	// Old blocks with many events are all curve arithmetic.
	all := !testing.Short()
	for _, network := range slices.Sorted(maps.Keys(feederNetworks)) {
		for _, rb := range feederBlocks(t, network) {
			if !all && rb.block.EventCount() > 100 && rb.block.StarknetVersion < "0.13.2" {
				continue
			}
			version := rb.block.StarknetVersion
			chain := hashChain(&rb)
			err := starknet.Verify(rb.block, rb.update, chain)
			switch {
			case err == nil:
				count.blocks[version]++
			case errors.Is(err, starknet.ErrUnknownRules) && version == "" && network != "mainnet":
				count.unverified[version]++
			default:
				t.Errorf("%s: %v", rb.name, err)
			}
			for i := range rb.block.Transactions {
				if ok, err := rb.block.Transactions[i].HashMatches(chain); !ok {
					t.Errorf("%s, transaction %d: hash differs (%v)", rb.name, i, err)
				}
				count.txs[version]++
			}
		}
	}
	count.log(t)
	if !all {
		return
	}
	for version, want := range map[string]struct{ blocks, txs int }{
		"": {9, 500}, "0.10.1": {11, 190}, "0.10.2": {1, 260}, "0.10.3": {5, 1000}, "0.11.0": {1, 9}, "0.11.1": {2, 3}, "0.12.0": {1, 2},
		"0.12.1": {1, 3}, "0.12.3": {9, 30}, "0.13.0": {2, 16}, "0.13.1": {5, 170}, "0.13.2": {4, 210}, "0.13.2.1": {1, 17},
		"0.13.3": {1, 3}, "0.13.4": {1, 4}, "0.14.0": {9, 60},
	} {
		if count.blocks[version] < want.blocks || count.txs[version] < want.txs {
			t.Errorf("version %q: %d blocks and %d transactions verified, want at least %d and %d",
				version, count.blocks[version], count.txs[version], want.blocks, want.txs)
		}
	}
}

func TestRealBlocksSurviveTheWire(t *testing.T) {
	for network := range feederNetworks {
		for _, rb := range feederBlocks(t, network) {
			wire := starknet.AppendBlock(nil, rb.block, starknet.V010)
			if !json.Valid(wire) {
				t.Fatalf("%s: not JSON", rb.name)
			}
			got, err := starknet.DecodeBlock(wire)
			if err != nil || !reflect.DeepEqual(got, rb.block) {
				t.Errorf("%s: block differs after the wire (%v)", rb.name, err)
			}
			if rb.update == nil {
				continue
			}
			su, err := starknet.DecodeStateUpdate(starknet.AppendStateUpdate(nil, rb.update, starknet.V010))
			if err != nil || !reflect.DeepEqual(su, rb.update) {
				t.Errorf("%s: state update differs after the wire (%v)", rb.name, err)
			}
		}
	}
}

// The blocks of rpc/testData with receipts: two old enough that their hash
// needs no state update, one of 0.14.0 whose transactions alone can be checked.
func TestRecordedBlocks(t *testing.T) {
	for _, c := range []struct {
		file         string
		chain        felt.Felt
		txs, events  int
		hashVerified bool
	}{
		{"mainnetBlockReceipts588763.json", starknet.ChainMain, 72, 446, true},
		{"sepoliaBlockReceipts64159.json", starknet.ChainSepolia, 21, 638, true},
		{"integration1300000.json", starknet.ChainSepoliaIntegration, 7, 7, false},
	} {
		b, err := starknet.DecodeBlock(rpcResult(t, "blockWithReceipts", c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if underRace && c.hashVerified {
			continue // see TestRealBlocks
		}
		if len(b.Transactions) != c.txs || b.EventCount() != c.events {
			t.Errorf("%s: %d transactions and %d events, want %d and %d", c.file, len(b.Transactions), b.EventCount(), c.txs, c.events)
		}
		if err := starknet.Verify(b, nil, c.chain); (err == nil) != c.hashVerified || err != nil && reasonOf(err) != starknet.StateDiffMissing {
			t.Errorf("%s: %v", c.file, err)
		}
		b.Timestamp++
		if mismatch := new(starknet.MismatchError); errors.As(starknet.Verify(b, nil, c.chain), &mismatch) != c.hashVerified {
			t.Errorf("%s: block hash verified is not %v", c.file, c.hashVerified)
		}
		for i := range b.Transactions {
			if ok, err := b.Transactions[i].HashMatches(c.chain); !ok {
				t.Errorf("%s, transaction %d: hash differs (%v)", c.file, i, err)
			}
		}
	}
}

func TestRecordedTransactions(t *testing.T) {
	total := 0
	for file, chain := range map[string]felt.Felt{
		"sepoliaBlockTxs65083.json": starknet.ChainSepolia, "sepoliaBlockTxs122476.json": starknet.ChainSepolia,
		"integration1_300_000.json": starknet.ChainSepoliaIntegration,
	} {
		var block struct {
			Transactions []json.RawMessage `json:"transactions"`
		}
		if err := json.Unmarshal(rpcResult(t, "block", file), &block); err != nil {
			t.Fatal(err)
		}
		for i, raw := range block.Transactions {
			tx, err := starknet.DecodeTransaction(raw)
			if err != nil {
				t.Errorf("%s, transaction %d: %v", file, i, err)
				continue
			}
			if ok, err := tx.HashMatches(chain); !ok {
				t.Errorf("%s, transaction %d: hash differs (%v)", file, i, err)
			}
			back, err := starknet.DecodeTransaction(starknet.AppendTransaction(nil, tx, starknet.V010))
			if err != nil || !reflect.DeepEqual(back, tx) {
				t.Errorf("%s, transaction %d: differs after the wire (%v)", file, i, err)
			}
			total++
		}
	}
	if total < 100 {
		t.Errorf("only %d transactions", total)
	}
}

func TestRecordedHeadersAndUpdates(t *testing.T) {
	h, err := starknet.DecodeHeader(rpcResult(t, "blockWithHashes", "sepoliaBlockWithHashes64159.json"))
	if err != nil || h.Number != 64159 || h.Status != starknet.AcceptedOnL1 || h.Commitments != nil {
		t.Errorf("header %+v (%v)", h, err)
	}
	back, err := starknet.DecodeHeader(starknet.AppendHeader(nil, h, starknet.V09))
	if err != nil || !reflect.DeepEqual(h, back) {
		t.Errorf("header differs after the wire (%v)", err)
	}
	for _, file := range []string{"sepolia_30000.json", "sepolia_1_060_000.json", "integration_30000.json"} {
		su, err := starknet.DecodeStateUpdate(rpcResult(t, "stateUpdate", file))
		if err != nil || su.Diff.Length() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The state diff with migrated classes is the only one known, and its block is
// not at hand: what is checked is that migrated classes count like declared ones.
func TestMigratedClasses(t *testing.T) {
	var fu feederUpdate
	readJSON(t, feederPath(t, "sepolia-integration", "state_update", "3077642.json"), &fu)
	su := fu.convert()
	if len(su.Diff.Migrated) == 0 {
		t.Fatal("no migrated classes")
	}
	with := su.Diff.Commitment()
	su.Diff.Declared, su.Diff.Migrated = slices.Concat(su.Diff.Declared, su.Diff.Migrated), nil
	if su.Diff.Commitment() != with {
		t.Error("a migrated class is not committed to as a declared one")
	}
}

// skipRaced leaves out what is all curve arithmetic: the race detector would take
// minutes, and nothing in it runs at the same time as anything else. 'make test'
// runs these tests once more without it.
func skipRaced(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("curve arithmetic: run without the race detector")
	}
}

func TestSierraClassHash(t *testing.T) {
	skipRaced(t)
	matched := 0
	for network := range feederNetworks {
		files, err := filepath.Glob(feederPath(t, network, "class", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			var raw json.RawMessage
			readJSON(t, file, &raw)
			if !strings.Contains(string(raw), `"sierra_program"`) {
				continue
			}
			c, err := starknet.DecodeClass(raw)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
				continue
			}
			hash, err := c.Sierra.Hash()
			want := strings.TrimSuffix(filepath.Base(file), ".json")
			// The ABI of this file was formatted anew after it was declared.
			reformatted := strings.HasPrefix(want, "0x6d8ede036bb4720e6f348643221d8672b")
			if err != nil || (hash.String() == want) == reformatted {
				t.Errorf("class %s hashes to %s (%v)", want, hash, err)
			}
			if !reformatted {
				matched++
			}
			back, err := starknet.DecodeClass(starknet.AppendClass(nil, c))
			if err != nil || !reflect.DeepEqual(back, c) {
				t.Errorf("class %s differs after the wire (%v)", want, err)
			}
		}
	}
	if matched < 7 {
		t.Errorf("only %d classes", matched)
	}
}

func felts(hexes ...string) (fs []felt.Felt) {
	for _, s := range hexes {
		fs = append(fs, felt.MustParse(s))
	}
	return fs
}

func TestMessageHashes(t *testing.T) {
	withNonce := starknet.Transaction{
		Type:               starknet.L1Handler,
		ContractAddress:    felt.MustParse("0x073314940630fd6dcda0d772d4c972c4e0a9946bef9dabf4ef84eda8ef542b82"),
		EntryPointSelector: felt.MustParse("0x02d757788a8d8d6f21d1cd40bce38a8222d70654214e96ff95d8086e684fbee5"),
		Nonce:              felt.FromUint64(0xbf0dd), HasNonce: true,
		Calldata: felts("0xc3511006c04ef1d78af4c8e0e74ec18a6e64ff9e", "0x3efc988748484820f1c157fb48e218d39cadc07a662482d3875d37445b3c082", "0x11c37937e08000", "0x0"),
	}
	without := starknet.Transaction{
		Type:               starknet.L1Handler,
		ContractAddress:    felt.MustParse("0x078466c2444176f0be70650b3d1f520e19a095ca5fa6ff124ddc49f27a30bdac"),
		EntryPointSelector: felt.MustParse("0xe3f5e9e1456ffa52a3fbc7e8c296631d4cc2120c0be1e2829301c0d8fa026b"),
		Calldata:           felts("0xeaea1710a78bd93bf022fda3e95100dc12973b1b", "0x8c1e1e5b47980d214965f3bd8ea34c413e120ae4", "0x1"),
	}
	for want, tx := range map[string]*starknet.Transaction{
		"f3507cad1b674c2b2f26a0a51cc8abebe96ad7a8a9cd1aa54b00fddee776e4cf": &withNonce,
		"546479edde51ea965cfa77ecde8d749d198e54e4ec71e4b543866dbe837d8a26": &without,
	} {
		if got := starknet.MessageToL2Hash(tx); hex.EncodeToString(got[:]) != want {
			t.Errorf("message hash %x, want %s", got, want)
		}
	}
	if starknet.MessageToL2Hash(&starknet.Transaction{Type: starknet.L1Handler}) != [32]byte{} {
		t.Error("a handler without sender has a message hash")
	}
}

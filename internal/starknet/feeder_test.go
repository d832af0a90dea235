package starknet_test

// Real blocks in the sequencer's own format, as Juno keeps them for its tests,
// converted to what a node would answer.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

var moduleDirs = sync.OnceValue(func() map[string]string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}",
		"github.com/NethermindEth/juno", "github.com/NethermindEth/starknet.go").Output()
	dirs := map[string]string{}
	if err != nil {
		return dirs
	}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[filepath.Base(path)] = dir
	}
	return dirs
})

// moduleFile is a path inside a dependency's module folder.
func moduleFile(t testing.TB, module string, parts ...string) string {
	t.Helper()
	dir := moduleDirs()[module]
	if dir == "" {
		t.Fatalf("module %s is not in the module cache", module)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

func feederPath(t testing.TB, parts ...string) string {
	return moduleFile(t, "juno", append([]string{"clients", "feeder", "testdata"}, parts...)...)
}

type feederPrice struct {
	Wei felt.Felt `json:"price_in_wei"`
	Fri felt.Felt `json:"price_in_fri"`
}

type feederBlock struct {
	Hash            felt.Felt       `json:"block_hash"`
	Parent          felt.Felt       `json:"parent_block_hash"`
	Number          *uint64         `json:"block_number"`
	Root            felt.Felt       `json:"state_root"`
	Status          string          `json:"status"`
	Timestamp       uint64          `json:"timestamp"`
	Sequencer       felt.Felt       `json:"sequencer_address"`
	Version         string          `json:"starknet_version"`
	DAMode          string          `json:"l1_da_mode"`
	GasPrice        felt.Felt       `json:"gas_price"`
	EthGas          felt.Felt       `json:"eth_l1_gas_price"`
	StrkGas         felt.Felt       `json:"strk_l1_gas_price"`
	L1Gas           *feederPrice    `json:"l1_gas_price"`
	L1DataGas       feederPrice     `json:"l1_data_gas_price"`
	L2Gas           feederPrice     `json:"l2_gas_price"`
	TxCommitment    felt.Felt       `json:"transaction_commitment"`
	EventCommitment felt.Felt       `json:"event_commitment"`
	ReceiptCommit   felt.Felt       `json:"receipt_commitment"`
	DiffCommitment  felt.Felt       `json:"state_diff_commitment"`
	DiffLength      uint64          `json:"state_diff_length"`
	Transactions    []feederTx      `json:"transactions"`
	Receipts        []feederReceipt `json:"transaction_receipts"`
}

type feederTx struct {
	Hash                felt.Felt              `json:"transaction_hash"`
	Type                string                 `json:"type"`
	Version             felt.Felt              `json:"version"`
	Sender              felt.Felt              `json:"sender_address"`
	ContractAddress     felt.Felt              `json:"contract_address"`
	Selector            felt.Felt              `json:"entry_point_selector"`
	Calldata            []felt.Felt            `json:"calldata"`
	Signature           []felt.Felt            `json:"signature"`
	MaxFee              felt.Felt              `json:"max_fee"`
	Nonce               *felt.Felt             `json:"nonce"`
	ClassHash           felt.Felt              `json:"class_hash"`
	CompiledClassHash   felt.Felt              `json:"compiled_class_hash"`
	Salt                felt.Felt              `json:"contract_address_salt"`
	ConstructorCalldata []felt.Felt            `json:"constructor_calldata"`
	Bounds              map[string]feederBound `json:"resource_bounds"`
	Tip                 felt.Felt              `json:"tip"`
	Paymaster           []felt.Felt            `json:"paymaster_data"`
	AccountDeployment   []felt.Felt            `json:"account_deployment_data"`
	NonceDA             starknet.TxDAMode      `json:"nonce_data_availability_mode"`
	FeeDA               starknet.TxDAMode      `json:"fee_data_availability_mode"`
}

type feederBound struct {
	Amount felt.Felt `json:"max_amount"`
	Price  felt.Felt `json:"max_price_per_unit"`
}

type feederReceipt struct {
	Hash   felt.Felt `json:"transaction_hash"`
	Fee    felt.Felt `json:"actual_fee"`
	Status string    `json:"execution_status"`
	Revert string    `json:"revert_error"`
	Events []struct {
		From felt.Felt   `json:"from_address"`
		Keys []felt.Felt `json:"keys"`
		Data []felt.Felt `json:"data"`
	} `json:"events"`
	Messages []struct {
		From    felt.Felt   `json:"from_address"`
		To      felt.Felt   `json:"to_address"`
		Payload []felt.Felt `json:"payload"`
	} `json:"l2_to_l1_messages"`
	Resources struct {
		Total struct {
			L1Gas     uint64 `json:"l1_gas"`
			L1DataGas uint64 `json:"l1_data_gas"`
			L2Gas     uint64 `json:"l2_gas"`
		} `json:"total_gas_consumed"`
	} `json:"execution_resources"`
}

var txTypes = map[string]starknet.TxType{
	"INVOKE_FUNCTION": starknet.Invoke, "INVOKE": starknet.Invoke, "DECLARE": starknet.Declare, "DEPLOY": starknet.Deploy,
	"DEPLOY_ACCOUNT": starknet.DeployAccount, "L1_HANDLER": starknet.L1Handler,
}

// orNil makes empty lists nil, as the decoder does.
func orNil(fs []felt.Felt) []felt.Felt {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

func (ft *feederTx) convert() (tx starknet.Transaction, deployed felt.Felt) {
	tx = starknet.Transaction{
		Hash: ft.Hash, Type: txTypes[ft.Type], Version: ft.Version,
		ContractAddress: ft.ContractAddress, EntryPointSelector: ft.Selector, Calldata: orNil(ft.Calldata),
		Signature: orNil(ft.Signature), MaxFee: ft.MaxFee, ClassHash: ft.ClassHash, CompiledClassHash: ft.CompiledClassHash,
		ContractAddressSalt: ft.Salt, ConstructorCalldata: orNil(ft.ConstructorCalldata),
		PaymasterData: orNil(ft.Paymaster), AccountDeploymentData: orNil(ft.AccountDeployment), NonceDAMode: ft.NonceDA, FeeDAMode: ft.FeeDA,
		Sender: ft.Sender,
	}
	tx.Tip, _ = ft.Tip.Uint64()
	if tx.Version[15] == 1 {
		tx.Version[15] = 0
	}
	v, _ := tx.PlainVersion()
	if ft.Nonce != nil && !(v == 0 && tx.Type != starknet.L1Handler) {
		tx.Nonce, tx.HasNonce = *ft.Nonce, true
	}
	if tx.Type == starknet.Deploy || tx.Type == starknet.DeployAccount {
		deployed = ft.ContractAddress
		if deployed.IsZero() {
			deployed = ft.Sender
		}
		tx.ContractAddress, tx.Sender = felt.Zero, felt.Zero
	}
	if ft.Bounds != nil {
		bound := func(name string) starknet.ResourceBound {
			amount, _ := ft.Bounds[name].Amount.Uint64()
			return starknet.ResourceBound{MaxAmount: amount, MaxPricePerUnit: ft.Bounds[name].Price}
		}
		_, three := ft.Bounds["L1_DATA_GAS"]
		tx.ResourceBounds = &starknet.ResourceBounds{
			L1Gas: bound("L1_GAS"), L2Gas: bound("L2_GAS"), L1DataGas: bound("L1_DATA_GAS"), HasL1DataGas: three,
		}
	}
	return tx, deployed
}

func (fr *feederReceipt) convert(tx *starknet.Transaction, deployed felt.Felt, finality starknet.BlockStatus) starknet.Receipt {
	r := starknet.Receipt{
		TransactionHash: fr.Hash, Type: tx.Type, ActualFee: fr.Fee, FeeUnit: starknet.Wei, Finality: finality,
		Execution: starknet.Succeeded, ContractAddress: deployed, MessageHash: starknet.MessageToL2Hash(tx),
	}
	if fr.Status == "REVERTED" {
		r.Execution, r.RevertReason = starknet.Reverted, fr.Revert
	}
	if v, _ := tx.PlainVersion(); v == 3 {
		r.FeeUnit = starknet.Fri
	}
	total := fr.Resources.Total
	r.Resources = starknet.ExecutionResources{L1Gas: total.L1Gas, L1DataGas: total.L1DataGas, L2Gas: total.L2Gas}
	for _, e := range fr.Events {
		r.Events = append(r.Events, starknet.Event{From: e.From, Keys: orNil(e.Keys), Data: orNil(e.Data)})
	}
	for _, m := range fr.Messages {
		r.MessagesSent = append(r.MessagesSent, starknet.MessageToL1{From: m.From, To: m.To, Payload: orNil(m.Payload)})
	}
	return r
}

func (fb *feederBlock) convert() *starknet.Block {
	b := &starknet.Block{Header: starknet.Header{
		Status: starknet.AcceptedOnL2, Hash: fb.Hash, ParentHash: fb.Parent, Number: *fb.Number, NewRoot: fb.Root, Timestamp: fb.Timestamp,
		Sequencer: fb.Sequencer, StarknetVersion: fb.Version, DAMode: starknet.DACalldata,
		L1DataGasPrice: starknet.GasPrice{InFri: fb.L1DataGas.Fri, InWei: fb.L1DataGas.Wei},
		L2GasPrice:     starknet.GasPrice{InFri: fb.L2Gas.Fri, InWei: fb.L2Gas.Wei},
	}}
	if fb.Status == "ACCEPTED_ON_L1" {
		b.Status = starknet.AcceptedOnL1
	}
	if fb.DAMode == "BLOB" {
		b.DAMode = starknet.DABlob
	}
	b.L1GasPrice = starknet.GasPrice{InWei: fb.GasPrice}
	switch {
	case fb.L1Gas != nil:
		b.L1GasPrice = starknet.GasPrice{InFri: fb.L1Gas.Fri, InWei: fb.L1Gas.Wei}
	case !fb.EthGas.IsZero():
		b.L1GasPrice = starknet.GasPrice{InFri: fb.StrkGas, InWei: fb.EthGas}
	}
	for i := range fb.Transactions {
		tx, deployed := fb.Transactions[i].convert()
		j := slices.IndexFunc(fb.Receipts, func(r feederReceipt) bool { return r.Hash == tx.Hash })
		b.Transactions = append(b.Transactions, tx)
		b.Receipts = append(b.Receipts, fb.Receipts[j].convert(&tx, deployed, b.Status))
	}
	if !fb.EventCommitment.IsZero() || !fb.DiffCommitment.IsZero() {
		b.Commitments = &starknet.Commitments{
			Transactions: fb.TxCommitment, Events: fb.EventCommitment, Receipts: fb.ReceiptCommit, StateDiff: fb.DiffCommitment,
			TransactionCount: uint64(len(b.Transactions)), EventCount: uint64(b.EventCount()), StateDiffLength: fb.DiffLength,
		}
	}
	return b
}

type feederUpdate struct {
	BlockHash felt.Felt `json:"block_hash"`
	NewRoot   felt.Felt `json:"new_root"`
	OldRoot   felt.Felt `json:"old_root"`
	Diff      struct {
		Storage  map[felt.Felt][]struct{ Key, Value felt.Felt } `json:"storage_diffs"`
		Nonces   map[felt.Felt]felt.Felt                        `json:"nonces"`
		Deployed []struct {
			Address   felt.Felt `json:"address"`
			ClassHash felt.Felt `json:"class_hash"`
		} `json:"deployed_contracts"`
		Replaced []struct {
			Address   felt.Felt `json:"address"`
			ClassHash felt.Felt `json:"class_hash"`
		} `json:"replaced_classes"`
		Declared    []feederDeclared `json:"declared_classes"`
		OldDeclared []felt.Felt      `json:"old_declared_contracts"`
		Migrated    []feederDeclared `json:"migrated_compiled_classes"`
	} `json:"state_diff"`
}

type feederDeclared struct {
	ClassHash felt.Felt `json:"class_hash"`
	Compiled  felt.Felt `json:"compiled_class_hash"`
}

func (fu *feederUpdate) convert() *starknet.StateUpdate {
	su := &starknet.StateUpdate{BlockHash: fu.BlockHash, NewRoot: fu.NewRoot, OldRoot: fu.OldRoot}
	d := &su.Diff
	for address, entries := range fu.Diff.Storage {
		s := starknet.StorageDiff{Address: address}
		for _, e := range entries {
			s.Entries = append(s.Entries, starknet.StorageEntry{Key: e.Key, Value: e.Value})
		}
		d.Storage = append(d.Storage, s)
	}
	for address, nonce := range fu.Diff.Nonces {
		d.Nonces = append(d.Nonces, starknet.NonceUpdate{Address: address, Nonce: nonce})
	}
	for _, c := range fu.Diff.Deployed {
		d.Deployed = append(d.Deployed, starknet.DeployedContract(c))
	}
	for _, c := range fu.Diff.Replaced {
		d.Replaced = append(d.Replaced, starknet.ReplacedClass(c))
	}
	for _, c := range fu.Diff.Declared {
		d.Declared = append(d.Declared, starknet.DeclaredClass{ClassHash: c.ClassHash, CompiledClassHash: c.Compiled})
	}
	for _, c := range fu.Diff.Migrated {
		d.Migrated = append(d.Migrated, starknet.DeclaredClass{ClassHash: c.ClassHash, CompiledClassHash: c.Compiled})
	}
	d.DeprecatedDeclared = orNil(fu.Diff.OldDeclared)
	return su
}

// bareHex finds the hashes that the oldest files print without 0x.
var bareHex = regexp.MustCompile(`"([0-9a-f]{60,64})"`)

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = bareHex.ReplaceAll(data, []byte(`"0x$1"`))
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// realBlock is one block of a real network, with its state update if known.
type realBlock struct {
	name    string
	chainID felt.Felt
	block   *starknet.Block
	update  *starknet.StateUpdate
}

var feederNetworks = map[string]string{
	"mainnet": "SN_MAIN", "sepolia": "SN_SEPOLIA", "sepolia-integration": "SN_INTEGRATION_SEPOLIA",
	"goerli": "SN_GOERLI", "goerli2": "SN_GOERLI2", "integration": "SN_GOERLI",
}

// feederBlocks reads every confirmed block of a network.
func feederBlocks(t testing.TB, network string) []realBlock {
	t.Helper()
	files, err := filepath.Glob(feederPath(t, network, "block", "[0-9]*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no blocks of %s (%v)", network, err)
	}
	var blocks []realBlock
	for _, file := range files {
		var fb feederBlock
		readJSON(t, file, &fb)
		rb := realBlock{
			name:    network + " " + strings.TrimSuffix(filepath.Base(file), ".json"),
			chainID: felt.MustShortString(feederNetworks[network]),
			block:   fb.convert(),
		}
		path := feederPath(t, network, "state_update", filepath.Base(file))
		if _, err := os.Stat(path); err == nil {
			var fu feederUpdate
			readJSON(t, path, &fu)
			rb.update = fu.convert()
		}
		blocks = append(blocks, rb)
	}
	return blocks
}

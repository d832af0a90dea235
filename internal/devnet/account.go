package devnet

import (
	"encoding/json"
	"testing"

	junofelt "github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/contracts"
	"github.com/NethermindEth/starknet.go/curve"
	"github.com/NethermindEth/starknet.go/hash"
	"github.com/NethermindEth/starknet.go/rpc"

	"chainexplorer/internal/felt"
)

// Account is an account that the node gave money to.
type Account struct {
	Address felt.Felt

	key *junofelt.Felt
	net *Net
}

// Call is a call of a contract's function.
type Call struct {
	To       felt.Felt
	Function string
	Args     []felt.Felt
}

func (n *Net) loadAccounts(t testing.TB) {
	t.Helper()
	var list []struct {
		Address felt.Felt `json:"address"`
		Key     felt.Felt `json:"private_key"`
	}
	n.Call(t, "devnet_getPredeployedAccounts", map[string]any{}, &list)
	for _, a := range list {
		n.Accounts = append(n.Accounts, &Account{Address: a.Address, key: peer(a.Key), net: n})
	}
}

func peer(f felt.Felt) *junofelt.Felt { return new(junofelt.Felt).SetBytes(f[:]) }

func peers(fs []felt.Felt) []*junofelt.Felt {
	out := make([]*junofelt.Felt, len(fs))
	for i := range fs {
		out[i] = peer(fs[i])
	}
	return out
}

func ours(f *junofelt.Felt) felt.Felt { return felt.Felt(f.Bytes()) }

// bounds let everything pass that these tests send. The third is far from what
// any of them takes.
func bounds() *rpc.ResourceBoundsMapping {
	const price = "0x77359400"
	return &rpc.ResourceBoundsMapping{
		L1Gas:     rpc.ResourceBounds{MaxAmount: "0x186a0", MaxPricePerUnit: price},
		L1DataGas: rpc.ResourceBounds{MaxAmount: "0x186a0", MaxPricePerUnit: price},
		L2Gas:     rpc.ResourceBounds{MaxAmount: "0x3b9aca00", MaxPricePerUnit: price},
	}
}

func (a *Account) nonce(t testing.TB) *junofelt.Felt {
	t.Helper()
	var nonce felt.Felt
	a.net.Call(t, "starknet_getNonce", map[string]any{"block_id": "pre_confirmed", "contract_address": a.Address}, &nonce)
	return peer(nonce)
}

func (a *Account) sign(t testing.TB, digest *junofelt.Felt) []*junofelt.Felt {
	t.Helper()
	r, s, err := curve.SignFelts(digest, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return []*junofelt.Felt{r, s}
}

// Invoke signs calls, sends them in one transaction and returns its hash. A
// transaction that reverts is in a block as well.
func (a *Account) Invoke(t testing.TB, calls ...Call) felt.Felt {
	t.Helper()
	data := []felt.Felt{felt.FromUint64(uint64(len(calls)))}
	for _, c := range calls {
		data = append(data, c.To, felt.Selector(c.Function), felt.FromUint64(uint64(len(c.Args))))
		data = append(data, c.Args...)
	}
	tx := &rpc.InvokeTxnV3{
		Type: rpc.TransactionTypeInvoke, SenderAddress: peer(a.Address), Calldata: peers(data), Version: rpc.TransactionV3,
		Nonce: a.nonce(t), ResourceBounds: bounds(), Tip: "0x0", PayMasterData: []*junofelt.Felt{}, AccountDeploymentData: []*junofelt.Felt{},
		NonceDataMode: rpc.DAModeL1, FeeMode: rpc.DAModeL1,
	}
	digest, err := hash.TransactionHashInvokeV3(tx, peer(a.net.ChainID))
	if err != nil {
		t.Fatal(err)
	}
	tx.Signature = a.sign(t, digest)
	var sent struct {
		Hash felt.Felt `json:"transaction_hash"`
	}
	a.net.Call(t, "starknet_addInvokeTransaction", map[string]any{"invoke_transaction": tx}, &sent)
	if sent.Hash != ours(digest) {
		t.Fatalf("the node calls the transaction %s, we %s", sent.Hash, ours(digest))
	}
	return sent.Hash
}

// Declare sends a class and returns its hash and the transaction's.
func (a *Account) Declare(t testing.TB, source []byte) (class, tx felt.Felt) {
	t.Helper()
	var contract contracts.ContractClass
	if err := json.Unmarshal(source, &contract); err != nil {
		t.Fatal(err)
	}
	compiled := compiledHash(t, source)
	declare := &rpc.BroadcastDeclareTxnV3{
		Type: rpc.TransactionTypeDeclare, SenderAddress: peer(a.Address), Version: rpc.TransactionV3, CompiledClassHash: compiled,
		Nonce: a.nonce(t), ContractClass: &contract, ResourceBounds: bounds(), Tip: "0x0", PayMasterData: []*junofelt.Felt{}, AccountDeploymentData: []*junofelt.Felt{},
		NonceDataMode: rpc.DAModeL1, FeeMode: rpc.DAModeL1,
	}
	digest, err := hash.TransactionHashBroadcastDeclareV3(declare, peer(a.net.ChainID))
	if err != nil {
		t.Fatal(err)
	}
	declare.Signature = a.sign(t, digest)
	var sent struct {
		Class felt.Felt `json:"class_hash"`
		Hash  felt.Felt `json:"transaction_hash"`
	}
	a.net.Call(t, "starknet_addDeclareTransaction", map[string]any{"declare_transaction": declare}, &sent)
	if want := ours(hash.ClassHash(&contract)); sent.Class != want || sent.Hash != ours(digest) {
		t.Fatalf("the node calls the class %s and the transaction %s, we %s and %s", sent.Class, sent.Hash, want, ours(digest))
	}
	return sent.Class, sent.Hash
}

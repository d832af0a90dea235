package simnode

import (
	"encoding/json"
	"strconv"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// broadcast is a version 3 transaction as clients send it.
type broadcast struct {
	Type      string      `json:"type"`
	Version   felt.Felt   `json:"version"`
	Sender    felt.Felt   `json:"sender_address"`
	Calldata  []felt.Felt `json:"calldata"`
	Signature []felt.Felt `json:"signature"`
	Nonce     felt.Felt   `json:"nonce"`
	Tip       string      `json:"tip"`
	Bounds    struct {
		L1Gas     wireBound  `json:"l1_gas"`
		L1DataGas *wireBound `json:"l1_data_gas"`
		L2Gas     wireBound  `json:"l2_gas"`
	} `json:"resource_bounds"`
	Paymaster  []felt.Felt `json:"paymaster_data"`
	Deployment []felt.Felt `json:"account_deployment_data"`
	NonceDA    string      `json:"nonce_data_availability_mode"`
	FeeDA      string      `json:"fee_data_availability_mode"`

	ClassHash    felt.Felt       `json:"class_hash"`
	Compiled     felt.Felt       `json:"compiled_class_hash"`
	Class        json.RawMessage `json:"contract_class"`
	Salt         felt.Felt       `json:"contract_address_salt"`
	Constructor  []felt.Felt     `json:"constructor_calldata"`
	ProofFacts   []felt.Felt     `json:"proof_facts"`
	Proof        string          `json:"proof"`
	MaxFee       *felt.Felt      `json:"max_fee"`
	ContractAddr *felt.Felt      `json:"contract_address"`
	Selector     *felt.Felt      `json:"entry_point_selector"`
}

type wireBound struct {
	Amount string    `json:"max_amount"`
	Price  felt.Felt `json:"max_price_per_unit"`
}

func hexNumber(s string) (uint64, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		return 0, failureWith(codeInvalidParams, "not a hex number: "+s)
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, failureWith(codeInvalidParams, "not a hex number: "+s)
	}
	return n, nil
}

// transaction checks the form and makes the transaction.
func (b *broadcast) transaction() (*starknet.Transaction, error) {
	tx := &starknet.Transaction{
		Version: b.Version, Sender: b.Sender, Calldata: b.Calldata, Signature: b.Signature, Nonce: b.Nonce, HasNonce: true,
		ClassHash: b.ClassHash, CompiledClassHash: b.Compiled, ContractAddressSalt: b.Salt, ConstructorCalldata: b.Constructor,
		PaymasterData: b.Paymaster, AccountDeploymentData: b.Deployment, ResourceBounds: &starknet.ResourceBounds{},
	}
	if len(b.ProofFacts) > 0 {
		tx.ProofFacts = b.ProofFacts
	}
	switch b.Type {
	case "INVOKE":
		tx.Type = starknet.Invoke
	case "DECLARE":
		tx.Type = starknet.Declare
	case "DEPLOY_ACCOUNT":
		tx.Type = starknet.DeployAccount
	default:
		return nil, failureWith(codeInvalidParams, "type")
	}
	if v, ok := tx.PlainVersion(); !ok || v != 3 {
		return nil, failure(codeUnsupportedVersion)
	}
	var err error
	if tx.Tip, err = hexNumber(b.Tip); err != nil {
		return nil, err
	}
	rb := tx.ResourceBounds
	bounds := []struct {
		from *wireBound
		to   *starknet.ResourceBound
	}{{&b.Bounds.L1Gas, &rb.L1Gas}, {&b.Bounds.L2Gas, &rb.L2Gas}}
	if b.Bounds.L1DataGas != nil {
		rb.HasL1DataGas = true
		bounds = append(bounds, struct {
			from *wireBound
			to   *starknet.ResourceBound
		}{b.Bounds.L1DataGas, &rb.L1DataGas})
	}
	for _, x := range bounds {
		if x.to.MaxAmount, err = hexNumber(x.from.Amount); err != nil {
			return nil, err
		}
		x.to.MaxPricePerUnit = x.from.Price
	}
	modes := map[string]starknet.TxDAMode{"L1": starknet.TxDAL1, "L2": starknet.TxDAL2}
	tx.NonceDAMode, tx.FeeDAMode = modes[b.NonceDA], modes[b.FeeDA]
	return tx, nil
}

// accept reads, hashes and submits a transaction.
func (c *rpcCall) accept(name string, want starknet.TxType) (*submitted, error) {
	b, err := arg[broadcast](c, name)
	if err != nil {
		return nil, err
	}
	tx, err := b.transaction()
	if err != nil {
		return nil, err
	}
	if tx.Type != want {
		return nil, failureWith(codeInvalidParams, "type")
	}
	s := &submitted{}
	if want == starknet.Declare {
		class, err := starknet.DecodeClass(b.Class)
		if err != nil || class.Sierra == nil {
			return nil, failureWith(codeCompilationFailed, "contract_class is not a Sierra class")
		}
		if s.class, err = contracts.Foreign(class.Sierra, tx.CompiledClassHash); err != nil {
			return nil, failureWith(codeCompilationFailed, err.Error())
		}
		tx.ClassHash = s.class.Hash
	}
	if tx.Hash, err = tx.ComputeHash(c.node.chain.cfg.ChainID); err != nil {
		return nil, failureWith(codeUnexpected, err.Error())
	}
	s.tx = *tx
	switch code := c.node.chain.submit(s); {
	case code == codeInvalidNonce && c.node.cfg.Version >= starknet.V09:
		return nil, failureWith(code, "nonce "+tx.Nonce.String()+" is not the next one")
	case code == codeUnexpected:
		return nil, failureWith(code, "the mempool is full")
	case code != 0:
		return nil, failure(code)
	}
	return s, nil
}

func addInvoke(c *rpcCall) (any, error) {
	s, err := c.accept("invoke_transaction", starknet.Invoke)
	if err != nil {
		return nil, err
	}
	return map[string]felt.Felt{"transaction_hash": s.tx.Hash}, nil
}

func addDeclare(c *rpcCall) (any, error) {
	s, err := c.accept("declare_transaction", starknet.Declare)
	if err != nil {
		return nil, err
	}
	return map[string]felt.Felt{"transaction_hash": s.tx.Hash, "class_hash": s.class.Hash}, nil
}

func addDeployAccount(c *rpcCall) (any, error) {
	s, err := c.accept("deploy_account_transaction", starknet.DeployAccount)
	if err != nil {
		return nil, err
	}
	return map[string]felt.Felt{"transaction_hash": s.tx.Hash, "contract_address": contractAddressOf(&s.tx)}, nil
}

package starknet

// Decoding of transactions.

import (
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
)

// txFields are a transaction's wire names; a fieldSet counts in this order.
var txFields = []string{
	"type", "version", "sender_address", "contract_address", "entry_point_selector", "calldata", "max_fee",
	"signature", "nonce", "class_hash", "compiled_class_hash", "contract_address_salt", "constructor_calldata",
	"resource_bounds", "tip", "paymaster_data", "account_deployment_data", "nonce_data_availability_mode",
	"fee_data_availability_mode", "proof_facts", "transaction_hash",
}

const (
	txType fieldSet = 1 << iota
	txVersion
	txSender
	txContract
	txSelector
	txCalldata
	txMaxFee
	txSignature
	txNonce
	txClassHash
	txCompiled
	txSalt
	txConstructor
	txBounds
	txTip
	txPaymaster
	txDeploymentData
	txNonceDA
	txFeeDA
	txProofFacts
	txHash

	txAlways = txType | txVersion
	txCommon = txAlways | txSignature
	txV3     = txCommon | txNonce | txBounds | txTip | txPaymaster | txNonceDA | txFeeDA
)

var txTypeNames = map[string]TxType{
	"INVOKE": Invoke, "DECLARE": Declare, "DEPLOY": Deploy, "DEPLOY_ACCOUNT": DeployAccount, "L1_HANDLER": L1Handler,
}

var txDAModes = map[string]TxDAMode{"L1": TxDAL1, "L2": TxDAL2}

// txShape is which fields a kind of transaction must and may have.
func txShape(t TxType, version uint64) (required, optional fieldSet, ok bool) {
	switch {
	case t == Invoke && version == 0:
		return txCommon | txContract | txSelector | txCalldata | txMaxFee, 0, true
	case t == Invoke && version == 1:
		return txCommon | txSender | txCalldata | txMaxFee | txNonce, 0, true
	case t == Invoke && version == 3:
		return txV3 | txSender | txCalldata | txDeploymentData, txProofFacts, true
	case t == Declare && version == 0:
		return txCommon | txSender | txMaxFee | txClassHash, 0, true
	case t == Declare && version == 1:
		return txCommon | txSender | txMaxFee | txClassHash | txNonce, 0, true
	case t == Declare && version == 2:
		return txCommon | txSender | txMaxFee | txClassHash | txNonce | txCompiled, 0, true
	case t == Declare && version == 3:
		return txV3 | txSender | txClassHash | txCompiled | txDeploymentData, 0, true
	case t == Deploy:
		return txAlways | txClassHash | txSalt | txConstructor, 0, true
	case t == DeployAccount && version == 1:
		return txCommon | txMaxFee | txNonce | txClassHash | txSalt | txConstructor, 0, true
	case t == DeployAccount && version == 3:
		return txV3 | txClassHash | txSalt | txConstructor, 0, true
	case t == L1Handler && version == 0:
		return txAlways | txContract | txSelector | txCalldata, txNonce, true
	}
	return 0, 0, false
}

// transaction reads one transaction object. The order of fields is free, so
// what must be there is known only at the end. It returns what was there.
func (d *decoder) transaction(t *Transaction) (seen fieldSet) {
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		field := d.txField(t, string(key))
		seen |= field
		if d.bad() && field != 0 {
			d.within(string(key))
			return seen
		}
	}
	if d.bad() {
		return seen
	}
	d.require(seen, txAlways, txFields)
	version, ok := t.PlainVersion()
	required, optional, known := txShape(t.Type, version)
	if !d.bad() && (!ok && t.Type != Deploy || !known) {
		d.fail("version", fmt.Errorf("%s transactions of version %s are not known", t.Type, t.Version))
	}
	d.require(seen, required, txFields)
	if extra := seen &^ (required | optional | txHash); extra != 0 {
		t.drop(extra)
		seen &^= extra
	}
	t.HasNonce = seen&txNonce != 0
	return seen
}

// txField reads the value of one field and returns which it was.
func (d *decoder) txField(t *Transaction, key string) fieldSet {
	switch key {
	case "type":
		t.Type = oneOf(d, txTypeNames)
		return txType
	case "version":
		d.feltInto(&t.Version)
		return txVersion
	case "sender_address":
		d.feltInto(&t.Sender)
		return txSender
	case "contract_address":
		d.feltInto(&t.ContractAddress)
		return txContract
	case "entry_point_selector":
		d.feltInto(&t.EntryPointSelector)
		return txSelector
	case "calldata":
		t.Calldata = d.feltList()
		return txCalldata
	case "max_fee":
		d.feltInto(&t.MaxFee)
		return txMaxFee
	case "signature":
		t.Signature = d.feltList()
		return txSignature
	case "nonce":
		d.feltInto(&t.Nonce)
		return txNonce
	case "class_hash":
		d.feltInto(&t.ClassHash)
		return txClassHash
	case "compiled_class_hash":
		d.feltInto(&t.CompiledClassHash)
		return txCompiled
	case "contract_address_salt":
		d.feltInto(&t.ContractAddressSalt)
		return txSalt
	case "constructor_calldata":
		t.ConstructorCalldata = d.feltList()
		return txConstructor
	case "resource_bounds":
		t.ResourceBounds = d.bounds.one()
		d.resourceBounds(t.ResourceBounds)
		return txBounds
	case "tip":
		t.Tip = d.hexUint64()
		return txTip
	case "paymaster_data":
		t.PaymasterData = d.feltList()
		return txPaymaster
	case "account_deployment_data":
		t.AccountDeploymentData = d.feltList()
		return txDeploymentData
	case "nonce_data_availability_mode":
		t.NonceDAMode = oneOf(d, txDAModes)
		return txNonceDA
	case "fee_data_availability_mode":
		t.FeeDAMode = oneOf(d, txDAModes)
		return txFeeDA
	case "proof_facts":
		if t.ProofFacts = d.feltList(); t.ProofFacts == nil {
			t.ProofFacts = []felt.Felt{} // present and empty is not absent
		}
		return txProofFacts
	case "transaction_hash":
		d.feltInto(&t.Hash)
		return txHash
	}
	d.s.Skip()
	return 0
}

// drop forgets fields that a transaction of this kind does not have.
func (t *Transaction) drop(fields fieldSet) {
	for _, f := range []struct {
		field fieldSet
		one   *felt.Felt
		list  *[]felt.Felt
	}{
		{txSender, &t.Sender, nil}, {txContract, &t.ContractAddress, nil}, {txSelector, &t.EntryPointSelector, nil},
		{txMaxFee, &t.MaxFee, nil}, {txNonce, &t.Nonce, nil}, {txClassHash, &t.ClassHash, nil},
		{txCompiled, &t.CompiledClassHash, nil}, {txSalt, &t.ContractAddressSalt, nil},
		{txCalldata, nil, &t.Calldata}, {txSignature, nil, &t.Signature}, {txConstructor, nil, &t.ConstructorCalldata},
		{txPaymaster, nil, &t.PaymasterData}, {txDeploymentData, nil, &t.AccountDeploymentData}, {txProofFacts, nil, &t.ProofFacts},
	} {
		switch {
		case fields&f.field == 0:
		case f.one != nil:
			*f.one = felt.Felt{}
		default:
			*f.list = nil
		}
	}
	if fields&txBounds != 0 {
		t.ResourceBounds = nil
	}
	if fields&txTip != 0 {
		t.Tip = 0
	}
	if fields&txNonceDA != 0 {
		t.NonceDAMode = TxDAL1
	}
	if fields&txFeeDA != 0 {
		t.FeeDAMode = TxDAL1
	}
}

var boundsFields = []string{"l1_gas", "l2_gas", "l1_data_gas"}

func (d *decoder) resourceBounds(rb *ResourceBounds) {
	const l1, l2, l1Data = 1, 2, 4
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		var field fieldSet
		switch string(key) {
		case "l1_gas":
			d.resourceBound(&rb.L1Gas)
			field = l1
		case "l2_gas":
			d.resourceBound(&rb.L2Gas)
			field = l2
		case "l1_data_gas":
			d.resourceBound(&rb.L1DataGas)
			field = l1Data
		default:
			d.s.Skip()
		}
		seen |= field
		if d.bad() && field != 0 {
			d.within(string(key))
			return
		}
	}
	d.require(seen, l1|l2, boundsFields)
	rb.HasL1DataGas = seen&l1Data != 0
}

var boundFields = []string{"max_amount", "max_price_per_unit"}

func (d *decoder) resourceBound(b *ResourceBound) {
	const amount, price = 1, 2
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		switch string(key) {
		case "max_amount":
			b.MaxAmount = d.hexUint64()
			seen |= amount
		case "max_price_per_unit":
			d.feltInto(&b.MaxPricePerUnit)
			if len(b.MaxPricePerUnit.Trimmed()) > 16 {
				d.s.Fail(errors.New("number does not fit 128 bits"))
			}
			seen |= price
		default:
			d.s.Skip()
			continue
		}
		if d.bad() {
			d.within(string(key))
			return
		}
	}
	d.require(seen, amount|price, boundFields)
}

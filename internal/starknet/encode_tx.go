package starknet

// Encoding of transactions and receipts.

import "chainexplorer/internal/felt"

// AppendTransaction appends a transaction with its hash, as
// starknet_getTransactionByHash gives it, to dst.
func AppendTransaction(dst []byte, t *Transaction, v SpecVersion) []byte {
	w := writer{dst}
	w.transaction(t, v, true)
	return w.b
}

// AppendReceipt appends a receipt as it stands beside its transaction in a
// block, without the block's number and hash, to dst.
func AppendReceipt(dst []byte, r *Receipt, v SpecVersion) []byte {
	w := writer{dst}
	w.receipt(r, v)
	return w.b
}

// transaction writes the fields that the transaction's kind has.
func (w *writer) transaction(t *Transaction, v SpecVersion, withHash bool) {
	version, _ := t.PlainVersion()
	required, optional, _ := txShape(t.Type, version)
	has := func(f fieldSet) bool { return required&f != 0 }
	w.open('{')
	if withHash {
		w.felt("transaction_hash", &t.Hash)
	}
	w.word("type", t.Type.String())
	w.felt("version", &t.Version)
	for _, f := range []struct {
		field fieldSet
		name  string
		value *felt.Felt
	}{
		{txSender, "sender_address", &t.Sender},
		{txContract, "contract_address", &t.ContractAddress},
		{txSelector, "entry_point_selector", &t.EntryPointSelector},
		{txMaxFee, "max_fee", &t.MaxFee},
		{txClassHash, "class_hash", &t.ClassHash},
		{txCompiled, "compiled_class_hash", &t.CompiledClassHash},
		{txSalt, "contract_address_salt", &t.ContractAddressSalt},
	} {
		if has(f.field) {
			w.felt(f.name, f.value)
		}
	}
	if has(txNonce) || optional&txNonce != 0 && t.HasNonce {
		w.felt("nonce", &t.Nonce)
	}
	for _, f := range []struct {
		field fieldSet
		name  string
		list  []felt.Felt
	}{
		{txCalldata, "calldata", t.Calldata},
		{txConstructor, "constructor_calldata", t.ConstructorCalldata},
		{txSignature, "signature", t.Signature},
		{txPaymaster, "paymaster_data", t.PaymasterData},
		{txDeploymentData, "account_deployment_data", t.AccountDeploymentData},
	} {
		if has(f.field) {
			w.felts(f.name, f.list)
		}
	}
	if has(txBounds) {
		w.resourceBounds(t.ResourceBounds)
		w.hexNumber("tip", t.Tip)
		w.word("nonce_data_availability_mode", t.NonceDAMode.String())
		w.word("fee_data_availability_mode", t.FeeDAMode.String())
	}
	if optional&txProofFacts != 0 && t.ProofFacts != nil && v >= V010 {
		w.felts("proof_facts", t.ProofFacts)
	}
	w.close('}')
}

func (w *writer) resourceBounds(rb *ResourceBounds) {
	if rb == nil {
		rb = &ResourceBounds{}
	}
	w.key("resource_bounds")
	w.open('{')
	w.resourceBound("l1_gas", &rb.L1Gas)
	if rb.HasL1DataGas {
		w.resourceBound("l1_data_gas", &rb.L1DataGas)
	}
	w.resourceBound("l2_gas", &rb.L2Gas)
	w.close('}')
}

func (w *writer) resourceBound(name string, b *ResourceBound) {
	w.key(name)
	w.open('{')
	w.hexNumber("max_amount", b.MaxAmount)
	w.felt("max_price_per_unit", &b.MaxPricePerUnit)
	w.close('}')
}

func (w *writer) receipt(r *Receipt, _ SpecVersion) {
	w.open('{')
	w.word("type", r.Type.String())
	w.felt("transaction_hash", &r.TransactionHash)
	w.key("actual_fee")
	w.open('{')
	w.felt("amount", &r.ActualFee)
	w.word("unit", r.FeeUnit.String())
	w.close('}')
	w.word("finality_status", r.Finality.String())
	w.word("execution_status", r.Execution.String())
	if r.Execution == Reverted {
		w.word("revert_reason", r.RevertReason)
	}
	w.key("messages_sent")
	w.open('[')
	for i := range r.MessagesSent {
		m := &r.MessagesSent[i]
		w.comma()
		w.open('{')
		w.felt("from_address", &m.From)
		w.felt("to_address", &m.To)
		w.felts("payload", m.Payload)
		w.close('}')
	}
	w.close(']')
	w.key("events")
	w.open('[')
	for i := range r.Events {
		e := &r.Events[i]
		w.comma()
		w.open('{')
		w.felt("from_address", &e.From)
		w.felts("keys", e.Keys)
		w.felts("data", e.Data)
		w.close('}')
	}
	w.close(']')
	w.key("execution_resources")
	w.open('{')
	w.number("l1_gas", r.Resources.L1Gas)
	w.number("l1_data_gas", r.Resources.L1DataGas)
	w.number("l2_gas", r.Resources.L2Gas)
	w.close('}')
	switch r.Type {
	case Deploy, DeployAccount:
		w.felt("contract_address", &r.ContractAddress)
	case L1Handler:
		w.word256("message_hash", &r.MessageHash)
	}
	w.close('}')
}

package simnode

import (
	"math/bits"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// This file puts what contracts did into transactions of every type and
// version, charges the fee and writes the receipt.

var versions = [4]felt.Felt{felt.FromUint64(0), felt.FromUint64(1), felt.FromUint64(2), felt.FromUint64(3)}

// begin forgets the previous transaction.
func (b *builder) begin() {
	b.calls, b.scratch, b.ends, b.events, b.messages, b.proof = b.calls[:0], b.scratch[:0], nil, b.events[:0], nil, nil
}

func (b *builder) signature() []felt.Felt { return b.felts(b.r.felt(), b.r.felt()) }

// bounds are the limits of a version 3 transaction.
func (b *builder) bounds() *starknet.ResourceBounds {
	price := func(n uint64) felt.Felt { return felt.FromUint64(n + n/2) }
	return &starknet.ResourceBounds{
		L1Gas:     starknet.ResourceBound{MaxAmount: 10_000, MaxPricePerUnit: price(b.prices.l1)},
		L2Gas:     starknet.ResourceBound{MaxAmount: 50_000_000 + uint64(b.r.intn(1000))*1000, MaxPricePerUnit: price(b.prices.l2)},
		L1DataGas: starknet.ResourceBound{MaxAmount: 20_000, MaxPricePerUnit: price(b.prices.data)}, HasL1DataGas: true,
	}
}

// seal fills what all transactions that pay a fee share, charges it and adds
// the transaction to the block. payer is nobody when nothing is charged.
func (b *builder) seal(tx *starknet.Transaction, payer id, version int, reverted string) {
	tx.Version = versions[version]
	if version == 3 && tx.ResourceBounds == nil {
		tx.ResourceBounds = b.bounds()
		tx.PaymasterData = []felt.Felt{}
		if tx.Type != starknet.DeployAccount {
			tx.AccountDeploymentData = []felt.Felt{}
		}
		if b.r.chance(0.05) {
			tx.Tip = uint64(b.r.intn(1_000_000_000))
		}
	}
	receipt := starknet.Receipt{
		Type: tx.Type, Execution: starknet.Succeeded, FeeUnit: starknet.Wei, RevertReason: reverted,
		Resources: starknet.ExecutionResources{L1DataGas: 128 + 32*uint64(b.r.intn(20)), L2Gas: 700_000 + 150_000*uint64(len(b.events)) + uint64(b.r.intn(100_000))},
	}
	if reverted != "" {
		receipt.Execution = starknet.Reverted
		b.events, b.messages, b.ends = b.events[:0], nil, nil
	}
	token, perUnit := ethToken, uint64(4000) // wei are so much dearer
	if version == 3 {
		receipt.FeeUnit, token, perUnit = starknet.Fri, strkToken, 1
	}
	if payer != nobody {
		fee := amountOf(receipt.Resources.L2Gas).mul(b.prices.l2).add(amountOf(receipt.Resources.L1DataGas).mul(b.prices.data))
		fee = amountFromQuotient(fee, perUnit)
		receipt.ActualFee = fee.low()
		if version < 3 && tx.Type != starknet.L1Handler {
			tx.MaxFee = fee.add(fee.shr(1)).add(amountOf(uint64(b.r.intn(1 << 20)))).low()
		}
		b.transfer(token, payer, b.w.intern(contracts.Sequencer), fee)
	}
	receipt.MessagesSent, receipt.Events = b.messages, slices.Clone(b.events)
	b.block.Transactions = append(b.block.Transactions, *tx)
	b.block.Receipts = append(b.block.Receipts, receipt)
	b.callEnds = append(b.callEnds, b.ends)
}

// amountFromQuotient is a/n for amounts below 2^128.
func amountFromQuotient(a amount, n uint64) amount {
	if n == 1 {
		return a
	}
	hi, rest := a[1]/n, a[1]%n
	// rest < n, so the quotient fits a word.
	lo, _ := bits.Div64(rest, a[0], n)
	return amount{lo, hi}
}

// takeNonce is the account's nonce for the transaction in hand.
func (b *builder) takeNonce(i id) felt.Felt {
	n := b.w.nonces.get(i)
	b.w.nonces.set(b.number, i, n+1)
	return felt.FromUint64(n)
}

// multicall is the calldata of an account's __execute__.
func (b *builder) multicall(cairo0 bool) []felt.Felt {
	out := make([]felt.Felt, 0, 32)
	out = append(out, felt.FromUint64(uint64(len(b.calls))))
	if cairo0 {
		total := 0
		for _, c := range b.calls {
			out = append(out, c.to, c.selector, felt.FromUint64(uint64(total)), felt.FromUint64(uint64(len(c.args))))
			total += len(c.args)
		}
		out = append(out, felt.FromUint64(uint64(total)))
		for _, c := range b.calls {
			out = append(out, c.args...)
		}
		return b.felts(out...)
	}
	for _, c := range b.calls {
		out = append(out, c.to, c.selector, felt.FromUint64(uint64(len(c.args))))
		out = append(out, c.args...)
	}
	return b.felts(out...)
}

// sealInvoke sends the calls in hand from an account.
func (b *builder) sealInvoke(from *account, version int, reverted string) {
	b.done()
	if b.proof != nil {
		version = 3 // no older one can carry a proof
	}
	tx := &starknet.Transaction{Type: starknet.Invoke, Calldata: b.multicall(from.cairo0), Signature: b.signature(), ProofFacts: b.proof}
	if version == 0 {
		tx.ContractAddress, tx.EntryPointSelector = from.address, contracts.SelExecute
	} else {
		tx.Sender, tx.Nonce, tx.HasNonce = from.address, b.takeNonce(from.id), true
	}
	if from.cairo0 && reverted == "" && b.number > 0 && b.r.chance(0.3) {
		b.emit(from.address, b.felts(contracts.SelTransactionDone), b.felts(b.r.felt(), felt.FromUint64(0)))
	}
	payer := from.id
	if b.number == 0 {
		payer = nobody
	}
	b.seal(tx, payer, version, reverted)
}

// invokeVersion picks the version that an account sends: old ones are rare,
// and the oldest only early on.
func (b *builder) invokeVersion(from *account) int {
	switch {
	case from.cairo0 && b.number < 60 && b.r.chance(0.2):
		return 0
	case from.cairo0 && b.r.chance(0.6), b.r.chance(0.05):
		if b.canPay(from, ethToken) {
			return 1
		}
	}
	return 3
}

// sealDeclare declares a class from an account.
func (b *builder) sealDeclare(from *account, version int, c *contracts.Class) {
	tx := &starknet.Transaction{Type: starknet.Declare, ClassHash: c.Hash, Sender: from.address, Signature: b.signature()}
	if version > 0 {
		tx.Nonce, tx.HasNonce = b.takeNonce(from.id), true
	}
	compiled := c.Compiled
	if b.w.cfg.atLeast(0, 14, 1) && b.number > 0 {
		compiled = c.CompiledV2
	}
	if c.Cairo0() {
		b.diff.DeprecatedDeclared = append(b.diff.DeprecatedDeclared, c.Hash)
	} else {
		tx.CompiledClassHash = compiled
		b.diff.Declared = append(b.diff.Declared, starknet.DeclaredClass{ClassHash: c.Hash, CompiledClassHash: compiled})
		b.w.compiled.set(b.number, c.Hash, compiled)
	}
	b.w.declared.set(b.number, c.Hash, c)
	payer := from.id
	if b.number == 0 {
		payer = nobody
	}
	b.seal(tx, payer, version, "")
}

// sealDeployAccount lets an account that was funded before come to be.
func (b *builder) sealDeployAccount(a *account, version int, class *contracts.Class, salt felt.Felt) {
	tx := &starknet.Transaction{
		Type: starknet.DeployAccount, ClassHash: class.Hash, ContractAddressSalt: salt,
		ConstructorCalldata: b.felts(a.key), Signature: b.signature(), HasNonce: true,
	}
	b.w.nonces.set(b.number, a.id, 1)
	b.deploy(a.address, class)
	if class.Cairo0() {
		b.emit(a.address, b.felts(contracts.SelAccountCreated), b.felts(a.address, a.key, felt.Zero))
	} else {
		b.emit(a.address, b.felts(contracts.SelOwnerAdded, a.key), b.felts())
	}
	b.seal(tx, a.id, version, "")
	b.block.Receipts[len(b.block.Receipts)-1].ContractAddress = a.address
}

// sealDeploy is the oldest way to make a contract: nobody sends it and nobody
// pays.
func (b *builder) sealDeploy(class *contracts.Class, salt felt.Felt, calldata []felt.Felt) felt.Felt {
	address := starknet.ComputeContractAddress(felt.Zero, salt, class.Hash, calldata)
	b.deploy(address, class)
	tx := &starknet.Transaction{Type: starknet.Deploy, ClassHash: class.Hash, ContractAddressSalt: salt, ConstructorCalldata: calldata}
	b.seal(tx, nobody, 0, "")
	b.block.Receipts[len(b.block.Receipts)-1].ContractAddress = address
	return address
}

// sealL1Handler consumes a message from the base layer.
func (b *builder) sealL1Handler(contract, selector felt.Felt, calldata []felt.Felt, reverted string) {
	nonce := b.count(countL1Nonce)
	tx := &starknet.Transaction{
		Type: starknet.L1Handler, ContractAddress: contract, EntryPointSelector: selector, Calldata: calldata,
		Nonce: felt.FromUint64(1_700_000 + nonce), HasNonce: true,
	}
	b.seal(tx, nobody, 0, reverted)
	r := &b.block.Receipts[len(b.block.Receipts)-1]
	r.MessageHash = starknet.MessageToL2Hash(tx)
}

// count returns a counter and moves it on.
func (b *builder) count(c counter) uint64 {
	n := b.w.counts.get(c)
	b.w.counts.set(b.number, c, n+1)
	return n
}

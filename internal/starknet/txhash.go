package starknet

// Transaction hashes of every type and version, checked against real ones.

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/felt"
)

// The words that start a transaction hash.
var (
	prefixInvoke        = felt.MustShortString("invoke")
	prefixDeclare       = felt.MustShortString("declare")
	prefixDeploy        = felt.MustShortString("deploy")
	prefixDeployAccount = felt.MustShortString("deploy_account")
	prefixL1Handler     = felt.MustShortString("l1_handler")

	constructorSelector = felt.Selector("constructor")
)

// ComputeHash is the transaction's hash on the given chain, in the form that
// all have since 0.10. For deploy and deploy account transactions it first
// computes the contract's address.
func (t *Transaction) ComputeHash(chainID felt.Felt) (felt.Felt, error) {
	return t.computeHash(&chainID, t.deployedAddress(nil))
}

// HashMatches reports whether t.Hash follows from the rest of t, in any form
// that a transaction of this kind ever had.
func (t *Transaction) HashMatches(chainID felt.Felt) (bool, error) {
	computed, err := t.checkHash(&chainID, nil, nil, true)
	return err == nil && computed == t.Hash, err
}

// checkHash returns t.Hash when one of the transaction's forms gives it, and
// the usual form otherwise, which usual is if it was computed already. address is the
// receipt's, or nil. The forms that were in use before the protocol settled are tried
// if ancient is set.
func (t *Transaction) checkHash(chainID, address *felt.Felt, usual *usualHash, ancient bool) (felt.Felt, error) {
	deployed := t.deployedAddress(address)
	var computed felt.Felt
	var err error
	if usual != nil && usual.known {
		computed = usual.Felt
	} else {
		computed, err = t.computeHash(chainID, deployed)
	}
	if err != nil || computed == t.Hash {
		return computed, err
	}
	if rb := t.ResourceBounds; rb != nil && rb.HasL1DataGas && rb.L1DataGas == (ResourceBound{}) {
		two := *rb
		two.HasL1DataGas = false
		u := *t
		u.ResourceBounds = &two
		if h, err := u.computeHash(chainID, deployed); err == nil && h == t.Hash {
			return h, nil
		}
	}
	if ancient {
		for _, h := range t.ancientForms(chainID, deployed) {
			if h == t.Hash {
				return h, nil
			}
		}
	}
	return computed, nil
}

// deployedAddress is the address that t creates, if it creates one. The claimed
// address of a deploy account is taken as it is: the hash covers it and all that
// it is made of. That of a deploy does not cover class and salt.
func (t *Transaction) deployedAddress(claimed *felt.Felt) felt.Felt {
	if t.Type != Deploy && t.Type != DeployAccount {
		return felt.Felt{}
	}
	if claimed != nil && t.Type == DeployAccount {
		return *claimed
	}
	return ComputeContractAddress(felt.Zero, t.ContractAddressSalt, t.ClassHash, t.ConstructorCalldata)
}

func (t *Transaction) computeHash(chainID *felt.Felt, deployed felt.Felt) (felt.Felt, error) {
	if t.ofV3() {
		return t.hashV3(chainID, deployed), nil
	}
	form, err := t.pedersenForm(&deployed)
	if err != nil {
		return felt.Felt{}, err
	}
	var p pedersen
	form.addInner(&p)
	inner := p.sum()
	form.addOuter(&p, chainID, &inner)
	e := p.sum()
	return fromElement(&e), nil
}

// pedersenForm is what the hash of a transaction of a version below 3 is made of.
type pedersenForm struct {
	of                        *Transaction
	prefix, address, selector *felt.Felt
	head, data                []felt.Felt  // of the inner list
	more                      []*felt.Felt // behind the rest
}

// pedersenForm tells the form in use since 0.10.
func (t *Transaction) pedersenForm(deployed *felt.Felt) (f pedersenForm, err error) {
	v, ok := t.PlainVersion()
	if !ok {
		return f, fmt.Errorf("transaction version %s: %w", t.Version, ErrUnknownRules)
	}
	switch {
	case t.Type == Invoke && v == 0:
		return pedersenForm{of: t, prefix: &prefixInvoke, address: &t.ContractAddress, selector: &t.EntryPointSelector, data: t.Calldata}, nil
	case t.Type == Invoke && v == 1:
		return pedersenForm{of: t, prefix: &prefixInvoke, address: &t.Sender, selector: &felt.Zero, data: t.Calldata, more: []*felt.Felt{&t.Nonce}}, nil
	case t.Type == Declare && v == 0:
		return pedersenForm{of: t, prefix: &prefixDeclare, address: &t.Sender, selector: &felt.Zero, more: []*felt.Felt{&t.ClassHash}}, nil
	case t.Type == Declare && v == 1:
		return pedersenForm{of: t, prefix: &prefixDeclare, address: &t.Sender, selector: &felt.Zero, head: []felt.Felt{t.ClassHash}, more: []*felt.Felt{&t.Nonce}}, nil
	case t.Type == Declare && v == 2:
		return pedersenForm{of: t, prefix: &prefixDeclare, address: &t.Sender, selector: &felt.Zero, head: []felt.Felt{t.ClassHash}, more: []*felt.Felt{&t.Nonce, &t.CompiledClassHash}}, nil
	case t.Type == Deploy:
		return pedersenForm{of: t, prefix: &prefixDeploy, address: deployed, selector: &constructorSelector, data: t.ConstructorCalldata}, nil
	case t.Type == DeployAccount && v == 1:
		return pedersenForm{of: t, prefix: &prefixDeployAccount, address: deployed, selector: &felt.Zero,
			head: []felt.Felt{t.ClassHash, t.ContractAddressSalt}, data: t.ConstructorCalldata, more: []*felt.Felt{&t.Nonce}}, nil
	case t.Type == L1Handler && v == 0:
		return pedersenForm{of: t, prefix: &prefixL1Handler, address: &t.ContractAddress, selector: &t.EntryPointSelector, data: t.Calldata, more: []*felt.Felt{&t.Nonce}}, nil
	}
	return f, fmt.Errorf("%s transaction of version %d: %w", t.Type, v, ErrUnknownRules)
}

func (f *pedersenForm) addInner(p *pedersen) {
	p.addAll(f.head)
	p.addAll(f.data)
}

// addOuter adds what the hash covers, with that of the inner list.
func (f *pedersenForm) addOuter(p *pedersen, chainID *felt.Felt, inner *element) {
	p.add(f.prefix)
	p.add(&f.of.Version)
	p.add(f.address)
	p.add(f.selector)
	p.addElement(inner)
	p.add(&f.of.MaxFee)
	p.add(chainID)
	for _, m := range f.more {
		p.add(m)
	}
}

// ancientForms are the hashes of transactions made before the protocol settled:
// without version and fee, and for L1 handlers also as an invoke. A form holds
// only for a transaction that does not have what it leaves out.
func (t *Transaction) ancientForms(chainID *felt.Felt, deployed felt.Felt) []felt.Felt {
	short := func(prefix, address, selector *felt.Felt, data []felt.Felt, more ...element) felt.Felt {
		all := append([]element{toElement(prefix), toElement(address), toElement(selector), pedersenFelts(data), toElement(chainID)}, more...)
		e := pedersenElements(all...)
		return fromElement(&e)
	}
	if !t.Version.IsZero() || !t.MaxFee.IsZero() {
		return nil
	}
	switch t.Type {
	case Invoke:
		return []felt.Felt{short(&prefixInvoke, &t.ContractAddress, &t.EntryPointSelector, t.Calldata)}
	case Deploy:
		return []felt.Felt{short(&prefixDeploy, &deployed, &constructorSelector, t.ConstructorCalldata)}
	case L1Handler:
		forms := []felt.Felt{short(&prefixL1Handler, &t.ContractAddress, &t.EntryPointSelector, t.Calldata, toElement(&t.Nonce))}
		if t.Nonce.IsZero() {
			forms = append(forms,
				short(&prefixL1Handler, &t.ContractAddress, &t.EntryPointSelector, t.Calldata),
				short(&prefixInvoke, &t.ContractAddress, &t.EntryPointSelector, t.Calldata),
				t.withoutNonce(chainID),
			)
		}
		return forms
	}
	return nil
}

// withoutNonce is the hash of an L1 handler that has none.
func (t *Transaction) withoutNonce(chainID *felt.Felt) felt.Felt {
	f := pedersenForm{of: t, prefix: &prefixL1Handler, address: &t.ContractAddress, selector: &t.EntryPointSelector}
	inner := pedersenFelts(t.Calldata)
	var p pedersen
	f.addOuter(&p, chainID, &inner)
	e := p.sum()
	return fromElement(&e)
}

// ofV3 says whether the transaction's hash is made of lists that are hashed by Poseidon.
func (t *Transaction) ofV3() bool {
	v, ok := t.PlainVersion()
	return ok && v == 3 && t.ResourceBounds != nil && (t.Type == Invoke || t.Type == Declare || t.Type == DeployAccount)
}

func (t *Transaction) hashV3(chainID *felt.Felt, deployed felt.Felt) felt.Felt {
	var inner, outer poseidon
	t.addInner(&inner)
	t.addOuter(&outer, chainID, &deployed, inner.sums())
	return outer.sumFelt()
}

// addInner adds the lists whose hashes are parts of the transaction's, in their order.
func (t *Transaction) addInner(p *poseidon) {
	list := func(fs []felt.Felt) {
		p.addAll(fs)
		p.end()
	}
	t.addFees(p)
	p.end()
	list(t.PaymasterData)
	switch t.Type {
	case Invoke:
		list(t.AccountDeploymentData)
		list(t.Calldata)
		if len(t.ProofFacts) > 0 {
			list(t.ProofFacts)
		}
	case Declare:
		list(t.AccountDeploymentData)
	case DeployAccount:
		list(t.ConstructorCalldata)
	}
}

// addOuter adds what the transaction's hash covers, with the hashes of the inner lists. It
// returns those that are not this transaction's.
func (t *Transaction) addOuter(p *poseidon, chainID, deployed *felt.Felt, inner []element) (rest []element) {
	list := func() {
		p.addElement(&inner[0])
		inner = inner[1:]
	}
	prefix, address := &prefixInvoke, &t.Sender
	switch t.Type {
	case Declare:
		prefix = &prefixDeclare
	case DeployAccount:
		prefix, address = &prefixDeployAccount, deployed
	}
	p.add(prefix)
	p.add(&t.Version)
	p.add(address)
	list() // fees
	list() // paymaster
	p.add(chainID)
	p.add(&t.Nonce)
	p.addUint64(uint64(t.NonceDAMode)<<32 | uint64(t.FeeDAMode))
	list()
	switch t.Type {
	case Invoke:
		list()
		if len(t.ProofFacts) > 0 {
			list()
		}
	case Declare:
		p.add(&t.ClassHash)
		p.add(&t.CompiledClassHash)
	case DeployAccount:
		p.add(&t.ClassHash)
		p.add(&t.ContractAddressSalt)
	}
	return inner
}

// addFees adds the tip and the bounds of the resources that were signed.
func (t *Transaction) addFees(p *poseidon) {
	rb := t.ResourceBounds
	p.addUint64(t.Tip)
	addBound(p, "L1_GAS", &rb.L1Gas)
	addBound(p, "L2_GAS", &rb.L2Gas)
	if rb.HasL1DataGas {
		addBound(p, "L1_DATA", &rb.L1DataGas)
	}
}

// addBound packs name, amount (64 bits) and price (128 bits) into one felt.
func addBound(p *poseidon, name string, b *ResourceBound) {
	f := b.MaxPricePerUnit
	clear(f[:16])
	binary.BigEndian.PutUint64(f[8:], b.MaxAmount)
	copy(f[8-len(name):], name)
	p.add(&f)
}

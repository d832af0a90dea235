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
	computed, err := t.checkHash(&chainID, nil, true)
	return err == nil && computed == t.Hash, err
}

// checkHash returns t.Hash when one of the transaction's forms gives it, and
// the usual form otherwise. address is the receipt's, or nil. The forms that
// were in use before the protocol settled are tried if ancient is set.
func (t *Transaction) checkHash(chainID, address *felt.Felt, ancient bool) (felt.Felt, error) {
	deployed := t.deployedAddress(address)
	computed, err := t.computeHash(chainID, deployed)
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
	v, ok := t.PlainVersion()
	if !ok {
		return felt.Felt{}, fmt.Errorf("transaction version %s: %w", t.Version, ErrUnknownRules)
	}
	switch {
	case t.Type == Invoke && v == 0:
		return t.pedersenHash(&prefixInvoke, &t.ContractAddress, &t.EntryPointSelector, pedersenFelts(t.Calldata), chainID), nil
	case t.Type == Invoke && v == 1:
		return t.pedersenHash(&prefixInvoke, &t.Sender, &felt.Zero, pedersenFelts(t.Calldata), chainID, &t.Nonce), nil
	case t.Type == Declare && v == 0:
		return t.pedersenHash(&prefixDeclare, &t.Sender, &felt.Zero, pedersenFelts(nil), chainID, &t.ClassHash), nil
	case t.Type == Declare && v == 1:
		return t.pedersenHash(&prefixDeclare, &t.Sender, &felt.Zero, pedersenElements(toElement(&t.ClassHash)), chainID, &t.Nonce), nil
	case t.Type == Declare && v == 2:
		return t.pedersenHash(&prefixDeclare, &t.Sender, &felt.Zero, pedersenElements(toElement(&t.ClassHash)), chainID, &t.Nonce, &t.CompiledClassHash), nil
	case t.Type == Deploy:
		return t.pedersenHash(&prefixDeploy, &deployed, &constructorSelector, pedersenFelts(t.ConstructorCalldata), chainID), nil
	case t.Type == DeployAccount && v == 1:
		var data pedersen
		data.add(&t.ClassHash)
		data.add(&t.ContractAddressSalt)
		data.addAll(t.ConstructorCalldata)
		return t.pedersenHash(&prefixDeployAccount, &deployed, &felt.Zero, data.sum(), chainID, &t.Nonce), nil
	case t.Type == L1Handler && v == 0:
		return t.pedersenHash(&prefixL1Handler, &t.ContractAddress, &t.EntryPointSelector, pedersenFelts(t.Calldata), chainID, &t.Nonce), nil
	case v == 3 && t.ResourceBounds != nil && (t.Type == Invoke || t.Type == Declare || t.Type == DeployAccount):
		return t.hashV3(chainID, deployed), nil
	}
	return felt.Felt{}, fmt.Errorf("%s transaction of version %d: %w", t.Type, v, ErrUnknownRules)
}

// pedersenHash is the shape shared by all versions below 3.
func (t *Transaction) pedersenHash(prefix, address, selector *felt.Felt, data element, chainID *felt.Felt, more ...*felt.Felt) felt.Felt {
	var p pedersen
	p.add(prefix)
	p.add(&t.Version)
	p.add(address)
	p.add(selector)
	p.addElement(&data)
	p.add(&t.MaxFee)
	p.add(chainID)
	for _, f := range more {
		p.add(f)
	}
	e := p.sum()
	return fromElement(&e)
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
				t.pedersenHash(&prefixL1Handler, &t.ContractAddress, &t.EntryPointSelector, pedersenFelts(t.Calldata), chainID),
			)
		}
		return forms
	}
	return nil
}

func (t *Transaction) hashV3(chainID *felt.Felt, deployed felt.Felt) felt.Felt {
	var inner, outer poseidon
	list := func(fs []felt.Felt) {
		e := inner.array(fs)
		outer.addElement(&e)
	}
	prefix, address := &prefixInvoke, &t.Sender
	switch t.Type {
	case Declare:
		prefix = &prefixDeclare
	case DeployAccount:
		prefix, address = &prefixDeployAccount, &deployed
	}
	outer.add(prefix)
	outer.add(&t.Version)
	outer.add(address)
	fees := t.feeFields(&inner)
	outer.addElement(&fees)
	list(t.PaymasterData)
	outer.add(chainID)
	outer.add(&t.Nonce)
	outer.addUint64(uint64(t.NonceDAMode)<<32 | uint64(t.FeeDAMode))
	switch t.Type {
	case Invoke:
		list(t.AccountDeploymentData)
		list(t.Calldata)
		if len(t.ProofFacts) > 0 {
			list(t.ProofFacts)
		}
	case Declare:
		list(t.AccountDeploymentData)
		outer.add(&t.ClassHash)
		outer.add(&t.CompiledClassHash)
	case DeployAccount:
		list(t.ConstructorCalldata)
		outer.add(&t.ClassHash)
		outer.add(&t.ContractAddressSalt)
	}
	return outer.sumFelt()
}

// feeFields hashes the tip and the bounds of the resources that were signed.
func (t *Transaction) feeFields(p *poseidon) element {
	rb := t.ResourceBounds
	p.addUint64(t.Tip)
	addBound(p, "L1_GAS", &rb.L1Gas)
	addBound(p, "L2_GAS", &rb.L2Gas)
	if rb.HasL1DataGas {
		addBound(p, "L1_DATA", &rb.L1DataGas)
	}
	return p.sum()
}

// addBound packs name, amount (64 bits) and price (128 bits) into one felt.
func addBound(p *poseidon, name string, b *ResourceBound) {
	f := b.MaxPricePerUnit
	clear(f[:16])
	binary.BigEndian.PutUint64(f[8:], b.MaxAmount)
	copy(f[8-len(name):], name)
	p.add(&f)
}

package starknet

// Decoding of transactions that are sent to a node.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet/jsonscan"
)

// DecodeBroadcast reads a transaction as it is sent to a node: of version 3, signed over
// three resources, without its hash. A declaration carries its class, of which the
// class hash is computed. Proofs are not part of a transaction's hash and are skipped.
func DecodeBroadcast(data []byte) (*Transaction, error) {
	d := newDecoder(data)
	t := new(Transaction)
	class, seen := d.broadcast(t)
	if err := d.finish("transaction"); err != nil {
		return nil, err
	}
	if t.Version != felt.FromUint64(3) {
		return nil, fmt.Errorf("decode transaction: version %s is not sent", t.Version)
	}
	required, optional, known := txShape(t.Type, 3)
	if !known {
		return nil, fmt.Errorf("decode transaction: type %s is not sent", t.Type)
	}
	if t.Type == Declare {
		required &^= txClassHash
	}
	d.require(seen, required, txFields)
	if err := d.s.Err(); err != nil {
		return nil, fmt.Errorf("decode transaction: %w", err)
	}
	if extra := seen &^ (required | optional); extra != 0 {
		return nil, errors.New("decode transaction: it has fields of another kind")
	}
	if !t.ResourceBounds.HasL1DataGas {
		return nil, &DecodeError{Path: "resource_bounds.l1_data_gas", Err: ErrMissing}
	}
	t.HasNonce = true
	if t.Type == Declare {
		var err error
		if t.ClassHash, err = broadcastClassHash(class); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// broadcast reads the fields. The class, if there is one, is returned as it stands.
func (d *decoder) broadcast(t *Transaction) (class []byte, seen fieldSet) {
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := string(d.s.Key())
		if key == "contract_class" {
			class = d.s.Raw()
			continue
		}
		if d.s.Null() {
			continue
		}
		field := d.txField(t, key)
		seen |= field
		if d.bad() && field != 0 {
			d.within(key)
			return nil, seen
		}
	}
	return class, seen
}

// classNames are what a class has, in the only way to write them that all readers know.
var classNames = []string{"sierra_program", "contract_class_version", "entry_points_by_type", "abi"}

func broadcastClassHash(data []byte) (felt.Felt, error) {
	if len(data) == 0 {
		return felt.Felt{}, &DecodeError{Path: "contract_class", Err: ErrMissing}
	}
	s := jsonscan.New(data)
	for ok := s.OpenObject(); ok; ok = s.NextMember() {
		name := string(s.Key())
		if lower := strings.ToLower(name); name != lower && slices.Contains(classNames, lower) {
			s.Fail(fmt.Errorf("%s is not written as it should be", lower))
		}
		s.Skip()
	}
	if err := s.Err(); err != nil {
		return felt.Felt{}, fmt.Errorf("decode contract_class: %w", err)
	}
	c, err := DecodeClass(data)
	if err != nil {
		return felt.Felt{}, fmt.Errorf("contract_class: %w", err)
	}
	if c.Sierra == nil {
		return felt.Felt{}, errors.New("contract_class: classes without Sierra are not declared any more")
	}
	return c.Sierra.Hash()
}

package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"chainexplorer/internal/starknet"
)

// ErrNoABI says that a class was declared without an ABI.
var ErrNoABI = errors.New("class has no abi")

// Parse reads the ABI of a class. Items that it does not know, or that are not
// what their type asks for, are left out: what they would have defined stays
// undefined. An error means that the ABI as a whole is of no use.
func Parse(c *starknet.Class) (*Schema, error) {
	switch {
	case c != nil && c.Sierra != nil:
		return ParseSierra([]byte(c.Sierra.ABI))
	case c != nil && c.Cairo0 != nil:
		return ParseCairo0(c.Cairo0.ABI)
	}
	return nil, ErrNoABI
}

// ParseSierra reads the ABI text of a Sierra class: interfaces, components,
// event enums, or the flat list of the first Cairo 1 compilers.
func ParseSierra(text []byte) (*Schema, error) {
	items, err := parseItems(text)
	if err != nil {
		return nil, fmt.Errorf("parse sierra abi: %w", err)
	}
	s, err := sierraSchema(items)
	if err != nil {
		return nil, fmt.Errorf("parse sierra abi: %w", err)
	}
	return s, nil
}

// ParseCairo0 reads the ABI array of a Cairo 0 class.
func ParseCairo0(text []byte) (*Schema, error) {
	items, err := parseItems(text)
	if err != nil {
		return nil, fmt.Errorf("parse cairo 0 abi: %w", err)
	}
	s, err := cairo0Schema(items)
	if err != nil {
		return nil, fmt.Errorf("parse cairo 0 abi: %w", err)
	}
	return s, nil
}

// wireItem is an item of either kind of ABI.
type wireItem struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Kind       string            `json:"kind"`
	Inputs     []wireParam       `json:"inputs"`
	Outputs    []wireParam       `json:"outputs"`
	Members    []wireParam       `json:"members"`
	Variants   []wireParam       `json:"variants"`
	Keys       []wireParam       `json:"keys"`
	Data       []wireParam       `json:"data"`
	Items      []json.RawMessage `json:"items"`
	Mutability string            `json:"state_mutability"`
	View       string            `json:"stateMutability"` // Cairo 0
	Size       *uint32           `json:"size"`
}

type wireParam struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Kind   string  `json:"kind"`
	Offset *uint32 `json:"offset"`
}

// parseItems reads the list, the functions of interfaces in the place of the
// interfaces.
func parseItems(text []byte) ([]wireItem, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, ErrNoABI
	}
	if len(text) > MaxABISize {
		return nil, fmt.Errorf("%d bytes: %w", len(text), ErrTooLarge)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	var items []wireItem
	add := func(text json.RawMessage) (wireItem, error) {
		var item wireItem
		if json.Unmarshal(text, &item) != nil {
			return wireItem{}, nil
		}
		for _, list := range [][]wireParam{item.Inputs, item.Outputs, item.Members, item.Variants, item.Keys, item.Data} {
			if len(list) > maxMembers {
				return item, fmt.Errorf("%s %.100q has %d members: %w", item.Type, item.Name, len(list), ErrTooLarge)
			}
		}
		if len(items) == maxItems {
			return item, fmt.Errorf("more than %d items: %w", maxItems, ErrTooLarge)
		}
		items = append(items, item)
		return item, nil
	}
	for _, r := range raw {
		item, err := add(r)
		if err != nil {
			return nil, err
		}
		if item.Type != "interface" {
			continue
		}
		for _, r := range item.Items {
			if _, err := add(r); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

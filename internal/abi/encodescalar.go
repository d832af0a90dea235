package abi

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"chainexplorer/internal/felt"
)

// scalar writes a value of fixed size.
func (w *writer) scalar(k kind, v literal) error {
	if v.kind == litShort && (k == kindFelt || k == kindBytes31) {
		f, err := felt.FromShortString(v.text)
		if err != nil {
			return errors.New("has more than 31 characters, or others than those of ASCII, between the quotes")
		}
		return w.put(f)
	}
	if v.kind != litWord && v.kind != litText {
		return errors.New("needs a single value")
	}
	if k == kindBool {
		switch v.text {
		case "true", "1":
			return w.put(felt.FromUint64(1))
		case "false", "0":
			return w.put(felt.Zero)
		}
		return errors.New("is neither true nor false")
	}
	n, ok := parseNumber(v.text)
	if !ok {
		return errors.New("is not a number: it may be decimal, or hexadecimal with 0x in front")
	}
	switch k {
	case kindU256:
		return w.parts(n, 2)
	case kindU512:
		return w.parts(n, 4)
	case kindI8, kindI16, kindI32, kindI64, kindI128:
		limit := new(big.Int).Lsh(big.NewInt(1), uint(typeBits[k]-1))
		if n.Cmp(limit) >= 0 || n.Cmp(new(big.Int).Neg(limit)) < 0 {
			return fmt.Errorf("does not fit into %d bits with a sign", typeBits[k])
		}
		if n.Sign() < 0 {
			n.Add(n, felt.Felt(felt.Prime).Big())
		}
	default:
		if n.Sign() < 0 {
			return errors.New("is below zero")
		}
		if bits := typeBits[k]; bits > 0 && n.BitLen() > bits {
			return fmt.Errorf("does not fit into %d bits", bits)
		}
	}
	f, err := felt.FromBig(n)
	if err != nil {
		return errors.New("is too large: a felt is below 2^251 + 17·2^192 + 1")
	}
	return w.put(f)
}

// parts writes a number in words of 128 bits, the lowest first.
func (w *writer) parts(n *big.Int, words int) error {
	if n.Sign() < 0 {
		return errors.New("is below zero")
	}
	if n.BitLen() > words*128 {
		return fmt.Errorf("does not fit into %d bits", words*128)
	}
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for range words {
		f, err := felt.FromBig(new(big.Int).And(n, mask))
		if err != nil {
			return err
		}
		if err := w.put(f); err != nil {
			return err
		}
		n = new(big.Int).Rsh(n, 128)
	}
	return nil
}

// parseNumber reads a whole number of at most 512 bits, in either base.
func parseNumber(s string) (*big.Int, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = rest, 16
	}
	if digits == "" || len(digits) > 160 || strings.ContainsAny(digits, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if ok && negative {
		n.Neg(n)
	}
	return n, ok
}

package message

import (
	"fmt"
	"math/big"
	"strings"

	"chainexplorer/internal/registry"
)

// BridgeOf finds the known bridge that a message belongs to: both contracts must be
// its.
func BridgeOf(known *registry.Chain, m *Message) (registry.Bridge, bool) {
	l2, l1 := m.To, m.From
	if m.Direction == ToL1 {
		l2, l1 = m.From, m.To
	}
	for _, b := range known.BridgesAt(l2) {
		if b.L1 == l1 && m.HasFrom {
			return b, true
		}
	}
	return registry.Bridge{}, false
}

// Movement is what a message of a known bridge moves.
type Movement struct {
	Bridge registry.Bridge
	// Token is what the bridge moves; nil where it moves many, and where the token is
	// not known.
	Token *registry.Token
	// Transfer is what the message says; nil when it has no layout that is known.
	Transfer *Transfer
}

// MovementOf reads a message of a known bridge.
func MovementOf(known *registry.Chain, m *Message) (out Movement, ok bool) {
	if out.Bridge, ok = BridgeOf(known, m); !ok {
		return out, false
	}
	if out.Bridge.Token != nil {
		if t, listed := known.Token(*out.Bridge.Token); listed {
			out.Token = &t
		}
	}
	if t, readable := ReadTransfer(m); readable {
		out.Transfer = &t
	}
	return out, true
}

// Raw is the amount in the token's smallest unit.
func (t *Transfer) Raw() *big.Int { return new(big.Int).SetBytes(t.Amount[:]) }

// Amount is what is moved in units of the token; false when that is not known.
func (m *Movement) Amount() (string, bool) {
	if m.Token == nil || m.Transfer == nil {
		return "", false
	}
	return units(m.Transfer.Raw(), int(m.Token.Decimals)), true
}

// Summary says in a sentence what is moved, by a message with a layout that is known.
func (m *Movement) Summary() string {
	what := "a token"
	if amount, known := m.Amount(); known {
		what = amount + " " + m.Token.Symbol
	}
	return fmt.Sprintf("%s of %s over %s to %s", map[bool]string{false: "Deposit", true: "Withdrawal"}[m.Transfer.Withdrawal], what, m.Bridge.Name, m.Transfer.Recipient)
}

// FirstMovement is that of the first message of a known bridge; false when there is
// none.
func FirstMovement(known *registry.Chain, list []Message) (Movement, bool) {
	for i := range list {
		if m, ok := MovementOf(known, &list[i]); ok {
			return m, true
		}
	}
	return Movement{}, false
}

// units writes an amount with its decimal point, exactly.
func units(raw *big.Int, decimals int) string {
	s := raw.String()
	if decimals == 0 {
		return s
	}
	if len(s) <= decimals {
		s = strings.Repeat("0", decimals-len(s)+1) + s
	}
	whole, part := s[:len(s)-decimals], strings.TrimRight(s[len(s)-decimals:], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}

package message

import (
	"chainexplorer/internal/felt"
)

// Transfer is what a message of a token bridge says.
type Transfer struct {
	// Rule names the layout that the message has.
	Rule string
	// Withdrawal says that the token leaves this layer.
	Withdrawal bool
	// L1Token is the token on L1; nil where the bridge moves only one.
	L1Token *felt.Felt
	// Sender deposited on L1; nil where the message does not say.
	Sender    *felt.Felt
	Recipient felt.Felt
	Amount    [32]byte // big endian
}

var (
	handleDeposit      = felt.Selector("handle_deposit")
	handleTokenDeposit = felt.Selector("handle_token_deposit")
	handleWithMessage  = felt.Selector("handle_deposit_with_message")
)

// ReadTransfer reads the messages of StarkGate bridges. Anyone can send messages
// of this form: whether the two contracts are a bridge is for the caller to know.
func ReadTransfer(m *Message) (t Transfer, ok bool) {
	p := m.Payload
	var low, high felt.Felt
	switch {
	case m.Direction == ToL1 && len(p) == 4 && p[0].IsZero():
		t = Transfer{Rule: "withdraw", Withdrawal: true, Recipient: p[1]}
		low, high = p[2], p[3]
	case m.Direction == ToL1 && len(p) == 5 && p[0].IsZero():
		t = Transfer{Rule: "token_withdraw", Withdrawal: true, Recipient: p[1], L1Token: &p[2]}
		low, high = p[3], p[4]
	case m.Direction == ToL2 && m.Selector == handleDeposit && len(p) == 3:
		t = Transfer{Rule: "handle_deposit", Recipient: p[0]}
		low, high = p[1], p[2]
	case m.Direction == ToL2 && m.Selector == handleTokenDeposit && len(p) == 5,
		m.Direction == ToL2 && m.Selector == handleWithMessage && len(p) >= 6:
		t = Transfer{Rule: "handle_token_deposit", L1Token: &p[0], Sender: &p[1], Recipient: p[2]}
		if m.Selector == handleWithMessage {
			t.Rule = "handle_deposit_with_message"
		}
		low, high = p[3], p[4]
	default:
		return t, false
	}
	n, err := felt.U256(low, high)
	t.Amount = n
	return t, err == nil
}

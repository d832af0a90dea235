package message_test

import (
	"testing"

	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/felt"
)

// TestReadTransfer: every layout of a bridge, and what only looks like one.
func TestReadTransfer(t *testing.T) {
	f := felt.FromUint64
	wide := felt.MustParse("0x100000000000000000000000000000000")
	list := func(ns ...uint64) (out []felt.Felt) {
		for _, n := range ns {
			out = append(out, f(n))
		}
		return out
	}
	for name, c := range map[string]struct {
		m    message.Message
		rule string
		to   uint64
	}{
		"withdrawal":            {message.Message{Direction: message.ToL1, Payload: list(0, 7, 5, 0)}, "withdraw", 7},
		"token withdrawal":      {message.Message{Direction: message.ToL1, Payload: list(0, 7, 9, 5, 0)}, "token_withdraw", 7},
		"old deposit":           {message.Message{Selector: felt.Selector("handle_deposit"), Payload: list(7, 5, 0)}, "handle_deposit", 7},
		"deposit":               {message.Message{Selector: felt.Selector("handle_token_deposit"), Payload: list(9, 8, 7, 5, 0)}, "handle_token_deposit", 7},
		"with a message":        {message.Message{Selector: felt.Selector("handle_deposit_with_message"), Payload: list(9, 8, 7, 5, 0, 1, 1)}, "handle_deposit_with_message", 7},
		"another kind":          {message.Message{Direction: message.ToL1, Payload: list(1, 7, 5, 0)}, "", 0},
		"too short":             {message.Message{Direction: message.ToL1, Payload: list(0, 7, 5)}, "", 0},
		"another handler":       {message.Message{Selector: felt.Selector("handle_response"), Payload: list(7, 5, 0)}, "", 0},
		"a handler's wrong way": {message.Message{Direction: message.ToL1, Selector: felt.Selector("handle_deposit"), Payload: list(7, 5, 0)}, "", 0},
		"no amount":             {message.Message{Direction: message.ToL1, Payload: []felt.Felt{f(0), f(7), wide, f(0)}}, "", 0},
	} {
		got, ok := message.ReadTransfer(&c.m)
		if ok != (c.rule != "") || ok && (got.Rule != c.rule || got.Recipient != f(c.to) || got.Amount[31] != 5 || got.Withdrawal != (c.m.Direction == message.ToL1)) {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

package message_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// TestMovement: a message moves something when both of its contracts are a known
// bridge's, and its amount is told exactly.
func TestMovement(t *testing.T) {
	known := registry.Builtin().Chain("SN_SEPOLIA")
	var bridge registry.Bridge
	var token registry.Token
	for _, b := range known.Bridges() {
		if b.Token == nil {
			continue
		}
		if listed, ok := known.Token(*b.Token); ok && listed.Decimals > 2 {
			bridge, token = b, listed
		}
	}
	if bridge.Name == "" {
		t.Fatal("the registry has no bridge of a known token")
	}
	f := felt.FromUint64
	withdrawal := func(amount uint64) message.Message {
		return message.Message{Direction: message.ToL1, HasFrom: true, From: bridge.L2, To: bridge.L1, Payload: []felt.Felt{f(0), f(7), f(amount), f(0)}}
	}
	small := "0." + strings.Repeat("0", int(token.Decimals)-2) + "15"
	for amount, want := range map[uint64]string{15: small, 0: "0"} {
		m := withdrawal(amount)
		got, ok := message.MovementOf(known, &m)
		if !ok || got.Bridge.L2 != bridge.L2 || got.Transfer == nil || got.Transfer.Raw().Uint64() != amount {
			t.Fatalf("%d: %+v, %t", amount, got, ok)
		}
		if text, told := got.Amount(); !told || text != want {
			t.Errorf("%d is %q, want %q", amount, text, want)
		}
		if want := "Withdrawal of " + want + " " + token.Symbol + " over " + bridge.Name + " to 0x7"; got.Summary() != want {
			t.Errorf("%q, want %q", got.Summary(), want)
		}
	}
	deposit := message.Message{Direction: message.ToL2, HasFrom: true, From: bridge.L1, To: bridge.L2, Selector: felt.Selector("handle_deposit"), Payload: []felt.Felt{f(7), f(1), f(0)}}
	if got, ok := message.MovementOf(known, &deposit); !ok || got.Transfer == nil || got.Transfer.Withdrawal {
		t.Errorf("the deposit is %+v, %t", got, ok)
	}
	odd, foreign, nobody := withdrawal(1), withdrawal(1), withdrawal(1)
	odd.Payload = odd.Payload[:3]
	foreign.To = f(0x99)
	nobody.HasFrom = false
	if got, ok := message.MovementOf(known, &odd); !ok || got.Transfer != nil {
		t.Errorf("a message of another layout is %+v, %t", got, ok)
	} else if _, told := got.Amount(); told {
		t.Error("it has an amount")
	}
	for _, m := range []message.Message{foreign, nobody} {
		if got, ok := message.MovementOf(known, &m); ok {
			t.Errorf("a message of somebody else is %+v", got)
		}
	}
	if got, ok := message.FirstMovement(known, []message.Message{foreign, deposit, withdrawal(3)}); !ok || got.Transfer.Rule != "handle_deposit" {
		t.Errorf("the first is %+v, %t", got, ok)
	}
	if _, ok := message.FirstMovement(known, []message.Message{foreign}); ok {
		t.Error("something moves")
	}
}

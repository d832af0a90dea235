package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// Message is a message between the layers, as ground truth knows it.
type Message struct {
	Block   uint64
	TxIndex int
	// ToL1 is true for messages that L2 sent.
	ToL1 bool
	// Index is the message's place in messages_sent.
	Index    int
	From     felt.Felt
	To       felt.Felt
	Selector felt.Felt // of the handler; zero for messages to L1
	Payload  []felt.Felt
	Nonce    uint64 // of messages to L2
	Hash     [32]byte
	Reverted bool
}

// bridgeOf is the bridge of a token, on both layers.
func (b *builder) bridgeOf(token int) (l2, l1 felt.Felt) {
	switch token {
	case ethToken:
		return b.w.net.ETHBridge, b.w.net.L1ETHBridge
	case strkToken:
		return contracts.STRKBridge, b.w.net.L1STRKBridge
	}
	return b.w.net.MultiBridge, b.w.net.L1MultiBridge
}

// l1Deposit handles a deposit from the base layer: it mints to the recipient.
// The ETH bridge also has the old handler, and says everything twice.
func (b *builder) l1Deposit(token int, legacy bool, reverted string) {
	b.begin()
	t := b.token(token)
	bridge, l1 := b.bridgeOf(token)
	to := b.somebody()
	a := units(uint64(1+b.r.intn(5000)), max(0, int(t.Decimals)-2))
	depositor := b.r.ethAddress()
	recipient := b.w.address(to)
	selector := contracts.SelFnHandleTokenDeposit
	calldata := []felt.Felt{l1, t.L1Token, depositor, recipient, a.low(), a.high()}
	if legacy {
		selector = contracts.SelFnHandleDeposit
		calldata = []felt.Felt{l1, recipient, a.low(), a.high()}
	}
	if reverted == "" {
		b.transfer(token, nobody, to, a)
		b.emit(bridge, b.felts(contracts.SelDepositHandled, t.L1Token, recipient), b.felts(a.low(), a.high()))
		if token == ethToken {
			b.emit(bridge, b.felts(contracts.SelDepositHandledLegacy), b.felts(recipient, a.low(), a.high()))
		}
	}
	b.sealL1Handler(bridge, selector, b.felts(calldata...), reverted)
}

// doWithdraw burns a bridged token and tells the base layer.
func (b *builder) doWithdraw(from *account) bool {
	for range 6 {
		token := b.r.intn(wbtcToken + 1)
		a := b.someOf(from, token).part(1 + b.r.intn(1<<12))
		if a.isZero() {
			continue
		}
		t := b.token(token)
		bridge, l1 := b.bridgeOf(token)
		recipient := b.r.ethAddress()
		if token == ethToken {
			b.call(bridge, contracts.SelFnInitiateWithdraw, recipient, a.low(), a.high())
			b.message(bridge, l1, felt.Zero, recipient, a.low(), a.high())
		} else {
			b.call(bridge, contracts.SelFnInitiateTokenWithd, t.L1Token, recipient, a.low(), a.high())
			b.message(bridge, l1, felt.Zero, recipient, t.L1Token, a.low(), a.high())
		}
		b.transfer(token, from.id, nobody, a)
		b.emit(bridge, b.felts(contracts.SelWithdrawInitiated, t.L1Token, recipient, from.address), b.felts(a.low(), a.high()))
		if token == ethToken {
			b.emit(bridge, b.felts(contracts.SelWithdrawInitiatedLegacy), b.felts(recipient, a.low(), a.high(), from.address))
		}
		b.done()
		return true
	}
	return false
}

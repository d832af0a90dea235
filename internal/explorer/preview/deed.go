package preview

import (
	"math/big"
	"slices"

	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
)

// Kind is what a transaction mainly does.
type Kind uint8

// The kinds. What is none of the others is Called, if only without a call.
const (
	Called Kind = iota
	Sent
	Swapped
	Minted
	Burnt
	Declared
	Deployed
	AccountDeployed
	Handled   // a message of L1
	Deposited // over a known bridge, from L1
	Withdrawn // over a known bridge, to L1
)

// Deed is what a transaction mainly does, for a sentence about it. It is read off the
// events, the messages and the names of what was signed: nothing is guessed beyond them.
type Deed struct {
	Kind Kind
	// Who signed it; nil when nobody did.
	Who *felt.Felt
	// Failed says that it was reverted: it only tried.
	Failed bool
	// Call is the one that matters most, nil when there is none, and More are those
	// beside it.
	Call *Call
	More int
	// Given and Got are what the signer has less and more of, without the fee, by token in
	// order of appearance. Of Sent, Minted and Burnt, Given is what was moved.
	Given, Got []Sum
	// To is who got what was sent or minted, nil where several tokens were sent; Others is
	// how many more there are.
	To     *felt.Felt
	Others int
	// Movement is what a bridge moves.
	Movement *message.Movement
	// Certain says that no later look at the same chain would tell it otherwise.
	Certain bool
}

// Sum is how much of a token. Amount is nil when it is not known, and ID names the one
// thing that is moved, where it is one. Of Things Amount is how many.
type Sum struct {
	Token  felt.Felt
	Amount *big.Int
	ID     *big.Int
	Things bool
}

// chores are calls that only prepare others.
var chores = map[string]bool{"approve": true, "increase_allowance": true, "increaseAllowance": true, "set_approval_for_all": true, "setApprovalForAll": true, "permit": true}

// sends are the functions that say themselves that they only send.
var sends = map[string]bool{"transfer": true, "transferFrom": true, "transfer_from": true, "safe_transfer_from": true, "safeTransferFrom": true,
	"safe_batch_transfer_from": true, "safeBatchTransferFrom": true}

// Deed says what the transaction mainly does. It reads nothing.
func (p *Preview) Deed(known *registry.Chain) Deed {
	d := Deed{Failed: p.Receipt.Execution == starknet.Reverted, Certain: true}
	if from, _ := p.Ends(); from != nil && p.Type != starknet.L1Handler {
		d.Who = from
	}
	p.mainCall(&d)
	switch p.Type {
	case starknet.Declare:
		d.Kind = Declared
	case starknet.Deploy:
		d.Kind = Deployed
	case starknet.DeployAccount:
		d.Kind = AccountDeployed
	case starknet.L1Handler:
		d.Kind = Handled
		p.bridged(known, &d, Deposited)
	default:
		if d.Failed {
			break
		}
		p.moved(&d)
		p.bridged(known, &d, Withdrawn)
	}
	return d
}

// mainCall is the first call that does not only prepare others.
func (p *Preview) mainCall(d *Deed) {
	if len(p.Calls) == 0 {
		return
	}
	at := slices.IndexFunc(p.Calls, func(c Call) bool { return !chores[c.Name] })
	d.Call, d.More = &p.Calls[max(at, 0)], p.CallCount-1
	for i := range p.Calls[:max(at, 0)+1] {
		d.Certain = d.Certain && p.Calls[i].Settled
	}
}

// bridged sees whether a message moves something over a known bridge.
func (p *Preview) bridged(known *registry.Chain, d *Deed, kind Kind) {
	for i := range p.Messages {
		m, ok := message.MovementOf(known, &p.Messages[i])
		if ok && m.Transfer != nil && m.Transfer.Withdrawal == (kind == Withdrawn) {
			d.Kind, d.Movement = kind, &m
			return
		}
	}
}

// moved sees what tokens tell of the signer.
func (p *Preview) moved(d *Deed) {
	list := p.all
	if at := p.FeeTransfer(); at >= 0 {
		list = slices.Concat(list[:at:at], list[at+1:])
	}
	if len(list) == 0 || d.Who == nil {
		return
	}
	for i := range list {
		d.Certain = d.Certain && list[i].Standard != transfer.Ambiguous
	}
	if p.sent(list, d) {
		return
	}
	d.Given, d.Got = nets(list, *d.Who)
	if len(d.Given) > 0 && len(d.Got) == 0 && len(p.Calls) == p.CallCount && !slices.ContainsFunc(p.Calls, func(c Call) bool { return !sends[c.Name] }) {
		d.Kind = Sent
		return
	}
	if len(d.Given) == 1 && len(d.Got) == 1 && !slices.ContainsFunc(list, func(x transfer.Numbered) bool {
		return x.Mint() && x.To == *d.Who || x.Burn() && x.From == *d.Who
	}) {
		d.Kind = Swapped
	}
}

// sent sees whether the transfers are of one token, one way: from the signer, into being,
// or out of it.
func (p *Preview) sent(list []transfer.Numbered, d *Deed) bool {
	first := &list[0]
	sum := Sum{Token: first.Token, Amount: first.Amount(), Things: first.Standard == transfer.ERC721}
	receivers := map[felt.Felt]bool{}
	for i := range list {
		x := &list[i]
		if x.Token != first.Token || x.Mint() != first.Mint() || x.Burn() != first.Burn() || x.From != first.From {
			return false
		}
		receivers[x.To] = true
		if amount := x.Amount(); i > 0 && sum.Amount != nil && amount != nil {
			sum.Amount.Add(sum.Amount, amount)
		} else if amount == nil {
			sum.Amount = nil
		}
	}
	if len(list) == 1 {
		sum.ID = first.TokenID()
	}
	named := d.Call != nil && sends[d.Call.Name]
	switch {
	case first.Mint():
		d.Kind = Minted
	case first.Burn() && first.From == *d.Who:
		d.Kind = Burnt
	case first.From == *d.Who && named:
		d.Kind = Sent
	default:
		return false
	}
	to := first.To
	d.Given, d.To, d.Others = []Sum{sum}, &to, len(receivers)-1
	return true
}

// nets are what somebody has less and more of after transfers. Of an NFT what counts is
// how many; whatever is not known to be an amount makes its token's sum unknown.
func nets(list []transfer.Numbered, who felt.Felt) (given, got []Sum) {
	sums := map[felt.Felt]*Sum{}
	gives := map[felt.Felt]bool{} // of unknown sums
	var order []felt.Felt
	for i := range list {
		x := &list[i]
		if x.From == x.To || x.From != who && x.To != who {
			continue
		}
		s := sums[x.Token]
		if s == nil {
			s = &Sum{Token: x.Token, Amount: new(big.Int), ID: x.TokenID(), Things: x.Standard == transfer.ERC721}
			sums[x.Token], order = s, append(order, x.Token)
		} else {
			s.ID = nil
		}
		amount := x.Amount()
		switch {
		case amount == nil || s.Amount == nil:
			s.Amount, gives[x.Token] = nil, x.From == who
		case x.From == who:
			s.Amount.Sub(s.Amount, amount)
		default:
			s.Amount.Add(s.Amount, amount)
		}
	}
	for _, token := range order {
		s := sums[token]
		switch {
		case s.Amount == nil && gives[token], s.Amount != nil && s.Amount.Sign() < 0:
			if s.Amount != nil {
				s.Amount.Neg(s.Amount)
			}
			given = append(given, *s)
		case s.Amount == nil || s.Amount.Sign() > 0:
			got = append(got, *s)
		}
	}
	return given, got
}

// FeeTransfer is the place among the transaction's transfers of the one that pays its
// fee: the last event, from the signer, of exactly the fee. -1 when there is none.
func (p *Preview) FeeTransfer() int {
	n := len(p.all)
	if n == 0 || p.Receipt.ActualFee.IsZero() {
		return -1
	}
	last := &p.all[n-1]
	from, _ := p.Ends()
	if from == nil || last.From != *from || int(last.Log) != len(p.Receipt.Events)-1 || last.Value != p.Receipt.ActualFee {
		return -1
	}
	return n - 1
}

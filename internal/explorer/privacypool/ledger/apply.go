package ledger

import (
	"fmt"
	"math/big"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// transaction is one that has events of pools.
type transaction struct {
	explorer.Position
	time   uint64           // of the block
	events []starknet.Event // all of them
	own    []ownEvent       // those of pools, in order
}

// ownEvent is an event of a pool.
type ownEvent struct {
	log    uint32
	pool   int // in the generation's list
	known  bool
	fact   privacypool.Fact
	status privacypool.Status
}

// moved is a Transfer event, which explains one movement.
type moved struct {
	transfer.Transfer
	log  uint32
	used bool
}

// apply counts a transaction.
func (b *book) apply(t *transaction) error {
	// A block's time can never be in an hour whose point is made.
	time := max(t.time, b.NextHour)
	if b.First == nil {
		b.First, b.FirstTime, b.NextHour = &explorer.Place{Block: t.Block, Tx: t.Index, Log: t.own[0].log}, t.time, Hour.Start(t.time)
		time = t.time
	}
	b.Transactions++
	hour, err := b.bucket(Hour, time)
	if err != nil {
		return err
	}
	day, err := b.bucket(Day, time)
	if err != nil {
		return err
	}
	both := []*Bucket{hour, day}
	for _, k := range both {
		k.Transactions++
		k.LatestBlock = t.Block
	}
	transfers := transfersOf(t.events)
	paid := make([]bool, len(b.Pools))
	for i := range t.own {
		e := &t.own[i]
		at := explorer.Place{Block: t.Block, Tx: t.Index, Log: e.log}
		if e.known && action(e.fact.Group) && !paid[e.pool] { // the fee comes before the first of them
			paid[e.pool] = true
			if err := b.fee(e.pool, transfers, at, time); err != nil {
				return err
			}
		}
		if err := b.event(e, at, time, both, transfers); err != nil {
			return err
		}
	}
	b.pair(t, time)
	for _, k := range both {
		k.Wallets = b.Wallets
	}
	return nil
}

// action says whether an event of a group is what a call of the pool does, which is
// what costs a fee; the others are its administration.
func action(g privacypool.Group) bool {
	switch g {
	case privacypool.ValueIn, privacypool.ValueOut, privacypool.Commitment, privacypool.Nullifier, privacypool.Registration, privacypool.Interaction:
		return true
	}
	return false
}

func transfersOf(events []starknet.Event) (out []moved) {
	var list []transfer.Transfer
	for log := range events {
		e := &events[log]
		if len(e.Keys) == 0 || e.Keys[0] != transfer.SelectorTransfer {
			continue
		}
		list, _ = transfer.Append(list[:0], e)
		for _, t := range list {
			out = append(out, moved{Transfer: t, log: uint32(log)})
		}
	}
	return out
}

// explain finds the nearest Transfer in front of a log that nothing else was explained
// by. A nil party is anybody.
func explain(list []moved, log uint32, token felt.Felt, from, to *felt.Felt, amount *big.Int) *moved {
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		if m.log >= log || m.used || m.Token != token || from != nil && m.From != *from || to != nil && m.To != *to {
			continue
		}
		// Of a token that keeps all in the data the number is an amount here: it is what a
		// pool moves.
		if n := m.Number(); n != nil && n.Cmp(amount) == 0 {
			m.used = true
			return m
		}
	}
	return nil
}

// fee counts the transfer that paid for a call of a pool, if there is one.
func (b *book) fee(pool int, transfers []moved, at explorer.Place, time uint64) error {
	s := &b.Settings[pool]
	if s.FeeAmount == nil || s.FeeCollector == nil || s.FeeAmount.Value.IsZero() {
		return nil
	}
	token, amount := b.Pools[pool].FeeToken, s.FeeAmount.Value.Big()
	if explain(transfers, at.Log, token, nil, &s.FeeCollector.Value, amount) == nil {
		return nil
	}
	a, err := b.asset(token)
	if err != nil {
		return err
	}
	b.FeeTransfers++
	a.FeeTransfers++
	a.Fees.Add(a.Fees, amount)
	return b.move(flowFee, token, time, at.Block, true, amount, a.Fees, zero())
}

// event counts one event.
func (b *book) event(e *ownEvent, at explorer.Place, time uint64, both []*Bucket, transfers []moved) error {
	b.Events++
	b.count(e.fact.Name)
	b.Latest = &at
	b.Settings[e.pool].Seen = true
	for _, k := range both {
		k.Events++
	}
	f := &e.fact
	decoded := e.status == privacypool.Decoded
	if decoded {
		b.LatestDecoded = &at
	}
	switch f.Kind {
	case privacypool.Deposit, privacypool.OpenNoteDeposited, privacypool.Withdrawal:
		return b.movement(e, at, time, both, transfers)
	case privacypool.EncNoteCreated, privacypool.OpenNoteCreated:
		for _, k := range both {
			if f.Kind == privacypool.EncNoteCreated {
				k.EncNotes++
			} else {
				k.OpenNotes++
			}
		}
		if decoded && !b.first(seenNote, b.Pools[e.pool].Address, *f.NoteID, at) {
			b.gap(DuplicateCommitment, at, time)
		}
	case privacypool.NoteUsed:
		for _, k := range both {
			k.NotesUsed++
		}
		if decoded && !b.first(seenNullifier, b.Pools[e.pool].Address, *f.Nullifier, at) {
			b.gap(DuplicateNullifier, at, time)
		}
	case privacypool.ViewingKeySet:
		if decoded && b.first(seenWallet, felt.Zero, *f.Actor, at) {
			b.Wallets++
			for _, k := range both {
				k.NewWallets++
			}
		}
	case privacypool.ExternalContractInvoked:
		for _, k := range both {
			k.Invocations++
		}
	default:
		if err := b.setting(e, at); err != nil {
			return err
		}
	}
	if !decoded {
		b.unread(e, at, time)
	}
	return nil
}

// unread notes an event that could not be read. One whose name says that it moves
// nothing leaves the amounts complete.
func (b *book) unread(e *ownEvent, at explorer.Place, time uint64) {
	switch {
	case !e.known:
		b.UnknownClassEvents++
		b.Unscoped++ // what a class does that nobody knows, its names do not say
		b.gap(UnknownPoolClass, at, time)
	case e.status == privacypool.NameOnly:
		b.gap(EventDecodeIncomplete, at, time)
	default:
		b.UnknownSelectors++
		b.Unscoped++
		b.gap(UnknownSelector, at, time)
	}
}

var yes, no = felt.FromUint64(1), felt.Zero

// setting keeps what an event set; none when it could not be read.
func (b *book) setting(e *ownEvent, at explorer.Place) error {
	s, f := &b.Settings[e.pool], &e.fact
	var to **Setting
	value := f.Value
	switch f.Kind {
	case privacypool.FeeAmountSet:
		to = &s.FeeAmount
		if f.Amount != nil {
			n, err := felt.FromBig(f.Amount)
			if err != nil {
				return fmt.Errorf("fee of a privacy pool: %w", err)
			}
			value = &n
		}
	case privacypool.FeeCollectorSet:
		to = &s.FeeCollector
	case privacypool.AuditorPublicKeySet:
		to, value = &s.AuditorKey, f.AuditorKey
	case privacypool.ScreenerPublicKeySet:
		to = &s.ScreenerKey
	case privacypool.ProofValidityBlocksSet:
		to = &s.ProofValidityBlocks
	case privacypool.Paused:
		to, value = &s.Paused, &yes
	case privacypool.Unpaused:
		to, value = &s.Paused, &no
	default:
		return nil
	}
	if *to = nil; e.status == privacypool.Decoded && value != nil {
		*to = &Setting{Value: *value, At: at}
	}
	return nil
}

// movement counts what went in or came out.
func (b *book) movement(e *ownEvent, at explorer.Place, time uint64, both []*Bucket, transfers []moved) error {
	f := &e.fact
	for _, k := range both {
		switch f.Kind {
		case privacypool.Deposit:
			k.Deposits++
		case privacypool.OpenNoteDeposited:
			k.OpenDeposits++
		default:
			k.Withdrawals++
		}
	}
	missing := e.status != privacypool.Decoded || f.Amount == nil || f.Token == nil
	if missing {
		b.MissingAmounts++
		for _, k := range both {
			k.MissingAmounts++
		}
		if e.known {
			b.gap(AmountDecodeIncomplete, at, time)
		} else {
			b.UnknownClassEvents++
			b.gap(UnknownPoolClass, at, time)
		}
		if f.Token == nil || !e.known {
			b.Unscoped++
		}
		b.Changed = true
		if f.Token == nil {
			return nil
		}
	}
	a, err := b.asset(*f.Token)
	if err != nil {
		return err
	}
	b.Changed = true
	pool := b.Pools[e.pool].Address
	if !a.Moved() {
		a.First = at
		if b.TokenCount++; b.TokenCount > MaxAssets {
			b.gap(AssetLimitExceeded, at, time)
		}
	}
	a.Latest = at
	if i, there := slices.BinarySearchFunc(a.Pools, pool, felt.Felt.Cmp); !there {
		a.Pools = slices.Insert(a.Pools, i, pool)
	}
	in := f.Kind != privacypool.Withdrawal
	switch f.Kind {
	case privacypool.Deposit:
		a.Deposits++
	case privacypool.OpenNoteDeposited:
		a.OpenDeposits++
	default:
		a.Withdrawals++
	}
	if missing {
		a.MissingAmounts++
		return b.move(flowToken, *f.Token, time, at.Block, in, nil, a.Deposited, a.Withdrawn)
	}
	b.LatestFlow = &at
	from, to := f.Actor, &pool
	if in {
		a.Deposited.Add(a.Deposited, f.Amount)
	} else {
		a.Withdrawn.Add(a.Withdrawn, f.Amount)
		from, to = &pool, f.To
	}
	if explain(transfers, at.Log, *f.Token, from, to, f.Amount) == nil {
		a.Unreconciled++
		b.Unreconciled++
	}
	if a.NegativeSince == nil && a.Deposited.Cmp(a.Withdrawn) < 0 {
		a.NegativeSince = &at
		b.gap(NegativeProtectedAmount, at, time)
	}
	return b.move(flowToken, *f.Token, time, at.Block, in, f.Amount, a.Deposited, a.Withdrawn)
}

// pair checks that the open notes of a transaction are those that it funded.
func (b *book) pair(t *transaction, time uint64) {
	type note struct {
		pool      int
		id, token felt.Felt
	}
	open := map[note]int{}
	for i := range t.own {
		e := &t.own[i]
		if e.status != privacypool.Decoded {
			continue
		}
		switch e.fact.Kind {
		case privacypool.OpenNoteCreated:
			open[note{e.pool, *e.fact.NoteID, *e.fact.Token}]++
		case privacypool.OpenNoteDeposited:
			open[note{e.pool, *e.fact.NoteID, *e.fact.Token}]--
		}
	}
	for i := range t.own {
		e := &t.own[i]
		if e.status != privacypool.Decoded || e.fact.Kind != privacypool.OpenNoteCreated && e.fact.Kind != privacypool.OpenNoteDeposited {
			continue
		}
		if open[note{e.pool, *e.fact.NoteID, *e.fact.Token}] != 0 {
			b.gap(OpenNoteUnpaired, explorer.Place{Block: t.Block, Tx: t.Index, Log: e.log}, time)
			return
		}
	}
}

package privacypool_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

func deposit(from felt.Felt, amount uint64) starknet.Event {
	return emits(from, "Deposit", list(num(0xa), coin), list(num(amount)))
}

func replaced(from, class felt.Felt) starknet.Event {
	return emits(from, "ImplementationReplaced", nil, list(class, num(1), num(0)))
}

func blocked(from felt.Felt) starknet.Event { // an event of the second generation alone
	return emits(from, "OpenNoteDepositorBlockSet", list(num(0xb)), list(num(1)))
}

func all(t *testing.T, e store.Engine, q privacypool.Query) (out []privacypool.Row) {
	t.Helper()
	view(t, e, func(ctx context.Context, r store.Reader) {
		for n := 0; ; n++ {
			page, err := privacypool.List(ctx, r, q)
			if err != nil || len(page.Rows) > q.Limit || n > 1000 {
				t.Fatalf("page %d of %d rows: %v", n, len(page.Rows), err)
			}
			out = append(out, page.Rows...)
			if q.After = page.Next; q.After == nil {
				return
			}
		}
	})
	return out
}

// told is a row in short, oldest first in a list of them.
func told(rows []privacypool.Row) string {
	var out []string
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		class := "-"
		if r.Class != nil {
			class = r.Class.String()
		}
		out = append(out, fmt.Sprintf("%d.%d.%d %s %s %s", r.Block, r.Tx, r.Log, r.Fact.Name, r.Reading.Status, class))
	}
	return strings.Join(out, "\n")
}

// TestClassInForce follows a pool through upgrades: between blocks, inside one, by a
// class that nobody knows, and with events that do not agree with the state diff.
func TestClassInForce(t *testing.T) {
	s := &story{}
	tx := func(e ...starknet.Event) []starknet.Event { return e }
	s.block(starknet.StateDiff{}, tx(deposit(pool, 1)))                                                                               // 0: before there is a contract
	s.block(deploys(class1, pool, pond), tx(emits(pool, "AppGovernorAdded", nil, list(num(1), num(2)))))                              // 1: the constructor speaks
	s.block(starknet.StateDiff{}, tx(blocked(pool), deposit(pool, 2)))                                                                // 2: the first generation has no such event
	s.block(replaces(pool, class2), tx(blocked(pool)), tx(deposit(coin, 1), replaced(pool, class2), blocked(pool)))                   // 3
	s.block(starknet.StateDiff{}, tx(blocked(pool)))                                                                                  // 4
	s.block(replaces(pool, class21), tx(replaced(pool, classX)), tx(deposit(pool, 3), replaced(pool, class21)), tx(deposit(pool, 4))) // 5: one that nobody knows in between
	s.block(replaces(pool, class2), tx(blocked(pool), deposit(pool, 5)))                                                              // 6: nothing tells where
	s.block(replaces(pool, class1), tx(replaced(pool, class21), deposit(pool, 6), blocked(pool)))                                     // 7: the events lead elsewhere
	s.block(replaces(pool, classX), tx(replaced(pool, classX), deposit(pool, 7)))                                                     // 8
	s.block(starknet.StateDiff{}, tx(deposit(pool, 8), emits(pool, "Whatever", nil, nil)))                                            // 9
	s.block(replaces(pool, class2), tx(deposit(pool, 9), blocked(pond)))                                                              // 10: from there or to there
	s.block(starknet.StateDiff{}, tx(deposit(pool, 10), starknet.Event{From: pool}))                                                  // 11
	e := s.load(t)
	want := strings.TrimSpace(`
0.0.0 deposit name_only -
1.0.0 app_governor_added decoded 0xc1
2.0.0 open_note_depositor_block_set name_only 0xc1
2.0.1 deposit decoded 0xc1
3.0.0 open_note_depositor_block_set name_only 0xc1
3.1.1 implementation_replaced decoded 0xc1
3.1.2 open_note_depositor_block_set decoded 0xc2
4.0.0 open_note_depositor_block_set decoded 0xc2
5.0.0 implementation_replaced decoded 0xc2
5.1.0 deposit name_only 0xcf
5.1.1 implementation_replaced name_only 0xcf
5.2.0 deposit name_only -
6.0.0 open_note_depositor_block_set name_only -
6.0.1 deposit decoded -
7.0.0 implementation_replaced decoded -
7.0.1 deposit decoded -
7.0.2 open_note_depositor_block_set name_only -
8.0.0 implementation_replaced decoded 0xc1
8.0.1 deposit name_only 0xcf
9.0.0 deposit name_only 0xcf
9.0.1 protocol_event unknown 0xcf
10.0.0 deposit name_only -
10.0.1 open_note_depositor_block_set name_only 0xc1
11.0.0 deposit decoded 0xc2
11.0.1 protocol_event unknown 0xc2`)
	for _, limit := range []int{1, 2, 7, 100} {
		rows := all(t, e, privacypool.Query{Pools: pools(t), Head: 11, Limit: limit})
		if got := told(rows); got != want {
			t.Fatalf("pages of %d:\n%s\nwant\n%s", limit, got, want)
		}
		for i := range rows {
			r := &rows[i]
			if known := r.Class != nil && *r.Class != classX || r.Class == nil && r.Block > 5 && r.Block < 10; r.Known != known {
				t.Errorf("%d.%d.%d: known is %t", r.Block, r.Tx, r.Log, r.Known)
			}
			if (r.Fact.Amount != nil) != (r.Fact.Kind == privacypool.Deposit && r.Reading.Status == privacypool.Decoded) {
				t.Errorf("%d.%d.%d: amount %s", r.Block, r.Tx, r.Log, r.Fact.Amount)
			}
		}
	}
	one := pools(t)[1:]
	for _, tt := range []struct {
		q    privacypool.Query
		want int
	}{
		{privacypool.Query{Pools: one, Head: 11, Limit: 9}, 1},
		{privacypool.Query{Pools: pools(t), Head: 9, Limit: 9, Kinds: []privacypool.Kind{privacypool.Deposit}}, 8},
		{privacypool.Query{Pools: pools(t), Head: 11, Limit: 2, Kinds: []privacypool.Kind{privacypool.Deposit, privacypool.AppGovernorAdded}}, 11},
		{privacypool.Query{Pools: pools(t), Head: 11, Limit: 2, Kinds: []privacypool.Kind{privacypool.NoteUsed}}, 0},
		{privacypool.Query{Head: 11, Limit: 2}, 0},
	} {
		if got := all(t, e, tt.q); len(got) != tt.want {
			t.Errorf("%+v: %d rows, want %d\n%s", tt.q, len(got), tt.want, told(got))
		}
	}
}

// TestDeposits: an open note has the amount that its own transaction paid for it.
func TestDeposits(t *testing.T) {
	made := func(from, note felt.Felt) starknet.Event {
		return emits(from, "OpenNoteCreated", list(coin, note), list(num(1), num(2), num(3)))
	}
	paid := func(from, note felt.Felt, amount ...felt.Felt) starknet.Event {
		return emits(from, "OpenNoteDeposited", list(num(0xd), coin, note), amount)
	}
	s := &story{}
	s.block(deploys(class1, pool, pond))
	s.block(starknet.StateDiff{},
		[]starknet.Event{made(pool, num(1)), paid(pool, num(1), num(71)), emits(pool, "EncNoteCreated", list(num(9)), list(num(1)))},
		[]starknet.Event{made(pool, num(2)), paid(pond, num(2), num(72))},                                 // another pool's
		[]starknet.Event{made(pool, num(3)), made(pond, num(3)), paid(pond, num(3), num(73))},             // the same number in both
		[]starknet.Event{made(pool, num(4)), paid(pool, num(4), num(74)), paid(pool, num(4), num(75))},    // twice
		[]starknet.Event{made(pool, num(5)), paid(pool, num(5))},                                          // without an amount
		[]starknet.Event{made(pool, num(6)), paid(pool, num(1), num(76)), paid(coin, num(6), num(77))},    // another note's, an impostor's
		[]starknet.Event{emits(pool, "OpenNoteCreated", list(coin), nil), paid(pool, felt.Zero, num(78))}, // a note without a number
	)
	e := s.load(t)
	rows := all(t, e, privacypool.Query{Pools: pools(t), Head: 1, Limit: 100, Kinds: []privacypool.Kind{privacypool.OpenNoteCreated, privacypool.EncNoteCreated}})
	view(t, e, func(ctx context.Context, r store.Reader) {
		got, err := privacypool.Deposits(ctx, r, pools(t), rows)
		if err != nil {
			t.Fatal(err)
		}
		want := map[explorer.Place]*big.Int{{Block: 1, Tx: 0, Log: 0}: big.NewInt(71), {Block: 1, Tx: 2, Log: 1}: big.NewInt(73)}
		if len(rows) != 9 {
			t.Fatalf("%d rows", len(rows))
		}
		for i := range rows {
			if w := want[rows[i].Place]; (w == nil) != (got[i] == nil) || w != nil && w.Cmp(got[i]) != 0 {
				t.Errorf("%+v: %s, want %s", rows[i].Place, got[i], w)
			}
		}
	})
}

func moves(token, to felt.Felt, amount uint64) starknet.Event {
	return emits(token, "Transfer", list(num(0x1), to), list(num(amount), num(0)))
}

func sets(from felt.Felt, what string, v felt.Felt) starknet.Event {
	return emits(from, what, nil, list(v))
}

// TestFees: what a call paid by the settings in force at its place.
func TestFees(t *testing.T) {
	s := &story{}
	tx := func(e ...starknet.Event) []starknet.Event { return e }
	other := num(0x401)
	s.block(deploys(class1, pool, pond))
	s.block(starknet.StateDiff{}, tx(moves(coin, collector, 5), deposit(pool, 1)))                                                                                                                                            // 1: nothing is charged yet
	s.block(starknet.StateDiff{}, tx(sets(pool, "FeeCollectorSet", collector)), tx(deposit(pool, 1)))                                                                                                                         // 2: no amount yet
	s.block(starknet.StateDiff{}, tx(moves(coin, collector, 5), sets(pool, "FeeAmountSet", num(5)), moves(coin, collector, 5), moves(coin, collector, 5), moves(coin, pool, 1), deposit(pool, 1), moves(coin, collector, 5))) // 3: the nearest in front
	s.block(starknet.StateDiff{},
		tx(moves(coin, collector, 6), deposit(pool, 1)),             // 4.0: another amount
		tx(moves(coin, other, 5), deposit(pool, 1)),                 // 4.1: another collector
		tx(moves(other, collector, 5), deposit(pool, 1)),            // 4.2: another token
		tx(moves(coin, collector, 5), sets(pool, "Paused", num(1))), // 4.3: administration
		tx(moves(coin, collector, 5), deposit(pond, 1)),             // 4.4: the pond charges nothing
		tx(deposit(pool, 1), moves(coin, collector, 5)))             // 4.5: behind it
	s.block(starknet.StateDiff{}, tx(sets(pond, "FeeCollectorSet", collector), sets(pond, "FeeAmountSet", num(5))),
		tx(moves(coin, collector, 5), deposit(pool, 1), deposit(pond, 1)),                                                      // 5.1: one transfer is one fee
		tx(moves(coin, collector, 5), deposit(pond, 1), moves(coin, collector, 5), emits(pool, "NoteUsed", list(num(1)), nil))) // 5.2: two calls
	s.block(starknet.StateDiff{}, tx(sets(pool, "FeeAmountSet", num(0))), tx(moves(coin, collector, 0), deposit(pool, 1)))    // 6: free again
	s.block(starknet.StateDiff{}, tx(emits(pool, "FeeAmountSet", nil, nil)), tx(moves(coin, collector, 5), deposit(pool, 1))) // 7: a setting that cannot be read
	s.block(starknet.StateDiff{}, tx(sets(pool, "FeeAmountSet", num(7)), sets(pool, "FeeCollectorSet", other)), tx(moves(coin, other, 7), deposit(pool, 1)))
	s.block(replaces(pool, classX), tx(replaced(pool, classX)), tx(moves(coin, other, 7), deposit(pool, 1))) // 9: who knows what this class charges
	e := s.load(t)
	want := map[[2]uint64]string{
		{3, 0}: "5 at 3.0 by 2.0.0 and 3.0.1", {5, 1}: "5 at 0.0 by 2.0.0 and 3.0.1",
		{5, 2}: "5 at 0.0 by 5.0.0 and 5.0.1, 5 at 2.0 by 2.0.0 and 3.0.1", {7, 1}: "not known", {8, 1}: "7 at 0.0 by 8.0.1 and 8.0.0", {9, 1}: "not known",
	}
	place := func(p explorer.Place) string { return fmt.Sprintf("%d.%d.%d", p.Block, p.Tx, p.Log) }
	check := func(rows []privacypool.Row) {
		t.Helper()
		view(t, e, func(ctx context.Context, r store.Reader) {
			got, err := privacypool.Fees(ctx, r, pools(t), rows)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				p := rows[i].Position()
				paid, some := got[p]
				var text []string
				for _, f := range paid.Fees {
					if f.Token != coin || f.Collector != collector && f.Collector != other {
						t.Errorf("%+v: %+v", p, f)
					}
					text = append(text, fmt.Sprintf("%s at %d.%d by %s and %s", f.Amount, f.Log, f.Index, place(f.CollectorSet), place(f.AmountSet)))
				}
				if !paid.Known {
					text = append(text, "not known")
				}
				if !some || strings.Join(text, ", ") != want[[2]uint64{p.Block, uint64(p.Index)}] {
					t.Errorf("%+v: %q, want %q", p, strings.Join(text, ", "), want[[2]uint64{p.Block, uint64(p.Index)}])
				}
			}
		})
	}
	rows := all(t, e, privacypool.Query{Pools: pools(t), Head: 9, Limit: 100})
	check(rows)
	for i := range rows { // each by itself, with the settings looked up for it alone
		check(rows[i : i+1])
	}
}

// TestManySettings: settings that lie behind more changes than are looked at are not
// known, and the work stays bounded.
func TestManySettings(t *testing.T) {
	s := &story{}
	s.block(deploys(class1, pool))
	s.block(starknet.StateDiff{}, []starknet.Event{sets(pool, "FeeCollectorSet", collector), sets(pool, "FeeAmountSet", num(5))}, []starknet.Event{moves(coin, collector, 5), deposit(pool, 1)})
	for range 5 {
		var changes []starknet.Event
		for i := range 64 {
			changes = append(changes, sets(pool, "FeeAmountSet", num(uint64(i))))
		}
		s.block(starknet.StateDiff{}, changes, []starknet.Event{moves(coin, collector, 63), deposit(pool, 1)})
	}
	e := s.load(t)
	rows := all(t, e, privacypool.Query{Pools: pools(t)[:1], Head: 6, Limit: 100, Kinds: []privacypool.Kind{privacypool.Deposit}})
	view(t, e, func(ctx context.Context, r store.Reader) {
		got, err := privacypool.Fees(ctx, r, pools(t), rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			paid := got[rows[i].Position()]
			if known := rows[i].Block > 2; paid.Known != known || known != (len(paid.Fees) == 1) {
				t.Errorf("block %d: %+v", rows[i].Block, paid)
			}
		}
	})
}

package privacypool_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/starknet"
)

// TestThereAndBack: a pool that has the same class before and after a block, which the
// state diff tells nothing of, was another in between if it says so.
func TestThereAndBack(t *testing.T) {
	s := &story{}
	tx := func(e ...starknet.Event) []starknet.Event { return e }
	s.block(deploys(class1, pool, pond))
	s.block(starknet.StateDiff{}, tx(deposit(pool, 1), replaced(pool, class2), blocked(pool)), tx(deposit(pool, 2), replaced(pool, class1), blocked(pool), deposit(pool, 3)), tx(deposit(pond, 1)))
	s.block(starknet.StateDiff{}, tx(deposit(pool, 4), replaced(pool, classX), deposit(pool, 5)), tx(replaced(pool, class1), deposit(pool, 6)))
	s.block(starknet.StateDiff{}, tx(replaced(pool, class2), deposit(pool, 7)), tx(blocked(pool))) // back without a word
	s.block(starknet.StateDiff{}, tx(replaced(pool, classX)), tx(deposit(pool, 8)))
	s.block(starknet.StateDiff{}, tx(deposit(pool, 9), blocked(pool))) // without any word
	s.block(starknet.StateDiff{}, tx(replaced(pool, class1), deposit(pool, 10)))
	e := s.load(t)
	want := strings.TrimSpace(`
1.0.0 deposit decoded 0xc1
1.0.1 implementation_replaced decoded 0xc1
1.0.2 open_note_depositor_block_set decoded 0xc2
1.1.0 deposit decoded 0xc2
1.1.1 implementation_replaced decoded 0xc2
1.1.2 open_note_depositor_block_set name_only 0xc1
1.1.3 deposit decoded 0xc1
1.2.0 deposit decoded 0xc1
2.0.0 deposit decoded 0xc1
2.0.1 implementation_replaced decoded 0xc1
2.0.2 deposit name_only 0xcf
2.1.0 implementation_replaced name_only 0xcf
2.1.1 deposit name_only -
3.0.0 implementation_replaced decoded -
3.0.1 deposit decoded -
3.1.0 open_note_depositor_block_set name_only -
4.0.0 implementation_replaced name_only -
4.1.0 deposit name_only -
5.0.0 deposit decoded 0xc1
5.0.1 open_note_depositor_block_set name_only 0xc1
6.0.0 implementation_replaced decoded 0xc1
6.0.1 deposit decoded 0xc1`)
	for _, limit := range []int{1, 3, 100} {
		if got := told(all(t, e, privacypool.Query{Pools: pools(t), Head: 6, Limit: limit})); got != want {
			t.Fatalf("pages of %d:\n%s\nwant\n%s", limit, got, want)
		}
	}
	// A list that has other events alone knows it, too.
	var deposits []string
	for line := range strings.Lines(want) {
		if strings.Contains(line, " deposit ") {
			deposits = append(deposits, strings.TrimSpace(line))
		}
	}
	if got := told(all(t, e, privacypool.Query{Pools: pools(t), Head: 6, Limit: 4, Kinds: []privacypool.Kind{privacypool.Deposit}})); got != strings.Join(deposits, "\n") {
		t.Fatalf("deposits:\n%s\nwant\n%s", got, strings.Join(deposits, "\n"))
	}
}

// TestManyUpgrades: also where there are more of them than a search looks at.
func TestManyUpgrades(t *testing.T) {
	s := &story{}
	s.block(deploys(class1, pool))
	const blocks = 150
	for range blocks {
		s.block(starknet.StateDiff{}, []starknet.Event{replaced(pool, class2), blocked(pool), replaced(pool, class1), blocked(pool)})
	}
	rows := all(t, s.load(t), privacypool.Query{Pools: pools(t), Head: blocks, Limit: 100, Kinds: []privacypool.Kind{privacypool.OpenNoteDepositorBlockSet}})
	if len(rows) != 2*blocks {
		t.Fatalf("%d rows", len(rows))
	}
	for i := range rows {
		if decoded := rows[i].Reading.Status == privacypool.Decoded; decoded != (rows[i].Log == 1) {
			t.Fatalf("%d.%d.%d is decoded: %t", rows[i].Block, rows[i].Tx, rows[i].Log, decoded)
		}
	}
}

package index_test

import (
	"bytes"
	"context"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// memory answers earlier rows.
type memory map[string][]byte

func rowName(k store.Key) string { return k.Table.Name + string(k.Partition) + string(k.Sort) }

func (m memory) GetMany(_ context.Context, keys []store.Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = m[rowName(k)]
	}
	return out, nil
}

// TestDatedTables: forks rely on it that the rows of dated tables are new. Each
// must have the number of its block in its key, and be there for the first time.
func TestDatedTables(t *testing.T) {
	dated, number := map[*store.Table]int{}, map[*store.Table]int{}
	for _, table := range catalog.Dated() {
		dated[table.Table], number[table.Table] = 0, table.Number
	}
	replayer, rows := index.NewReplayer(catalog.Subjects()), memory{}
	var head chain.Head
	cfg := simnode.Config{Seed: 3, Blocks: 120, TxPerBlock: 12, EventsPerTx: 4}
	err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		blk := explorer.NewBlock(b, su)
		begun, err := replayer.Begin(blk)
		if err != nil {
			return err
		}
		own := begun.Own().Ops()
		followed, next, err := begun.Finish(t.Context(), head, rows)
		if err != nil {
			return err
		}
		head = next
		seen := map[string]bool{}
		for _, ops := range [][]store.Op{own, followed} {
			for _, op := range ops {
				name := rowName(op.Key)
				if _, is := dated[op.Table]; is {
					dated[op.Table]++
					if _, there := rows[name]; op.Delete || there && !seen[name] {
						t.Errorf("block %d changes an earlier row of %s", blk.Number, op.Table.Name)
					}
					if at := number[op.Table]; at < 0 {
						if !bytes.Contains(op.Sort, explorer.BlockKey(blk.Number)) {
							t.Errorf("the key of a row of %s does not name block %d", op.Table.Name, blk.Number)
						}
					} else if len(op.Sort) < at || !bytes.HasPrefix(op.Sort[at:], explorer.BlockKey(blk.Number)) {
						t.Errorf("the key of a row of %s does not name block %d behind %d bytes", op.Table.Name, blk.Number, at)
					}
				}
				if seen[name] = true; op.Delete {
					delete(rows, name)
				} else {
					rows[name] = append([]byte{}, op.Value...)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for table, n := range dated {
		if n == 0 && table != chain.Digests { // which the write path itself adds
			t.Errorf("no block wrote a row of %s", table.Name)
		}
	}
}

// TestListedTables: the rows of lists are not looked for by their keys, neither by
// followers nor for undo records.
func TestListedTables(t *testing.T) {
	dated, recalled := map[*store.Table]bool{}, map[*store.Table]bool{}
	for _, table := range catalog.Dated() {
		dated[table.Table] = true
	}
	for _, s := range catalog.Subjects() {
		if f, ok := s.(explorer.Follower); ok {
			for _, table := range f.Recalled() {
				recalled[table] = true
			}
		}
	}
	some := false
	for _, table := range catalog.Tables() {
		some = some || table.Listed
		if table.Listed && (!dated[table] || recalled[table]) {
			t.Errorf("blocks look for rows of %s, which is declared as one of lists", table.Name)
		}
	}
	if !some {
		t.Error("no table is one of lists")
	}
}

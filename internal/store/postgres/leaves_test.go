package postgres_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

// TestLeaves writes partitions of hundreds of rows, which lie in many leaves, at
// their ends and in the middle, and holds every way to read against a list.
func TestLeaves(t *testing.T) {
	commits := 60
	if raced { // one after the other, and held against a list that grows
		commits = 6
	}
	leaves(t, options(pgtest.Database(t)), commits)
}

func TestLeavesOnCitus(t *testing.T) {
	o := options(citusDatabase(t))
	o.Schema = "citus_leaves"
	forget(t, o)
	leaves(t, o, 20)
}

func leaves(t *testing.T, o postgres.Options, commits int) {
	e := mustOpen(t, o)
	epoch := acquire(t, e, "a").Epoch
	rng := rand.New(rand.NewPCG(1, 2))
	model := map[string]map[string]string{}
	partitions := []string{"aa", "ab", "\xff\xff"}
	for n := range commits {
		b := &store.Batch{Epoch: epoch}
		for range rng.IntN(120) + 1 {
			p := partitions[rng.IntN(len(partitions))]
			rows := model[p]
			if rows == nil {
				rows = map[string]string{}
				model[p] = rows
			}
			key := randomSort(rng, n)
			k := store.Key{Table: left, Partition: []byte(p), Sort: []byte(key)}
			if rng.IntN(4) == 0 {
				b.Delete(k)
				delete(rows, key)
				continue
			}
			value := string(bytes.Repeat([]byte{byte(n)}, []int{0, 3, 20, 200, 3000}[min(rng.IntN(12), 4)]))
			b.Put(k, []byte(value))
			rows[key] = value
		}
		if n%20 == 19 { // an end to everything of one partition
			for key := range model["ab"] {
				b.Delete(store.Key{Table: left, Partition: []byte("ab"), Sort: []byte(key)})
			}
			model["ab"] = nil
		}
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		look := e
		if n%10 == 9 {
			look = mustOpen(t, o) // one that knows nothing of how full leaves are
		}
		err := look.View(t.Context(), func(r store.Reader) error {
			for _, p := range partitions {
				holdPartition(t, rng, r, p, model[p])
			}
			holdWalk(t, rng, r, partitions, model)
			return nil
		})
		if err != nil || t.Failed() {
			t.Fatalf("commit %d: %v", n, err)
		}
	}
}

// randomSort is a key that counts up, counts down, or lies between others.
func randomSort(rng *rand.Rand, n int) string {
	b := []byte{byte(rng.IntN(3))}
	switch b[0] {
	case 0:
		b = store.AppendUint32(b, uint32(n*100+rng.IntN(100)))
	case 1:
		b = store.AppendUint32(b, ^uint32(n*100+rng.IntN(100)))
	default:
		b = append(b, make([]byte, rng.IntN(20))...)
		b = append(b, byte(rng.IntN(4)), byte(rng.IntN(50)))
	}
	if rng.IntN(50) == 0 {
		return ""
	}
	return string(b)
}

func sortedKeys(rows map[string]string) []string {
	keys := make([]string, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func holdPartition(t *testing.T, rng *rand.Rand, r store.Reader, p string, rows map[string]string) {
	t.Helper()
	keys := sortedKeys(rows)
	bound := func() []byte {
		if len(keys) == 0 || rng.IntN(3) == 0 {
			return nil
		}
		k := []byte(keys[rng.IntN(len(keys))])
		if rng.IntN(2) == 0 {
			return store.After(k)
		}
		return k
	}
	for range 6 {
		rg := store.Range{Table: left, Partition: []byte(p), From: bound(), To: bound(), Reverse: rng.IntN(2) == 0, Limit: 1 + rng.IntN(400)}
		var want []string
		for _, k := range keys {
			if k >= string(rg.From) && (rg.To == nil || k < string(rg.To)) {
				want = append(want, fmt.Sprintf("%x %x", k, rows[k]))
			}
		}
		if rg.Reverse {
			slices.Reverse(want)
		}
		want = want[:min(len(want), rg.Limit)]
		var got []string
		for row, err := range r.Scan(t.Context(), rg) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%x %x", row.Sort, row.Value))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("partition %x from %x to %x reverse %t limit %d: %d rows, want %d", p, rg.From, rg.To, rg.Reverse, rg.Limit, len(got), len(want))
		}
	}
	var ks []store.Key
	for i := range 40 {
		key := randomSort(rng, rng.IntN(60))
		if i%2 == 0 && len(keys) > 0 {
			key = keys[rng.IntN(len(keys))]
		}
		ks = append(ks, store.Key{Table: left, Partition: []byte(p), Sort: []byte(key)})
	}
	values, err := r.GetMany(t.Context(), ks)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range ks {
		want, there := rows[string(k.Sort)]
		if there != (values[i] != nil) || string(values[i]) != want {
			t.Fatalf("partition %x, row %x: %x, want %x (%t)", p, k.Sort, values[i], want, there)
		}
	}
}

// holdWalk walks from a row that is there, or is not, to the end.
func holdWalk(t *testing.T, rng *rand.Rand, r store.Reader, partitions []string, model map[string]map[string]string) {
	t.Helper()
	after := store.Key{Table: left, Partition: []byte(partitions[rng.IntN(len(partitions))]), Sort: []byte(randomSort(rng, rng.IntN(60)))}
	var want, got []string
	for _, p := range partitions {
		for _, k := range sortedKeys(model[p]) {
			if p > string(after.Partition) || p == string(after.Partition) && k > string(after.Sort) {
				want = append(want, fmt.Sprintf("%x %x %x", p, k, model[p][k]))
			}
		}
	}
	for e, err := range r.Walk(t.Context(), left, &after) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%x %x %x", e.Partition, e.Sort, e.Value))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("walk behind %x %x: %d rows, want %d", after.Partition, after.Sort, len(got), len(want))
	}
}

// TestLeavesOfTwoLeases: commits under different leases that write neighbours, which
// lie in the same leaves, lose nothing of one another.
func TestLeavesOfTwoLeases(t *testing.T) {
	o := options(pgtest.Database(t))
	const commits, rows = 30, 20
	var writers sync.WaitGroup
	both := make(chan struct{}) // opening takes longer than all commits of the one that is first
	for w, name := range []string{store.Writer, "job/a"} {
		e := mustOpen(t, o)
		l, err := e.Acquire(t.Context(), name, "a", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		writers.Go(func() {
			<-both
			for n := range uint32(commits) {
				b := &store.Batch{}
				b.Under(l)
				for i := range uint32(rows) { // between those of the other, and spread over all
					b.Put(store.Key{Table: right, Sort: store.AppendUint32(nil, 2*(i*commits+n)+uint32(w))}, []byte("v"))
				}
				if err := e.Commit(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(both)
	writers.Wait()
	if got := census(t, mustOpen(t, o)); got["v"] != 2*commits*rows {
		t.Errorf("rows %v, want %d", got, 2*commits*rows)
	}
}

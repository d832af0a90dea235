package postgres

import (
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store/postgres/pgtest"
)

// TestHash: partitions are looked for where the server's hash puts them. It hashes
// texts as it hashes bytes, and lets us ask only for those.
func TestHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var keys []string
	for n := range 80 {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(1 + rng.Uint32N(127))
		}
		keys = append(keys, string(key))
	}
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // a test's
	rows, err := conn.Query(t.Context(), `select hashtext(k) from unnest($1::text[]) with ordinality q(k, i) order by i`, keys)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil || len(hashes) != len(keys) {
		t.Fatal(len(hashes), err)
	}
	for i, want := range hashes {
		if got := int32(hashBytes([]byte(keys[i]))); got != want {
			t.Errorf("the hash of %x is %d, want %d", keys[i], got, want)
		}
	}
}

// TestRing: every hash has a place, the first and the last as well.
func TestRing(t *testing.T) {
	r := &ring{}
	for i := range 4 {
		r.shards = append(r.shards, &shard{id: int64(i), from: int32(-1<<31 + i<<30)})
	}
	seen := map[int64]int{}
	for i := range 4000 {
		key := []byte{1, byte(i), byte(i >> 8)}
		in := r.shardOf(key)
		if hash := int32(hashBytes(key)); hash < in.from || int64(hash) >= int64(in.from)+1<<30 {
			t.Fatalf("%x with hash %d is in the shard from %d", key, hash, in.from)
		}
		seen[in.id]++
	}
	for id := range int64(4) {
		if seen[id] < 800 {
			t.Errorf("%d of 4000 partitions in shard %d", seen[id], id)
		}
	}
}

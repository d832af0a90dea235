package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

var (
	plainTable = &Table{ID: 3, Name: "plain"}
	listTable  = &Table{ID: 200, Name: "list", PartitionLen: 5}
)

// randomOps are changes of rows with short and long keys and values, some of which are
// longer than the memory that is taken at a time.
func randomOps(rng *rand.Rand, n int) []Op {
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	ops := make([]Op, n)
	for i := range ops {
		t := plainTable
		if rng.IntN(2) == 0 {
			t = listTable
		}
		ops[i].Key = Key{Table: t, Partition: random(t.PartitionLen), Sort: random(rng.IntN(20))}
		switch rng.IntN(10) {
		case 0:
			ops[i].Delete = true
		case 1:
			ops[i].Value = random(rng.IntN(3 * pieceBytes))
		default:
			ops[i].Value = random(rng.IntN(100))
		}
	}
	return ops
}

func (c *Changes) addAll(ops []Op) {
	for _, op := range ops {
		if op.Delete {
			c.Delete(op.Table, op.Partition, op.Sort)
		} else {
			c.Put(op.Table, op.Partition, op.Sort, op.Value)
		}
	}
}

// holds says whether these are the changes of a list, and what it says of itself is so.
func (c *Changes) holds(t *testing.T, want []Op) {
	t.Helper()
	size := 0
	for i, op := range want {
		size += len(op.Partition) + len(op.Sort) + len(op.Value)
		key := append(append([]byte{op.Table.ID}, op.Partition...), op.Sort...)
		ch := &c.List()[i]
		if !bytes.Equal(c.Key(ch), key) || ch.ID != op.Table.ID || ch.Size() != len(key)-1+len(op.Value) {
			t.Fatalf("the key of change %d is %x, want %x", i, c.Key(ch), key)
		}
		padded := append(key, make([]byte, 40)...)
		if ch.Word != binary.BigEndian.Uint64(padded) || c.KeyWord(ch, 4) != binary.BigEndian.Uint64(padded[4:]) || c.KeyWord(ch, 30) != binary.BigEndian.Uint64(padded[30:]) {
			t.Fatalf("change %d of key %x has other words", i, key)
		}
	}
	if got := c.AppendOps(nil); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("%d changes are not the %d that were made", len(got), len(want))
	}
	if c.Len() != len(want) || c.Bytes() != size {
		t.Errorf("%d changes of %d bytes, want %d of %d", c.Len(), c.Bytes(), len(want), size)
	}
	c.Touch(c.List())
}

// TestChanges: changes are what they were made as, through sharing, copying, replacing and
// new use of the memory.
func TestChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var again Changes
	for round := range 40 {
		first, second := randomOps(rng, rng.IntN(60)), randomOps(rng, 1+rng.IntN(60))
		var a, b, copied Changes
		if round%2 == 0 {
			a.Reserve(30, 1000)
		}
		a.addAll(first)
		a.holds(t, first)
		b.addAll(second)

		// Both share memory, and what is added by itself lies between.
		in := a.Share(&b)
		own := randomOps(rng, 3)
		a.addAll(own)
		for i := range b.List() {
			in.Append(b.List()[i])
			copied.Copy(&b, &b.List()[i])
		}
		all := append(append(append([]Op(nil), first...), own...), second...)
		a.holds(t, all)
		copied.holds(t, second)

		i, j := rng.IntN(len(all)), rng.IntN(len(second))
		in.Replace(i, b.List()[j])
		all[i] = second[j]
		a.holds(t, all)
		last := len(all) - 1
		if i != last {
			a.MoveLast(i)
			all[i], all = all[last], all[:last]
			a.holds(t, all)
		}
		for i, op := range all {
			value, changed := a.Last(op.Key)
			for _, later := range all[i:] {
				if later.Table == op.Table && bytes.Equal(later.Partition, op.Partition) && bytes.Equal(later.Sort, op.Sort) {
					op = later
				}
			}
			if !changed || !bytes.Equal(value, op.Value) || (value == nil) != op.Delete {
				t.Fatalf("the last value of change %d is %x, %t", i, value, changed)
			}
		}
		again.addAll(second)
		again.holds(t, second)
		again.Reset(round%3 == 0)
		again.holds(t, nil)
	}
	if _, changed := again.Last(Key{Table: plainTable}); changed {
		t.Error("an empty list changes a row")
	}
}

// TestRefusedChanges: what no store can take is told by whoever checks the list, also
// through another that shares it.
func TestRefusedChanges(t *testing.T) {
	s, err := NewSchema([]*Table{plainTable, listTable})
	if err != nil {
		t.Fatal(err)
	}
	same := *listTable
	for name, c := range map[string]struct {
		table     *Table
		partition string
		sort      int
		says      string // nothing for what is right
	}{
		"right":           {listTable, "five!", MaxKeyBytes - 5, ""},
		"the same table":  {&same, "five!", 0, ""},
		"no table":        {nil, "", 0, "no table"},
		"another table":   {&Table{ID: 4, Name: "foreign"}, "", 0, `"foreign" (4) is not one`},
		"the same id":     {&Table{ID: 3, Name: "rival"}, "", 0, "the same id 3"},
		"short partition": {listTable, "four", 0, "4 bytes, want 5"},
		"long key":        {listTable, "five!", MaxKeyBytes - 4, "more than"},
	} {
		var direct, through, copied Changes
		direct.Put(plainTable, nil, nil, nil)
		direct.Put(c.table, []byte(c.partition), make([]byte, c.sort), []byte("v"))
		through.Put(listTable, []byte("other"), nil, nil)
		through.Share(&direct)
		copied.Put(listTable, []byte("other"), nil, nil)
		copied.Heed(&direct)
		for i := range direct.List() {
			copied.Copy(&direct, &direct.List()[i])
		}
		for _, list := range []*Changes{&direct, &through, &copied} {
			err := s.CheckChanges(list)
			if c.says == "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var rivals, others Changes
	rivals.Put(&Table{ID: 200, Name: "rival"}, nil, nil, nil)
	others.Put(listTable, []byte("five!"), nil, nil)
	others.Share(&rivals)
	if err := s.CheckChanges(&others); !errors.Is(err, ErrInvalid) {
		t.Errorf("two tables of one id: %v", err)
	}
}

// The word of a change is the beginning of its key, however long the key's parts are.
func TestWordsOfChanges(t *testing.T) {
	for partition := range 12 {
		table := &Table{ID: 0x9a, Name: "words", PartitionLen: partition}
		for sort := range 12 {
			var c Changes
			bytes := []byte("\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff\x01\x02\x03\x04\x05\x06\x07\x08\x09")
			c.Put(table, bytes[:partition], bytes[partition:partition+sort], []byte("value"))
			ch := &c.List()[0]
			if want := keyWord(c.Key(ch), 0); ch.Word != want {
				t.Errorf("word %x of a key of %d and %d bytes, want %x", ch.Word, partition, sort, want)
			}
			if got := string(c.Row(ch)); got != string(c.Key(ch))+"value" {
				t.Errorf("row %q", got)
			}
		}
	}
}

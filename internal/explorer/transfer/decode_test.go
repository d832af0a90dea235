package transfer_test

import (
	"encoding/binary"
	"math/big"
	"reflect"
	"testing"

	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

var (
	token = felt.FromUint64(0x70)
	alice = felt.FromUint64(0xa1)
	bob   = felt.FromUint64(0xb0)
	huge  = felt.MustParse("0xffffffffffffffffffffffffffffffff") // 2^128-1
	wide  = felt.MustParse("0x100000000000000000000000000000000")
)

func f(n uint64) felt.Felt { return felt.FromUint64(n) }

func list(fs ...felt.Felt) []felt.Felt { return fs }

func u256(hi, lo uint64) (out [32]byte) {
	binary.BigEndian.PutUint64(out[8:], hi)
	binary.BigEndian.PutUint64(out[24:], lo)
	return out
}

func allOnes() (out [32]byte) {
	for i := range out {
		out[i] = 0xff
	}
	return out
}

func TestDecode(t *testing.T) {
	sel, single, batch := transfer.SelectorTransfer, transfer.SelectorSingle, transfer.SelectorBatch
	of := func(s transfer.Standard, value [32]byte) transfer.Transfer {
		return transfer.Transfer{Token: token, From: alice, To: bob, Standard: s, Value: value}
	}
	id := func(s transfer.Standard, number, value [32]byte) transfer.Transfer {
		x := of(s, value)
		x.HasID, x.ID = true, number
		return x
	}
	operator := f(0x0b)
	for _, c := range []struct {
		name       string
		keys, data []felt.Felt
		want       []transfer.Transfer
		malformed  bool
	}{
		{name: "all in data", keys: list(sel), data: list(alice, bob, f(5), f(1)), want: []transfer.Transfer{of(transfer.Ambiguous, u256(1, 5))}},
		{name: "parties keyed", keys: list(sel, alice, bob), data: list(huge, huge), want: []transfer.Transfer{of(transfer.ERC20, allOnes())}},
		{name: "all keyed", keys: list(sel, alice, bob, f(7), f(2)), want: []transfer.Transfer{id(transfer.ERC721, u256(2, 7), u256(0, 1))}},
		{name: "single in data", keys: list(single), data: list(operator, alice, bob, f(9), f(0), f(3), f(4)),
			want: []transfer.Transfer{id(transfer.ERC1155, u256(0, 9), u256(4, 3))}},
		{name: "single keyed", keys: list(single, operator, alice, bob), data: list(f(9), f(0), f(3), f(0)),
			want: []transfer.Transfer{id(transfer.ERC1155, u256(0, 9), u256(0, 3))}},
		{name: "batch in data", keys: list(batch), data: list(operator, alice, bob, f(2), f(1), f(0), f(2), f(0), f(2), f(10), f(0), f(20), f(0)),
			want: []transfer.Transfer{id(transfer.ERC1155, u256(0, 1), u256(0, 10)), id(transfer.ERC1155, u256(0, 2), u256(0, 20))}},
		{name: "batch keyed", keys: list(batch, operator, alice, bob), data: list(f(1), f(1), f(0), f(1), f(10), f(0)),
			want: []transfer.Transfer{id(transfer.ERC1155, u256(0, 1), u256(0, 10))}},
		{name: "an empty batch", keys: list(batch, operator, alice, bob), data: list(f(0), f(0))},

		{name: "no key", data: list(alice, bob, f(5), f(0))},
		{name: "another event", keys: list(felt.Selector("Approval")), data: list(alice, bob, f(5), f(0))},
		{name: "a felt amount", keys: list(sel), data: list(alice, bob, f(5)), malformed: true},
		{name: "too much data", keys: list(sel), data: list(alice, bob, f(5), f(0), f(0)), malformed: true},
		{name: "half keyed", keys: list(sel, alice), data: list(bob, f(5), f(0)), malformed: true},
		{name: "too many keys", keys: list(sel, alice, bob, f(7), f(0), f(0)), malformed: true},
		{name: "id and data", keys: list(sel, alice, bob, f(7), f(0)), data: list(f(1)), malformed: true},
		{name: "no data", keys: list(sel), malformed: true},
		{name: "low half too wide", keys: list(sel, alice, bob), data: list(wide, f(0)), malformed: true},
		{name: "high half too wide", keys: list(sel), data: list(alice, bob, f(0), wide), malformed: true},
		{name: "a single of felts", keys: list(single), data: list(operator, alice, bob, f(9), f(3)), malformed: true},
		{name: "a single with wide value", keys: list(single, operator, alice, bob), data: list(f(9), f(0), wide, f(0)), malformed: true},
		{name: "fewer values than ids", keys: list(batch, operator, alice, bob), data: list(f(1), f(1), f(0), f(0)), malformed: true},
		{name: "more behind a batch", keys: list(batch, operator, alice, bob), data: list(f(0), f(0), f(0)), malformed: true},
		{name: "a batch that promises too much", keys: list(batch, operator, alice, bob), data: list(huge, f(1), f(0)), malformed: true},
		{name: "a batch with a bad second value", keys: list(batch, operator, alice, bob),
			data: list(f(2), f(1), f(0), f(2), f(0), f(2), f(10), f(0), wide, f(0)), malformed: true},
		{name: "a batch of nothing", keys: list(batch), data: list(operator, alice, bob), malformed: true},
	} {
		got, malformed := transfer.Decode(&starknet.Event{From: token, Keys: c.keys, Data: c.data})
		if malformed != c.malformed || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, malformed %v; want %+v, %v", c.name, got, malformed, c.want, c.malformed)
		}
	}
}

func TestAs(t *testing.T) {
	amount := transfer.Transfer{Value: u256(3, 4)}
	if got := amount.As(transfer.ERC20); got.Standard != transfer.ERC20 || got.HasID || got.Value != u256(3, 4) {
		t.Errorf("an amount: %+v", got)
	}
	keyed := amount
	keyed.Standard = transfer.ERC20
	for _, x := range []transfer.Transfer{amount, keyed} {
		if got := x.As(transfer.ERC721); got.Standard != transfer.ERC721 || !got.HasID || got.ID != u256(3, 4) || got.Value != u256(0, 1) {
			t.Errorf("an NFT: %+v", got)
		}
	}
	if got := amount.As(transfer.Ambiguous); got != amount {
		t.Errorf("of an unknown token: %+v", got)
	}
	multi := transfer.Transfer{Standard: transfer.ERC1155, HasID: true, ID: u256(0, 1), Value: u256(0, 9)}
	if got := multi.As(transfer.ERC721); got != multi {
		t.Errorf("an ERC-1155 event of an ERC-721: %+v", got)
	}
}

// FuzzDecode: whatever an event holds, it is a transfer or malformed or neither,
// and every number of a transfer stands in the event.
func FuzzDecode(f *testing.F) {
	f.Add(byte(0), byte(1), []byte{1, 2, 3, 4})
	f.Add(byte(0), byte(3), []byte{1, 2, 3, 4})
	f.Add(byte(0), byte(5), []byte{1, 2, 3, 4})
	f.Add(byte(1), byte(4), []byte{1, 2, 3, 4, 0, 5, 0})
	f.Add(byte(2), byte(1), []byte{1, 2, 3, 2, 4, 0, 5, 0, 2, 6, 0, 7, 0})
	f.Add(byte(2), byte(4), []byte{1, 2, 3, 255, 4, 0, 5, 0, 2, 6, 0, 7, 0})
	f.Fuzz(func(t *testing.T, kind, keys byte, felts []byte) {
		sel := append(transfer.Selectors(), felt.Selector("Other"))[kind%4]
		all := []felt.Felt{sel}
		for _, b := range felts {
			n := felt.FromUint64(uint64(b))
			if b >= 250 { // around the edge of half an amount, and far beyond
				n = []felt.Felt{huge, wide, huge, wide, huge, felt.MustParse("0x800000000000010ffffffffffffffffffffffffffffffffffffffffffffffff")}[b-250]
			}
			all = append(all, n)
		}
		k := min(int(keys), len(all))
		e := &starknet.Event{From: token, Keys: all[:k], Data: all[k:]}
		got, malformed := transfer.Decode(e)
		if len(got) > 0 && malformed {
			t.Fatalf("%d transfers of a malformed event", len(got))
		}
		if (k == 0 || kind%4 == 3) && (len(got) > 0 || malformed) {
			t.Fatalf("a transfer without its selector: %+v", got)
		}
		sums := map[string]bool{}
		for i := range all {
			if i+1 < len(all) {
				n := new(big.Int).Lsh(all[i+1].Big(), 128)
				sums[n.Add(n, all[i].Big()).String()] = true
			}
		}
		for _, x := range got {
			value, id := new(big.Int).SetBytes(x.Value[:]), new(big.Int).SetBytes(x.ID[:])
			if x.Standard != transfer.ERC721 && !sums[value.String()] || x.HasID && !sums[id.String()] {
				t.Fatalf("%+v holds a number that the event does not", x)
			}
			if x.Standard == transfer.ERC721 && value.Cmp(big.NewInt(1)) != 0 {
				t.Fatalf("an NFT of value %s", value)
			}
		}
		again, _ := transfer.Append(append([]transfer.Transfer(nil), transfer.Transfer{}), e)
		if len(again) != 1+len(got) {
			t.Fatalf("appended %d transfers, decoded %d", len(again)-1, len(got))
		}
	})
}

package abi_test

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

// Random classes and events: what Cairo would serialize is decoded to the
// values that were put in, by the parsed schema and by the stored one; what was
// decoded serializes to the same felts; and nothing shorter, longer or of
// another shape passes.
func TestRandomEvents(t *testing.T) {
	decoded := 0
	for seed := range uint64(1500) {
		g := newGenerator(seed)
		ev := g.event()
		s, err := abi.ParseSierra(ev.abi)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		stored := s.Encode()
		loaded, err := abi.Load(stored)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !bytes.Equal(loaded.Encode(), stored) {
			t.Fatalf("seed %d: stored form differs after loading", seed)
		}
		for range 4 {
			keys, data, fields := ev.emit()
			if len(fields) > abi.MaxFields {
				continue
			}
			for _, s := range []*abi.Schema{s, loaded} {
				r := abi.Decode(s, keys, data)
				if r.Status != abi.Decoded || r.Name != ev.name || r.NameSource != abi.ClassABI || r.FieldsSource != abi.ClassABI || r.UnavailableReason != "" {
					t.Fatalf("seed %d: %s %q %s\n%s\nkeys %v\ndata %v", seed, r.Status, r.Name, r.UnavailableReason, ev.abi, keys, data)
				}
				compareFields(t, seed, r.Fields, fields)
				checkCover(t, r, keys, data)
			}
			decoded++
			longer := append(slices.Clone(data), felt.FromUint64(1))
			if r := abi.Decode(s, keys, longer); r.Status != abi.NameOnly || r.UnavailableReason != abi.PayloadShapeMismatch || r.Name != ev.name {
				t.Fatalf("seed %d: one felt too many: %s %s", seed, r.Status, r.UnavailableReason)
			}
			if len(data) > 0 {
				if r := abi.Decode(s, keys, data[:len(data)-1]); r.Status != abi.NameOnly || r.UnavailableReason != abi.PayloadShapeMismatch {
					t.Fatalf("seed %d: one felt too few: %s %s", seed, r.Status, r.UnavailableReason)
				}
			}
			damage(t, g, s, keys, data)
		}
	}
	if decoded < 5000 {
		t.Fatalf("only %d events decoded", decoded)
	}
}

// damage changes one felt: if the event is still decoded, it still covers its
// payload.
func damage(t *testing.T, g *generator, s *abi.Schema, keys, data []felt.Felt) {
	keys, data = slices.Clone(keys), slices.Clone(data)
	for range 5 {
		list := data
		if len(data) == 0 || g.r.IntN(3) == 0 {
			list = keys
		}
		list[g.r.IntN(len(list))] = toFelt(g.below(uint(1 + g.r.IntN(252))))
		checkCover(t, abi.Decode(s, keys, data), keys, data)
	}
}

// checkCover writes the payload out again from the fields: every position is
// covered once, except the selectors in front. Numbers and truths must
// serialize to the felts that they came from.
func checkCover(t *testing.T, r abi.Result, keys, data []felt.Felt) {
	t.Helper()
	if r.Status != abi.Decoded {
		if r.Fields != nil || r.FieldsSource != "" || r.UnavailableReason == "" || (r.Name == "") != (r.Status == abi.Unknown) {
			t.Fatalf("%s with fields, or without name or reason: %+v", r.Status, r)
		}
		return
	}
	if len(r.Fields) > abi.MaxFields {
		t.Fatalf("%d fields", len(r.Fields))
	}
	again := map[abi.FieldSource]map[int]felt.Felt{abi.FromKey: {}, abi.FromData: {}}
	for _, f := range r.Fields {
		if len(f.RawValues) == 0 || len(f.RawValues) != len(f.OriginIndexes) || f.Label == "" || f.Type == "" {
			t.Fatalf("bad field %+v", f)
		}
		raw := reencode(f)
		for i, at := range f.OriginIndexes {
			if _, twice := again[f.Source][at]; twice {
				t.Fatalf("%s[%d] is in two fields", f.Source, at)
			}
			again[f.Source][at] = raw[i]
		}
	}
	for at, v := range data {
		if got, ok := again[abi.FromData][at]; !ok || got != v {
			t.Fatalf("data[%d] = %s, fields say %s (%t)", at, v, got, ok)
		}
	}
	first := len(keys) - len(again[abi.FromKey])
	if first < 1 || len(again[abi.FromData]) != len(data) {
		t.Fatalf("fields cover %d keys of %d and %d data of %d", len(again[abi.FromKey]), len(keys), len(again[abi.FromData]), len(data))
	}
	for at := first; at < len(keys); at++ {
		if got, ok := again[abi.FromKey][at]; !ok || got != keys[at] {
			t.Fatalf("keys[%d] = %s, fields say %s (%t)", at, keys[at], got, ok)
		}
	}
}

// reencode serializes a field from its typed value if it has one.
func reencode(f abi.Field) []felt.Felt {
	switch {
	case f.BoolValue != nil:
		if *f.BoolValue {
			return []felt.Felt{felt.FromUint64(1)}
		}
		return []felt.Felt{{}}
	case f.AddressValue != nil:
		return []felt.Felt{*f.AddressValue}
	case f.TextValue != nil && f.Type == "core::byte_array::ByteArray":
		return felt.EncodeByteArray([]byte(*f.TextValue))
	case f.NumericValue != nil:
		n, ok := new(big.Int).SetString(f.NumericValue.String(), 10)
		if !ok {
			panic(f.NumericValue.String())
		}
		if len(f.RawValues) == 1 {
			return []felt.Felt{toFelt(n)}
		}
		mask := new(big.Int).Sub(new(big.Int).Lsh(one, 128), one)
		var out []felt.Felt
		for i := range f.RawValues {
			part := new(big.Int).Rsh(n, uint(128*i))
			out = append(out, toFelt(part.And(part, mask)))
		}
		return out
	}
	return f.RawValues
}

func compareFields(t *testing.T, seed uint64, got []abi.Field, wants []want) {
	t.Helper()
	if len(got) != len(wants) {
		t.Fatalf("seed %d: %d fields, want %d\n%+v", seed, len(got), len(wants), got)
	}
	for i, w := range wants {
		f := got[i]
		if w.status == "" {
			w.status = abi.FieldDecoded
		}
		number := "<nil>"
		if w.number != nil {
			number = w.number.String()
		}
		if f.Label != w.label || f.Type != w.typ || f.Kind != w.kind || f.Status != w.status || !slices.Equal(f.RawValues, w.raw) ||
			show(f.NumericValue) != number || show(f.TextValue) != show(w.text) || show(f.BoolValue) != show(w.truth) ||
			(f.AddressValue != nil) != w.address || w.address && *f.AddressValue != w.raw[0] {
			t.Fatalf("seed %d: field %d is\n%+v (number %s, text %q)\nwant\n%+v", seed, i, f, show(f.NumericValue), show(f.TextValue), w)
		}
		shown := f.DisplayValue.String()
		display := shown
		switch {
		case w.status == abi.FieldRaw:
			display = ""
		case w.text != nil:
			display = *w.text
		case w.number != nil && !bytes.Contains([]byte(w.typ), []byte("::array::")):
			display = number
		case w.truth != nil:
			display = fmt.Sprint(*w.truth)
		case len(w.raw) == 1 && w.kind != abi.KindText && w.typ != "core::starknet::eth_address::EthAddress" && w.number == nil:
			display = w.raw[0].String()
		}
		if display != "" && shown != display || shown == "" && (w.text == nil || *w.text != "") {
			t.Fatalf("seed %d: field %d shows %q, want %q", seed, i, shown, display)
		}
	}
}

func show[T any](p *T) string {
	if p == nil {
		return "<nil>"
	}
	return fmt.Sprint(*p)
}

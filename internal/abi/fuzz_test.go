package abi_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

// FuzzParse: whatever parses has one stored form, which loads to the same.
func FuzzParse(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(newGenerator(seed).event().abi)
	}
	f.Add([]byte(`[{"type":"event","name":"E","keys":[{"name":"k","type":"felt"}],"data":[{"name":"l_len","type":"felt"},{"name":"l","type":"S*"},{"name":"t","type":"(a: felt, S)"}]},` +
		`{"type":"struct","name":"S","size":2,"members":[{"name":"low","offset":0,"type":"felt"},{"name":"high","offset":1,"type":"felt"}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, parse := range []func([]byte) (*abi.Schema, error){abi.ParseSierra, abi.ParseCairo0} {
			s, err := parse(text)
			if err != nil {
				continue
			}
			stored := s.Encode()
			loaded, err := abi.Load(stored)
			if err != nil || !bytes.Equal(loaded.Encode(), stored) {
				t.Fatalf("stored form: %v", err)
			}
			for e := range s.Events() {
				data := make([]felt.Felt, 12)
				r := abi.Decode(s, e.Path, data)
				checkCover(t, r, e.Path, data)
			}
		}
	})
}

// payload cuts bytes into felts: a width, then that many bytes each.
func payload(b []byte) (out []felt.Felt) {
	for len(b) > 0 {
		n := min(int(b[0]%34), len(b)-1)
		v, err := felt.FromBytes(b[1 : 1+min(n, felt.Size)])
		if err != nil {
			v = felt.Zero
		}
		out, b = append(out, v), b[1+n:]
	}
	return out
}

// FuzzDecode: every payload ends in an answer that keeps its promises, and the
// same one with the loaded schema.
func FuzzDecode(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, []byte{1, 1, 1, 2, 0, 0}, []byte{1, 0, 1, 3, 8, 255, 255, 255, 255, 255, 255, 255, 255})
	}
	f.Fuzz(func(t *testing.T, seed uint64, keyBytes, dataBytes []byte) {
		ev := newGenerator(seed % 1000).event()
		s := mustParse(t, string(ev.abi))
		loaded, err := abi.Load(s.Encode())
		if err != nil {
			t.Fatal(err)
		}
		keys, _, _ := ev.emit()
		for n := range 4 {
			all := append(keys[:min(n, len(keys)):min(n, len(keys))], payload(keyBytes)...)
			data := payload(dataBytes)
			r := abi.Decode(s, all, data)
			checkCover(t, r, all, data)
			if again := abi.Decode(loaded, all, data); again.Status != r.Status || again.UnavailableReason != r.UnavailableReason || len(again.Fields) != len(r.Fields) {
				t.Fatalf("loaded schema: %s %s, parsed one: %s %s", again.Status, again.UnavailableReason, r.Status, r.UnavailableReason)
			}
			checkCover(t, abi.Standard(abi.Emitter(seed%5), all, data), all, data)
		}
	})
}

// FuzzLoad: whatever loads is in its one form and decodes within bounds.
func FuzzLoad(f *testing.F) {
	for seed := range uint64(8) {
		s, err := abi.ParseSierra(newGenerator(seed).event().abi)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Encode())
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		s, err := abi.Load(stored)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Encode(), stored) {
			t.Fatal("loaded, and its form is another")
		}
		data := make([]felt.Felt, 20)
		for i := range data {
			binary.BigEndian.PutUint32(data[i][28:], uint32(i%3))
		}
		for e := range s.Events() {
			checkCover(t, abi.Decode(s, e.Path, data), e.Path, data)
		}
	})
}

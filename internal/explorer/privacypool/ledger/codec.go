package ledger

import (
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store/record"
)

const recordVersion = 1

// encoding starts a record.
func encoding() *record.Encoder {
	e := &record.Encoder{}
	e.Reset(recordVersion)
	return e
}

func decoding(b []byte) *record.Decoder { return record.NewDecoder(b, recordVersion) }

// putInt writes a number that is not negative.
func putInt(e *record.Encoder, n *big.Int) { e.Blob(n.Bytes()) }

func getInt(d *record.Decoder) *big.Int { return new(big.Int).SetBytes(d.Blob()) }

func putPlace(e *record.Encoder, p explorer.Place) {
	e.Uint(p.Block)
	e.Uint(uint64(p.Tx))
	e.Uint(uint64(p.Log))
}

func getPlace(d *record.Decoder) explorer.Place {
	return explorer.Place{Block: d.Uint(), Tx: uint32(d.Uint()), Log: uint32(d.Uint())}
}

// putOptional writes a value, or that there is none.
func putOptional[T any](e *record.Encoder, v *T, put func(*record.Encoder, T)) {
	if v == nil {
		e.Byte(0)
		return
	}
	e.Byte(1)
	put(e, *v)
}

func getOptional[T any](d *record.Decoder, get func(*record.Decoder) T) *T {
	if d.Byte() == 0 {
		return nil
	}
	v := get(d)
	return &v
}

func putFelt(e *record.Encoder, f felt.Felt) { e.Felt(&f) }

func getFelt(d *record.Decoder) felt.Felt { return d.Felt() }

func putFlag(e *record.Encoder, set bool) {
	if set {
		e.Byte(1)
	} else {
		e.Byte(0)
	}
}

func getFlag(d *record.Decoder) bool { return d.Byte() != 0 }

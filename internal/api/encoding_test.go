package api_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/jsonrow"
)

// TestEncodingFollowsTheTypes: whatever an answer holds, it is written as encoding/json writes the
// type that the document is made from. Every type of the document is filled with all there can be.
func TestEncodingFollowsTheTypes(t *testing.T) {
	schemas := sharedWorld(t, 30).Server.OpenAPI().Components.Schemas
	values := 40
	if raced {
		values = 4
	}
	types := 0
	for name := range schemas.Map() {
		row := schemas.TypeFromRef("#/components/schemas/" + name)
		if row == nil || row.Kind() != reflect.Struct {
			continue
		}
		types++
		for seed := range values {
			g := &filler{rand.New(rand.NewPCG(uint64(seed), 1))}
			v := reflect.New(row).Elem()
			g.fill(v, 0)
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v.Interface()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := jsonrow.Append(nil, v.Interface())
			if err != nil || string(got)+"\n" != want.String() {
				t.Fatalf("%s is written as\n%s (%v), want\n%s", name, got, err, want.Bytes())
			}
		}
	}
	if types < 100 {
		t.Errorf("the document has %d types", types)
	}
}

// filler makes up values: none, empty ones, extremes, and text of all kinds.
type filler struct{ *rand.Rand }

var odd = []string{"", "plain", "<b>&amp;</b>", `"\/`, "\x00\x1f\x7f\n\t", "\xff\xc0", "ü💡\u2028\u2029\ufffd", "0x1"}

func (g *filler) fill(v reflect.Value, depth int) {
	if shown, ok := v.Addr().Interface().(*felt.Shown); ok {
		a, b := new(felt.FromUint128(g.Uint64(), g.Uint64())), new(felt.FromUint64(g.Uint64()))
		*shown = []felt.Shown{felt.ShownAs(odd[g.IntN(len(odd))]), b.Shown(), a.Number(), felt.Number256(a, b)}[g.IntN(4)]
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, -1, math.MaxInt64, math.MinInt64, g.Int64()}[g.IntN(5)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, math.MaxUint64, g.Uint64()}[g.IntN(4)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1e21, 1e-7, -0.1, g.Float64()}[g.IntN(5)])
	case reflect.String:
		v.SetString(odd[g.IntN(len(odd))])
	case reflect.Array:
		for i := range v.Len() {
			g.fill(v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous {
				g.fill(f, depth+1)
			}
		}
	case reflect.Pointer:
		if v.CanSet() && depth < 12 && g.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n := g.IntN(4); depth < 12 && n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n))
			for i := range v.Len() {
				g.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if depth < 12 && g.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range g.IntN(3) {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				g.fill(key, depth+1)
				g.fill(value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Interface:
		if v.NumMethod() == 0 && g.IntN(2) > 0 {
			v.Set(reflect.ValueOf(odd[g.IntN(len(odd))]))
		}
	}
}

// TestSortsOfFields: what a field is made of most is written from a table, as encoding/json writes it.
func TestSortsOfFields(t *testing.T) {
	for _, source := range []string{"key", "data", "", "keys", "d\x00ta"} {
		for _, kind := range []string{"address", "hash", "bool", "u256", "felt", "text", "", "addresses", "abc"} {
			for _, status := range []string{"decoded", "partial", "raw", "", "row", `"`} {
				f := api.DecodedField{Source: source, Kind: kind, Status: status}
				want, err := json.Marshal(f)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := jsonrow.Append(nil, f); err != nil || string(got) != string(want) {
					t.Errorf("%q, %q, %q is written as\n%s (%v), want\n%s", source, kind, status, got, err, want)
				}
			}
		}
	}
}

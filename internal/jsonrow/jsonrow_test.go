package jsonrow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/jsonrow"
)

// standard is what encoding/json writes, as answers are written.
func standard(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func compare(t *testing.T, v any) {
	t.Helper()
	want, wantErr := standard(v)
	got, err := jsonrow.Append([]byte("before"), v)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%T: %v, want %v", v, err, wantErr)
	}
	if err == nil && string(got) != "before"+string(want) {
		t.Fatalf("%T is written as\n%s, want\n%s", v, got, want)
	}
}

type (
	inner struct {
		ID   felt.Felt  `json:"id"`
		Text *string    `json:"text,omitempty"`
		At   *felt.Felt `json:"at"`
	}
	hidden struct {
		Deep  int `json:"deep"`
		inner     // of an unexported type
	}
	Named  string
	Tree   struct{ Below []*Tree }
	byAddr struct{}
	row    struct {
		Number  uint64
		Small   int8    `json:"small,omitempty"`
		Skipped string  `json:"-"`
		Flag    *bool   `json:"flag"`
		Name    Named   `json:"name"`
		Fixed   [2]bool `json:"fixed"`
		hidden
		Inner   inner                `json:"inner"`
		List    []inner              `json:"list"`
		Felts   []felt.Felt          `json:"felts,omitempty"`
		Any     any                  `json:"any"`
		Map     map[string]felt.Felt `json:"map,omitempty"`
		Nothing *struct{}            `json:"nothing"`
		private int
	}
)

func (b *byAddr) MarshalText() ([]byte, error) { return []byte("by its address"), nil }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("it fails") }

// tagged is a struct with a number under an odd tag.
func tagged(tag reflect.StructTag) any {
	return reflect.Zero(reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: tag}})).Interface()
}

// TestAsStandard: whatever a type needs, it is written as encoding/json writes it.
func TestAsStandard(t *testing.T) {
	text, yes, f := `"quoted" <b>&amp;</b> ü 💡`+"\u2028\x00\xff\n", true, felt.MustParse("0x10")
	full := row{Number: math.MaxUint64, Small: -128, Skipped: "x", Flag: &yes, Name: Named(text), Fixed: [2]bool{true, false}, hidden: hidden{Deep: -1, inner: inner{f, &text, &f}},
		Inner: inner{At: &f}, List: []inner{{}, {ID: f, Text: &text}}, Felts: []felt.Felt{f, {}}, Any: &row{Any: []any{1.5, nil, "x", row{}}}, Map: map[string]felt.Felt{"b": f, "a<": {}}, private: 1}
	for _, v := range []any{
		nil, row{}, &row{}, full, &full, []row{full, {}}, []row(nil), (*row)(nil), map[string]any{"z": full, "a": []row{}}, [0]int{}, text, Named("x"), true, -7, uint8(7), 1.5, math.NaN(), math.Inf(1), 1e21, float32(0.1),
		[]byte("bytes"), [2]byte{1, 2}, json.RawMessage(`{ "a" : 1 }`), time.Unix(0, 0).UTC(), &f, f, []*felt.Felt{nil, &f}, [][]felt.Felt{nil, {}, {f}},
		Tree{Below: []*Tree{nil, {}, {Below: []*Tree{{}}}}}, json.Number("12"), struct{ N json.Number }{}, failing{}, []any{failing{}},
		byAddr{}, &byAddr{}, []byAddr{{}}, struct{ B byAddr }{}, &struct{ B byAddr }{}, map[string]byAddr{"a": {}}, struct{ B *byAddr }{},
		struct {
			None  []inner     `json:"none,omitzero"`
			Empty []inner     `json:"empty,omitzero"`
			Some  []inner     `json:"some,omitzero"`
			Felts []felt.Felt `json:"felts,omitzero"`
		}{Empty: []inner{}, Some: []inner{{}}},
		struct {
			A int `json:"a,string"`
			B int `json:"b,omitzero"`
		}{}, struct {
			inner
			hidden
			ID int `json:"id"`
		}{}, struct {
			*inner
			N int
		}{N: 1}, tagged(`json:"-,"`), tagged(`json:"a\"b"`), tagged(`json:"b<"`), tagged(`json:"ü"`), tagged(`json:",omitempty"`), struct {
			felt.Felt
			N int
		}{}, struct {
			Empty struct{}       `json:"empty,omitempty"`
			List  [0]int         `json:"list,omitempty"`
			None  map[string]int `json:"none,omitempty"`
			Any   any            `json:"any,omitempty"`
			Zero  float64        `json:"zero,omitempty"`
		}{}, struct {
			E error
			S interface{ String() string }
		}{S: f}, func() {}, make(chan int), struct{ F func() }{}, complex(1, 2),
	} {
		compare(t, v)
	}
}

type Registered struct {
	Text  string      `json:"text"`
	At    *string     `json:"at"`
	Flag  *bool       `json:"flag"`
	Felt  *felt.Felt  `json:"felt"`
	Felts []felt.Felt `json:"felts"`
	Ints  []int       `json:"ints"`
	None  *struct{}   `json:"none"`
}

type hiddenRegistered struct {
	N int `json:"n"`
}

var calls int

var _, _ = jsonrow.Register(func(b []byte, v *Registered) []byte {
	calls++
	b = jsonrow.TextAt(jsonrow.Text(b, `,"text":`, v.Text), `,"at":`, v.At)
	b = jsonrow.Felts(jsonrow.Felt(jsonrow.BoolAt(b, `,"flag":`, v.Flag), `,"felt":`, v.Felt), `,"felts":`, v.Felts)
	return jsonrow.Null(jsonrow.Ints(b, `,"ints":`, v.Ints), `,"none":`)
}), jsonrow.Register(func(b []byte, v *hiddenRegistered) []byte {
	return strconv.AppendInt(append(b, `,"n":`...), int64(v.N), 10)
})

// TestRegistered: a struct that is written by a function of its own is written as encoding/json
// writes it, wherever it stands.
func TestRegistered(t *testing.T) {
	text, yes, no, f := `"odd" <ü>`+"\n", true, false, felt.FromUint64(7)
	full := Registered{text, &text, &yes, &f, []felt.Felt{f, {}}, []int{0, -1, math.MaxInt64}, nil}
	for _, v := range []any{
		Registered{}, &Registered{}, full, []Registered{full, {Felts: []felt.Felt{}, Ints: []int{}, Flag: &no}}, []*Registered{nil, &full}, map[string]Registered{"a": full},
		struct{ R Registered }{full}, struct {
			N int
			Registered
			M int
		}{1, full, 2}, struct{ Registered }{full}, struct{ hiddenRegistered }{hiddenRegistered{1}}, struct {
			*Registered
			N int
		}{&full, 1}, struct {
			Registered
			Text int `json:"text"`
		}{full, 3},
	} {
		compare(t, v)
	}
	if calls == 0 {
		t.Error("the function was never called")
	}
}

// FuzzText: any text is written as encoding/json writes it, wherever it stands.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `"\`, "<&>", "\x00\x1f\x7f\x80\xff", "ü\u2028\u2029\ufffd💡", strings.Repeat("x", 100)} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, s string, n uint64) {
		compare(t, struct {
			A string            `json:"a"`
			B *string           `json:"b,omitempty"`
			C any               `json:"c"`
			D map[string]string `json:"d"`
			N uint64
			F felt.Felt
		}{s, &s, s, map[string]string{s: s}, n, felt.FromUint64(n)})
	})
}

// TestAllocations: rows cost none.
func TestAllocations(t *testing.T) {
	text := "plain"
	list := func(n int) any {
		rows := make([]inner, n)
		for i := range rows {
			rows[i] = inner{felt.FromUint64(uint64(i)), &text, &felt.Felt{1}}
		}
		return struct {
			Items []inner `json:"items"`
		}{rows}
	}
	b := make([]byte, 0, 1<<20)
	measure := func(v any) float64 {
		return testing.AllocsPerRun(10, func() {
			if _, err := jsonrow.Append(b, v); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := measure(list(1)), measure(list(1000)); many > few || many > 2 {
		t.Errorf("a thousand rows cost %v allocations, one row %v", many, few)
	}
}

var sink []byte

func BenchmarkAppend(b *testing.B) {
	text := "plain"
	rows := make([]row, 100)
	for i := range rows {
		rows[i] = row{Number: uint64(i), Name: "name", Inner: inner{At: &felt.Felt{1}, Text: &text}, Felts: make([]felt.Felt, 4)}
	}
	for name, write := range map[string]func([]byte, any) ([]byte, error){"ours": jsonrow.Append, "standard": func(_ []byte, v any) ([]byte, error) { return standard(v) }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := write(sink[:0], rows)
				if err != nil {
					b.Fatal(err)
				}
				sink = out
			}
			b.SetBytes(int64(len(sink)))
		})
	}
}

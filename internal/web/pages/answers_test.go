package pages_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// TestPagesShowWhatTheAPIAnswers: every exact value of a page stands in an answer that the
// page was made of, or in the block itself, or says which block it is as of. Sentences are
// held against the chain where they are made, by the tests of package preview.
func TestPagesShowWhatTheAPIAnswers(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for _, path := range truePaths(w) {
		s, answered := w.reads(path), w.answered(path)
		w.blockTruth(path, answered)
		for _, v := range s.all {
			if !answered[v] {
				t.Errorf("%s shows %q, which no answer behind it has", path, v)
			}
		}
		if len(s.all) < 5 {
			t.Errorf("%s shows %d values", path, len(s.all))
		}
	}
}

// answered are the values of the answers behind a page, as it shows them itself.
func (w *world) answered(path string) map[string]bool {
	w.T.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	root, err := html.Parse(strings.NewReader(w.page(path + join + "as=json")))
	if err != nil {
		w.T.Fatal(err)
	}
	out := map[string]bool{}
	for n := range root.Descendants() {
		if n.Data == "pre" && attribute(n, "class") == "answer" {
			var b strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					b.WriteString(d.Data)
				}
			}
			in := json.NewDecoder(strings.NewReader(b.String()))
			in.UseNumber()
			var answer any
			if err := in.Decode(&answer); err != nil {
				w.T.Fatalf("%s: what it was made of: %v", path, err)
			}
			scalars(answer, out)
		}
		if attribute(n, "class") == "as-of" {
			for _, v := range exact(n) {
				out[v] = true // compared by TestAsOf
			}
		}
	}
	return out
}

// scalars adds the texts and numbers of an answer.
func scalars(v any, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			scalars(e, to)
		}
	case []any:
		for _, e := range v {
			scalars(e, to)
		}
	case string:
		to[v] = true
	case json.Number:
		to[v.String()] = true
	}
}

// blockTruth adds what the simulated chain has in the block of a page, and what its
// receipts add up to.
func (w *world) blockTruth(path string, to map[string]bool) {
	w.T.Helper()
	var n uint64
	if _, err := fmt.Sscanf(path, "/block/%d", &n); err != nil {
		return
	}
	b, u := w.Chain.BlockAt(n), w.Chain.StateUpdateAt(n)
	facts(reflect.ValueOf(*b), to)
	facts(reflect.ValueOf(u.Diff), to)
	sums := map[starknet.FeeUnit]*big.Int{starknet.Fri: {}, starknet.Wei: {}}
	var gas starknet.ExecutionResources
	messages, reverted := 0, 0
	for i := range b.Receipts {
		r := &b.Receipts[i]
		sums[r.FeeUnit].Add(sums[r.FeeUnit], new(big.Int).SetBytes(r.ActualFee[:]))
		gas.L1Gas, gas.L2Gas, gas.L1DataGas = gas.L1Gas+r.Resources.L1Gas, gas.L2Gas+r.Resources.L2Gas, gas.L1DataGas+r.Resources.L1DataGas
		messages += len(r.MessagesSent)
		if r.Execution == starknet.Reverted {
			reverted++
		}
	}
	facts(reflect.ValueOf(gas), to)
	for _, v := range []any{sums[starknet.Fri], sums[starknet.Wei], messages, reverted, u.Diff.Length(), len(u.Diff.Deployed), len(u.Diff.Replaced), len(u.Diff.Declared) + len(u.Diff.DeprecatedDeclared), len(u.Diff.Nonces)} {
		to[fmt.Sprint(v)] = true
	}
}

// facts adds the felts, in both forms, and the numbers and words of a value.
func facts(v reflect.Value, to map[string]bool) {
	if f, ok := v.Interface().(felt.Felt); ok {
		to[f.String()], to[new(big.Int).SetBytes(f[:]).String()] = true, true
		return
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		to[s.String()] = true
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			facts(v.Field(i), to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			facts(v.Index(i), to)
		}
	case reflect.Uint64:
		to[fmt.Sprint(v.Uint())] = true
	}
}

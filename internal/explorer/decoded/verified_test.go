package decoded_test

import (
	"context"
	"errors"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// provenOf is a source of proofs that knows some classes, and counts how often it is asked.
func provenOf(asked *int, classes ...uint64) decoded.Verified {
	return func(_ context.Context, _ store.Reader, of []felt.Felt) (map[felt.Felt]bool, error) {
		*asked++
		out := map[felt.Felt]bool{}
		for _, c := range classes {
			for _, h := range of {
				out[h] = out[h] || h == f(c)
			}
		}
		return out, nil
	}
}

// TestVerifiedNames: what a class says counts as verified when its source was proven; in
// the block of an upgrade both must have been. Proofs are asked for once for a page, and
// change nothing but the source.
func TestVerifiedNames(t *testing.T) {
	events := fill(t, map[uint64]diff{2: {deployed: map[uint64]uint64{112: 1, 115: 1}}, 5: {replaced: map[uint64]uint64{112: 2, 115: 5}}})
	calls := callWorld(t)
	for _, c := range []struct {
		name   string
		proven []uint64
		event  decoded.Event
		source abi.Source
		call   decoded.Call
		called abi.Source
	}{
		{"no class", nil, event(112, 4, "E", 7), abi.ClassABI, call(11, 4, "own_1", 7), abi.ClassABI},
		{"its class", []uint64{1}, event(112, 4, "E", 7), abi.VerifiedABI, call(11, 4, "own_1", 7), abi.VerifiedABI},
		{"the later class", []uint64{2}, event(112, 4, "E", 7), abi.ClassABI, call(102, 4, "run", 7), abi.ClassABI},
		{"one of two that agree", []uint64{1}, event(112, 5, "E", 7), abi.ClassABI, call(102, 5, "run", 7), abi.ClassABI},
		{"both", []uint64{1, 2}, event(112, 5, "E", 7), abi.VerifiedABI, call(102, 5, "run", 7), abi.VerifiedABI},
		{"what the class leaves to the standards", []uint64{1, 5}, event(115, 4, "Upgraded", 7), abi.CuratedSelector, call(12, 4, "transfer", 7), abi.CuratedSelector},
		{"what the class does not have", []uint64{1, 2, 3}, event(115, 4, "F", 7), "", call(11, 4, "far", 7), abi.SelectorUnique},
		{"a class that nobody knows", []uint64{1, 2, 3}, event(999, 4, "E", 7), "", call(99, 4, "run", 7), abi.SelectorUnique},
	} {
		asked := 0
		verified := provenOf(&asked, c.proven...)
		err := events.View(t.Context(), func(r store.Reader) error {
			page := []decoded.Event{c.event, c.event, c.event}
			plain, _, err := decoded.Decode(t.Context(), r, decoded.NewCache(1<<20), nil, page)
			if err != nil {
				return err
			}
			got, degraded, err := decoded.Decode(t.Context(), r, decoded.NewCache(1<<20), verified, page)
			if err != nil || degraded || asked > 1 {
				t.Errorf("%s: degraded %t, asked %d times, %v", c.name, degraded, asked, err)
			}
			for i, g := range got {
				if g.NameSource != c.source || g.Status == abi.Decoded && g.FieldsSource != c.source || g.Status != plain[i].Status || g.Name != plain[i].Name || len(g.Fields) != len(plain[i].Fields) {
					t.Errorf("%s: %+v, without proofs %+v", c.name, g, plain[i])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		asked = 0
		err = calls.View(t.Context(), func(r store.Reader) error {
			for _, o := range []decoded.Options{{Arguments: 1 << 20}, {}} { // with arguments, and by name alone
				plain, _, err := decoded.Calls(t.Context(), r, decoded.NewCache(1<<20), []decoded.Call{c.call}, o)
				if err != nil {
					return err
				}
				o.Verified, asked = verified, 0
				got, degraded, err := decoded.Calls(t.Context(), r, decoded.NewCache(1<<20), []decoded.Call{c.call, c.call}, o)
				if err != nil || degraded || asked > 1 {
					t.Errorf("%s: degraded %t, asked %d times, %v", c.name, degraded, asked, err)
				}
				g := got[1]
				if g.NameSource != c.called || g.FieldsSource != "" && g.FieldsSource != c.called || g.Status != plain[0].Status || g.Settled != plain[0].Settled || len(g.Fields) != len(plain[0].Fields) {
					t.Errorf("%s: the call is %+v, without proofs %+v", c.name, g, plain[0])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestProofsThatCannotBeHad: names are then those of declared classes, and the page says
// that it is degraded.
func TestProofsThatCannotBeHad(t *testing.T) {
	e := callWorld(t)
	failing := func(context.Context, store.Reader, []felt.Felt) (map[felt.Felt]bool, error) {
		return map[felt.Felt]bool{f(1): true}, errors.New("broken")
	}
	err := e.View(t.Context(), func(r store.Reader) error {
		got, degraded, err := decoded.Calls(t.Context(), r, decoded.NewCache(1<<20), []decoded.Call{call(11, 4, "own_1", 7)}, decoded.Options{Verified: failing})
		if err != nil || !degraded || got[0].NameSource != abi.ClassABI {
			t.Errorf("calls: %+v, degraded %t, %v", got, degraded, err)
		}
		events, degraded, err := decoded.Decode(t.Context(), r, decoded.NewCache(1<<20), failing, []decoded.Event{event(11, 4, "Upgraded", 7)})
		if err != nil || !degraded || events[0].NameSource != abi.CuratedSelector {
			t.Errorf("events: %+v, degraded %t, %v", events, degraded, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package pages_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chainexplorer/internal/api"
)

// TestNamesOfParts finds the label of every decoded argument on its transaction's page, and
// that parts are named by what they add to what they are set in under.
func TestNamesOfParts(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	short := map[string]string{} // what a whole label is shown as
	for n := range uint64(txBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			path := "/tx/" + b.Transactions[i].Hash.String()
			var a api.Tx
			w.Get(path, &a)
			if !slices.ContainsFunc(a.AccountCalls, func(c api.AccountCall) bool {
				return c.DecodedArguments != nil && slices.ContainsFunc(*c.DecodedArguments, func(f api.DecodedField) bool { return strings.Contains(f.Label, ".") })
			}) {
				continue
			}
			shown := argumentNames(t, w.page(path))
			for _, c := range a.AccountCalls[:min(len(a.AccountCalls), 10)] {
				if c.DecodedArguments == nil {
					continue
				}
				for _, f := range *c.DecodedArguments {
					name, found := shown[f.Label]
					if !found {
						t.Fatalf("%s has no %s: %v", path, f.Label, shown)
					}
					short[f.Label] = name
				}
			}
		}
	}
	for label, want := range map[string]string{
		"actions":                           "0 actions",
		"actions[0]":                        "1 [0]",
		"actions[0].TransferFrom.from_addr": "2 from_addr", // the value above it is TransferFrom
		"actions[2].WriteOnce.values":       "2 values",
	} {
		if short[label] != want {
			t.Errorf("%s is shown as %q, want %q", label, short[label], want)
		}
	}
}

// argumentNames are how deep decoded values are set in and what they are called on a page, by
// their whole labels.
func argumentNames(t *testing.T, page string) map[string]string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for n := range root.Descendants() {
		if n.Data != "dt" || n.Parent == nil || n.Parent.Parent == nil || attribute(n.Parent.Parent, "class") != "args" {
			continue
		}
		name := n.FirstChild.Data
		whole := attribute(n, "title")
		if whole == "" {
			whole = name
		}
		out[whole] = strings.TrimPrefix(attribute(n.Parent, "class"), "in") + " " + name
	}
	return out
}

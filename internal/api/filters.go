package api

import (
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// What the filters of lists have in common: repeated felts, compared by value,
// and a range of blocks. A refusal names the parameter as the request did.

// given is a value with the name of the parameter that brought it.
type given struct{ name, text string }

func named(name string, texts []string) []given {
	out := make([]given, len(texts))
	for i, text := range texts {
		out[i] = given{name, text}
	}
	return out
}

// feltValues reads felts in any spelling, each once. all names the filter as a
// whole, of which most are taken.
func feltValues(all string, values []given, most int) ([]felt.Felt, error) {
	var out []felt.Felt
	for _, v := range values {
		f, err := kernel.FeltOf(v.name, v.text)
		if err != nil && slices.Contains(selectorNames, v.name) && isName(v.text) {
			// Help for people who send a name where a selector belongs.
			err = kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is a name, not a selector. A name is not looked up; its selector would be %s.", v.name, kernel.Clip(v.text, 60), felt.Selector(v.text))
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
		if len(out) > most {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "%s: at most %d distinct values.", all, most)
		}
	}
	return out, nil
}

// selectorNames are the parameters that take the selector of an event.
var selectorNames = []string{"query.topic0", "query.selector", "query.key", "query.keys", "query.keys[]"}

func isName(s string) bool {
	for i, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// lastBlock is above every block that there will be.
const lastBlock = 1<<63 - 1

// blockRange reads from_block and to_block, both included. A range that is not
// bounded reaches from block 0, or to lastBlock.
func blockRange(from, to string) (first, last uint64, err error) {
	last = lastBlock
	for _, bound := range []struct {
		name, text string
		to         *uint64
	}{{"query.from_block", from, &first}, {"query.to_block", to, &last}} {
		if bound.text == "" {
			continue
		}
		n, ok := kernel.NumberOf(bound.text)
		if *bound.to = n; !ok {
			return 0, 0, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is not a block number.", bound.name, kernel.Clip(bound.text, 20))
		}
	}
	if first > last {
		return 0, 0, kernel.Fail(kernel.CodeInvalidRequest, "query.from_block: it is above to_block.")
	}
	return first, last, nil
}

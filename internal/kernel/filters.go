package kernel

import (
	"slices"

	"chainexplorer/internal/felt"
)

// What the filters of lists have in common: repeated felts, compared by value, and a
// range of blocks. A refusal names the parameter as the request did.

// Given is a value with the name of the parameter that brought it.
type Given struct {
	Name, Text string
	Selector   bool // it is the selector of an event, for which people send names
}

// Values are those of a parameter that can be repeated.
func Values(name string, texts []string) []Given {
	out := make([]Given, len(texts))
	for i, text := range texts {
		out[i] = Given{Name: name, Text: text}
	}
	return out
}

// SelectorValues are those of a parameter that takes selectors of events.
func SelectorValues(name string, texts []string) []Given {
	out := Values(name, texts)
	for i := range out {
		out[i].Selector = true
	}
	return out
}

// FeltsOf reads felts in any spelling, each once. all names the filter as a whole, of
// which most are taken.
func FeltsOf(all string, values []Given, most int) ([]felt.Felt, error) {
	var out []felt.Felt
	for _, v := range values {
		f, err := FeltOf(v.Name, v.Text)
		if err != nil && v.Selector && isName(v.Text) {
			// Help for people who send a name where a selector belongs.
			err = Fail(CodeInvalidRequest, "%s: %q is a name, not a selector. A name is not looked up; its selector would be %s.", v.Name, Clip(v.Text, 60), felt.Selector(v.Text))
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
		if len(out) > most {
			return nil, Fail(CodeInvalidRequest, "%s: at most %d distinct values.", all, most)
		}
	}
	return out, nil
}

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

// BlockRange reads from_block and to_block, both included. A range that is not
// bounded reaches from block 0, or to a block that will never be.
func BlockRange(from, to string) (first, last uint64, err error) {
	last = lastBlock
	for _, bound := range []struct {
		name, text string
		to         *uint64
	}{{"query.from_block", from, &first}, {"query.to_block", to, &last}} {
		if bound.text == "" {
			continue
		}
		n, ok := NumberOf(bound.text)
		if *bound.to = n; !ok {
			return 0, 0, Fail(CodeInvalidRequest, "%s: %q is not a block number.", bound.name, Clip(bound.text, 20))
		}
	}
	if first > last {
		return 0, 0, Fail(CodeInvalidRequest, "query.from_block: it is above to_block.")
	}
	return first, last, nil
}

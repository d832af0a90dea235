package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
)

// Kind is what a filter is about.
type Kind string

// The kinds.
const (
	Blocks       Kind = "block"
	Transactions Kind = "transaction"
	Events       Kind = "event"
	Transfers    Kind = "transfer"
	Finality     Kind = "finality"
	Forks        Kind = "fork"
)

// Kinds lists them.
var Kinds = []Kind{Blocks, Transactions, Events, Transfers, Finality, Forks}

// The bounds of a filter.
const (
	MaxAddresses = 16 // of one field
	MaxValues    = 64 // of all topics together
	// MaxFilter is the length of a filter's JSON: more than one of them takes.
	MaxFilter = 16 << 10
)

// Filter says what somebody wants to be told of. Values of one field are alternatives,
// fields must all match. Its slices are sorted and have no value twice.
type Filter struct {
	Kind Kind
	// Address is the emitter of events, a side of transfers, or, once, who has a part in
	// transactions.
	Address []felt.Felt
	// Topics are the values of an event's keys by position.
	Topics [event.Positions][]felt.Felt
	// Token, From and To are of transfers.
	Token, From, To []felt.Felt
}

// Error is what is wrong with a filter. Field is that of the filter, "" for the whole.
type Error struct{ Field, Reason string }

func (e *Error) Error() string {
	if e.Field == "" {
		return "filter: " + e.Reason
	}
	return e.Field + ": " + e.Reason
}

func wrong(field, format string, args ...any) error {
	return &Error{field, fmt.Sprintf(format, args...)}
}

// topicNames are the fields of the keys.
var topicNames = func() (out [event.Positions]string) {
	for i := range out {
		out[i] = "topic" + strconv.Itoa(i)
	}
	return out
}()

// fields are those that take felts.
func (f *Filter) fields() (names []string, values []*[]felt.Felt) {
	names = []string{"address", "token", "from", "to"}
	values = []*[]felt.Felt{&f.Address, &f.Token, &f.From, &f.To}
	for i := range f.Topics {
		names, values = append(names, topicNames[i]), append(values, &f.Topics[i])
	}
	return names, values
}

// Fields are the names of a filter's fields: those of its JSON, and of parameters.
func Fields() []string {
	names, _ := new(Filter).fields()
	return append([]string{"kind"}, names...)
}

// New makes a filter of texts by the names of its fields. It refuses what it does not know.
func New(values map[string][]string) (f Filter, err error) {
	if kind := values["kind"]; len(kind) != 1 || !slices.Contains(Kinds, Kind(kind[0])) {
		return f, wrong("kind", "it must be given once, and be one of block, transaction, event, transfer, finality and fork.")
	}
	f.Kind = Kind(values["kind"][0])
	names, into := f.fields()
	for name := range values {
		if name != "kind" && !slices.Contains(names, name) {
			return f, wrong(clip(name), "there is no such field.")
		}
	}
	for i, name := range names {
		most := MaxAddresses
		if strings.HasPrefix(name, "topic") {
			most = MaxValues
		}
		if *into[i], err = feltsOf(name, values[name], most); err != nil {
			return f, err
		}
	}
	return f, f.check()
}

func feltsOf(name string, texts []string, most int) (out []felt.Felt, err error) {
	if len(texts) > 4*most {
		return nil, wrong(name, "at most %d values.", most)
	}
	for _, text := range texts {
		v, err := felt.Parse(text)
		if err != nil {
			return nil, wrong(name, "%q is not 0x and 1 to 64 hex digits of a felt.", clip(text))
		}
		out = append(out, v)
	}
	arrange.By(out, felt.Felt.Cmp)
	if out = slices.Compact(out); len(out) > most {
		return nil, wrong(name, "at most %d values.", most)
	}
	return out, nil
}

// clip shortens what came from outside.
func clip(s string) string {
	if len(s) > 70 {
		s = s[:70]
	}
	return strings.ToValidUTF8(s, "?")
}

// takes are the fields of each kind.
var takes = map[Kind][]string{
	Transactions: {"address"},
	Events:       append([]string{"address"}, topicNames[:]...),
	Transfers:    {"token", "from", "to", "address"},
}

// check holds the fields against one another.
func (f *Filter) check() error {
	names, values := f.fields()
	topics, later := 0, ""
	for i, name := range names {
		n := len(*values[i])
		if n > 0 && !slices.Contains(takes[f.Kind], name) {
			return wrong(name, "kind %s does not take it.", f.Kind)
		}
		if strings.HasPrefix(name, "topic") {
			if topics += n; n > 0 && name != "topic0" && later == "" {
				later = name
			}
		}
	}
	switch {
	case topics > MaxValues:
		return wrong("", "at most %d values of all topics together.", MaxValues)
	case f.Kind == Transactions && len(f.Address) != 1:
		return wrong("address", "kind transaction needs one address.")
	case later != "" && len(f.Topics[0]) == 0:
		return wrong(later, "it needs topic0; an address alone is not enough.")
	case f.Kind == Events && len(f.Address) == 0 && len(f.Topics[0]) == 0:
		return wrong("", "kind event needs address or topic0.")
	case len(f.From) > 0 && len(f.To) > 0:
		return wrong("to", "it cannot be asked for together with from; take one, and look at the other side in the items.")
	case len(f.Address) > 0 && len(f.From)+len(f.To) > 0:
		return wrong("address", "it is either side, and cannot be asked for together with from or to.")
	}
	return nil
}

// Parse reads the JSON form of a filter: an object with kind and its fields, each a text or a
// list of texts.
func Parse(text []byte) (Filter, error) {
	if len(text) > MaxFilter {
		return Filter{}, wrong("", "it is longer than %d bytes.", MaxFilter)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Filter{}, wrong("", "it is not a JSON object.")
	}
	values := map[string][]string{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return Filter{}, wrong("", "it is not JSON.")
		}
		if _, twice := values[name]; twice {
			return Filter{}, wrong(clip(name), "it is given twice.")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return Filter{}, wrong("", "it is not JSON.")
		}
		if values[name], err = textsOf(raw); err != nil {
			return Filter{}, wrong(clip(name), "it is neither a text nor a list of texts.")
		}
	}
	if _, err := dec.Token(); err != nil {
		return Filter{}, wrong("", "it is not JSON.")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Filter{}, wrong("", "something follows after its JSON.")
	}
	return New(values)
}

var errNoText = errors.New("no text")

// textsOf reads a text, or a list of them. Null is none.
func textsOf(raw json.RawMessage) ([]string, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var one string
		err := json.Unmarshal(raw, &one)
		return []string{one}, err
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, s := range list {
		if s == nil {
			return nil, errNoText
		}
		out[i] = *s
	}
	return out, nil
}

// Values is what New makes the filter of.
func (f *Filter) Values() map[string][]string {
	out := map[string][]string{"kind": {string(f.Kind)}}
	names, values := f.fields()
	for i, name := range names {
		for _, v := range *values[i] {
			out[name] = append(out[name], v.String())
		}
	}
	return out
}

// MarshalJSON writes the one form that equal filters have.
func (f Filter) MarshalJSON() ([]byte, error) {
	texts := f.Values()
	out := map[string]any{"kind": f.Kind}
	for name, list := range texts {
		if name != "kind" {
			out[name] = list
		}
	}
	return json.Marshal(out) // the names in order
}

// UnmarshalJSON reads what Parse does.
func (f *Filter) UnmarshalJSON(text []byte) (err error) {
	*f, err = Parse(text)
	return err
}

// String is the JSON form: the same for equal filters.
func (f Filter) String() string {
	text, err := f.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(text)
}

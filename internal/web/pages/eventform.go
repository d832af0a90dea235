package pages

import (
	"fmt"
	"html/template"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// eventForm is a search for events as a person fills it in: names in the place of
// selectors, and keys by what they mean where the ABI of the contract tells.
type eventForm struct {
	// Of is the contract whose events are searched, where the page is about one.
	Of              *felt.Felt
	Contract, Event string
	From, To, Order string
	Keys            []keyField
	// Names are those of the events that the contract's class has.
	Names []string
	// Guessed says that the range is not the visitor's but ours, because later keys need one.
	Guessed bool
	// Keyless says that the event has no keys that could be searched for.
	Keyless bool

	shapes []abi.EventShape
	later  bool // keys behind the first are asked for
	empty  bool // nothing is asked for
	// strange are keys at positions that cannot be searched: what was meant by them is lost.
	strange []string
}

// keyField is a key at a position.
type keyField struct {
	Position    int
	Name, Value string
	Label       string
	Type        template.HTML
}

// usualKeys is how many positions the form offers; others are shown when they are given.
const usualKeys = 3

// eventFormOf reads the form of a look. The shapes of events come from the class that the
// contract has now, which is one GetMany more.
func (l *look) eventFormOf(of *felt.Felt) (*eventForm, error) {
	get := func(name string) string { return strings.TrimSpace(kernel.Clip(l.query.Get(name), 9000)) }
	f := &eventForm{Of: of, Contract: get("contract"), Event: get("event"), From: get("from_block"), To: get("to_block"), Order: get("order")}
	if of != nil {
		f.Contract = of.String()
	}
	for i := 1; i < event.Positions; i++ {
		name := "key" + strconv.Itoa(i)
		k := keyField{Position: i, Name: name, Value: get(name), Label: "Key " + strconv.Itoa(i)}
		f.later = f.later || k.Value != ""
		if i <= usualKeys || k.Value != "" {
			f.Keys = append(f.Keys, k)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		if at, ok := strings.CutPrefix(name, "key"); ok {
			if i, err := strconv.Atoi(at); err != nil || i < 1 || i >= event.Positions {
				f.strange = append(f.strange, quoted(name))
			}
		}
	}
	if len(f.strange) > 0 && l.reader != nil { // a file refuses instead
		l.remarks = append(l.remarks, f.strangeWords())
	}
	f.empty = f.Contract == "" && f.Event == "" && !f.later
	return f, f.describe(l)
}

// strangeWords say what of the keys was not understood.
func (f *eventForm) strangeWords() string {
	return counted(f.strange, "There is no key ", "There are no keys ") + " to search for: they are key1 to key" + strconv.Itoa(event.Positions-1) + ", and the first key of an event is its name."
}

// describe finds the events of the contract, if there is one. Where nothing is known the
// form is one without names. A file is made without a view, and names no keys.
func (f *eventForm) describe(l *look) error {
	list := words(f.Contract)
	if len(list) != 1 || l.reader == nil {
		return nil
	}
	address, err := felt.Parse(list[0])
	if err != nil {
		return nil //nolint:nilerr // the search will say so
	}
	found, err := contract.Identities(l.ctx, l.reader, []felt.Felt{address})
	if err != nil || found[0].Current == nil {
		return err
	}
	if f.Of == nil {
		l.shows("getContract", nil, address.String())
	}
	l.shows("getClass", url.Values{"instanceLimit": {"1"}}, found[0].Current.Class.String())
	d, err := class.Describe(l.ctx, l.reader, found[0].Current.Class)
	if err != nil || d == nil {
		return err
	}
	f.shapes = eventNames(d)
	for i := range f.shapes {
		if name := f.shapes[i].Name; !slices.Contains(f.Names, name) && len(f.Names) < shownDoors {
			f.Names = append(f.Names, name)
		}
	}
	f.label()
	return nil
}

// label says what the keys mean, of an event that the ABI describes in one way, and leaves
// out positions that it does not have.
func (f *eventForm) label() {
	shape := f.shape(f.Event)
	if shape == nil || shape.Undefined {
		return
	}
	at, certain := len(shape.Path), true
	for _, m := range shape.Members {
		if !m.Key {
			continue
		}
		for i := range f.Keys {
			if f.Keys[i].Position == at {
				f.Keys[i].Label, f.Keys[i].Type = m.Name, typeHTML(m.Type)
			}
		}
		size := keySize(m.Type)
		if certain = size > 0; !certain {
			break // where the next one stands depends on the value
		}
		at += size
	}
	if certain {
		f.Keys = slices.DeleteFunc(f.Keys, func(k keyField) bool { return k.Value == "" && (k.Position >= at || k.Position < len(shape.Path)) })
		f.Keyless = at == len(shape.Path)
	}
}

// keySize is how many keys a value of a type takes; 0 where that depends.
func keySize(typ string) int {
	switch short := shortType(typ); short {
	case "u256":
		return 2
	case "felt252", "ContractAddress", "ClassHash", "EthAddress", "bool", "bytes31", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128":
		return 1
	}
	return 0
}

// shape is the event of a name, if the class has exactly one.
func (f *eventForm) shape(name string) *abi.EventShape {
	var found *abi.EventShape
	for i := range f.shapes {
		if f.shapes[i].Name != name {
			continue
		}
		if found != nil {
			return nil
		}
		found = &f.shapes[i]
	}
	return found
}

// words splits what was typed at spaces and commas.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' || r == '\t' })
}

// identifier is what an event can be called.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

// query is the search as the API takes it. head is the newest block, by which a range is
// chosen where one is needed and none was given; nil chooses none.
func (f *eventForm) query(head *uint64) (url.Values, error) {
	q := url.Values{}
	if f.Of == nil {
		q["address"] = words(f.Contract)
	}
	names := words(f.Event)
	for _, name := range names {
		switch shape := f.shape(name); {
		case strings.HasPrefix(name, "0x"), strings.HasPrefix(name, "0X"):
			q.Add("topic0", name)
		case !identifier.MatchString(name):
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "%q is neither the name of an event nor a selector that begins with 0x.", kernel.Clip(name, 80))
		case shape != nil && len(shape.Path) > 1 && len(names) > 1:
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "The event %s stands inside another one in this class, and can only be searched for by itself.", name)
		case shape != nil:
			for i, selector := range shape.Path {
				q.Add("topic"+strconv.Itoa(i), selector.String())
				f.later = f.later || i > 0
			}
		default:
			q.Add("topic0", felt.Selector(name).String())
		}
	}
	for _, k := range f.Keys {
		topic := "topic" + strconv.Itoa(k.Position)
		if k.Value != "" && q.Has(topic) {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "Key %d is part of the name of this event: in this class it stands inside another one.", k.Position)
		}
		for _, text := range words(k.Value) {
			q.Add(topic, hexadecimal(text))
		}
	}
	if f.later && f.From == "" && f.To == "" && head != nil {
		f.Guessed = true
		f.From, f.To = strconv.FormatUint(*head-min(*head, api.MaxRangeBlocks-1), 10), strconv.FormatUint(*head, 10)
	}
	for name, value := range map[string]string{"from_block": f.From, "to_block": f.To, "order": f.Order} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q, bounds(q)
}

// hexadecimal spells a number as the API takes keys; other texts stay, and it refuses them.
func hexadecimal(text string) string {
	if text == "" || len(text) > 80 || strings.Trim(text, "0123456789") != "" {
		return text
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return text
	}
	return fmt.Sprintf("%#x", n)
}

// span is the number of blocks that are asked for, if both ends are numbers in order.
func (f *eventForm) span() (from, to uint64, ok bool) {
	from, err := strconv.ParseUint(f.From, 10, 64)
	to, err2 := strconv.ParseUint(f.To, 10, 64)
	return from, to, err == nil && err2 == nil && from <= to
}

package pages

import (
	"html/template"
	"regexp"
	"slices"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// shownDoors bounds the functions and the events that a page describes, of each kind.
const shownDoors = 300

// longestCode is how much of a name or a type of an ABI is shown.
const longestCode = 120

// abiView is what a class says of itself.
type abiView struct {
	// Why there is nothing to show, in a sentence; "" otherwise.
	Missing string
	Groups  []abiGroup
	Proxy   bool
	Cairo0  bool
}

// abiGroup is a kind of things that a class has.
type abiGroup struct {
	ID, Title, Note string
	Items           []template.HTML
	More            int // how many are left out
}

// abiOf describes a class. Functions that can be read lead to read, where that is given.
func abiOf(d *class.Description, read string) abiView {
	if d == nil {
		return abiView{Missing: "The code of this class has not been fetched from a node yet, or what the nodes gave does not have its hash. What it can do is not known."}
	}
	v := abiView{Proxy: d.Proxy, Cairo0: d.Kind == class.Cairo0}
	if d.Status != class.Ready {
		v.Missing = "The class was declared without an ABI that can be read: its entry points have no names."
	}
	var views, changing, unsaid []template.HTML
	external := byName(d.External)
	for i := range external {
		door := &external[i]
		switch {
		case door.Mutability == class.View:
			views = append(views, signature(door, read))
		case door.Name == "":
			unsaid = append(unsaid, signature(door, ""))
		default:
			changing = append(changing, signature(door, ""))
		}
	}
	v.add("reads", "Reads", "They change nothing, as the ABI declares.", views)
	v.add("changes", "Changes", "They are called by transactions.", changing)
	v.add("nameless", "Without a name", "The ABI does not describe these entry points.", unsaid)
	v.add("handlers", "Handlers of messages from L1", "", signatures(byName(d.L1Handlers)))
	v.add("constructor", "Constructor", "", signatures(d.Constructors))
	var events []template.HTML
	shapes := eventNames(d)
	for i := range shapes {
		events = append(events, eventSignature(&shapes[i]))
	}
	v.add("event-types", "Events", "Values that can be searched for are marked as keys.", events)
	return v
}

func (v *abiView) add(id, title, note string, items []template.HTML) {
	if len(items) == 0 {
		return
	}
	shown := items[:min(len(items), shownDoors)]
	v.Groups = append(v.Groups, abiGroup{id, title, note, shown, len(items) - len(shown)})
}

// byName sorts entry points as people look for them.
func byName(doors []class.Door) []class.Door {
	doors = slices.Clone(doors)
	arrange.StablyBy(doors, func(a, b class.Door) int { return strings.Compare(a.Name, b.Name) })
	return doors
}

func signatures(doors []class.Door) (out []template.HTML) {
	for i := range doors {
		out = append(out, signature(&doors[i], ""))
	}
	return out
}

// signature is a function in a line of code. What is in it comes from the chain.
func signature(d *class.Door, read string) template.HTML {
	var b strings.Builder
	selector := d.Selector.String()
	b.WriteString(`<code class="signature" data-value="` + selector + `" title="selector ` + selector + `">`)
	name := code(d.Name)
	if d.Name == "" {
		name = selector
	}
	if read != "" && d.Name != "" {
		b.WriteString(`<a href="` + template.HTMLEscapeString(withQuery(read, map[string][]string{"function": {kernel.Clip(d.Name, 255)}})) + `#result" rel="nofollow">` + name + `</a>`)
	} else {
		b.WriteString(`<b>` + name + `</b>`)
	}
	b.WriteByte('(')
	params(&b, d.Inputs)
	b.WriteByte(')')
	if len(d.Outputs) > 0 {
		b.WriteString(` → `)
		params(&b, d.Outputs)
	}
	b.WriteString(`</code>`)
	return template.HTML(b.String()) //nolint:gosec // escaped by code
}

func params(b *strings.Builder, list []abi.Param) {
	for i, p := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		param(b, p.Name, p.Type)
	}
}

func param(b *strings.Builder, name, typ string) {
	if name != "" {
		b.WriteString(code(name) + ": ")
	}
	b.WriteString(string(typeHTML(typ)))
}

// eventSignature is an event in a line of code.
func eventSignature(e *abi.EventShape) template.HTML {
	var b strings.Builder
	b.WriteString(`<code class="signature" data-value="` + pathText(e.Path) + `" title="keys begin with ` + pathText(e.Path) + `"><b>` + code(e.Name) + `</b>(`)
	if e.Undefined {
		b.WriteString(`<span class="unknown">what it holds is not described</span>`)
	}
	for i, m := range e.Members {
		if i > 0 {
			b.WriteString(", ")
		}
		param(&b, m.Name, m.Type)
		if m.Key {
			b.WriteString(` <span class="soft">key</span>`)
		}
	}
	b.WriteString(`)</code>`)
	return template.HTML(b.String()) //nolint:gosec // escaped by code
}

// pathText spells the selectors of an event.
func pathText(path []felt.Felt) string {
	out := make([]string, len(path))
	for i := range path {
		out[i] = path[i].String()
	}
	return strings.Join(out, ",")
}

// modules is the way to a type, which people need not see.
var modules = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*::`)

// shortType is a type without the modules that it stands in.
func shortType(s string) string {
	if s == abi.Unsaid {
		return "…"
	}
	return modules.ReplaceAllString(strings.ReplaceAll(s, "::<", "<"), "")
}

// typeHTML is a type in short, whole in its title.
func typeHTML(s string) template.HTML {
	full, _ := cleanText(s, 4*longestCode)
	return template.HTML(`<span class="type" title="` + template.HTMLEscapeString(full) + `">` + code(shortType(s)) + `</span>`) //nolint:gosec // escaped
}

// code is a name or a type of an ABI, cleaned, cut and escaped.
func code(s string) string {
	text, _ := cleanText(s, longestCode)
	return template.HTMLEscapeString(text)
}

// eventNames are the names of a class's events, each once, in alphabetical order.
func eventNames(d *class.Description) (out []abi.EventShape) {
	if d == nil {
		return nil
	}
	out = slices.Clone(d.Shapes)
	arrange.StablyBy(out, func(a, b abi.EventShape) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b abi.EventShape) bool { return a.Name == b.Name && slices.Equal(a.Path, b.Path) })
}

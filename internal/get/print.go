package get

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chainexplorer/client"
)

// member is one of an object, in the order of the answer.
type member struct {
	name  string
	value json.RawMessage
}

// object reads the members of one; nil when it is none.
func object(raw json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	out := []member{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		text, ok := name.(string)
		if !ok {
			return nil
		}
		out = append(out, member{text, value})
	}
	return out
}

// harmless is a text without power over a terminal.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// scalar is the text of a value that is no list and no object.
func scalar(raw json.RawMessage) (text string, ok bool) {
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[':
		return "", false
	case raw[0] == '"':
		if json.Unmarshal(raw, &text) != nil {
			return "", false
		}
		return harmless(text), true
	case string(raw) == "null":
		return "–", true
	}
	return string(raw), true
}

// short is a felt as a terminal shows it: the whole one is in --json.
func short(text string) string {
	if len(text) < 20 || !strings.HasPrefix(text, "0x") || strings.Trim(text[2:], "0123456789abcdefABCDEF") != "" {
		return text
	}
	return text[:8] + "…" + text[len(text)-6:]
}

// printJSON prints an answer in full. What is not graphic is escaped, which is the same JSON.
func printJSON(con *Console, raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(con.Out, escaped(b.String()))
	return err
}

func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsGraphic(r) || r == '\n':
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// printValue prints an answer for people: names and values below one another, lists of
// objects as tables.
func printValue(con *Console, raw json.RawMessage) error {
	var b strings.Builder
	var more string
	members := object(raw)
	for _, m := range members {
		if m.name == "nextCursor" && len(m.value) > 0 && m.value[0] == '"' {
			text, _ := scalar(m.value)
			more = text
		}
	}
	// A page is its items.
	if i := slices.IndexFunc(members, func(m member) bool { return m.name == "items" }); i >= 0 && slices.ContainsFunc(members, func(m member) bool { return m.name == "nextCursor" }) {
		var items []json.RawMessage
		if json.Unmarshal(members[i].value, &items) == nil {
			t := &table{width: con.Width}
			for _, item := range items {
				t.add(item)
			}
			t.write(&b, "")
			if len(items) == 0 {
				b.WriteString("Nothing.\n")
			}
			members = nil
		}
	}
	section(&b, con.Width, "", members)
	if _, err := io.WriteString(con.Out, b.String()); err != nil || more == "" {
		return err
	}
	_, err := fmt.Fprintf(con.Err, "There is more: --all goes over all pages, --cursor %s goes on after these.\n", more)
	return err
}

// section prints members, and what is inside of them.
func section(b *strings.Builder, width int, indent string, members []member) {
	widest := 0
	for _, m := range members {
		if _, ok := scalar(m.value); ok {
			widest = max(widest, len(m.name))
		}
	}
	for _, m := range members {
		text, ok := scalar(m.value)
		if ok {
			fmt.Fprintf(b, "%s%-*s  %s\n", indent, widest, harmless(m.name), text)
			continue
		}
		if inner := object(m.value); inner != nil {
			fmt.Fprintf(b, "%s%s\n", indent, harmless(m.name))
			section(b, width, indent+"  ", inner)
			continue
		}
		var items []json.RawMessage
		if json.Unmarshal(m.value, &items) != nil {
			continue
		}
		list(b, width, indent, m.name, items)
	}
}

// maxScalars is how many plain values of a list are shown.
const maxScalars = 16

func list(b *strings.Builder, width int, indent, name string, items []json.RawMessage) {
	if len(items) == 0 {
		fmt.Fprintf(b, "%s%s  none\n", indent, harmless(name))
		return
	}
	if object(items[0]) != nil {
		fmt.Fprintf(b, "%s%s (%d)\n", indent, harmless(name), len(items))
		t := &table{width: max(width-len(indent)-2, 0)}
		if width == 0 {
			t.width = 0
		}
		for _, item := range items {
			t.add(item)
		}
		t.write(b, indent+"  ")
		return
	}
	fmt.Fprintf(b, "%s%s (%d)\n", indent, harmless(name), len(items))
	for i, item := range items {
		if i == maxScalars && width > 0 {
			fmt.Fprintf(b, "%s  … %d more: --json has all\n", indent, len(items)-i)
			return
		}
		text, ok := scalar(item)
		if !ok {
			text = harmless(string(item))
		}
		fmt.Fprintf(b, "%s  %s\n", indent, text)
	}
}

// printer prints items one after the other.
type printer struct {
	con   *Console
	json  bool
	csv   *csv.Writer
	names []string // of the columns, when the first item was seen
	table *table
}

// batch is how many rows are laid out together.
const batch = 100

func newPrinter(f *Flags, con *Console) *printer {
	p := &printer{con: con, json: f.JSON}
	switch {
	case f.CSV:
		p.csv = csv.NewWriter(con.Out)
	case !f.JSON:
		p.table = &table{width: con.Width}
	}
	return p
}

func (p *printer) item(raw json.RawMessage) error {
	switch {
	case p.json:
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return fmt.Errorf("an item cannot be read: %w", err)
		}
		_, err := io.WriteString(p.con.Out, escaped(b.String())+"\n")
		return err
	case p.csv != nil:
		return p.row(raw)
	}
	if p.table.add(raw); len(p.table.rows) < batch {
		return nil
	}
	return p.flush()
}

// row writes a line of CSV. What spreadsheets would take for a formula is quoted for them.
func (p *printer) row(raw json.RawMessage) error {
	members := object(raw)
	if p.names == nil {
		for _, m := range members {
			p.names = append(p.names, m.name)
		}
		if err := p.csv.Write(p.names); err != nil {
			return err
		}
	}
	cells := make([]string, len(p.names))
	for _, m := range members {
		i := slices.Index(p.names, m.name)
		if i < 0 {
			return fmt.Errorf("an item has %s, which the first one has not: use --json", m.name)
		}
		switch text, ok := scalar(m.value); {
		case string(m.value) == "null":
		case ok:
			cells[i] = text
		default:
			cells[i] = escaped(string(m.value))
		}
		if m.value[0] == '"' && formula(cells[i]) {
			cells[i] = "'" + cells[i]
		}
	}
	return p.csv.Write(cells)
}

// formula says whether a spreadsheet would compute a text. Some pass over the spaces in
// front, and take the wide forms of the signs for the signs. A number with a sign is none.
func formula(text string) bool {
	text = strings.TrimLeft(text, " ")
	first, size := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("=+-@＝＋－＠", first) && strings.Trim(text[size:], "0123456789") != ""
}

func (p *printer) undone(upto client.Ref) error {
	if p.json {
		text, err := json.Marshal(map[string]client.Ref{"undoneAfter": upto})
		if err == nil {
			_, err = fmt.Fprintf(p.con.Out, "%s\n", text)
		}
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.con.Out, "A fork: what came after block %d is undone.\n", upto.Number)
	return err
}

func (p *printer) flush() error {
	switch {
	case p.csv != nil:
		p.csv.Flush()
		return p.csv.Error()
	case p.table == nil:
		return nil
	}
	var b strings.Builder
	p.table.write(&b, "")
	p.table.rows = nil
	_, err := io.WriteString(p.con.Out, b.String())
	return err
}

func (p *printer) end() error { return p.flush() }

package abi

import (
	"errors"
	"fmt"
	"strings"
)

// Values as people write them: 1, 0x1f, true, 'short', "text", [1, 2], (1, 2),
// {name: 1}, Some(1).

type literalKind uint8

const (
	litWord    literalKind = iota // text is a number or a name
	litText                       // text stood in double quotes
	litShort                      // text stood in single quotes
	litList                       // items in brackets
	litTuple                      // items in parentheses
	litRecord                     // items in braces, with names
	litVariant                    // text is a name, and the only item follows in parentheses
)

type literal struct {
	kind  literalKind
	text  string
	items []literal
	names []string
}

// parseLiteral reads one value and nothing behind it.
func parseLiteral(text string) (literal, error) {
	p := &literalParser{rest: text}
	v, err := p.value(0)
	if err != nil {
		return v, err
	}
	if p.space(); p.rest != "" {
		return v, fmt.Errorf("ends too late: %.20q is left over", p.rest)
	}
	return v, nil
}

type literalParser struct{ rest string }

func (p *literalParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take eats a character if it comes next.
func (p *literalParser) take(c byte) bool {
	p.space()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *literalParser) value(depth int) (literal, error) {
	if depth > MaxDepth {
		return literal{}, errors.New("is nested too deeply")
	}
	p.space()
	if p.rest == "" {
		return literal{}, errors.New("is missing")
	}
	switch p.rest[0] {
	case '"':
		return p.quoted('"', litText)
	case '\'':
		return p.quoted('\'', litShort)
	}
	switch {
	case p.take('['):
		return p.items(literal{kind: litList}, ']', depth)
	case p.take('('):
		return p.items(literal{kind: litTuple}, ')', depth)
	case p.take('{'):
		return p.items(literal{kind: litRecord}, '}', depth)
	}
	v := literal{kind: litWord, text: p.word()}
	if v.text == "" {
		return v, fmt.Errorf("has %.1q where a value should be", p.rest)
	}
	if !p.take('(') {
		return v, nil
	}
	v.kind = litVariant
	v, err := p.items(v, ')', depth)
	if err == nil && len(v.items) != 1 {
		return literal{kind: litVariant, text: v.text, items: []literal{{kind: litTuple, items: v.items}}}, nil
	}
	return v, err
}

func (p *literalParser) word() string {
	p.space()
	i := strings.IndexFunc(p.rest, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if i < 0 {
		i = len(p.rest)
	}
	w := p.rest[:i]
	p.rest = p.rest[i:]
	return w
}

// quoted reads a text up to the next quote; a backslash lets through what follows it.
func (p *literalParser) quoted(quote byte, kind literalKind) (literal, error) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\' && i+1 < len(p.rest):
			i++
			b.WriteByte(p.rest[i])
		case c == quote:
			p.rest = p.rest[i+1:]
			return literal{kind: kind, text: b.String()}, nil
		default:
			b.WriteByte(c)
		}
	}
	return literal{}, fmt.Errorf("has no closing %c", quote)
}

// items reads a list up to its end; that of a record has names.
func (p *literalParser) items(v literal, end byte, depth int) (literal, error) {
	for first := true; !p.take(end); first = false {
		if !first && !p.take(',') {
			return v, fmt.Errorf("needs a comma or %c after a value", end)
		}
		if !first && p.take(end) { // a comma behind the last one
			return v, nil
		}
		if v.kind == litRecord {
			name := p.word()
			if name == "" && p.rest != "" && p.rest[0] == '"' {
				q, err := p.quoted('"', litText)
				if err != nil {
					return v, err
				}
				name = q.text
			}
			if name == "" || !p.take(':') {
				return v, errors.New("needs a name and a colon in front of each value in braces")
			}
			v.names = append(v.names, name)
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

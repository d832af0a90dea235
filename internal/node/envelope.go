package node

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// This file finds the answers in a JSON-RPC body in one pass: it checks that
// the whole body is valid JSON and returns the parts as slices of it, without
// copying or building values. Checking here, and not only where results are
// decoded, is what lets a broken body be asked for again from another node.

// envelope is one answer. Parts that were absent are nil.
type envelope struct {
	id     json.RawMessage
	result json.RawMessage
	err    json.RawMessage
}

// maxDepth bounds nesting. The deepest real answers, traces, stay below 200.
const maxDepth = 1024

// scanEnvelopes reads a body that holds one answer, or an array of at most
// limit answers (batch is then true).
func scanEnvelopes(body []byte, limit int) (envs []envelope, batch bool, err error) {
	i := skipSpace(body, 0)
	if i == len(body) {
		return nil, false, malformed("empty body", i)
	}
	if body[i] != '[' {
		envs = make([]envelope, 1)
		if i, err = scanEnvelope(body, i, &envs[0]); err != nil {
			return nil, false, err
		}
		return envs, false, atEnd(body, i)
	}
	envs = make([]envelope, 0, min(limit, 128))
	i = skipSpace(body, i+1)
	if i < len(body) && body[i] == ']' {
		return envs, true, atEnd(body, i+1)
	}
	for {
		if len(envs) == limit {
			return nil, true, malformed("more answers than questions", i)
		}
		envs = append(envs, envelope{})
		if i, err = scanEnvelope(body, skipSpace(body, i), &envs[len(envs)-1]); err != nil {
			return nil, true, err
		}
		i = skipSpace(body, i)
		switch {
		case i < len(body) && body[i] == ',':
			i++
		case i < len(body) && body[i] == ']':
			return envs, true, atEnd(body, i+1)
		default:
			return nil, true, malformed("array not closed", i)
		}
	}
}

func atEnd(b []byte, i int) error {
	if i = skipSpace(b, i); i != len(b) {
		return malformed("text after the answer", i)
	}
	return nil
}

// scanEnvelope reads the object at i. A member that decides the answer may
// come once only: two would mean different things to different readers.
func scanEnvelope(b []byte, i int, e *envelope) (int, error) {
	if i >= len(b) || b[i] != '{' {
		return i, malformed("answer is not an object", i)
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != '"' {
			return i, malformed("member name expected", i)
		}
		start := i
		end, plain, err := skipString(b, i+1)
		if err != nil {
			return i, err
		}
		key := b[start+1 : end-1]
		if !plain {
			var s string
			if err := json.Unmarshal(b[start:end], &s); err != nil {
				return i, malformed("member name", i)
			}
			key = []byte(s)
		}
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return i, malformed("colon expected", i)
		}
		i = skipSpace(b, i+1)
		start = i
		if i, err = skipValue(b, i); err != nil {
			return i, err
		}
		var part *json.RawMessage
		switch string(key) {
		case "id":
			part = &e.id
		case "result":
			part = &e.result
		case "error":
			part = &e.err
		}
		if part != nil {
			if *part != nil {
				return start, malformed("member given twice", start)
			}
			*part = b[start:i:i]
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i++
		case i < len(b) && b[i] == '}':
			return i + 1, nil
		default:
			return i, malformed("object not closed", i)
		}
	}
}

// skipValue checks the value at i and returns the place after it. It keeps the
// kinds of the open brackets as bits, so depth costs no memory.
func skipValue(b []byte, i int) (int, error) {
	const (
		wantValue = iota
		wantKey
		wantNext
	)
	var objects [maxDepth / 64]uint64
	depth := 0
	state := wantValue
	for {
		if i = skipSpace(b, i); i >= len(b) {
			return i, malformed("body ends early", i)
		}
		switch state {
		case wantValue:
			var err error
			switch c := b[i]; c {
			case '"':
				if i, _, err = skipString(b, i+1); err != nil {
					return i, err
				}
			case '{', '[':
				if depth == maxDepth {
					return i, malformed("nested too deep", i)
				}
				word, bit := depth/64, uint64(1)<<(depth%64)
				if c == '{' {
					objects[word] |= bit
					state = wantKey
				} else {
					objects[word] &^= bit
				}
				depth++
				i = skipSpace(b, i+1)
				if i >= len(b) || b[i] != c+2 { // '}' is '{'+2 and ']' is '['+2
					continue
				}
				i++
				depth--
			case 't':
				i, err = skipWord(b, i, "true")
			case 'f':
				i, err = skipWord(b, i, "false")
			case 'n':
				i, err = skipWord(b, i, "null")
			default:
				i, err = skipNumber(b, i)
			}
			if err != nil {
				return i, err
			}
			if depth == 0 {
				return i, nil
			}
			state = wantNext
		case wantKey:
			if b[i] != '"' {
				return i, malformed("member name expected", i)
			}
			var err error
			if i, _, err = skipString(b, i+1); err != nil {
				return i, err
			}
			if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
				return i, malformed("colon expected", i)
			}
			i++
			state = wantValue
		case wantNext:
			object := objects[(depth-1)/64]&(1<<((depth-1)%64)) != 0
			switch {
			case b[i] == ',':
				state = wantValue
				if object {
					state = wantKey
				}
			case b[i] == '}' && object, b[i] == ']' && !object:
				if depth--; depth == 0 {
					return i + 1, nil
				}
			default:
				return i, malformed("comma or closing bracket expected", i)
			}
			i++
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString takes the place after the opening quote and returns the place
// after the closing one; plain is false if there was an escape. Eight bytes
// are looked at together: nearly all of a block is hex text.
func skipString(b []byte, i int) (end int, plain bool, err error) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	plain = true
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			// With its second bit turned a quote is 0x20, just above the control
			// characters, which stay among themselves: one comparison finds both.
			low := w ^ ones*2
			slash := w ^ ones*'\\'
			hit := ((low-ones*0x21)&^low | (slash-ones)&^slash) & highs
			if hit != 0 {
				// Only the lowest hit is sure; that is the one needed.
				i += bits.TrailingZeros64(hit) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, plain, malformed("body ends inside a string", i)
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, plain, nil
		case c == '\\':
			plain = false
			if i, err = skipEscape(b, i+1); err != nil {
				return i, plain, err
			}
		case c < 0x20:
			return i, plain, malformed("control character in a string", i)
		default:
			i++
		}
	}
}

func skipEscape(b []byte, i int) (int, error) {
	if i >= len(b) {
		return i, malformed("body ends inside a string", i)
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1, nil
	case 'u':
		if i+5 > len(b) {
			return i, malformed("body ends inside a string", i)
		}
		for _, c := range b[i+1 : i+5] {
			if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
				return i, malformed("bad escape", i)
			}
		}
		return i + 5, nil
	}
	return i, malformed("bad escape", i)
}

func skipWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, malformed("unknown word", i)
	}
	return i + len(word), nil
}

func skipNumber(b []byte, i int) (int, error) {
	at := i
	if b[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return at, malformed("value expected", at)
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return at, malformed("bad number", at)
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return at, malformed("bad number", at)
		}
	}
	return i, nil
}

func malformed(what string, at int) error {
	return fmt.Errorf("%w: %s at byte %d", ErrMalformed, what, at)
}

package cairoproject

import (
	"bytes"

	"github.com/BurntSushi/toml"
)

// table is one of TOML.
type table = map[string]any

// maxKey bounds a key with all that it stands in, as it is written, where every dot and bracket counts for part
// bytes. The parser keeps all of that for every key, so that a text of some hundred thousand bytes that has one key
// in the other, or many in a long one, would take all the memory there is.
const (
	maxKey = 256
	part   = 8
)

func parse(data []byte) (t table, err error) {
	if keysTooLong(data) {
		return nil, refuse(Invalid, "a manifest or lock file is nested too deep, or has keys that are too long")
	}
	defer func() {
		if recover() != nil { // its way to say that it has a bug: nothing that a source may end the program with
			t, err = nil, refuse(Invalid, "a manifest or lock file is not TOML")
		}
	}()
	t = table{}
	if err := toml.Unmarshal(data, &t); err != nil {
		return nil, refuse(Invalid, "a manifest or lock file is not TOML") // the parser's text quotes the source
	}
	return t, nil
}

// keysTooLong says whether a text has a key that is longer than maxKey, with the keys and brackets that it stands
// in, or a name of a table that is. It reads as the parser does up to where that finds a mistake; what follows a
// mistake makes no difference.
func keysTooLong(data []byte) bool {
	type level struct{ start, before int }
	var open []level
	at := level{} // where what is being read began, and the bytes of what it stands in
	for i := 0; i < len(data); i++ {
		long := at.before+i-at.start > maxKey
		switch c := data[i]; c {
		case '"', '\'':
			i = stringEnd(data, i)
		case '#':
			from := i
			if i += bytes.IndexAny(data[i:], "\r\n") - 1; i < from {
				return false // to the end
			}
			at.start += i + 1 - from
		case ' ', '\t':
			at.start++
		case '\r', '\n':
			if at.start++; len(open) == 0 {
				at.start = i + 1
			}
		case ',':
			at.start = i + 1
		case '.', '=':
			if long {
				return true
			}
			at.start -= part - 1
		case '[', '{':
			if long {
				return true
			}
			open = append(open, at)
			at = level{start: i + 1, before: at.before + i - at.start + part}
		case ']', '}':
			// With nothing but brackets before it, this ends the name of a table.
			if long && at.before == part*len(open) {
				return true
			}
			if n := len(open); n > 0 {
				at, open = open[n-1], open[:n-1]
			}
		}
	}
	return false
}

// stringEnd returns where the string that begins at i ends: at its last quote, or where the parser sees that it has none.
func stringEnd(data []byte, i int) int {
	quote := data[i]
	three := []byte{quote, quote, quote}
	if !bytes.HasPrefix(data[i:], three) {
		for i++; i < len(data) && data[i] != quote && data[i] != '\n' && data[i] != '\r'; i++ {
			if data[i] == '\\' && quote == '"' {
				i++
			}
		}
		return i
	}
	for i += 3; i < len(data); i++ {
		if data[i] == '\\' && quote == '"' {
			i++
			continue
		}
		if bytes.HasPrefix(data[i:], three) {
			for i += 2; i+1 < len(data) && data[i+1] == quote; { // of which up to two more are the string's own
				i++
			}
			return i
		}
	}
	return i
}

package clientgen

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// initialisms are written as Go writes them.
var initialisms = map[string]string{"Id": "ID", "Ids": "IDs", "Url": "URL", "Usd": "USD", "Abi": "ABI", "Api": "API", "Rpc": "RPC", "Json": "JSON", "Http": "HTTP", "Tvl": "TVL", "Iso": "ISO", "Slo": "SLO", "Utc": "UTC", "Nft": "NFT"}

// GoName is the exported Go name of one of the API: fromBlock and from_block are FromBlock.
func GoName(name string) string {
	var out strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' }) {
		runes := []rune(word)
		runes[0] = unicode.ToUpper(runes[0])
		start := 0
		for i := 1; i <= len(runes); i++ {
			if i < len(runes) && !(unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1])) {
				continue
			}
			part := string(runes[start:i])
			if full, ok := initialisms[part]; ok {
				part = full
			}
			out.WriteString(part)
			start = i
		}
	}
	return out.String()
}

// argument is the name of a parameter in Go.
func argument(name string) string {
	out := []rune(GoName(name))
	out[0] = unicode.ToLower(out[0])
	return string(out)
}

// comment writes a doc comment that begins with a name.
func comment(b io.Writer, name, text string) {
	lead := "is"
	if strings.HasPrefix(text, lead+" ") {
		text = name + " " + text
	} else {
		text = name + ": " + text
	}
	for line := range strings.Lines(wrap(text)) {
		fmt.Fprintf(b, "// %s\n", strings.TrimRight(line, "\n"))
	}
}

// wrap breaks a text into lines of about ninety letters.
func wrap(text string) string {
	var out strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case n == 0:
		case n+1+len(word) > 90:
			out.WriteByte('\n')
			n = 0
		default:
			out.WriteByte(' ')
			n++
		}
		out.WriteString(word)
		n += len(word)
	}
	return out.String()
}

package pages

import (
	"encoding/hex"
	"regexp"
	"strings"
)

// What is shown of a revert reason, which contracts write as they like.
const (
	reasonLines  = 60
	reasonLetter = 400 // of a line
	reasonBytes  = 16 << 10
)

// reason is why a transaction was reverted, made readable.
type reason struct {
	// Short is what the innermost failure says, where it says something.
	Short string
	// Lines are all of it, and Cut says that there are more.
	Lines []string
	Cut   bool
}

// reasonOf breaks a reason into lines and writes felts that are texts as texts.
func reasonOf(text string) (r reason) {
	if len(text) > reasonBytes {
		text, r.Cut = text[:reasonBytes], true
	}
	text = strings.ReplaceAll(text, `\n`, "\n") // some nodes hand the escape on
	for line := range strings.SplitSeq(text, "\n") {
		if len(r.Lines) == reasonLines {
			r.Cut = true
			break
		}
		line, short := readable(line)
		if short != "" {
			r.Short = short
		}
		if line, _ = cleanText(line, reasonLetter); line != "" {
			r.Lines = append(r.Lines, line)
		}
	}
	if r.Short == "" && len(r.Lines) > 0 {
		r.Short = r.Lines[len(r.Lines)-1]
	}
	r.Short, _ = cleanText(r.Short, 120)
	return r
}

var (
	hexRun = regexp.MustCompile(`0x[0-9a-fA-F]{6,64}`)
	// spelled is a felt whose text the node has added itself.
	spelled = regexp.MustCompile(`^ ?\('([^']*)'\)`)
)

// dull are words of errors that only say where others happened.
var dull = map[string]bool{"ENTRYPOINT_FAILED": true, "argent/multicall-failed": true, "multicall-failed": true, "": true}

// readable adds to each felt that is a text what it says. short is the last such text that
// tells more than that something failed.
func readable(line string) (out, short string) {
	var b strings.Builder
	last := 0
	for _, at := range hexRun.FindAllStringIndex(line, -1) {
		b.WriteString(line[last:at[1]])
		last = at[1]
		if m := spelled.FindStringSubmatch(line[last:]); m != nil {
			if !dull[m[1]] {
				short = m[1]
			}
			continue
		}
		if text, ok := shortString(line[at[0]+2 : at[1]]); ok {
			b.WriteString(" ('" + text + "')")
			if !dull[text] {
				short = text
			}
		}
	}
	b.WriteString(line[last:])
	return b.String(), short
}

// shortString is the text that a felt spells: printable ASCII, of three letters and more.
func shortString(digits string) (string, bool) {
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) < 3 || len(raw) > 31 {
		return "", false
	}
	letters := 0
	for _, c := range raw {
		if c < 0x20 || c > 0x7e {
			return "", false
		}
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			letters++
		}
	}
	return string(raw), 2*letters >= len(raw)
}

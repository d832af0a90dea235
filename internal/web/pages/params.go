package pages

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/kernel"
)

// A page says which parameters it takes when it is registered. It is made without the others
// and says so on its top: a misspelt filter shows more than was asked for, and whoever looks
// should know. A name that ends with + may be given more than once, and one that ends with #
// has a number behind it.

const (
	// mostUnknown is how many parameters a page names that it does not know, and
	// longestParameter how much of each.
	mostUnknown, longestParameter = 5, 30
)

// understand keeps of the query what the page takes, and remarks on the rest.
func (l *look) understand(names []string) {
	var unknown, repeated []string
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		known, many := takes(names, name)
		switch values := l.query[name]; {
		case !known:
			delete(l.query, name)
			unknown = append(unknown, quoted(name))
		case len(values) > 1 && !many:
			l.query[name] = values[:1]
			repeated = append(repeated, quoted(name))
		}
	}
	switch {
	case len(unknown) == 0:
	case l.Chain == "" && len(names) == 0: // the names may be a token of something, see sheet.plain
		l.remarks = append(l.remarks, "This page takes no parameters, and was made without those that were given.")
	default:
		l.remarks = append(l.remarks, "This page does not know "+counted(unknown, "the parameter ", "the parameters ")+", and was made without. "+takenWords(names))
	}
	if len(repeated) > 0 {
		l.remarks = append(l.remarks, counted(repeated, "The parameter ", "The parameters ")+" can be given once: the first value counts.")
	}
}

// takes says whether a page takes a parameter, and whether more than once.
func takes(names []string, name string) (known, many bool) {
	for _, n := range names {
		if base, numbered := strings.CutSuffix(n, "#"); numbered {
			if rest, ok := strings.CutPrefix(name, base); ok && digits.MatchString(rest) {
				return true, false
			}
		}
		if base, several := strings.CutSuffix(n, "+"); base == name {
			return true, several
		}
	}
	return false, false
}

var digits = regexp.MustCompile(`^(0|[1-9][0-9]{0,2})$`)

// takenWords tell which parameters a page takes.
func takenWords(names []string) string {
	if len(names) == 0 {
		return "It takes none."
	}
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = strings.TrimRight(n, "+")
		if base, numbered := strings.CutSuffix(n, "#"); numbered {
			words[i] = base + "1, " + base + "2 …"
		}
	}
	return "It takes " + kernel.Listed(words) + "."
}

// quoted is a name that somebody made up, fit for a line of text.
func quoted(name string) string {
	clean, _ := cleanText(name, longestParameter)
	return "“" + clean + "”"
}

// counted lists names behind a word for one or for several, and bounds them.
func counted(names []string, one, several string) string {
	if len(names) == 1 {
		return one + names[0]
	}
	if rest := len(names) - mostUnknown; rest > 0 {
		names = append(slices.Clone(names[:mostUnknown]), strconv.Itoa(rest)+" more")
	}
	return several + kernel.Listed(names)
}

// blockText is how people and links write a block: a number without sign, point and exponent,
// a hash, or a word such as latest.
var blockText = regexp.MustCompile(`^([0-9]+|0[xX][0-9a-fA-F]+|[a-z][a-z_0-9]*)$`)

// block is the block that a parameter names, as the routes take it; "" where it is not given.
// The API also takes numbers as programs write them, such as 1e3, which no person means.
func (l *look) block(name string) (string, error) {
	text := strings.TrimSpace(l.query.Get(name))
	if text != "" && !blockText.MatchString(text) {
		return "", notABlock("query."+name, text)
	}
	return text, nil
}

func notABlock(name, text string) error {
	return kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is neither the number of a block nor its hash.", name, kernel.Clip(text, 70))
}

// bounds checks the parameters that name the blocks of a range.
func bounds(q url.Values) error {
	for _, name := range []string{"from_block", "to_block"} {
		if text := q.Get(name); text != "" && strings.Trim(text, "0123456789") != "" {
			return kernel.Fail(kernel.CodeInvalidRequest, "query.%s: %q is not the number of a block.", name, kernel.Clip(text, 20))
		}
	}
	return nil
}

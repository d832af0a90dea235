package voyager

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// call is a request for an endpoint.
type call struct {
	*endpoint
	chain  string
	w      http.ResponseWriter
	r      *http.Request
	caller *kernel.Caller
	// given are the parameters other than p and ps, those without a value left out.
	given map[string]string
	p     uint64 // from 1
	ps    int
}

// maxPage bounds the numbers of pages, so that those of rows fit.
const maxPage = 1 << 40

// emptyIsNone are parameters that clients send without a value where they mean none.
var emptyIsNone = []string{"block", "type"}

// parse reads the query. What is not known is refused: a misspelt filter must not widen an answer.
func (c *call) parse(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return invalid("The query is not well-formed.")
	}
	known := c.params
	if c.paged {
		known = append([]string{"p", "ps"}, known...)
	}
	c.given, c.p, c.ps = map[string]string{}, 1, 25
	for name, values := range query {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return invalid("There is no parameter %q; this path has none.", kernel.Clip(name, 40))
		case !slices.Contains(known, name):
			return invalid("There is no parameter %q; this path has %s.", kernel.Clip(name, 40), kernel.Listed(known))
		case len(values) > 1:
			return invalid("%s can be given once.", name)
		case values[0] == "" && slices.Contains(emptyIsNone, name):
			continue
		case values[0] == "":
			return invalid("%s has no value. Leave it out instead.", name)
		}
		c.given[name] = values[0]
	}
	return c.parsePage()
}

func (c *call) parsePage() error {
	if text, ok := c.take("p"); ok {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < 1 || n > maxPage {
			return invalid("p: %q is not the number of a page, from 1.", kernel.Clip(text, 40))
		}
		c.p = n
	}
	if text, ok := c.take("ps"); ok {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n < 1 {
			return invalid("ps: %q is not the size of a page: 10, 25, 50 or 100.", kernel.Clip(text, 40))
		}
		c.ps = pageSize(int(n))
	}
	return nil
}

// pageSize is the size that one counts as which is none of those there are.
func pageSize(n int) int {
	switch {
	case n == 100:
		return 100
	case n < 25:
		return 10
	case n == 25:
		return 25
	}
	return 50
}

// take removes a parameter and returns it.
func (c *call) take(name string) (string, bool) {
	v, ok := c.given[name]
	delete(c.given, name)
	return v, ok
}

// felt reads a parameter that is a felt, nil when it was not given.
func (c *call) felt(name string) (*felt.Felt, error) {
	text, ok := c.given[name]
	if !ok {
		return nil, nil //nolint:nilnil // it was not given
	}
	f, err := kernel.FeltOf(name, text)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// pathFelt reads a part of the path that is a felt.
func (c *call) pathFelt(name string) (felt.Felt, error) {
	return kernel.FeltOf(name, c.r.PathValue(name))
}

// seconds reads a parameter that is a moment in Unix seconds, nil when it was not given.
func (c *call) seconds(name string) (*uint64, error) {
	text, ok := c.given[name]
	if !ok {
		return nil, nil //nolint:nilnil // it was not given
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return nil, invalid("%s: %q is not a moment in Unix seconds.", name, kernel.Clip(text, 40))
	}
	return &n, nil
}

// identity tells lists apart: the chain, the path and what was asked for, in one spelling.
func (c *call) identity(parts ...string) string {
	return strings.Join(append([]string{c.chain, c.id}, parts...), "\x00")
}

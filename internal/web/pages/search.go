package pages

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

const (
	// searchCost is what a search takes out of what an address may ask: it looks at every
	// chain. Suggestions cost one, because there is one for every pause in typing.
	searchCost = 3
	// longestQuery is as much as the API takes.
	longestQuery = 70
	// mostSuggestions is how many there are, of all chains.
	mostSuggestions = 8
)

// hit is something that a search found.
type hit struct {
	Chain, Kind, Href string
	// Text is what it is called, and Note says more. What comes from the chain is clean.
	Text, Note string
	// Exact is what it is, whole.
	Exact string
	// Lookalike is called like a known token, and is none.
	Lookalike bool
	// Chosen says that whoever made it chose what it is found by.
	Chosen bool
}

// searchView is the data of the search page.
type searchView struct {
	L      *look
	Query  string
	Groups []hitGroup
	Bad    string // why the query can find nothing
	Failed []string
	Chains []string
}

// hitGroup are the hits of one chain.
type hitGroup struct {
	Chain string
	Hits  []hit
}

// searchPage asks every chain. One hit alone is where the visitor wants to go, but for a
// token that nobody vouches for: its name may have been chosen to be found.
func searchPage(l *look) (*sheet, error) {
	v := &searchView{L: l, Query: strings.ToValidUTF8(kernel.Clip(strings.TrimSpace(l.query.Get("q")), 200), ""), Chains: l.p.Chains}
	s := &sheet{title: "Search", description: "Find a block, a transaction, an address, a class or a token on every chain that is served here.",
		name: "search.html", data: v, query: v.Query}
	if v.Query == "" {
		return s, nil
	}
	s.title = "Search for " + shortQuery(v.Query)
	hits, failed, err := l.find(v.Query, "")
	if bad := new(kernel.Error); errors.As(err, &bad) && bad.Code == kernel.CodeInvalidRequest {
		v.Bad = sentence(bad.Message)
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if len(hits) == 1 && len(failed) == 0 && !hits[0].Chosen {
		s.to = hits[0].Href
	}
	v.Failed = failed
	for _, h := range hits {
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Chain != h.Chain {
			v.Groups = append(v.Groups, hitGroup{Chain: h.Chain})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Hits = append(g.Hits, h)
	}
	return s, nil
}

func shortQuery(q string) string {
	name, _ := cleanName(q)
	return name
}

var (
	// numbered is how people write a block: block 300, #300, or 1,234 as pages do.
	numbered = regexp.MustCompile(`^(?i:block)?\s*(?:(?:no\.?|number|#|:)\s*)?([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)$`)
	// bare is a hash or an address without its 0x. Shorter ones may be names.
	bare = regexp.MustCompile(`^[0-9a-fA-F]{40,64}$`)
)

// meant is what a text that somebody typed or pasted is to the API.
func meant(text string) string {
	if bare.MatchString(text) {
		return "0x" + text
	}
	if m := numbered.FindStringSubmatch(text); m != nil {
		return strings.ReplaceAll(m[1], ",", "")
	}
	return text
}

// find asks every chain for what a text stands for, one of them first. A chain that cannot be
// asked is named, and does not hide the others.
func (l *look) find(text, first string) (hits []hit, failed []string, err error) {
	text = meant(text)
	if len(text) > longestQuery {
		return nil, nil, kernel.Fail(kernel.CodeInvalidRequest, "Nothing has a name of more than %d characters.", longestQuery)
	}
	chains := l.p.Chains
	if slices.Contains(chains, first) {
		chains = append([]string{first}, slices.DeleteFunc(slices.Clone(chains), func(id string) bool { return id == first })...)
	}
	for _, id := range chains {
		var tokens []hit
		var found *api.SearchResult
		err := l.on(id, func(l *look) (err error) {
			if found, err = ask[api.SearchResult](l, "search", url.Values{"q": {text}}); err == nil {
				tokens, err = l.tokenAt(text)
			}
			return err
		})
		if bad := new(kernel.Error); errors.As(err, &bad) && bad.Code == kernel.CodeInvalidRequest {
			return nil, nil, bad
		}
		if l.ctx.Err() != nil {
			return nil, nil, err
		}
		if err != nil {
			failed = append(failed, id)
			continue
		}
		hits = append(append(hits, tokens...), hitsOf(id, found)...)
	}
	return hits, failed, nil
}

// tokenAt is the token at an address, if the text is one: whoever looks for it mostly means
// the token, and not what its contract did. One call.
func (l *look) tokenAt(text string) ([]hit, error) {
	if !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		return nil, nil
	}
	a, err := felt.Parse(text)
	if err != nil {
		return nil, nil //nolint:nilerr // the search said so
	}
	t, err := found(ask[api.TokenSummary](l, "getToken", nil, a.String()))
	if err != nil {
		return nil, err
	}
	c := l.coinOf(a, nil, nil, nil)
	if t == nil && !c.Known {
		return nil, nil
	}
	if t != nil {
		c = l.coinOf(a, t.Symbol, t.Name, t.Decimals)
	}
	h := hit{Chain: l.Chain, Kind: "Token", Href: l.Href("token", a), Exact: a.String(), Lookalike: c.Like != nil, Note: "calls itself so", Text: tokenWords(c.Symbol, c.Name)}
	if c.Known {
		h.Note = "known"
	}
	return []hit{h}, nil
}

// hitsOf are what a chain has for a search.
func hitsOf(id string, r *api.SearchResult) (hits []hit) {
	base := "/" + url.PathEscape(id)
	felts := func(kind, path string, list []felt.Felt) {
		for _, f := range list {
			hits = append(hits, hit{Chain: id, Kind: kind, Href: base + path + f.String(), Text: shorten(f.String()), Exact: f.String()})
		}
	}
	for _, b := range r.Blocks {
		hits = append(hits, hit{Chain: id, Kind: "Block", Href: fmt.Sprintf("%s/block/%d", base, b.BlockNumber), Text: web.Group(b.BlockNumber), Note: shorten(b.BlockHash.String()), Exact: b.BlockHash.String()})
	}
	for _, t := range r.Transactions {
		h := t.TxHash.String()
		hits = append(hits, hit{Chain: id, Kind: "Transaction", Href: base + "/tx/" + h, Text: shorten(h), Note: "in block " + web.Group(t.BlockNumber), Exact: h})
	}
	felts("Address", "/address/", r.Addresses)
	felts("Class", "/class/", r.Classes)
	for _, t := range r.Tokens {
		address := t.TokenAddress.String()
		h := hit{Chain: id, Kind: "Token", Href: base + "/token/" + address, Exact: address, Lookalike: t.Lookalike, Chosen: !t.Known, Note: "calls itself so"}
		if t.Known {
			h.Note = "known"
		}
		h.Text = tokenWords(t.Symbol, t.Name)
		hits = append(hits, h)
	}
	return hits
}

// tokenWords is what a token calls itself, fit to be shown.
func tokenWords(symbol, name *string) string {
	var words []string
	for _, s := range []*string{symbol, name} {
		if s == nil {
			continue
		}
		if clean, _ := cleanName(*s); clean != "" && (len(words) == 0 || words[0] != clean) {
			words = append(words, clean)
		}
	}
	if len(words) == 0 {
		return "no readable name"
	}
	return strings.Join(words, " · ")
}

// suggestion is a line below the search box.
type suggestion struct {
	Href  string `json:"href"`
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Note  string `json:"note"`
	Chain string `json:"chain"`
	Warn  bool   `json:"warn"` // it is called like something else
}

// handleSuggest serves what may be meant, as JSON for the script of the search box. A text
// that can mean nothing has no suggestions, which is no failure.
func (p *Pages) handleSuggest() {
	p.HandleSheet(kernel.Sheet{
		ID: "pageSuggest", Pattern: "GET /search/suggest",
		Make: func(w http.ResponseWriter, r *http.Request) error {
			query, _, err := queryOf(r)
			if err != nil {
				return err
			}
			out := []suggestion{}
			if text := strings.TrimSpace(query.Get("q")); text != "" {
				hits, _, err := p.freeLook(r, query).find(text, query.Get("chain"))
				if bad := new(kernel.Error); err != nil && (!errors.As(err, &bad) || bad.Code != kernel.CodeInvalidRequest) {
					return err
				}
				for _, h := range spread(hits, mostSuggestions) {
					out = append(out, suggestion{h.Href, h.Kind, h.Text, h.Note, h.Chain, h.Lookalike})
				}
			}
			return json.NewEncoder(w).Encode(out)
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
			kernel.SendError(w, r, e, kernel.RecordOf(w).ID, nil)
		},
		Dress: func(h http.Header) { h.Set("Content-Type", kernel.JSONType) },
	})
}

// spread keeps some of the hits, with room for every chain.
func spread(hits []hit, most int) []hit {
	if len(hits) <= most {
		return hits
	}
	by, chains := map[string][]hit{}, []string{}
	for _, h := range hits {
		if by[h.Chain] == nil {
			chains = append(chains, h.Chain)
		}
		by[h.Chain] = append(by[h.Chain], h)
	}
	share := max(most/len(chains), 1)
	var out []hit
	for i, id := range chains {
		n := share
		if i == len(chains)-1 {
			n = most - len(out)
		}
		out = append(out, by[id][:min(n, len(by[id]), most-len(out))]...)
	}
	return out
}

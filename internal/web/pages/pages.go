// Package pages is the explorer that people look at: a page for each thing of a chain,
// made on the server.
//
// A page asks the routes of the API in this process (ask), so that its numbers are those
// of the API, and knows no chain logic of its own. All that it asks it sees in one view of
// the index: a page is of one moment, and says which. It is HTML without a script; scripts
// add what is new, copying and keys. Everything that comes from the chain is text, escaped
// by templates, and names are cut and cleaned besides (see names.go).
//
// Cost: the rows of the routes that a page asks, one view, and writing it: by a template or,
// for the pages and the rows that are looked at most, by appending (package markup). Beside
// its routes the page of
//
//   - a block reads its row, that of what it changed, and its transactions by one scan, and
//     for their sentences a fixed number of GetMany, whatever their number;
//   - a transaction reads its own row once more, the two of its block, and the same GetMany;
//   - an address reads the balances of a page of tokens and at most 500 of their changes, by
//     one GetMany and one scan.
//
// Pages are kept until the next block, as answers are, and those of what L1 accepted for
// longer. Those that tell of names, which come beside the blocks, are kept until anything is
// written to the index and for 5 seconds at most: of addresses, tokens, contracts, classes.
//
// To add a page: a function from a look to a sheet, a template of the same name, a line in
// register. The template's data has the look as L, whose exported methods render links,
// amounts and times. It is not embedded: the compiler would write every one of its methods
// once more for each of the types, and again for a pointer to it, which took two thirds of
// the time of this package, and half of its size.
package pages

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/markup"
	"chainexplorer/internal/web"
	"chainexplorer/internal/web/live"
)

// Pages are those of all chains.
type Pages struct {
	*kernel.Server
	routes *api.Routes
	moods  map[string]*mood
	// Checkpoint reads the signed head of the log of receipts, and how many there are; nil
	// without a log. It is set before the first page is asked for.
	Checkpoint func(context.Context) (int64, []byte, error)
	// Jobs tells how the jobs of a chain fare in this process; nil where it does none.
	Jobs func(chain string) []Work
	hub  *live.Hub
	// hands draw pictures.
	hands chan struct{}
}

// New registers the pages. The table of routes is complete by then.
func New(k *kernel.Server, routes *api.Routes) *Pages {
	p := &Pages{Server: k, routes: routes, moods: map[string]*mood{}, hands: make(chan struct{}, cardHands)}
	var watched []live.Chain
	for _, id := range routes.Order {
		watched = append(watched, live.Chain{ID: id, Index: routes.Chains[id].Store, Depth: routes.Chains[id].Depth})
	}
	p.hub = live.New(watched, live.Options{Logger: k.Log})
	p.registerFree()
	for _, id := range routes.Order {
		p.moods[id] = &mood{routes: routes, chain: routes.Chains[id]}
		p.register(id)
	}
	p.verification()
	k.Missing(p.missing)
	return p
}

// Close ends what is told of new blocks, and returns when nothing runs any more. Pages are
// served as before.
func (p *Pages) Close() { p.hub.Close() }

// registerFree adds the pages that are of no chain.
func (p *Pages) registerFree() {
	p.freePage(kernel.Sheet{ID: "pageHome", Pattern: "GET /{$}", Dress: dressHome}, homeFor, homePage)
	p.freePage(kernel.Sheet{ID: "pageSearch", Pattern: "GET /search", Cost: searchCost}, 0, searchPage, "q")
	p.freePage(kernel.Sheet{ID: "pageStatus", Pattern: "GET " + statusPath}, homeFor, statusPage)
	p.homeCard()
	p.handleSuggest()
	p.handleLive()
}

// register adds the pages of one chain.
func (p *Pages) register(id string) {
	p.cards(id)
	p.chainPage(id, "pageChain", "", overviewPage)
	p.chainPage(id, "pageBlocks", "/blocks", blocksPage, "at", "cursor")
	p.chainPage(id, "pageTransactions", "/txs", txsPage, "cursor")

	p.chainPage(id, "pageBlock", "/block/{ref}", blockPage, "cursor")
	p.chainPage(id, "pageTransaction", "/tx/{hash}", txPage)
	p.chainPage(id, "pageTransactionCalls", "/tx/{hash}/calls", txCallsPage, "from")
	p.chainPage(id, "pageTransactionTransfers", "/tx/{hash}/transfers", txTransfersPage, "from")
	p.chainPage(id, "pageTransactionEvents", "/tx/{hash}/events", txEventsPage, "from")
	p.livePage(id, "pageTransactionTrace", "/tx/{hash}/trace", tracePage)

	p.chainPage(id, "pageAddress", "/address/{address}", addressPage, "block", "token")
	p.chainPage(id, "pageHoldings", "/address/{address}/holdings", holdingsPage, "block", "cursor")
	p.chainPage(id, "pageActivity", "/address/{address}/activity", activityPage, "type", "cursor")
	p.chainPage(id, "pageAddressTransfers", "/address/{address}/transfers", addressTransfersPage, "direction", "token+", "type", "since", "until", "cursor")
	p.chainPage(id, "pageAddressTransactions", "/address/{address}/transactions", addressTransactionsPage, "type", "cursor")
	p.chainPage(id, "pageDeployments", "/address/{address}/deployments", deploymentsPage, "cursor")
	p.chainPage(id, "pageApprovals", "/address/{address}/approvals", approvalsPage, "cursor")
	p.livePage(id, "pageLiveBalance", "/address/{address}/balance", liveBalancePage, "token", "block")
	p.chainPage(id, "pageTokens", "/tokens", tokensPage, "q", "before")
	p.chainPage(id, "pageToken", "/token/{token}", tokenPage)
	p.chainPage(id, "pageTokenTransfers", "/token/{token}/transfers", tokenTransfersPage, "address+", "from_block", "to_block", "cursor")
	p.chainPage(id, "pageTokenHolders", "/token/{token}/holders", tokenHoldersPage)
	p.chainPage(id, "pageTokenPools", "/token/{token}/pools", tokenPoolsPage)
	p.livePage(id, "pageSupply", "/token/{token}/supply", supplyPage, "block")
	p.chainFile(id, "fileAddressTransfers", "/address/{address}/transfers.csv", addressTransfersFile, "direction", "token+", "type", "symbol", "timestampFrom", "timestampTo", "invocationType", "order", "from_block", "to_block")
	p.chainFile(id, "fileTokenTransfers", "/token/{token}/transfers.csv", tokenTransfersFile, "address+", "from_block", "to_block")

	p.chainPage(id, "pageMessages", "/messages", messagesPage, "q", "direction", "txHash", "contract", "bridge", "cursor")
	p.chainPage(id, "pageMessage", "/message/{hash}", messagePage, "cursor")
	p.chainPage(id, "pagePrivacyPool", "/privacy-pool", poolPage, "range", "token")
	p.chainPage(id, "pagePrivacyPoolList", "/privacy-pool/{list}", poolListPage, "cursor")

	p.chainPage(id, "pageContract", "/contract/{address}", contractPage)
	p.chainPage(id, "pageContractClasses", "/contract/{address}/classes", contractClassesPage, "cursor")
	p.chainPage(id, "pageContractEvents", "/contract/{address}/events", contractEventsPage, "event", "key#", "from_block", "to_block", "order", "cursor")
	p.livePage(id, "pageContractRead", "/contract/{address}/read", contractReadPage, "block", "function", "arg#", "calldata")
	p.chainPage(id, "pageClass", "/class/{hash}", classPage, "rows", "sort", "cursor")
	p.chainPage(id, "pageClasses", "/classes", classesPage, "sort", "cursor")
	p.chainPage(id, "pageEvents", "/events", eventsPage, "contract", "event", "key#", "from_block", "to_block", "order", "cursor")
	p.chainFile(id, "fileEvents", "/events.csv", eventFile, "contract", "event", "key#", "from_block", "to_block", "order")
	p.chainFile(id, "fileContractEvents", "/contract/{address}/events.csv", eventFile, "event", "key#", "from_block", "to_block", "order")
}

//go:embed *.html
var files embed.FS

var templates = template.Must(template.New("").Funcs(web.Funcs()).Funcs(funcs).ParseFS(files, "*.html"))

// look is somebody's look at a page of a chain, in one view of its index.
type look struct {
	ctx   context.Context
	p     *Pages
	r     *http.Request
	query url.Values
	// Chain is the chain's id, and base where its pages are.
	Chain  string
	base   string
	served *api.Chain
	reader explorer.Reader
	state  *chain.State
	// remarks are what the page says of the request on its top.
	remarks []string
	// shown are calls that tell what the page read by itself, see asJSON.
	shown *shown
}

// sheet is a page to be written.
type sheet struct {
	title       string // such as Block 123; the layout adds the rest
	description string // in a sentence, for search engines and chats
	trail       []web.Link
	name        string // of the template
	data        any
	// body writes what the page tells, in the place of a template: of the pages that are
	// looked at most, whose data make them slow otherwise.
	body func(*markup.Writer)
	// about is the block that the page stands and falls with; nil: the head that it was made at.
	about *anchor
	// past says that the page tells of about and of nothing later, but for what things are
	// called. Where about is settled its foot names no head: the page stays the same, and
	// whoever has it need not load it again.
	past bool
	// lasting says that the page tells nothing that later blocks change.
	lasting bool
	// status is that of the answer where it is not 200; such a page is not kept.
	status int
	// renews says that a script makes the page anew with every block, and tells of forks by
	// that: the page rests on no block for longer.
	renews bool
	// list is the path of a list below the chain, such as /blocks: every chain has it.
	list string
	// query is what was searched for, and home says that the page has the search box itself.
	query string
	home  bool
	// path is the one address of what the page is about, where there are several; "": that
	// which was asked for.
	path string
	// card is whose picture sharers show, below which it lies; "": that of the service.
	card string
	// plain pages take no parameters, and repeat none: a token of something may have got there.
	plain bool
	// to is where the visitor should go instead.
	to string
	// await fills in what the page asks of a node, of a live page alone. The view is closed by
	// then: the look has no reader, and what is asked sees the index as it is by then. What
	// fails should be told on the page, beside what is known; an error refuses all of it.
	await func() error
}

// anchor names a block.
type anchor struct {
	Number uint64
	Hash   string
}

type maker func(*look) (*sheet, error)

// chainPage serves a page of a chain, and what it asked as JSON. params are the parameters
// that it takes, see understand.
func (p *Pages) chainPage(id, name, path string, make maker, params ...string) {
	p.HandleSheet(kernel.Sheet{
		ID: name, Pattern: "GET /" + id + path, Chain: id, Mood: p.moods[id].now,
		Make:   func(w http.ResponseWriter, r *http.Request) error { return p.show(w, r, id, make, params) },
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, id, e) },
		Dress:  web.SetLiveHeaders,
	})
}

// liveCost is what a look that waits for a node takes of what an address may ask.
const liveCost = 10

// livePage serves a page that waits for a node. It is made as other pages are, but for what
// its sheet awaits; it is kept for nobody, and costs whoever looks more.
func (p *Pages) livePage(id, name, path string, make maker, params ...string) {
	p.HandleSheet(kernel.Sheet{
		ID: name, Pattern: "GET /" + id + path, Cost: liveCost, Waits: true,
		Make: func(w http.ResponseWriter, r *http.Request) error {
			p.moods[id].now(r.Context())
			return p.show(w, r, id, make, params)
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, id, e) },
		Dress:  web.SetLiveHeaders,
	})
}

// ask asks a route in the look's view. path are the values of the route's variables after the chain.
func ask[T any](l *look, id string, query url.Values, path ...string) (*T, error) {
	out, err := l.p.Ask(l.ctx, id, query, append([]string{l.Chain}, path...)...)
	if err != nil {
		return nil, err
	}
	return out.(*T), nil
}

// queryOf reads the query of a page, and whether its calls are wanted.
func queryOf(r *http.Request) (query url.Values, asJSON bool, err error) {
	if query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return nil, false, kernel.Fail(kernel.CodeInvalidRequest, "The part of the address after the question mark is not well-formed.")
	}
	for _, values := range query {
		for i := range values { // what is no text cannot be shown, and finds nothing
			values[i] = strings.ToValidUTF8(values[i], "\ufffd")
		}
	}
	if asJSON = query.Get("as") == "json"; asJSON {
		query.Del("as")
	}
	return query, asJSON, nil
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, id string, make maker, params []string) error {
	query, asJSON, err := queryOf(r)
	if err != nil || sendOn(w, r) {
		return err
	}
	l := &look{p: p, r: r, query: query, Chain: id, base: "/" + url.PathEscape(id), shown: &shown{}}
	l.understand(params)
	var s *sheet
	err = p.routes.Pin(r.Context(), id, func(ctx context.Context, c *api.Chain, reader explorer.Reader, state *chain.State) error {
		l.ctx, l.served, l.reader, l.state = ctx, c, reader, state
		if s, err = make(l); err != nil || s.await != nil {
			return err
		}
		return l.finish(w, s, asJSON)
	})
	if err != nil || s.await == nil {
		return err
	}
	now := *l.state
	l.ctx, l.reader, l.state = r.Context(), nil, &now
	if err := s.await(); err != nil {
		return err
	}
	return l.finish(w, s, asJSON)
}

// finish sends a sheet, or what was asked for it.
func (l *look) finish(w http.ResponseWriter, s *sheet, asJSON bool) (err error) {
	switch {
	case s.to != "" && !asJSON:
		kernel.Lead(w, http.StatusFound, s.to)
		return nil
	case asJSON:
		if s, err = l.asJSON(s); err != nil {
			return err
		}
	}
	return l.write(w, s)
}

// write puts a sheet into the layout.
func (l *look) write(w http.ResponseWriter, s *sheet) error {
	body := s.body
	if body == nil {
		html, err := render(s.name, s.data)
		if err != nil {
			return err
		}
		body = func(w *markup.Writer) { w.HTML(html) }
	}
	if s.lasting {
		kernel.RequestOf(l.ctx).Settle(true, true)
	}
	of := l.Chain
	if of == "" {
		of = "Chain Explorer"
	}
	page := l.p.page(l.r, s.title+" · "+of, s.description)
	page.Remarks = l.remarks
	page.Trail, page.Chain, page.List, page.Query, page.Home = s.trail, l.Chain, s.list, s.query, s.home
	if asked := kernel.RequestOf(l.ctx).Asked(); len(asked) > 0 || len(l.shown.calls)+len(l.shown.words) > 0 {
		if len(asked) > 0 {
			page.JSON = asked[0].URI
		}
		if page.AsJSON = l.asJSONHref(s.path); s.plain {
			page.AsJSON = l.r.URL.EscapedPath() + "?as=json"
		}
	}
	page.Image = l.p.BaseURL + s.card + cardFile
	if s.path != "" {
		page.Canonical = l.p.BaseURL + s.path
	}
	if l.Chain != "" {
		page.Notice = l.p.moods[l.Chain].notice()
		if page.AsOf, page.Follow = l.asOf(s); s.renews {
			page.Follow = ""
		}
	}
	whole := markup.Get()
	defer whole.Free()
	web.Layout(whole, &page, body)
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	w.Write(whole.Bytes()) //nolint:errcheck // a recorder never fails
	return nil
}

// page is what all pages have in common.
func (p *Pages) page(r *http.Request, title, description string) web.Page {
	return web.Page{Title: title, Description: description, Version: p.Version, Accounts: p.SignsIn(), Chains: p.Chains, Live: true,
		Canonical: p.BaseURL + canonical(r.URL)}
}

// canonical is the address of a page without what only changes how it is shown.
func canonical(u *url.URL) string { return u.EscapedPath() }

func render(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by a template, which escapes
}

// asOf says which block the page is as of, in words, and which block a script should watch:
// chain, number and hash.
func (l *look) asOf(s *sheet) (template.HTML, string) {
	at := anchor{l.state.Head.Number, l.state.Head.Hash.String()}
	if s.about != nil {
		at = *s.about
	}
	follow := fmt.Sprintf("%s %d %s", l.Chain, at.Number, at.Hash)
	if s.lasting {
		return "Accepted on L1: what this page tells does not change any more.", follow
	}
	if s.past {
		switch l.state.Finality(at.Number, l.served.Depth) {
		case chain.AcceptedL1:
			return "Accepted on L1: what happened does not change any more. Names are those that are known now.", follow
		case chain.Finalized:
			return "Finalized: a fork that would change what happened is rare. Names are those that are known now.", follow
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `As of block <a href="%s/block/%d" data-value="%d">%s</a>, %s`, l.base, l.state.Head.Number, l.state.Head.Number, web.Group(l.state.Head.Number), l.Time(kernel.TimestampISO(l.state.Head.Timestamp)))
	if n, ok := l.finalizedUpTo(); ok {
		fmt.Fprintf(&b, ` · finalized up to <span data-value="%d">%s</span>`, n, web.Group(n))
	}
	if l.state.HasL1 {
		fmt.Fprintf(&b, ` · accepted on L1 up to <span data-value="%d">%s</span>`, l.state.L1.Number, web.Group(l.state.L1.Number))
	}
	return template.HTML(b.String()), follow //nolint:gosec // digits, fixed text and escaped times
}

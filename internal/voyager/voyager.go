// Package voyager serves the index in the words of another explorer's API, so that an adapter
// that was written for that one needs no more than another base URL: the same paths, parameters,
// fields, pages and failures, with the keys, scopes and budgets of this service.
//
// It has no chain logic of its own. Rows come from the queries of internal/explorer, on one view
// of internal/api, and what takes more than a query, such as the decoding of events, is done by
// the functions that the API's own routes are made of. What the index cannot answer exactly at a
// bounded cost is not served, and says so.
//
// Lists are asked for by the number of a page, which the index does not know of. Where rows can be
// counted a page is found by counting (numbered); everywhere else by walking on from the page
// before it (walked), which package pages remembers. Both are of one state of the chain: see Feed.begin.
//
// Costs: a page costs what the page of the API costs that it stands for, and a look at the block
// that the list was begun at. A page that is found by counting takes one Get for each halving of
// the chain besides. What is remembered of pages is bounded, of a caller and of all.
package voyager

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/voyager/pages"
)

// Base is where the feed of the default chain is. That of any chain is at the chain's name in
// front of it.
const Base = "/beta"

// Feed is the feed of all chains.
type Feed struct {
	*kernel.Server
	routes *api.Routes
	pages  *pages.Table
}

// endpoint is a path of the feed.
type endpoint struct {
	id, path string
	class    kernel.Class
	scope    account.Scopes
	// params are the query parameters that it takes; paged ones take p and ps besides.
	params []string
	paged  bool
	// heavyWith is a parameter with which the path stands for a route that is heavy.
	heavyWith string
	serve     func(*call) (any, error)
}

// New serves the feed.
func New(k *kernel.Server, routes *api.Routes) {
	f := &Feed{Server: k, routes: routes, pages: pages.New(k.Now, remember)}
	for _, e := range f.endpoints() {
		f.handle(&e)
	}
	f.handleRest()
	route := f.route(&endpoint{id: "voyagerUnserved", class: kernel.Light})
	k.Speak(kernel.Dialect{Owns: f.owns, Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
		if e.Code == kernel.CodeUnsupportedRoute {
			refuse(w, r, f.noPath(r.URL.Path), &route)
			return
		}
		refuse(w, r, e, &route)
	}})
}

// endpoints are the paths that are served.
func (f *Feed) endpoints() []endpoint {
	light, heavy := kernel.Light, kernel.Heavy
	return []endpoint{
		{id: "voyagerBlocks", path: "/blocks", class: light, paged: true, serve: f.blocks},
		{id: "voyagerBlock", path: "/blocks/{ref}", class: light, serve: f.block},
		{id: "voyagerTxns", path: "/txns", class: light, paged: true, params: []string{"to", "block", "type", "rejected"}, heavyWith: "to", serve: f.txns},
		{id: "voyagerTxn", path: "/txns/{hash}", class: light, serve: f.txn},
		{id: "voyagerEvents", path: "/events", class: heavy, paged: true, params: []string{"contract", "txnHash", "blockHash", "timestampFrom", "timestampTo"}, serve: f.events},
		{id: "voyagerContract", path: "/contracts/{address}", class: light, serve: f.contract},
		{id: "voyagerTokenBalances", path: "/contracts/{address}/token-balances", class: heavy, serve: f.tokenBalances},
		{id: "voyagerTokensHeld", path: "/contracts/{address}/erc20-tokens-held", class: heavy, serve: f.tokensHeld},
		{id: "voyagerTransfers", path: "/contracts/{address}/transfers", class: heavy, serve: f.contractTransfers,
			params: []string{"ps", "type", "from", "to", "symbol", "tokenAddress", "timestampFrom", "timestampTo", "invocationType", "id", "order_by"}},
		{id: "voyagerClasses", path: "/classes", class: light, paged: true, serve: f.classes},
		{id: "voyagerUnserved", path: "/classes/verified", class: light, paged: true, serve: func(*call) (any, error) { return nil, notServed("/classes/verified") }},
		{id: "voyagerClass", path: "/classes/{hash}", class: light, serve: f.class},
		{id: "voyagerClassContracts", path: "/classes/{hash}/contracts", class: light, paged: true, serve: f.classContracts},
		{id: "voyagerHolders", path: "/tokens/{address}/holders", class: heavy, scope: account.Partner, paged: true, params: []string{"type"}, serve: f.holders},
		{id: "voyagerMessages", path: "/messages", class: heavy, paged: true, params: []string{"block", "contract", "type"}, serve: f.messages},
	}
}

// bases are where a path is served, each with its chain.
func (f *Feed) bases() map[string]string {
	out := map[string]string{Base: f.routes.Order[0]}
	for _, id := range f.routes.Order {
		out["/"+id+Base] = id
	}
	return out
}

// handle registers an endpoint under all bases.
func (f *Feed) handle(e *endpoint) {
	for base, chain := range f.bases() {
		f.raw(e, base, func(w http.ResponseWriter, r *http.Request) (any, error) {
			c := &call{endpoint: e, chain: chain, w: w, r: r, caller: kernel.RequestOf(r.Context()).Caller}
			if err := c.parse(r.URL.RawQuery); err != nil {
				return nil, err
			}
			return e.serve(c)
		})
	}
}

// route is what the kernel has to know of an endpoint.
func (f *Feed) route(e *endpoint) kernel.Route {
	return kernel.Route{ID: e.id, Method: http.MethodGet, Path: Base + e.path, Family: "Voyager", Class: e.class, Scope: cmp.Or(e.scope, account.Read),
		Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnCaller | kernel.OnClock}
}

// raw registers a path that the kernel authenticates, and that answers in the feed's own shape.
func (f *Feed) raw(e *endpoint, base string, answer func(http.ResponseWriter, *http.Request) (any, error)) {
	route := f.route(e)
	refuse := func(w http.ResponseWriter, r *http.Request, err error) { refuse(w, r, err, &route) }
	f.HandleRaw(kernel.Raw{Route: route, Patterns: []string{http.MethodGet + " " + base + e.path},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { refuse(w, r, e) },
		Serve: func(w http.ResponseWriter, r *http.Request) {
			if err := f.spend(w, r, e.classOf(r), 1); err != nil {
				refuse(w, r, err)
				return
			}
			out, err := answer(w, r)
			if err != nil {
				refuse(w, r, err)
				return
			}
			send(w, r, http.StatusOK, out)
		}})
}

// classOf is the budget that a request draws on.
func (e *endpoint) classOf(r *http.Request) kernel.Class {
	if e.heavyWith != "" && r.URL.Query().Has(e.heavyWith) {
		return kernel.Heavy
	}
	return e.class
}

// spend draws on the caller's budget, and tells what is left of it.
func (f *Feed) spend(w http.ResponseWriter, r *http.Request, class kernel.Class, cost int) error {
	v, e := f.Spend(r.Context(), kernel.RequestOf(r.Context()).Caller, class, cost)
	kernel.RecordOf(w).Budget = v
	kernel.TellBudget(w.Header(), v, class)
	if e != nil {
		return e
	}
	return nil
}

// refusal is a failure that the kernel has no code for.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refusef(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return refusef(http.StatusBadRequest, format, args...)
}

// refuse sends a failure as clients of the feed expect it.
func refuse(w http.ResponseWriter, r *http.Request, err error, route *kernel.Route) {
	if r.ContentLength != 0 {
		kernel.LeaveBody(w)
	}
	var own *refusal
	if errors.As(err, &own) {
		send(w, r, own.status, map[string]string{"error": account.Hide(own.text)}) // it may repeat what was sent
		return
	}
	var e *kernel.Error
	if !errors.As(err, &e) {
		e = kernel.Fail(kernel.CodeInternal, "Something went wrong on our side.")
	}
	kernel.Challenge(w.Header(), e, route)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Code == kernel.CodeUnauthorized && len(r.Header[kernel.HeaderKey])+len(r.Header[kernel.HeaderKeyShort]) == 0 {
		send(w, r, http.StatusUnauthorized, map[string]string{"message": "Missing Authentication Token"})
		return
	}
	send(w, r, kernel.Codes[e.Code].Status, map[string]string{"error": account.Hide(e.Message)})
}

// send writes an answer, compressed where that pays.
func send(w http.ResponseWriter, r *http.Request, status int, v any) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Errorf("voyager: encode %T: %w", v, err)) // our own types always encode
	}
	body := []byte(strings.TrimSuffix(text.String(), "\n"))
	h := w.Header()
	h.Set("Content-Type", kernel.JSONType)
	h.Set("Cache-Control", "private, no-store")
	h.Add("Vary", "Accept-Encoding")
	if len(body) >= kernel.GzipFrom && kernel.AcceptsGzip(r.Header) {
		if zipped := kernel.Zip(body); zipped != nil {
			body = zipped
			h.Set("Content-Encoding", "gzip")
		}
	}
	kernel.Send(w, r, status, body)
}

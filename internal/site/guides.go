package site

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/preview"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// The guides. Numbers and lists in them come from the tables and constants that
// the kernel itself uses, so that they cannot disagree with it.

func (s *Site) writtenGuides() []guide {
	return []guide{
		{slug: "api/auth", title: "Keys, scopes and tiers", summary: "How to get a key, how to send it, and what it may do.", sections: s.authGuide},
		{slug: "api/rate-limits", title: "Rate limits", summary: "Budgets per workspace and class, bursts, requests at once, and the headers that report them.", sections: s.rateGuide},
		{slug: "api/cursors", title: "Cursors", summary: "How to read a list page by page, and what a fork does to it.", sections: s.cursorGuide},
		{slug: "api/event-search", title: "Event search", summary: "Searching events by emitter and keys, what is decoded, and how far a range is covered.", sections: s.eventGuide},
		{slug: "api/limits", title: "Limits", summary: "The sizes, counts and times that bound every request.", sections: s.limitGuide},
		{slug: "api/errors", title: "Errors", summary: "The form of a failure, all codes, and when to try again.", sections: s.errorGuide},
		{slug: "api/finality", title: "Finality and forks", summary: "How settled a block is, and what happens when the chain reorganises.", sections: s.finalityGuide},
		{slug: "api/http", title: "HTTP: formats, caching, browsers", summary: "Number formats, request ids, validators, compression and CORS.", sections: s.httpGuide},
		{slug: "api/versioning", title: "Versions and certification", summary: "What may change, what may not, and how far an operation can be relied on.", sections: s.versionGuide},
		{slug: "rpc", title: "JSON-RPC methods", summary: "Every method of the JSON-RPC gateway: class, scope, cost, parameters, errors and an example.", sections: s.rpcGuide},
	}
}

func docText(format string, args ...any) web.Block {
	return web.Block{Text: fmt.Sprintf(format, args...)}
}

func docList(items ...string) web.Block { return web.Block{List: items} }

func docTable(head []string, rows ...[]string) web.Block {
	return web.Block{Table: &web.Table{Head: head, Rows: rows}}
}

func docSample(code string) web.Block { return web.Block{Code: &web.Code{Text: code}} }

// request is an example that a test sends, and that must be answered so.
func (at setting) request(command string, status int) web.Block {
	return web.Block{Code: &web.Code{Text: command, Status: status}}
}

func (at setting) chainPath(rest string) string { return "/v1/" + escape(at.examples.Chain) + rest }

func (s *Site) authGuide(at setting) []web.Section {
	status := at.chainPath("/status")
	return []web.Section{
		{ID: "get", Title: "Getting a key", Blocks: []web.Block{
			docText("Keys belong to a workspace and are made by whoever runs the service. The demo prints one when it starts. On a service of your own:"),
			docSample("chainexplorer admin workspace create acme --plan developer --control data/control.db\n" +
				"chainexplorer admin key create --workspace acme --scope read --control data/control.db"),
			docText("A key looks like `svc_live_` (or `svc_test_`) and 38 letters and digits. It is shown once; the service keeps only a keyed digest of it. `chainexplorer admin key revoke` ends it within a second."),
		}},
		{ID: "send", Title: "Sending it", Blocks: []web.Block{
			docText("Put the key into the environment, so that it is in no shell history, and send it in `%s`:", kernel.HeaderKey),
			at.request(curl(at.origin, status), http.StatusOK),
			docText("`%s` is taken too, for browsers that call directly. Send one of the two, once, with nothing else in it: no `Bearer`, no quotes. Never put a key into an address.", kernel.HeaderKeyShort),
			at.request(`curl -H "`+kernel.HeaderKeyShort+`: $SERVICE_API_KEY" `+at.origin+status, http.StatusOK),
			docText("Without a key the answer is 401, and its `WWW-Authenticate` says so:"),
			at.request("curl -i "+at.origin+status, http.StatusUnauthorized),
		}},
		{ID: "scopes", Title: "Scopes", Blocks: []web.Block{
			docText("A key carries scopes; an operation needs one. A key without it gets 403. New keys have %s unless others are asked for.", codeList(account.DefaultScopes.Names())),
			docTable([]string{"Scope", "Operations that need it"}, s.operationsBy(account.ScopeNames(), func(r *kernel.Route) string { return r.ScopeName() })...),
		}},
		{ID: "tiers", Title: "Tiers", Blocks: []web.Block{
			docText("The tier says which part of the product an operation belongs to. It is published with every operation as `x-service-key-tier`."),
			docTable([]string{"Tier", "Operations"}, s.operationsBy([]string{string(kernel.TierOfficial), string(kernel.TierUtility), string(kernel.TierPartner)}, func(r *kernel.Route) string { return string(r.Tier) })...),
		}},
		{ID: "care", Title: "Taking care of keys", Blocks: []web.Block{
			docList("Give every client its own key, with the scopes it needs and no more.",
				"Do not ship a shared key inside a public web page.",
				"Log `"+kernel.HeaderRequestID+"` and `"+kernel.HeaderRouteClass+"`, never the key."),
		}},
	}
}

// operationsBy groups the table by a property, in the order of names.
func (s *Site) operationsBy(names []string, property func(*kernel.Route) string) (rows [][]string) {
	for _, n := range names {
		var ops []string
		for _, r := range s.Entries() {
			if property(r) == n {
				ops = append(ops, "["+r.ID+"]("+hrefOf(r)+")")
			}
		}
		cell := "None in this version."
		if len(ops) > 0 {
			cell = strings.Join(ops, ", ")
		}
		rows = append(rows, []string{"`" + n + "`", cell})
	}
	return rows
}

func (s *Site) rateGuide(at setting) []web.Section {
	var plans [][]string
	for _, name := range account.PlanNames() {
		p := account.Plan(name).Policy()
		plans = append(plans, []string{"`" + name + "`", web.Group(uint64(p.LightPerMinute)), web.Group(uint64(p.HeavyPerMinute)), web.Group(uint64(p.BatchPerMinute)), web.Group(uint64(p.Burst))})
	}
	seconds, b, live := int(kernel.LimitWindow.Seconds()), s.Bounds(), s.routes.Live.Places()
	return []web.Section{
		{ID: "classes", Title: "Classes", Blocks: []web.Block{
			docText("Every operation draws on the budget of its class. `%s` names it on every answer of the operation's path, failures and `OPTIONS` included; where the path is asked in a way that it does not have (405), it is the class of the first operation there. What belongs to no operation has no class: an unknown path (404), a document, an address that is too long (414); with a valid key an unknown path is paid for as `light`, and every answer to a key tells its budget.", kernel.HeaderRouteClass),
			docTable([]string{"Class", "Operations"}, s.operationsBy([]string{string(kernel.Light), string(kernel.Heavy), string(kernel.Batch)}, func(r *kernel.Route) string { return string(r.Class) })...),
		}},
		{ID: "budgets", Title: "Budgets", Blocks: []web.Block{
			docText("A budget belongs to one workspace and one class and lasts for a window of %d seconds, which starts with the first request in it: more keys are not more requests. A request that a limit refuses costs nothing; one that fails for another reason, such as a bad parameter, costs like any other. The plan sets the numbers. The operator can give a key its own: smaller ones are the key's share of the workspace's budget, larger ones raise it for that key. `/v1/meta/capabilities` tells the numbers of the calling key.", seconds),
			docTable([]string{"Plan", "light", "heavy", "batch", "burst"}, plans...),
		}},
		{ID: "burst", Title: "Bursts", Blocks: []web.Block{
			docText("Within its budget, at most `burst` requests of a class may come at once. After that they are taken evenly, at a sixtieth of the minute's budget a second, until the burst has filled up again at the same pace. Where several processes serve, each counts bursts on its own; the minute's budget is one for all of them."),
			docText("A batch of JSON-RPC calls is one request of a burst, and of the minute's budget each of its calls takes what it takes alone, in the order of the batch. So a batch of %d calls that cost one each is answered on every plan that has them left. Where the budget ends, the calls behind are refused, and `Retry-After` beside the batch says when to send those again.", wire.MaxBatch),
		}},
		{ID: "at-once", Title: "Requests at once", Blocks: []web.Block{
			docText("A key has at most %d requests under way in a process, and the keys of a workspace together %d; of those that wait for a node %d and %d. JSON-RPC calls have as many places as requests, apart from those: more are refused with `local_saturation`. A body that has not arrived yet counts apart: %d and %d. More are refused with 429 at once, and cost part of the budget.",
				b.AtWork.PerKey, b.AtWork.PerWorkspace, live.PerKey, live.PerWorkspace, b.Bodies.PerKey, b.Bodies.PerWorkspace),
		}},
		{ID: "without-a-key", Title: "Without a key", Blocks: []web.Block{docText("%s", s.guestLimit())}},
		{ID: "headers", Title: "Headers", Blocks: []web.Block{
			docTable([]string{"Header", "Meaning"},
				[]string{"`" + kernel.HeaderLimit + "`", "Requests of this class that the workspace, or the key, has in a window."},
				[]string{"`" + kernel.HeaderRemaining + "`", "How many of them are left. With 429 it is 0 unless the request came beyond a burst, or met another limit."},
				[]string{"`" + kernel.HeaderPolicy + "`", fmt.Sprintf("Class and window, such as `light;w=%d`.", seconds)},
				[]string{"`Retry-After`", "On 429 and 503: seconds to wait."}),
			at.request(strings.Replace(curl(at.origin, at.chainPath("/status")), "curl ", "curl -i ", 1), http.StatusOK),
		}},
	}
}

// guestLimit says what an address may ask without a key.
func (s *Site) guestLimit() string {
	guests := s.Bounds().Guests
	if guests.PerMinute < 0 {
		return "This deployment does not limit requests that need no key."
	}
	return fmt.Sprintf("Pages and documents need no key, and are limited by the address that asks, or its IPv6 network of 64 bits: %s requests a minute, %s of them at once. A request with a key that is not valid counts as %d. Where that is used up, a key or a session that was not seen before is still looked at, one at a time for an address and ten a second if they are no good, so that nobody is locked out by a neighbour.",
		web.Group(uint64(guests.PerMinute)), web.Group(uint64(guests.Burst)), kernel.FailureCost)
}

func (s *Site) cursorGuide(at setting) []web.Section {
	path := at.chainPath("/blocks?limit=2")
	return []web.Section{
		{ID: "paging", Title: "Reading page by page", Blocks: []web.Block{
			docText("A list answers with `items` and `nextCursor`. The first page needs no cursor:"),
			at.request(curl(at.origin, path), http.StatusOK),
			docText("For the next one send the same parameters and `nextCursor` as `cursor`, unchanged. When `nextCursor` is null there is no more."),
			at.request(curl(at.origin, path+"&cursor=$NEXT_CURSOR"), http.StatusOK),
		}},
		{ID: "rules", Title: "What holds", Blocks: []web.Block{
			docList("A cursor is opaque: do not take it apart, compare it or build one. It needs no further encoding in an address.",
				"It belongs to one operation, one chain and one set of parameters; only `limit` may change from page to page.",
				"It does not expire by itself.",
				"Lists are newest first unless the operation says otherwise. New blocks appear in front and do not disturb the pages behind.",
				"A page may be shorter than `limit`, or empty, and still have a `nextCursor`: the service bounds how much a single request looks through.")},
		},
		{ID: "forks", Title: "Forks", Blocks: []web.Block{
			docText("A cursor is a place in a block. While that block is part of the chain the list goes on exactly, whatever came or went above it: read the newest pages again when `lastFork.count` of the status has changed. When a fork takes the block away, the cursor is refused with `invalid_cursor`: begin again without one."),
		}},
	}
}

func (s *Site) limitGuide(at setting) []web.Section {
	n := func(v int) string { return web.Group(uint64(v)) }
	return []web.Section{
		{ID: "requests", Title: "Requests", Blocks: []web.Block{
			docTable([]string{"What", "Limit", "Otherwise"},
				[]string{"Length of the address", n(kernel.MaxURI) + " bytes", "414 `" + string(kernel.CodeURITooLong) + "`"},
				[]string{"Address and headers together", "48 KiB", "431 `" + string(kernel.CodeHeadersTooLarge) + "`"},
				[]string{"Request body, with or without gzip", s.bodyLimits(), "413 `" + string(kernel.CodePayloadTooLarge) + "`"},
				[]string{"Time for a body to arrive", s.Bounds().BodyTime.String(), "408 `" + string(kernel.CodeRequestTimeout) + "`"},
				[]string{"Length of a cursor", n(kernel.MaxCursor) + " characters", "400 `" + string(kernel.CodeInvalidCursor) + "`"},
				[]string{"Length of `" + kernel.HeaderRequestID + "`", n(kernel.MaxRequestID) + " characters", "a new id is made"},
				[]string{"Time for an answer", s.Bounds().Timeout.String(), "503 `" + string(kernel.CodeServiceUnavailable) + "`"},
				[]string{"Requests at work in a process", n(s.Bounds().AtWork.All), "503 `" + string(kernel.CodeServiceUnavailable) + "`"}),
		}},
		{ID: "pages", Title: "Pages", Blocks: []web.Block{
			docText("A page size above the maximum is lowered to it; one below 1 is raised to 1."),
			docTable([]string{"Parameter", "Default", "Maximum"}, append(s.pageRows(),
				[]string{"Addresses of a batch", "-", n(api.MaxAddresses) + ", else 400"},
				[]string{"Transactions of a batch", "-", n(api.MaxHashes) + ", else 400"})...),
		}},
		{ID: "json-rpc", Title: "JSON-RPC", Blocks: []web.Block{
			docText("All methods and their limits are in [JSON-RPC methods](/docs/rpc)."),
			docTable([]string{"What", "Limit", "Otherwise"}, rpcLimits()...),
		}},
		{ID: "answers", Title: "Parts of an answer", Blocks: []web.Block{
			docText("What is cut says so in a field beside it."),
			docTable([]string{"Part", "At most", "Said by"},
				[]string{"Calldata of a transaction", n(api.MaxCalldata) + " felts", "`calldataTruncated`"},
				[]string{"Messages of a transaction", n(api.MaxMessages), "`messagesCoverage`"},
				[]string{"Payload of a message", n(api.MaxPayload) + " felts", "`payloadTruncated`"},
				[]string{"Transfers of a previewed transaction", n(preview.MaxTransfers), "`tokenTransfersTruncated`"},
				[]string{"Exchange calls of a previewed transaction", n(preview.MaxExchangeCalls), "`exchangeCallsTruncated`"}),
		}},
	}
}

// pageRows are the page sizes of the lists.
func (s *Site) pageRows() (rows [][]string) {
	for _, r := range s.Entries() {
		if name := r.PageParameter(); name != "" {
			rows = append(rows, []string{"`" + name + "` of `" + r.Path + "`", web.Group(uint64(r.Page.Usual)), web.Group(uint64(r.Page.Most))})
		}
	}
	return rows
}

// bodyLimits says which operations take a body.
func (s *Site) bodyLimits() string {
	var parts []string
	for _, r := range s.Entries() {
		if r.MaxBody > 0 {
			parts = append(parts, fmt.Sprintf("%s bytes for %s", web.Group(uint64(r.MaxBody)), r.ID))
		}
	}
	if len(parts) == 0 {
		return "none is taken"
	}
	return strings.Join(parts, ", ")
}

func (s *Site) errorGuide(setting) []web.Section {
	var rows [][]string
	for _, c := range sortedCodes() {
		info := kernel.Codes[c]
		rows = append(rows, []string{"`" + string(c) + "`", strconv.Itoa(info.Status), "[" + info.Title + "](/docs/" + info.Slug + "#" + string(c) + ")", info.Cause})
	}
	var why [][]string
	for _, r := range slices.Sorted(maps.Keys(kernel.Reasons)) {
		info := kernel.Reasons[r]
		why = append(why, []string{"[`" + string(r) + "`](/docs/" + info.Slug + "#reason-" + string(r) + ")", "`" + string(info.Code) + "`", info.Cause})
	}
	return []web.Section{
		{ID: "form", Title: "The form of a failure", Blocks: []web.Block{
			docText("Every failure is JSON with the same four fields, and some with more."),
			docSample(s.sampleFailure(kernel.CodeNotFound)),
			docTable([]string{"Field", "Meaning"},
				[]string{"`code`", "Names the failure. Branch on this: codes do not change within a version."},
				[]string{"`message`", "For people. It may change at any time."},
				[]string{"`docSlug`", "The page below `/docs/` that explains cause and cure."},
				[]string{"`reason`", "Only where there is more to tell than the code does: which of several things it stands for. New ones may be added."},
				[]string{"`requestId`", "The same as the header `" + kernel.HeaderRequestID + "`. Put it into a report."}),
		}},
		{ID: "codes", Title: "All codes", Blocks: []web.Block{docTable([]string{"Code", "Status", "Page", "Cause"}, rows...)}},
		{ID: "reasons", Title: "All reasons", Blocks: []web.Block{docTable([]string{"Reason", "Code", "Cause"}, why...)}},
		{ID: "retry", Title: "When to try again", Blocks: []web.Block{
			docList("429 and 503: wait as long as `Retry-After` says, then send the same request, cursor included.",
				"500 and broken connections: try again a few times, waiting longer each time.",
				"Everything else: the same request will fail again. Change it first.")},
		},
	}
}

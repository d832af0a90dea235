package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"chainexplorer/docs"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// guide is a page below /docs. Every docSlug of the table of codes has one:
// what explains a code stands in the same page as the guide to its subject.
type guide struct {
	slug    string
	title   string
	summary string // in lists of guides
	// sections are written for a site; nil for a page about codes alone.
	sections func(setting) []web.Section
	codes    []kernel.Code
	reasons  []kernel.Reason
}

// guides lists the pages: the written ones, then those that only explain codes.
func (s *Site) guides() []guide {
	out := s.writtenGuides()
	for _, c := range sortedCodes() {
		slug := kernel.Codes[c].Slug
		i := slices.IndexFunc(out, func(g guide) bool { return g.slug == slug })
		if i < 0 {
			out = append(out, guide{slug: slug, title: slugTitle(slug)})
			i = len(out) - 1
		}
		out[i].codes = append(out[i].codes, c)
	}
	for _, r := range slices.Sorted(maps.Keys(kernel.Reasons)) {
		i := slices.IndexFunc(out, func(g guide) bool { return g.slug == kernel.Reasons[r].Slug })
		out[i].reasons = append(out[i].reasons, r)
	}
	for i := range out {
		if g := &out[i]; g.summary == "" {
			names := make([]string, len(g.codes))
			for j, c := range g.codes {
				names[j] = "`" + string(c) + "`"
			}
			g.summary = "What causes " + strings.Join(names, ", ") + ", and what to do."
		}
	}
	return out
}

// slugTitle makes api/unsupported-routes Unsupported routes.
func slugTitle(slug string) string {
	words := strings.ReplaceAll(slug[strings.LastIndexByte(slug, '/')+1:], "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// article is the guide as it is for a site.
func (g guide) article(s *Site, at setting) web.Article {
	a := web.Article{Title: g.title, Lead: g.summary}
	if g.sections != nil {
		a.Sections = g.sections(at)
	}
	for _, c := range g.codes {
		a.Sections = append(a.Sections, s.explain(c))
	}
	for _, r := range g.reasons {
		a.Sections = append(a.Sections, s.explainReason(r))
	}
	return a
}

// explainReason is the section about a reason.
func (s *Site) explainReason(r kernel.Reason) web.Section {
	info := kernel.Reasons[r]
	return web.Section{ID: "reason-" + string(r), Title: fmt.Sprintf("%d %s, reason %s", kernel.Codes[info.Code].Status, info.Code, r), Blocks: []web.Block{
		{Text: "Cause: " + info.Cause},
		{Text: "Cure: " + info.Cure},
	}}
}

// explain is the section about a code.
func (s *Site) explain(c kernel.Code) web.Section {
	info := kernel.Codes[c]
	return web.Section{ID: string(c), Title: fmt.Sprintf("%d %s", info.Status, c), Blocks: []web.Block{
		{Text: "Cause: " + info.Cause},
		{Text: "Cure: " + info.Cure},
		{Code: &web.Code{Text: s.sampleFailure(c)}},
	}}
}

// sampleFailure is an answer with a code, headers that matter included.
func (s *Site) sampleFailure(c kernel.Code) string {
	info := kernel.Codes[c]
	message, _, _ := strings.Cut(info.Cause, ". ")
	e := kernel.Fail(c, "%s.", strings.TrimSuffix(message, "."))
	const id = "svc-0123456789abcdefghjkmnpq"
	h := http.Header{}
	kernel.Challenge(h, e, s.Entries()[0])
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\n%s: %s\n", info.Status, http.StatusText(info.Status), kernel.HeaderRequestID, id)
	if v := h.Get("WWW-Authenticate"); v != "" {
		fmt.Fprintf(&b, "WWW-Authenticate: %s\n", v)
	}
	switch c {
	case kernel.CodeRateLimited, kernel.CodeServiceUnavailable, kernel.CodeEventCoverageUnavailable:
		b.WriteString("Retry-After: 2\n")
	case kernel.CodeMethodNotAllowed:
		b.WriteString("Allow: GET, HEAD, OPTIONS\n")
	}
	fmt.Fprintf(&b, "Content-Type: %s\n\n", kernel.JSONType)
	var body bytes.Buffer
	if err := json.Indent(&body, kernel.EnvelopeJSON(e, id), "", "  "); err != nil {
		panic(err) // an envelope is JSON
	}
	return b.String() + body.String()
}

// docsTrail leads to a page below /docs.
func docsTrail(slug string) []web.Link {
	trail := []web.Link{{Text: "Start", Href: "/"}, {Text: "Guides", Href: "/docs"}}
	if strings.HasPrefix(slug, "api/") {
		trail = append(trail, web.Link{Text: "API", Href: referencePath})
	}
	return trail
}

// pages registers the pages below /docs.
func (s *Site) pages(lib *library, guides []guide, ref func() *reference) {
	bySlug := make(map[string]guide, len(guides))
	for _, g := range guides {
		bySlug[g.slug] = g
	}
	s.Open("GET /docs", lib.serve("/docs", func(setting) (*document, error) { return s.writeIndex(guides) }))
	s.Open("GET "+referencePath, lib.serve(referencePath, func(at setting) (*document, error) { return s.writeReference(at, guides, ref()) }))
	for _, family := range s.families() {
		href := familyHref(family)
		s.Open("GET "+href, lib.serve(href, func(at setting) (*document, error) { return s.writeFamily(at, family, ref()) }))
	}
	s.missing = sync.OnceValues(func() (*document, error) { return s.missingPage(guides) })
	s.Open("GET /docs/{slug...}", func(w http.ResponseWriter, r *http.Request) {
		slug := r.PathValue("slug")
		g, ok := bySlug[slug]
		if bare := strings.TrimSuffix(slug, "/"); !ok && (bare != slug || slug == "") {
			s.Slashed(w, r, strings.TrimSuffix("/docs/"+bare, "/"))
			return
		}
		if !ok {
			s.sendMissing(w, r)
			return
		}
		lib.serve("/docs/"+slug, func(at setting) (*document, error) {
			return s.page(web.Page{Title: g.title, Description: g.summary, Trail: docsTrail(slug)}, g.article(s, at))
		})(w, r)
	})
}

// page is a page of ours, with a title, a description and a trail, as a document.
func (s *Site) page(p web.Page, content web.Content) (_ *document, err error) {
	p.Title, p.Version, p.Accounts, p.Chains = p.Title+" · Chain Explorer", s.Version, s.SignsIn(), s.Chains
	p.Description = strings.ReplaceAll(p.Description, "`", "") // markup of texts
	if p.Body, err = content.Body(); err != nil {
		return nil, err
	}
	return newDocument(web.ContentType, web.HTML(p)), nil
}

func guideList(guides []guide) web.Block {
	var b web.Block
	for _, g := range guides {
		b.List = append(b.List, fmt.Sprintf("[%s](/docs/%s): %s", g.title, g.slug, g.summary))
	}
	return b
}

// writtenOnes counts the guides in front of those that only explain codes.
func writtenOnes(guides []guide) int {
	if n := slices.IndexFunc(guides, func(g guide) bool { return g.sections == nil }); n >= 0 {
		return n
	}
	return len(guides)
}

func (s *Site) writeIndex(guides []guide) (*document, error) {
	written := writtenOnes(guides)
	const lead = "How to call this service, what its answers mean, and what to do when it refuses."
	return s.page(web.Page{Title: "Guides", Description: lead, Trail: docsTrail("")[:1]}, web.Article{
		Title: "Guides",
		Lead:  lead,
		Sections: []web.Section{
			{ID: "reference", Title: "Reference", Blocks: []web.Block{{List: []string{
				"[API reference](" + referencePath + "): every operation, with parameters, answers, failures and an example.",
				"[OpenAPI 3.1 as JSON](/openapi.json) or [as YAML](/openapi.yaml): the contract, for programs.",
				"[llms.txt](/llms.txt) and [llms-full.txt](/llms-full.txt): the same as plain text.",
				"[API catalog](/.well-known/api-catalog): where everything is, in the form of RFC 9727.",
				"[Check a receipt](" + receiptPath + "): whether a verification receipt is to be believed, checked in your browser.",
			}}}},
			{ID: "guides", Title: "Guides", Blocks: []web.Block{guideList(guides[:written])}},
			{ID: "subjects", Title: "Subjects in depth", Blocks: []web.Block{manualList(readManuals(docs.ForCallers))}},
			{ID: "operators", Title: "For operators", Blocks: []web.Block{manualList(readManuals(docs.ForOperators))}},
			{ID: "failures", Title: "Failures", Blocks: []web.Block{guideList(guides[written:])}},
		},
	})
}

// sendMissing answers with the page that says that there is none.
func (s *Site) sendMissing(w http.ResponseWriter, r *http.Request) {
	d, err := s.missing()
	if err != nil {
		s.failDocument(w, r, err)
		return
	}
	d.send(w, r)
}

// missingPage is the answer to a path that has no page.
func (s *Site) missingPage(guides []guide) (*document, error) {
	body, err := web.Article{
		Title:    "There is no such page",
		Lead:     "The address may be mistyped, or the page was moved. These pages exist:",
		Sections: []web.Section{{ID: "pages", Title: "Pages", Blocks: []web.Block{guideList(guides)}}},
	}.Body()
	if err != nil {
		return nil, err
	}
	html := web.HTML(web.Page{Title: "Not found · Chain Explorer", Trail: docsTrail(""), Body: body, Version: s.Version, Hidden: true, Accounts: s.SignsIn(), Chains: s.Chains})
	d := newDocument(web.ContentType, html)
	d.status = http.StatusNotFound
	return d, nil
}

// writeReference writes the first page of the API reference.
func (s *Site) writeReference(at setting, guides []guide, ref *reference) (*document, error) {
	page := web.Page{Title: "API reference", Description: "Every operation of the API, with its parameters, answers, failures and an example.", Trail: docsTrail("")}
	return s.page(page, web.Reference{
		Title: page.Title,
		Lead: fmt.Sprintf("%d operations, all below `%s/v1`. The same contract for programs: [OpenAPI 3.1](/openapi.json), [YAML](/openapi.yaml).",
			len(s.Entries()), at.origin),
		Overview: s.overview(at, guides),
		Families: ref.families(at),
	})
}

// writeFamily writes the page of the operations of one family.
func (s *Site) writeFamily(at setting, name string, ref *reference) (*document, error) {
	families := ref.families(at)
	f := &families[slices.IndexFunc(families, func(f web.Family) bool { return f.Name == name })]
	lead := "For when " + strings.ToLower(f.Purpose[:1]) + f.Purpose[1:]
	return s.page(web.Page{Title: f.Name + ": API reference", Description: lead, Trail: docsTrail("api/")},
		web.Reference{Title: f.Name, Lead: lead, Families: families, Current: f})
}

// overview is what all operations have in common.
func (s *Site) overview(at setting, guides []guide) []web.Section {
	return []web.Section{
		{ID: "base-url", Title: "Base URL and chains", Blocks: []web.Block{
			{Text: fmt.Sprintf("`%s/v1/{chain}/...`, where `{chain}` is one of %s. `/api/v1/...` is the same API for older clients.", at.origin, codeList(s.routes.Order))},
		}},
		{ID: "authentication", Title: "Authentication", Blocks: []web.Block{
			{Text: fmt.Sprintf("Send your key in the header `%s`, on its own. See [keys, scopes and tiers](/docs/api/auth). The examples below take it from the environment:", kernel.HeaderKey)},
			{Code: &web.Code{Text: "export SERVICE_API_KEY=svc_live_..."}},
		}},
		{ID: "limits", Title: "Limits", Blocks: []web.Block{
			{Text: fmt.Sprintf("Every operation has a class, `%s`, `%s` or `%s`, and every key a budget per class and minute. The headers of every answer tell what is left: see [rate limits](/docs/api/rate-limits). Sizes and times are in [limits](/docs/api/limits).", kernel.Light, kernel.Heavy, kernel.Batch)},
		}},
		{ID: "errors", Title: "Errors", Blocks: []web.Block{
			{Text: "Every failure is JSON with `code`, `message`, `docSlug` and `requestId`. Branch on `code`; `docSlug` names a page below `/docs/`. All codes are in [errors](/docs/api/errors)."},
		}},
		{ID: "cursors", Title: "Lists", Blocks: []web.Block{
			{Text: "Lists answer with `items` and `nextCursor`. Pass `nextCursor` back as `cursor` with the same parameters, and stop when it is null: see [cursors](/docs/api/cursors)."},
		}},
		{ID: "all-guides", Title: "Guides", Blocks: []web.Block{guideList(guides[:writtenOnes(guides)])}},
	}
}

func codeList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return strings.Join(out, ", ")
}

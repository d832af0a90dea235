package site

import (
	"fmt"
	"strings"

	"chainexplorer/docs"
	"chainexplorer/internal/kernel"
)

// intro begins both texts for programs that read.
func (s *Site) intro(b *strings.Builder, at setting) {
	fmt.Fprintf(b, `# Chain Explorer

> Exact, indexed reads of Starknet over REST: blocks, transactions, events, finality. Chains served: %s.

- Base address: %s/v1. Every operation below /v1 needs a key in the header %s.
- The chain is part of the path, such as %s. There is no default chain in a path.
- Felts are 0x and lower-case hex; large amounts are decimal strings; null means unknown, never zero.
- Failures are JSON with code, message, docSlug, requestId: branch on code, read %s/docs/{docSlug}.
- Lists return items and nextCursor: pass nextCursor back as cursor, unchanged, until it is null.
- On 429 and 503 wait as long as Retry-After says.

`, strings.Join(s.routes.Order, ", "), at.origin, kernel.HeaderKey, at.chainPath("/status"), at.origin)
}

// writeLLMs writes the short text: what there is and where.
func (s *Site) writeLLMs(at setting, guides []guide) (*document, error) {
	var b strings.Builder
	s.intro(&b, at)
	for _, f := range s.routes.Families() {
		fmt.Fprintf(&b, "## %s\n\n", f.Name)
		for _, r := range s.Entries() {
			if r.Family == f.Name {
				fmt.Fprintf(&b, "- [%s](%s%s): %s %s: %s (%s, %s)\n", r.ID, at.origin, hrefOf(r), r.Method, r.Path, r.Summary, r.Certification, r.Class)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("## Guides\n\n")
	for _, g := range guides {
		fmt.Fprintf(&b, "- [%s](%s/docs/%s): %s\n", g.title, at.origin, g.slug, g.summary)
	}
	for _, m := range readManuals(docs.ForCallers) {
		fmt.Fprintf(&b, "- [%s](%s%s): %s\n", m.page.Title(), at.origin, m.href(), m.Summary)
	}
	fmt.Fprintf(&b, `
## Documents

- [Everything on one page](%[1]s%[2]s): operations with all fields, and all guides
- [OpenAPI 3.1, JSON](%[1]s%[3]s): the contract
- [OpenAPI 3.1, YAML](%[1]s%[4]s): the same
- [API catalog](%[1]s%[5]s): links to all documents (RFC 9727)
- [Agent memory](%[1]s%[6]s): first calls and rules as JSON
- [Correctness manifest](%[1]s%[7]s): route state, access and evidence of every operation
`, at.origin, llmsFullPath, openAPIPathJSON, kernel.OpenAPIPath, catalogPath, agentPath, manifestPath)
	return newDocument(textType, []byte(b.String())), nil
}

// writeLLMsFull writes everything: each operation in full, then the guides.
func (s *Site) writeLLMsFull(at setting, guides []guide, ref *reference) (*document, error) {
	var b strings.Builder
	s.intro(&b, at)
	b.WriteString("The examples take the key from the environment variable SERVICE_API_KEY.\n\n")
	for _, f := range ref.families(at) {
		fmt.Fprintf(&b, "## %s\n\n", f.Name)
		for _, op := range f.Operations {
			op.Markdown(&b, 3)
		}
	}
	for _, g := range guides {
		g.article(s, at).Markdown(&b, 2)
	}
	for _, m := range readManuals(docs.ForCallers) {
		b.WriteString("#") // one level down: the guide is a part here
		b.Write(m.page.Source)
		b.WriteString("\n")
	}
	return newDocument(textType, []byte(b.String())), nil
}

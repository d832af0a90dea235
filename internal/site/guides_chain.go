package site

import (
	"fmt"
	"net/http"
	"strings"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

func (s *Site) finalityGuide(at setting) []web.Section {
	var depths []string
	for _, id := range s.routes.Order {
		depths = append(depths, fmt.Sprintf("%s blocks on `%s`", web.Group(s.routes.Chains[id].Depth), id))
	}
	return []web.Section{
		{ID: "tiers", Title: "Three tiers", Blocks: []web.Block{
			docTable([]string{"Tier", "Means", "Where it shows"},
				[]string{"`accepted_l2`", "The block is indexed. A fork may still replace it.", "`latestIndexedBlockNumber` of the status; `finalityStatus` is `ACCEPTED_ON_L2`"},
				[]string{"`finalized`", "The block is deep enough below the head: " + strings.Join(depths, ", ") + ". A fork this deep has happened on Starknet, but rarely.", "`finalizedBlockNumber` of the status; answers carry an `ETag`"},
				[]string{"`accepted_l1`", "The node reports the block as accepted on L1. It is the node's word, not evidence from L1.", "`latestL1AcceptedBlockNumber` of the status; `finalityStatus` is `ACCEPTED_ON_L1`"}),
			at.request(curl(at.origin, at.chainPath("/status")), http.StatusOK),
			docText("Blocks that are only pre-confirmed are not indexed."),
		}},
		{ID: "forks", Title: "When the chain reorganises", Blocks: []web.Block{
			docText("The service undoes the replaced blocks, a deep fork in several steps, and then takes in the new ones: an answer is always of one branch, never of two, and in between the head is lower. `lastFork` of the status counts the forks so far and tells where the last one began and how deep it was. Answers that were kept are dropped."),
			docList("Keep the block hash with whatever you store. To check a row, read its block again by number and compare hashes.",
				"Act on what is `finalized` when undoing is expensive for you, and on `accepted_l1` when it is impossible.",
				"After a fork a transaction may be in another block, or in none. Asking for one that is gone gives 404."),
		}},
		{ID: "soundness", Title: "Is the index sound?", Blocks: []web.Block{
			docText("`indexing.status` of the status is `current`, `catching_up`, `starting` or `degraded`. While it is degraded the index answers as of its last good block, and `indexing.reason` says why it stopped. `indexDigest` is a digest of everything that was indexed up to the head: two services with the same head must show the same one."),
		}},
	}
}

func (s *Site) httpGuide(at setting) []web.Section {
	tx := at.chainPath("/tx/" + escape(at.examples.Tx))
	origins := "This deployment allows none."
	if len(s.Origins) > 0 {
		origins = "This deployment allows " + codeList(s.Origins) + "."
	}
	return []web.Section{
		{ID: "formats", Title: "Numbers, felts and times", Blocks: []web.Block{
			docList("Felts (hashes, addresses, keys, calldata) are `0x` and lower-case hex without leading zeros. In requests any case and zero-padding up to 64 digits is taken; compare by value.",
				"Amounts that can exceed 2^53 are decimal strings. Keep them as integers of any size, never as floating point.",
				"Fields that end in `Iso` are RFC 3339 in UTC; those that end in `Unix` are seconds.",
				"Null means that the service does not know, or that there is no such thing. It never stands for zero."),
		}},
		{ID: "request-ids", Title: "Request ids", Blocks: []web.Block{
			docText("Every answer carries `%s`. Send one of your own, up to %d letters, digits and `. _ : -`, and it comes back unchanged, so that your log and ours can be joined.", kernel.HeaderRequestID, kernel.MaxRequestID),
			at.request(`curl -i -H "`+kernel.HeaderRequestID+`: my-trace-42" -H "`+kernel.HeaderKey+`: $SERVICE_API_KEY" `+at.origin+at.chainPath("/status"), http.StatusOK),
		}},
		{ID: "caching", Title: "Caching", Blocks: []web.Block{
			docText("Answers to a key are `Cache-Control: private`. An answer about a finalized block or transaction has a strong `ETag`; send it back in `If-None-Match` and get 304 without a body while nothing has changed. Once the block is accepted on L1 the answer may be kept for an hour without asking. Keys and budgets apply to a 304 as well. Everything else is `no-store`, except where a route says of itself that it has conditional reads: there the `ETag` is weak, a `Last-Modified` stands beside it, and `If-Modified-Since` counts where there is no `If-None-Match`."),
			at.request(strings.Replace(curl(at.origin, tx), "curl ", "curl -I ", 1), http.StatusOK),
			docText("`HEAD` works wherever `GET` does. Answers of %s bytes and more are compressed for clients that accept gzip; `curl --compressed` does.", web.Group(kernel.GzipFrom)),
		}},
		{ID: "browsers", Title: "Browsers", Blocks: []web.Block{
			docText("There are two lanes."),
			docList("Open: a page of any origin may call with a key in a header. Answers have `Access-Control-Allow-Origin: *` and no credentials take part. Headers that may be sent: "+codeList(kernel.OpenHeaders)+".",
				"Strict: a request, or a preflight for one, that carries cookies or `Authorization` is held against a list of origins. "+origins),
			docText("Pages can read these headers of an answer: %s.", "`"+strings.ReplaceAll(kernel.ExposedHeaders, ", ", "`, `")+"`"),
			docText("A key inside a public page is a public key: use one with few scopes and small budgets for that page alone."),
		}},
	}
}

func (s *Site) versionGuide(setting) []web.Section {
	states := make([]string, len(certificationMeanings))
	for i, c := range certificationMeanings {
		states[i] = c.State
	}
	rows := s.operationsBy(states, func(r *kernel.Route) string { return string(r.Certification) })
	for i := range rows {
		rows[i] = []string{rows[i][0], certificationMeanings[i].Meaning, rows[i][1]}
	}
	rows[len(rows)-1][2] = "Answered as `" + string(kernel.CodeUnsupportedRoute) + "`."
	return []web.Section{
		{ID: "path", Title: "The version in the path", Blocks: []web.Block{
			docText("The version is the first segment: `/v1`. `/api/v1` is the same table of routes, answer for answer, for clients that were written against that shape; new ones use `/v1`. What is not in the [OpenAPI document](/openapi.json) is not part of the contract and is answered as `%s`.", kernel.CodeUnsupportedRoute),
		}},
		{ID: "certification", Title: "Certification", Blocks: []web.Block{
			docText("Every operation carries `x-service-certification`, and `x-service-evidence` says what its answers were compared with. The same for all operations is in the [correctness manifest](%s).", manifestPath),
			docTable([]string{"State", "Meaning", "Operations"}, rows...),
		}},
		{ID: "changes", Title: "What may change", Blocks: []web.Block{
			docList("New fields, operations, optional parameters and error codes may be added at any time: ignore fields that you do not know, and treat an unknown code by its HTTP status.",
				"Messages, the order of JSON fields, and cursors from the inside may change at any time.",
				"An operation that is to go is first marked `deprecated` in the OpenAPI document. One that is gone stays listed and answers 410 with `Deprecation`, `Sunset`, and in `successors` what took its place: see [retired routes](/docs/api/retired-routes)."),
		}},
		{ID: "this", Title: "This deployment", Blocks: []web.Block{docText("Version `%s` of the service.", s.Version)}},
	}
}

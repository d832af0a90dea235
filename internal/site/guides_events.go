package site

import (
	"net/http"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/web"
)

func (s *Site) eventGuide(at setting) []web.Section {
	n := func(v int) string { return web.Group(uint64(v)) }
	transfer := felt.Selector("Transfer").String()
	path := at.chainPath("/events?limit=2&topic0=" + transfer)
	return []web.Section{
		{ID: "search", Title: "Searching", Blocks: []web.Block{
			docText("`topic0` is the first key of an event: the Keccak of the bare event name, cut to 250 bits. Newest first unless `order=asc`:"),
			at.request(curl(at.origin, path), http.StatusOK),
			docText("By a later key too, which needs `topic0` and both bounds:"),
			at.request(curl(at.origin, path+"&topic1=0x0&from_block=0&to_block=9"), http.StatusOK),
			docList("`topic0` to `topic15` are the keys at those positions; `selector` is `topic0`. Values of one position are alternatives, positions must all match, a position that is not named matches anything.",
				"`address` is the emitting contract; repeat it for alternatives. `contract` and `contractAddress` are the same.",
				"The route of a contract takes `key`, `keys` and `keys[]` for older clients: their values are the keys from position 0 on, one each.",
				"A search without emitter and without `topic0` is refused, and so is one that names an event instead of its selector.",
				"A page may be short, or empty, and still have a `nextCursor`: go on until it is null."),
			docTable([]string{"What", "At most"},
				[]string{"`limit`", n(api.EventPages.Most) + ", " + n(api.EventPages.Usual) + " by default"},
				[]string{"Key positions", n(event.Positions)},
				[]string{"Distinct values of a position", n(api.MaxPerPosition)},
				[]string{"Values of all positions", n(api.MaxPerRequest)},
				[]string{"Emitters", n(api.MaxEmitters)},
				[]string{"Values of `key`, `keys` and `keys[]`", n(api.MaxCompatKeys)},
				[]string{"Pairs of emitter and `topic0`, when searching by later keys", n(api.MaxFanOut)},
				[]string{"Blocks of a search by later keys, both ends included", n(api.MaxRangeBlocks)}),
		}},
		{ID: "decoding", Title: "What is decoded", Blocks: []web.Block{
			docText("`keys` and `data` are authoritative. Beside them stands what the class that the contract had at that block says of the event, never a later one. No request asks a node."),
			docTable([]string{"`decodingStatus`", "Means"},
				[]string{code(abi.Decoded), "One schema consumed all keys and all data. `decodedFields` are there."},
				[]string{code(abi.NameOnly), "The event has a name; its fields are not certified."},
				[]string{code(abi.Unknown), "Nothing names the event."}),
			docTable([]string{"`eventNameSource`, `decodedFieldsSource`", "Means"},
				[]string{code(abi.VerifiedABI), "The ABI of a class whose source was proven."},
				[]string{code(abi.ClassABI), "The ABI of the class, as it was declared."},
				[]string{code(abi.CuratedSelector), "A reviewed schema of a standard, by selector and number of felts."},
				[]string{code(abi.SelectorUnique), "The only name that is known for the selector. It never brings fields."}),
			docTable([]string{"`decodedFieldsUnavailableReason`", "Means"},
				[]string{code(abi.SchemaUnavailable), "No schema of the event is known."},
				[]string{code(abi.SelectorOnlyAttribution), "Only the name is known, or several schemas fit."},
				[]string{code(abi.PayloadShapeMismatch), "The schema does not consume the payload exactly."},
				[]string{code(abi.SchemaShapeUnsupported), "The schema has a type that is not supported, or too many fields."}),
			docText("`eventNameUnavailableReason` is `event_time_class_epoch_unavailable` when the block does not tell which class emitted the event. `eventDecodingDegraded` says that the look-up of classes failed for this answer, and nothing about the events themselves."),
		}},
		{ID: "wide", Title: "Wide ranges", Blocks: []web.Block{
			docText("Workspaces on the `wallet` plan may search more than %s blocks by later keys, for the selectors and positions that `eventSearch.fullRange.selectorCoverage` lists as `ready`:", n(api.MaxRangeBlocks)),
			at.request(curl(at.origin, "/v1/meta/capabilities"), http.StatusOK),
			docText("The answer then has `rangeCoverage`: `requested`, `completed` (what this page and those before it have searched), `complete` (the two are the same, at most on the last page), `certified` (the part in the finalized tier, beyond which up to %s blocks are searched), and what the certificate rests on. Newest first, `completed` ends where the first page began.", n(event.RawExtension)),
		}},
	}
}

// code writes a value as such.
func code[T ~string](v T) string { return "`" + string(v) + "`" }

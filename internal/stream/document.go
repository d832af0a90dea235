package stream

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/kernel"
)

// operation describes the route for the OpenAPI document.
func operation(r *kernel.Route) *huma.Operation {
	kinds := make([]any, len(feed.Kinds))
	for i, kind := range feed.Kinds {
		kinds[i] = string(kind)
	}
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
	one := func(name, doc string, s *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: s}
	}
	explode := true
	felts := func(name, doc string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Explode: &explode, Schema: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Format: "felt"}}}
	}
	kind := one("kind", "What to tell of.", &huma.Schema{Type: huma.TypeString, Enum: kinds})
	kind.Required, kind.Example = true, "block"
	params := []*huma.Param{
		{Name: "chain", In: "path", Required: true, Description: "The chain, such as SN_MAIN.", Schema: text()},
		kind,
		felts("address", "Of events the emitter; of transfers either side; of transactions, once, who has a part in them. Repeat for alternatives, at most 16."),
		felts("token", "Of transfers: the token contract. Repeat for alternatives, at most 16."),
		felts("from", "Of transfers: the sender. Repeat for alternatives, at most 16. Not together with to or address."),
		felts("to", "Of transfers: the receiver, as from."),
	}
	for i := range event.Positions {
		doc := "Of events: values of key " + strconv.Itoa(i) + ". Repeat for alternatives, at most 64 of all topics together."
		if i > 0 {
			doc += " Needs topic0."
		}
		params = append(params, felts("topic"+strconv.Itoa(i), doc))
	}
	params = append(params,
		one("from_block", "First block, at most 10,000 below the newest; the next one when left out.", text()),
		one("lastEventId", "As the header Last-Event-ID, which is believed rather than this.", text()),
		one("follow", "false ends the stream when nothing is left to tell.", &huma.Schema{Type: huma.TypeBoolean, Default: true}),
		&huma.Param{Name: "Last-Event-ID", In: "header", Description: "The id of the last message that was heard: the stream goes on behind it.", Schema: text()},
	)
	op := &huma.Operation{Parameters: params, Responses: map[string]*huma.Response{
		"200": {Description: "Server-sent events. The data of each is one line of JSON with id, type, chain, block, part, lastPart and items, which are the rows of the lists of the same things.",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString, Description: "Lines of id, event, data, retry, and comments, as the HTML standard has them."}}}},
	}}
	failure := map[string]*huma.MediaType{kernel.JSONType: {Schema: &huma.Schema{Ref: "#/components/schemas/Envelope"}}}
	for _, status := range append([]int{400, 401, 403, 429, 500, 503}, r.Statuses...) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: failure}
	}
	return op
}

package site

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/kernel"
)

// contractChains are the chains that the contract knows.
var contractChains = []string{"SN_MAIN", "SN_SEPOLIA"}

// publish completes the OpenAPI document when the table is: it says of every
// operation what the kernel does around it, and of every field what it means.
func (s *Site) publish() {
	s.SpellFelts()
	o := s.OpenAPI()
	documentNulls(o.Components.Schemas)
	describe(o.Components.Schemas)
	openAnswers(o)
	listCodes(o.Components.Schemas)
	o.Components.Headers = responseHeaders()
	s.describeService(o)
	for _, r := range s.Entries() {
		op := s.OperationOf(r)
		op.Extensions["x-service-evidence"] = EvidenceFor(r.ID)
		s.nameChains(op)
		declareHeaders(op, r)
		describeOperation(o.Components.Schemas, r, op)
	}
}

// nameChains lists the values of {chain}: those of the contract, and a local
// chain where one is served. The schema is a copy: that a chain is not served is
// 404, and for the handler to say.
func (s *Site) nameChains(op *huma.Operation) {
	names := slices.Clone(contractChains)
	for _, id := range s.routes.Order {
		if !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	values := make([]any, len(names))
	for i, n := range names {
		values[i] = n
	}
	for _, p := range op.Parameters {
		if p.In == "path" && p.Name == "chain" {
			sc := *p.Schema
			sc.Enum = values
			p.Schema = &sc
		}
	}
}

// listCodes writes all codes into the envelope. New ones can come: clients treat
// a code that they do not know by its status.
func listCodes(r huma.Registry) {
	envelope := r.Map()["Envelope"]
	code := envelope.Properties["code"]
	for _, c := range sortedCodes() {
		code.Enum = append(code.Enum, string(c))
	}
}

// responseHeaders are the headers that answers can have, described once.
func responseHeaders() map[string]*huma.Header {
	text, whole := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeInteger}
	return map[string]*huma.Header{
		kernel.HeaderRequestID:  {Description: "Names this exchange in our logs, for questions.", Schema: text},
		kernel.HeaderRouteClass: {Description: "The class of budget that the route draws on.", Schema: text},
		kernel.HeaderLimit:      {Description: "Requests of this class in a window.", Schema: whole},
		kernel.HeaderRemaining:  {Description: "How many of them are left.", Schema: whole},
		kernel.HeaderPolicy:     {Description: "Class and window, such as light;w=60.", Schema: text},
		"Retry-After":           {Description: "Seconds to wait before the same request can succeed.", Schema: whole},
		"Cache-Control":         {Description: "Keyed answers are private; settled ones can be kept and asked about again.", Schema: text},
		"ETag":                  {Description: "Validator of a settled answer. Send it as If-None-Match; a match is answered 304.", Schema: text},
		"Last-Modified":         {Description: "When the answer was made, or the newest part of it. If-Modified-Since is held against it where there is no If-None-Match; the ETag is authoritative.", Schema: text},
		"Server-Timing":         {Description: "pp_tvl_cache_hit when this process had made the same snapshot before, pp_tvl_cache_miss when it is new to it.", Schema: text},
		kernel.HeaderStability:  {Description: "beta: the route is usable within the limits that it states, and its changes are announced.", Schema: text},
		kernel.HeaderRPCClass:   {Description: "The kind of work: rpc_prove, or the class of a call of JSON-RPC; of a batch, all that are in it.", Schema: text},
		kernel.HeaderQueryClass: {Description: "The kind of query that was asked.", Schema: text},
		kernel.HeaderCostUnits:  {Description: "How many units the query counts for.", Schema: whole},
		"Deprecation":           {Description: "true: do not build on this operation.", Schema: text},
		"Sunset":                {Description: "Since when the operation has not been served.", Schema: text},
		"Link":                  {Description: "What took the operation's place (successor-version), and how to go on (deprecation).", Schema: text},
		"WWW-Authenticate":      {Description: "What is wrong with the key, or which scope it lacks.", Schema: text},
	}
}

// declareHeaders says which answers of an operation carry which headers, and that
// a read can be answered 304.
func declareHeaders(op *huma.Operation, r *kernel.Route) {
	method := r.Method
	lasting := op.Responses["200"] != nil && op.Responses["200"].Content["text/event-stream"] != nil
	if method == http.MethodGet && !r.Retired && !lasting {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Description: "The copy that If-None-Match names is still good."}
		if r.Dated {
			op.Responses[strconv.Itoa(http.StatusNotModified)].Description = "The copy that If-None-Match names is still good or, without it, nothing was modified since the time of If-Modified-Since."
		}
	}
	for status, response := range op.Responses {
		names := []string{kernel.HeaderRequestID, kernel.HeaderRouteClass, "Cache-Control"}
		if status != "401" { // what a key may not do is paid for, too
			names = append(names, kernel.HeaderLimit, kernel.HeaderRemaining, kernel.HeaderPolicy)
		}
		switch status {
		case "200", "304":
			if method == http.MethodGet && !lasting {
				names = append(names, "ETag")
			}
			if r.Dated {
				names = append(names, "Last-Modified", "Server-Timing")
			}
		case "401", "403":
			names = append(names, "WWW-Authenticate")
		case "410":
			names = append(names, "Link")
		case "429", "503":
			names = append(names, "Retry-After")
		}
		names = append(slices.AppendSeq(names, maps.Keys(r.Headers)), r.Tells...)
		if response.Headers == nil {
			response.Headers = map[string]*huma.Header{}
		}
		for _, n := range names {
			response.Headers[n] = &huma.Header{Ref: "#/components/headers/" + n}
		}
	}
}

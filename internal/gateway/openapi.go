package gateway

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// route is the gateway in the table of routes.
var route = kernel.Route{
	ID: "callRpc", Method: http.MethodPost, Path: "/v1/{chain}/rpc", Family: "JSON-RPC",
	Summary: "Call a method of the chain's nodes",
	Description: "A JSON-RPC 2.0 request, or a batch of at most 50. The methods, what each needs and costs, and the failures are in the guide " +
		"[rpc](/docs/rpc); rpc.discover answers with an OpenRPC document. Look at every item of a batch, also when HTTP says 200.",
	Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External,
	Depends: kernel.OnNode, Statuses: []int{http.StatusNotFound, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	MaxBody: maxBody, Tells: []string{kernel.HeaderRPCClass},
	ExampleBody: func(kernel.Examples) string {
		return `{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}`
	},
}

// operation describes requests and answers for the OpenAPI document. What params and
// results are is for the OpenRPC document to say.
func operation(schemas huma.Registry) *huma.Operation {
	id := &huma.Schema{Description: "A text, a number or null; it is returned as it was written. Without one nobody is answered."}
	version := &huma.Schema{Type: huma.TypeString, Enum: []any{"2.0"}, Description: "Always 2.0."}
	ref := func(name string, s *huma.Schema) *huma.Schema {
		schemas.Map()[name] = s
		return &huma.Schema{Ref: "#/components/schemas/" + name}
	}
	orMany := func(name string, s *huma.Schema, description string) *huma.Schema {
		return ref(name, &huma.Schema{Description: description, OneOf: []*huma.Schema{s, {Type: huma.TypeArray, Items: s, Description: "The same for each call of a batch."}}})
	}
	call := ref("RpcCall", &huma.Schema{Type: huma.TypeObject, Description: "A call.", Required: []string{"jsonrpc", "method"}, Properties: map[string]*huma.Schema{
		"jsonrpc": version, "id": id,
		"method": {Type: huma.TypeString, Description: "Name of the method, such as starknet_blockNumber."},
		"params": {Description: "The method's parameters: an array in their order, or an object by their names."},
	}})
	failure := &huma.Schema{Type: huma.TypeObject, Description: "Why there is no result. Those of nodes are passed on as they are.", Required: []string{"code", "message"}, Properties: map[string]*huma.Schema{
		"code":    {Type: huma.TypeInteger, Description: "Names the failure; branch on it, and on data.code of the gateway's own."},
		"message": {Type: huma.TypeString, Description: "For people; may change."},
		"data":    {Description: "More about it. Of a failure of the gateway: code, requestId, service, httpStatus and, where waiting helps, retryAfterSeconds."},
	}}
	answer := ref("RpcAnswer", &huma.Schema{Type: huma.TypeObject, Description: "The answer to a call.", Required: []string{"jsonrpc", "id"}, Properties: map[string]*huma.Schema{
		"jsonrpc": version, "id": id, "error": failure,
		"result": {Description: "What the method returns; there unless error is."},
	}})
	body := func(s *huma.Schema) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{kernel.JSONType: {Schema: s}}
	}
	op := &huma.Operation{
		Parameters:  []*huma.Param{{Name: "chain", In: "path", Required: true, Description: "The chain, such as SN_MAIN.", Schema: &huma.Schema{Type: huma.TypeString}}},
		RequestBody: &huma.RequestBody{Required: true, Content: body(orMany("RpcRequest", call, "A call, or a batch of them."))},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: body(orMany("RpcResponse", answer, "The answer to a call, or to each of a batch."))},
			"204": {Description: "No Content: there were only notifications"},
			"500": {Description: http.StatusText(http.StatusInternalServerError), Content: body(&huma.Schema{Ref: "#/components/schemas/Envelope"})},
		},
	}
	for _, status := range append([]int{400, 401, 403, 429, 503}, route.Statuses...) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: body(answer)}
	}
	return op
}

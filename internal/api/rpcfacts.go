package api

import (
	"slices"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
)

// RPCService says what of the JSON-RPC gateway a deployment serves.
type RPCService struct {
	Enabled   bool
	WebSocket bool
	Writes    bool // signed transactions are passed on
}

// RPCFacts is what the capabilities tell of the JSON-RPC gateway.
type RPCFacts struct {
	Enabled          bool       `json:"enabled" doc:"Whether this deployment serves it."`
	Path             string     `json:"path" doc:"Where calls and batches go, with the key in a header."`
	VersionPath      string     `json:"versionPath" doc:"The same for one version of the specification, such as v0_10. Both paths take the key as one more segment, for clients that cannot send headers."`
	WebSocketEnabled bool       `json:"webSocketEnabled" doc:"Whether this deployment serves subscriptions."`
	WebSocketPath    string     `json:"webSocketPath" doc:"Where subscriptions and ordinary calls go."`
	SpecVersion      string     `json:"specVersion" doc:"Version of the specification on paths that name none."`
	SpecVersions     []string   `json:"specVersions" doc:"Versions that a path can name, newest first. Which of them are spoken depends on the nodes."`
	DiscoveryMethod  string     `json:"discoveryMethod" doc:"The method that answers with an OpenRPC document of all others."`
	Classes          []RPCClass `json:"classes" doc:"The methods by class."`
	Limits           RPCLimits  `json:"limits" doc:"What bounds a call or a batch."`
}

// RPCClass is a kind of methods.
type RPCClass struct {
	Class          method.Class `json:"class" enum:"rpc_read_light,rpc_read_state,rpc_read_history,rpc_simulation,rpc_write,rpc_trace,rpc_ws" doc:"As X-Service-Rpc-Class names it."`
	Scopes         []string     `json:"scopes" doc:"What a key needs."`
	RateLimitClass string       `json:"rateLimitClass" enum:"light,heavy" doc:"The budget that calls draw on."`
	Methods        []string     `json:"methods" doc:"Names of the methods."`
}

// RPCLimits bound calls and batches. Sizes are in bytes.
type RPCLimits struct {
	BatchItems          int   `json:"batchItems" doc:"Calls of a batch."`
	BatchResponseBytes  int64 `json:"batchResponseBytes" doc:"All answers of a batch together."`
	StorageProofTargets int   `json:"storageProofTargets" doc:"Classes, contracts and storage cells of one call together."`
	StorageProofBytes   int64 `json:"storageProofBytes" doc:"An answer with proofs."`
	CompiledClassBytes  int64 `json:"compiledClassBytes" doc:"A compiled class."`
	TraceBytes          int64 `json:"traceBytes" doc:"A trace, or the traces of a block."`
}

// rpcFacts are those of a deployment.
func rpcFacts(s RPCService) RPCFacts {
	out := RPCFacts{
		Enabled: s.Enabled, Path: "/v1/{chain}/rpc", VersionPath: "/rpc/{version}/{chain}", WebSocketEnabled: s.WebSocket, WebSocketPath: "/v1/{chain}/rpc/ws",
		SpecVersion: method.Declared(method.Versions()[0]), SpecVersions: []string{}, DiscoveryMethod: method.Discover, Classes: []RPCClass{},
		Limits: RPCLimits{wire.MaxBatch, method.MaxBatchBytes, method.MaxProofTargets, method.MaxProofBytes, method.MaxCasmBytes, method.MaxTraceBytes},
	}
	for _, v := range method.Versions() {
		out.SpecVersions = append(out.SpecVersions, v.String())
	}
	for _, m := range method.All() {
		i := slices.IndexFunc(out.Classes, func(c RPCClass) bool { return c.Class == m.Class })
		if i < 0 {
			out.Classes = append(out.Classes, RPCClass{Class: m.Class, Scopes: m.Scopes(), RateLimitClass: m.Class.Budget()})
			i = len(out.Classes) - 1
		}
		out.Classes[i].Methods = append(out.Classes[i].Methods, m.Name)
	}
	return out
}

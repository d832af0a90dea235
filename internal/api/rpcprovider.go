package api

import (
	"slices"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
)

// RPCProvider is what wallets and libraries look up before they take the gateway for their node.
type RPCProvider struct {
	Enabled              bool         `json:"enabled" doc:"Whether this deployment serves it."`
	Status               string       `json:"status" enum:"authenticated_http_beta,enrolled_http_beta,not_available" doc:"authenticated_http_beta: any key with the scope read may call."`
	Endpoint             string       `json:"endpoint" doc:"Path of the default chain, below the address of this service."`
	EndpointTemplate     string       `json:"endpointTemplate" doc:"The same of any chain."`
	AuthHeader           string       `json:"authHeader" doc:"Where the key goes."`
	MinimumSpecVersion   string       `json:"minimumSpecVersion" doc:"Oldest version of the specification that a path can name."`
	PublicSpecVersion    string       `json:"publicSpecVersion" doc:"Version of the specification on paths that name none."`
	SupportedBlockTags   []string     `json:"supportedBlockTags" doc:"Tags that name a block."`
	ConditionalBlockTags []string     `json:"conditionalBlockTags" doc:"Those that nodes alone can answer: pre_confirmed, and in its place pending on paths that name 0.8."`
	Batch                ProviderRule `json:"batch" doc:"Several calls in one request."`
	StorageProofBeta     ProviderPart `json:"storageProofBeta" doc:"Proofs of state."`
	WriteBeta            ProviderPart `json:"writeBeta" doc:"Signed transactions, which are passed on to a node."`
	TraceBeta            ProviderPart `json:"traceBeta" doc:"Traces."`
	QuotaClasses         []string     `json:"quotaClasses" doc:"Classes of methods, as X-Service-Rpc-Class names them."`
	// UnsupportedUntilCertified are methods that a deployment keeps back.
	UnsupportedUntilCertified []string `json:"unsupportedUntilCertified" doc:"Methods that are known here and not served."`
}

// ProviderRule says how a batch is taken.
type ProviderRule struct {
	Supported        bool   `json:"supported" doc:"Whether it is taken."`
	MaxItems         int    `json:"maxItems" doc:"Calls of a batch."`
	MaxResponseBytes int64  `json:"maxResponseBytes" doc:"All answers together."`
	Accounting       string `json:"accounting" enum:"per_call" doc:"per_call: each call draws on the budget as it would alone."`
}

// ProviderPart is a part of the methods with rules of its own.
type ProviderPart struct {
	Enabled          bool     `json:"enabled" doc:"Whether this deployment serves it."`
	Status           string   `json:"status" enum:"available,scoped,operator_scoped,not_available" doc:"scoped: for keys with the scope. operator_scoped: for keys with a scope that only the operator gives out."`
	OpenToAllAPIKeys bool     `json:"openToAllApiKeys" doc:"Whether a key needs no more than the scope read."`
	Scope            string   `json:"scope" enum:"read,write,trace" doc:"What a key needs."`
	Methods          []string `json:"methods" doc:"Names of the methods."`
	PayloadPolicy    *string  `json:"payloadPolicy" enum:"forwarded_unchanged" doc:"What becomes of what is sent: forwarded_unchanged, or null where nothing is forwarded."`
	QuotaClass       string   `json:"quotaClass" doc:"Class of the methods."`
	MaxTargets       *int     `json:"maxTargets" doc:"Things of one call together, null where only answers are bounded."`
	MaxResponseBytes *int64   `json:"maxResponseBytes" doc:"An answer, null where it is always small."`
}

// blockTags are those of all versions; nodes alone know the blocks of the second.
var blockTags, nodeTags = []string{"latest", "pending", "pre_confirmed", "l1_accepted"}, []string{"pending", "pre_confirmed"}

// storageProof is the method of proofs.
const storageProof = "starknet_getStorageProof"

// rpcProvider is that of a deployment.
func rpcProvider(s RPCService, chain string) RPCProvider {
	versions := method.Versions()
	out := RPCProvider{
		Enabled: s.Enabled, Status: "not_available", Endpoint: "/v1/" + chain + "/rpc", EndpointTemplate: "/v1/{chain}/rpc", AuthHeader: kernel.HeaderKey,
		MinimumSpecVersion: method.Declared(versions[len(versions)-1]), PublicSpecVersion: method.Declared(versions[0]),
		SupportedBlockTags: blockTags, ConditionalBlockTags: nodeTags,
		Batch:        ProviderRule{s.Enabled, wire.MaxBatch, method.MaxBatchBytes, "per_call"},
		QuotaClasses: []string{}, UnsupportedUntilCertified: []string{},
	}
	if s.Enabled {
		out.Status = "authenticated_http_beta"
	}
	targets, proofBytes, traceBytes, policy := method.MaxProofTargets, int64(method.MaxProofBytes), int64(method.MaxTraceBytes), "forwarded_unchanged"
	out.StorageProofBeta = s.part(func(m *method.Method) bool { return m.Name == storageProof }, "available", s.Enabled)
	out.StorageProofBeta.MaxTargets, out.StorageProofBeta.MaxResponseBytes = &targets, &proofBytes
	out.WriteBeta = s.part(func(m *method.Method) bool { return m.Class == method.Write }, "scoped", s.Enabled && s.Writes)
	out.WriteBeta.PayloadPolicy = &policy
	out.TraceBeta = s.part(func(m *method.Method) bool { return m.Class == method.Trace }, "operator_scoped", s.Enabled)
	out.TraceBeta.MaxResponseBytes = &traceBytes
	for _, m := range method.All() {
		if class := string(m.Class); !slices.Contains(out.QuotaClasses, class) {
			out.QuotaClasses = append(out.QuotaClasses, class)
		}
		served := s.Enabled && (m.Class != method.Write || s.Writes) && (m.Class != method.WebSocket || s.WebSocket)
		if !served {
			out.UnsupportedUntilCertified = append(out.UnsupportedUntilCertified, m.Name)
		}
	}
	return out
}

// part tells of some methods, which have one class and one scope.
func (s RPCService) part(of func(*method.Method) bool, status string, enabled bool) ProviderPart {
	out := ProviderPart{Enabled: enabled, Status: status, Methods: []string{}}
	if !enabled {
		out.Status = "not_available"
	}
	for _, m := range method.All() {
		if of(m) {
			scopes := m.Scopes()
			out.Methods, out.QuotaClass, out.Scope, out.OpenToAllAPIKeys = append(out.Methods, m.Name), string(m.Class), scopes[len(scopes)-1], len(scopes) == 1
		}
	}
	return out
}

package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// Capabilities tells a program what it can do here.
type Capabilities struct {
	Kind             string           `json:"kind" enum:"service.meta.capabilities"`
	SchemaVersion    string           `json:"schemaVersion"`
	DefaultChain     string           `json:"defaultChain"`
	AuthHeader       string           `json:"authHeader"`
	ExternalBasePath string           `json:"externalBasePath" enum:"/v1,/api/v1"`
	FirstCalls       []FirstCall      `json:"firstCalls"`
	Documentation    Documentation    `json:"documentation"`
	RateLimit        RateLimitRules   `json:"rateLimit"`
	RouteFamilies    []RouteFamily    `json:"routeFamilies"`
	SessionControl   FeatureStatus    `json:"sessionControl"`
	APIKeyLifecycle  FeatureStatus    `json:"apiKeyLifecycle"`
	Caller           CallerFacts      `json:"caller"`
	EventSearch      EventSearchFacts `json:"eventSearch"`
	// EventSearchByChain has the coverage of every chain, the default one included.
	EventSearchByChain  []EventSearchFacts `json:"eventSearchByChain" doc:"The same for every chain that is served, the default one first."`
	BatchLimits         BatchLimits        `json:"batchLimits"`
	RPCProvider         RPCProvider        `json:"rpcProvider" doc:"The JSON-RPC gateway, as a wallet or a library looks it up."`
	RPC                 RPCFacts           `json:"rpc" doc:"The JSON-RPC gateway: where it is, its methods by class, its limits."`
	WalletInteraction   WalletInteraction  `json:"walletInteraction"`
	OperatingRules      []string           `json:"operatingRules"`
	IssueReportContract IssueReportRule    `json:"issueReportContract"`
}

// FirstCall is a good request to begin with.
type FirstCall struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Purpose string `json:"purpose"`
}

// Documentation says where the contract is.
type Documentation struct {
	OpenAPIURL               string `json:"openapiUrl"`
	OpenAPIPath              string `json:"openapiPath"`
	OpenAPIFormat            string `json:"openapiFormat"`
	OperationReferenceFormat string `json:"operationReferenceFormat"`
	OperationLookup          string `json:"operationLookup"`
}

// RateLimitRules says how budgets are reported.
type RateLimitRules struct {
	ResponseHeaders     RateLimitHeaders `json:"responseHeaders"`
	Classes             []kernel.Class   `json:"classes"`
	OperationDisclosure string           `json:"operationDisclosure"`
	RetryRule           string           `json:"retryRule"`
}

// RateLimitHeaders names the headers.
type RateLimitHeaders struct {
	RouteClass string `json:"routeClass"`
	Limit      string `json:"limit"`
	Remaining  string `json:"remaining"`
	Policy     string `json:"policy"`
	RetryAfter string `json:"retryAfter"`
}

// RouteFamily is a group of routes.
type RouteFamily struct {
	Name       string            `json:"name"`
	Tier       string            `json:"tier" enum:"read,batch"`
	Routes     []string          `json:"routes"`
	Operations []FamilyOperation `json:"operations"`
	UseWhen    string            `json:"useWhen"`
}

// FamilyOperation is one route of a family.
type FamilyOperation struct {
	Method              string       `json:"method"`
	Path                string       `json:"path"`
	OpenAPIPath         string       `json:"openapiPath"`
	OpenAPIMethod       string       `json:"openapiMethod"`
	OpenAPIOperationRef string       `json:"openapiOperationRef"`
	RateLimitClass      kernel.Class `json:"rateLimitClass"`
	Summary             string       `json:"summary"`
}

// FeatureStatus says whether a part of the service is there.
type FeatureStatus struct {
	Enabled bool   `json:"enabled"`
	Status  string `json:"status"`
}

// WalletInteraction says whether pages may have a wallet sign, and what its bounds would be.
type WalletInteraction struct {
	Enabled          bool   `json:"enabled"`
	Status           string `json:"status" enum:"disabled_until_operator_enabled"`
	Chain            string `json:"chain" doc:"The only chain that it is meant for."`
	MaxCalls         int    `json:"maxCalls" doc:"Calls of a transaction."`
	MaxCalldataFelts int    `json:"maxCalldataFelts" doc:"Felts of its calldata."`
	MaxArguments     int    `json:"maxArguments" doc:"Arguments of a call."`
	MaxStringBytes   int    `json:"maxStringBytes" doc:"Bytes of a text among them."`
}

// CallerFacts is what the service knows of the key that asks.
type CallerFacts struct {
	Authenticated         bool           `json:"authenticated"`
	AuthType              string         `json:"authType" enum:"api_key"`
	KeyClass              *string        `json:"keyClass" enum:"live,test"`
	Scopes                []string       `json:"scopes"`
	ScopeDisclosure       string         `json:"scopeDisclosure"`
	RouteFamilyDisclosure string         `json:"routeFamilyDisclosure"`
	WorkspacePlan         *string        `json:"workspacePlan"`
	RateLimit             *CallerBudgets `json:"rateLimit"`
}

// CallerBudgets are the key's budgets: what this request left of the one that it
// drew on, and the size of all.
type CallerBudgets struct {
	LoadClass         kernel.Class `json:"loadClass" doc:"The class of this request."`
	LimitPerMinute    int          `json:"limitPerMinute"`
	Remaining         int          `json:"remaining"`
	RetryAfterSeconds *int         `json:"retryAfterSeconds" doc:"How long to wait when nothing remains, null while something does."`
	LightPerMinute    int          `json:"lightPerMinute"`
	HeavyPerMinute    int          `json:"heavyPerMinute"`
	BatchPerMinute    int          `json:"batchPerMinute"`
	Burst             int          `json:"burst" doc:"How many requests of a class may come at once; after that they are taken evenly."`
	BucketScope       string       `json:"bucketScope" enum:"key,workspace" doc:"Whose budget limitPerMinute is: the workspace's, or the key's own when that is smaller."`
}

// BatchLimits are the most items of a request.
type BatchLimits struct {
	AddressesPerRequest    int `json:"addressesPerRequest" doc:"Of address/summaries and address/intelligence."`
	TransactionsPerRequest int `json:"transactionsPerRequest" doc:"Of tx/previews."`
	WalletTokensPerRequest int `json:"walletTokensPerRequest" doc:"Of query/wallet-state."`
	RetryAfterSeconds      int `json:"retryAfterSeconds" doc:"When a batch ran out of time: wait, and send fewer."`
}

// IssueReportRule says what a bug report needs.
type IssueReportRule struct {
	RequiredFields []string `json:"requiredFields"`
	Rule           string   `json:"rule"`
}

// ChainList lists the chains that are served.
type ChainList struct {
	Kind          string       `json:"kind" enum:"service.meta.chains"`
	SchemaVersion string       `json:"schemaVersion"`
	DefaultChain  string       `json:"defaultChain"`
	Chains        []ChainEntry `json:"chains"`
	SelectionRule string       `json:"selectionRule"`
}

// ChainEntry is one chain.
type ChainEntry struct {
	ChainID            string `json:"chainId"`
	StatusPath         string `json:"statusPath"`
	StatusPathTemplate string `json:"statusPathTemplate"`
}

const metaSchema = "1"

func (s *Routes) metaRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Meta", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnSetup | kernel.OnCaller}
	capabilities := base
	capabilities.ID, capabilities.Path = "getCapabilities", "/v1/meta/capabilities"
	capabilities.Summary, capabilities.Description = "Get the service's capabilities", "What is served, under which limits, and what the calling key may do."
	kernel.Register(s.Server, capabilities, s.GetCapabilities)
	chains := base
	chains.ID, chains.Path = "listChains", "/v1/meta/chains"
	chains.Summary, chains.Description = "List the chains", "The chains that this deployment serves; the first is the default."
	kernel.Register(s.Server, chains, s.listChains)
}

func (s *Routes) listChains(context.Context, *struct{}) (*body[ChainList], error) {
	out := &body[ChainList]{ChainList{Kind: "service.meta.chains", SchemaVersion: metaSchema, DefaultChain: s.Order[0], Chains: []ChainEntry{},
		SelectionRule: "Put the chain id into the path. There is no default chain in a path."}}
	for _, id := range s.Order {
		out.Body.Chains = append(out.Body.Chains, ChainEntry{id, "/v1/" + id + "/status", "/v1/{chain}/status"})
	}
	return out, nil
}

// budgetsOf is nil outside a request of the table.
func budgetsOf(r *kernel.Request) *CallerBudgets {
	if r.Route == nil {
		return nil
	}
	p, left := r.Caller.Policy, r.Budget
	out := &CallerBudgets{LoadClass: r.Route.Class, LimitPerMinute: left.Limit, Remaining: left.Remaining,
		LightPerMinute: p.LightPerMinute, HeavyPerMinute: p.HeavyPerMinute, BatchPerMinute: p.BatchPerMinute, Burst: p.Burst, BucketScope: "key"}
	if left.Owner == r.Caller.WorkspaceID {
		out.BucketScope = "workspace"
	}
	if left.Remaining == 0 {
		seconds := left.Seconds()
		out.RetryAfterSeconds = &seconds
	}
	return out
}

func (s *Routes) GetCapabilities(ctx context.Context, _ *struct{}) (*body[Capabilities], error) {
	sessions, lifecycle := FeatureStatus{false, "not_available"}, FeatureStatus{true, "operator_issued"}
	if slices.ContainsFunc(s.Entries(), func(r *kernel.Route) bool { return r.Session }) {
		sessions, lifecycle = FeatureStatus{true, "available"}, FeatureStatus{true, "self_serve"}
	}
	c := kernel.RequestOf(ctx).Caller
	class, plan := string(c.Environment), string(c.Plan)
	events := make([]EventSearchFacts, len(s.Order))
	for i, id := range s.Order {
		var err error
		if events[i], err = s.eventSearchFacts(ctx, s.Chains[id], c.WideRanges()); err != nil {
			return nil, err
		}
	}
	return &body[Capabilities]{Capabilities{
		Kind: "service.meta.capabilities", SchemaVersion: metaSchema, DefaultChain: s.Order[0], AuthHeader: kernel.HeaderKey, ExternalBasePath: "/v1",
		FirstCalls: []FirstCall{
			{http.MethodGet, "/v1/meta/chains", "See which chains are served."},
			{http.MethodGet, "/v1/" + s.Order[0] + "/status", "See how far the index is."},
			{http.MethodGet, "/v1/" + s.Order[0] + "/block/latest", "Read the newest block."},
		},
		Documentation: Documentation{s.BaseURL + kernel.OpenAPIPath, kernel.OpenAPIPath, "OpenAPI 3.1", "openapi#/paths/{path}/{method}", "Find an operation by its operationId."},
		RateLimit: RateLimitRules{RateLimitHeaders{kernel.HeaderRouteClass, kernel.HeaderLimit, kernel.HeaderRemaining, kernel.HeaderPolicy, "Retry-After"},
			[]kernel.Class{kernel.Light, kernel.Heavy, kernel.Batch}, "Each operation names its class in x-service-rate-limit-class.",
			"On 429 wait as long as Retry-After says; budgets are per workspace and class in windows of 60 seconds."},
		RouteFamilies: s.Families(), SessionControl: sessions, APIKeyLifecycle: lifecycle,
		Caller: CallerFacts{Authenticated: true, AuthType: "api_key", KeyClass: &class, Scopes: c.Scopes.Names(),
			ScopeDisclosure: "All scopes of the key are listed.", RouteFamilyDisclosure: "All families are listed, whether or not the key may use them.",
			WorkspacePlan: &plan, RateLimit: budgetsOf(kernel.RequestOf(ctx))},
		EventSearch: events[0], EventSearchByChain: events, BatchLimits: BatchLimits{MaxAddresses, MaxHashes, MaxWalletTokens, batchRetryAfter}, RPCProvider: rpcProvider(s.RPC, s.Order[0]), RPC: rpcFacts(s.RPC),
		WalletInteraction: WalletInteraction{Status: "disabled_until_operator_enabled", Chain: "SN_SEPOLIA", MaxCalls: 1, MaxCalldataFelts: 256, MaxArguments: 64, MaxStringBytes: 4096},
		OperatingRules: []string{
			"Send the key in a header, never in an address.",
			"Pass nextCursor back unchanged and stop when it is null.",
			"Keep raw amounts as arbitrary-precision integers.",
			"Null is not zero: it means that the service does not know.",
			"Log X-Request-Id and X-Service-Route-Class, never the key.",
		},
		IssueReportContract: IssueReportRule{[]string{"requestId", "method", "path", "status", "observedAt"}, "Never include the API key."},
	}}, nil
}

// FamilyPurposes say when to reach for a family of the table.
var FamilyPurposes = map[string]string{
	"Status":       "You want to know how far the index is, how fresh it is, and whether it is sound, before you rely on other answers.",
	"Search":       "You have an identifier and do not know what it names.",
	"Blocks":       "You want a block, the newest ones, a block's transactions, or the block at a moment.",
	"Transactions": "You have a transaction's hash and want its outcome, calls, events, transfers and messages; or the newest transactions.",
	"Events":       "You want events by emitter and by the values of their keys, decoded where that is certain.",
	"Tokens":       "You want a token's facts, transfers, supply, balances at a block, who controls it, its holders or its pools.",
	"Addresses":    "You want what an address did, received and sent, who it is, and which tokens it may hold.",
	"Contracts":    "You want a contract's class, deployment and functions, or to call a view function at one block.",
	"Classes":      "You want the declared classes, how many contracts have one, and what they can do.",
	"Messages":     "You follow messages between L1 and L2, or what bridges do with them.",
	"Batches":      "You have many hashes or addresses and want a short answer to each in one request.",
	"Wallets":      "You want all balances of an owner at one block hash, complete or said not to be.",
	"Privacy pool": "You want what a privacy pool says in public: deposits, withdrawals, notes, nullifiers, and what follows from them alone.",
	"Verification": "You have the source of a class and want it rebuilt and compared with what was declared, for a signed receipt.",
	"Prover relay": "You have a transaction of a privacy pool and want it proven, without a prover of your own.",
	"Webhooks":     "You want to be told of blocks, transactions, events, transfers, finality or forks by signed requests to a server of yours.",
	"Streams":      "You want to be told what happens as it happens, through forks, without asking again and again.",
	"JSON-RPC":     "You want what a node answers: state, simulations, proofs, traces, or to send a signed transaction.",
	"Account":      "You are signed in and want to issue, list or revoke the keys of your workspace.",
	"Meta":         "You want to know what this deployment serves and what your key may do.",
}

// Families groups the table for programs that choose routes by purpose.
func (s *Routes) Families() []RouteFamily {
	out := []RouteFamily{}
	for _, r := range s.Entries() {
		i := slices.IndexFunc(out, func(f RouteFamily) bool { return f.Name == r.Family })
		if i < 0 {
			tier := "read"
			if r.Scope == account.Batch {
				tier = "batch"
			}
			out = append(out, RouteFamily{Name: r.Family, Tier: tier, UseWhen: FamilyPurposes[r.Family]})
			i = len(out) - 1
		}
		f := &out[i]
		f.Routes = append(f.Routes, r.Method+" "+r.Path)
		f.Operations = append(f.Operations, FamilyOperation{r.Method, r.Path, r.Path, strings.ToLower(r.Method),
			"openapi#/paths/" + strings.ReplaceAll(strings.ReplaceAll(r.Path, "~", "~0"), "/", "~1") + "/" + strings.ToLower(r.Method), r.Class, r.Summary})
	}
	return out
}

// FeeToken is a contract that every chain of the network has.
const FeeToken = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"

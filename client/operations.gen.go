// Code generated from the API's OpenAPI document by internal/clientgen. DO NOT EDIT.

package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
)

// CallRPC: Call a method of the chain's nodes. A JSON-RPC 2.0 request, or a batch of at most
// 50. The methods, what each needs and costs, and the failures are in the guide
// [rpc](/docs/rpc); rpc.discover answers with an OpenRPC document. Look at every item of a
// batch, also when HTTP says 200.
func (c *Chain) CallRPC(ctx context.Context, body json.RawMessage) (*json.RawMessage, error) {
	out := new(json.RawMessage)
	err := c.client.do(ctx, request{operation: "callRpc", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/rpc", body: body, kind: "application/json"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CancelVerificationJob: Cancel a verification job. Ends a job that has not ended, whatever
// it is at. It is best effort: when the receipt was admitted first the job has succeeded,
// and stays so. The answer is the job as it is then. The request has no body.
func (c *Chain) CancelVerificationJob(ctx context.Context, jobID string) (*VerificationJob, error) {
	out := new(VerificationJob)
	err := c.client.do(ctx, request{operation: "cancelVerificationJob", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/verification-jobs/" + url.PathEscape(jobID) + "/cancel"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ChangeWebhook: Change, pause or resume a webhook. Changes what the body names. A webhook
// that is made active goes on where it was: nothing is left out. With another url, or made
// active, the message under way is tried at once, and has all its attempts again.
func (c *Chain) ChangeWebhook(ctx context.Context, webhookID string, body *ChangeWebhookRequest) (*Webhook, error) {
	out := new(Webhook)
	err := c.client.do(ctx, request{operation: "changeWebhook", method: http.MethodPatch, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID), body: body, kind: "application/json"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CreateProverJob: Ask for a proof. Takes a block and an Invoke transaction, and hands them
// to the prover as they are. 202 with a new job; 200 with the job that the same key and body
// made before, which is no second proof and no second debit. It draws on no budget of a
// minute: a key has so many jobs at once, and so many a day of UTC. The body holds a private
// key: it is kept in memory until the prover has it, and nowhere else. A key with the scope
// prove is needed, which the operator gives. See [the prover relay](/docs/guide/relay).
func (c *Client) CreateProverJob(ctx context.Context, idempotencyKey string, body *ProverRequest) (*ProverJob, error) {
	out := new(ProverJob)
	err := c.do(ctx, request{operation: "createProverJob", method: http.MethodPost, path: "/v1/SN_MAIN/prove", body: body, kind: "application/json", header: http.Header{"Idempotency-Key": {idempotencyKey}}, again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CreateVerificationJob: Create a verification job. Takes Package V1: what is to be rebuilt,
// and the digest of the source that will be uploaded. 201 with the new job; 200 with the job
// that the same key and package made before, which counts for no quota. A workspace has one
// active job, and creates at most five a day of UTC. SN_MAIN and the policy
// service-exact-v25 alone are verified. A key of a workspace with the scope verify is
// needed. See [verification](/docs/guide/verification).
func (c *Chain) CreateVerificationJob(ctx context.Context, idempotencyKey string, body *VerificationPackage) (*VerificationJob, error) {
	out := new(VerificationJob)
	err := c.client.do(ctx, request{operation: "createVerificationJob", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/verification-jobs", body: body, kind: "application/json", header: http.Header{"Idempotency-Key": {idempotencyKey}}, again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CreateWebhook: Create a webhook. Begins to send signed messages about what matches the
// filter, by the rules of Standard Webhooks. 201 with the new webhook and its secret, which
// is shown this once; 200 with the webhook that the same Idempotency-Key and body made
// before. Plans have 5 to 2,000 webhooks. A key of a workspace is needed, with the scope
// write. See [webhooks](/docs/guide/webhooks).
func (c *Chain) CreateWebhook(ctx context.Context, idempotencyKey string, body *CreateInputBody) (*CreatedWebhook, error) {
	out := new(CreatedWebhook)
	err := c.client.do(ctx, request{operation: "createWebhook", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/webhooks", body: body, kind: "application/json", header: http.Header{"Idempotency-Key": {idempotencyKey}}, again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DeleteWebhook: Delete a webhook. Ends a webhook, and forgets all of it. A message under
// way may still arrive.
func (c *Chain) DeleteWebhook(ctx context.Context, webhookID string) (*DeletedWebhook, error) {
	out := new(DeletedWebhook)
	err := c.client.do(ctx, request{operation: "deleteWebhook", method: http.MethodDelete, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID)}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DescribeAddresses: Describe many addresses. Labels, kinds and whether funds were received,
// of up to 128 addresses, in the order of the request; one named twice is answered twice.
// When the bounded query runs out of time the answer is 503 with Retry-After 2: send fewer.
func (c *Chain) DescribeAddresses(ctx context.Context, body *AddressBatchBody) (*AddressIntelligenceList, error) {
	out := new(AddressIntelligenceList)
	err := c.client.do(ctx, request{operation: "describeAddresses", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/address/intelligence", body: body, kind: "application/json", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DiscoverAssetsQuery are the parameters of DiscoverAssets. What is empty or zero is not sent.
type DiscoverAssetsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, under the same order and type.
	Cursor string
	// Newest first unless asc. A cursor belongs to its order.
	Order string
	Scope string
}

func (q *DiscoverAssetsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addText(v, "order", q.Order)
	addText(v, "scope", q.Scope)
	return v
}

// DiscoverAssets: Find tokens that an address may hold. Tokens with transfers from or to the
// address, and with `scope` discovered_plus_registry the known ones: candidates with
// evidence, not balances. Known tokens come first. NFT collections are left out and take no
// room of a page. Pages are of one snapshot, whose cursors expire after five minutes.
// `limit` is 1 to 100, 25 by default.
func (c *Chain) DiscoverAssets(ctx context.Context, address string, opts *DiscoverAssetsQuery) (*AssetPage, error) {
	out := new(AssetPage)
	err := c.client.do(ctx, request{operation: "discoverAssets", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address) + "/assets/discovery", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DiscoverAssetsAll: goes over the items of all pages of DiscoverAssets, from the query's
// cursor on. It ends with the first error.
func (c *Chain) DiscoverAssetsAll(ctx context.Context, address string, opts *DiscoverAssetsQuery) iter.Seq2[Asset, error] {
	return pages(func(cursor string) ([]Asset, *string, error) {
		var at DiscoverAssetsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.DiscoverAssets(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// GetAddress: Get an address's summary. Exact counts of what the address did, and its
// contract, if it has one. An address that never did anything is answered with zeros and
// `known` false.
func (c *Chain) GetAddress(ctx context.Context, address string) (*AddressSummary, error) {
	out := new(AddressSummary)
	err := c.client.do(ctx, request{operation: "getAddress", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetAddressAttribution: Say who an address is. The label and protocol of an address, with
// source and confidence: from the operator's labels, then the registry, then known tokens.
// What a token calls itself is no label: it stands apart in `selfReportedName`. A valid
// address that nobody named is answered with `known` false.
func (c *Chain) GetAddressAttribution(ctx context.Context, address string) (*Attribution, error) {
	out := new(Attribution)
	err := c.client.do(ctx, request{operation: "getAddressAttribution", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address) + "/attribution", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetBlockQuery are the parameters of GetBlock. What is empty or zero is not sent.
type GetBlockQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	TxLimit int64
}

func (q *GetBlockQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "tx_limit", q.TxLimit)
	return v
}

// GetBlock: Get a block. A block by number, hash or `latest`, with up to `tx_limit` of its
// transactions (1 to 200, 50 by default) in block order.
func (c *Chain) GetBlock(ctx context.Context, numberOrHash string, opts *GetBlockQuery) (*Block, error) {
	out := new(Block)
	err := c.client.do(ctx, request{operation: "getBlock", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/block/" + url.PathEscape(numberOrHash), query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetBlockAtTimestampQuery are the parameters of GetBlockAtTimestamp. What is empty or zero is not sent.
type GetBlockAtTimestampQuery struct {
	Closest string
}

func (q *GetBlockAtTimestampQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "closest", q.Closest)
	return v
}

// GetBlockAtTimestamp: Find the block at a moment. `timestamp` is RFC 3339 with a zone, or
// Unix seconds. `closest` chooses the newest block at or before it, or the oldest at or
// after it.
func (c *Chain) GetBlockAtTimestamp(ctx context.Context, timestamp string, opts *GetBlockAtTimestampQuery) (*BlockAtTimestamp, error) {
	out := new(BlockAtTimestamp)
	err := c.client.do(ctx, request{operation: "getBlockAtTimestamp", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/block-at-timestamp", query: joined(url.Values{"timestamp": {timestamp}}, opts.values()), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetCapabilities: Get the service's capabilities. What is served, under which limits, and
// what the calling key may do.
func (c *Client) GetCapabilities(ctx context.Context) (*Capabilities, error) {
	out := new(Capabilities)
	err := c.do(ctx, request{operation: "getCapabilities", method: http.MethodGet, path: "/v1/meta/capabilities", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetClassQuery are the parameters of GetClass. What is empty or zero is not sent.
type GetClassQuery struct {
	InstanceSort string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	InstanceLimit int64
	// instances.nextCursor of the page before.
	InstanceCursor string
}

func (q *GetClassQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "instanceSort", q.InstanceSort)
	addNumber(v, "instanceLimit", q.InstanceLimit)
	addText(v, "instanceCursor", q.InstanceCursor)
	return v
}

// GetClass: Get a class. A class, and a page of the contracts that have it now.
// `instanceSort` is `address_asc` (the default) or `newest_desc`; `instanceLimit` is 1 to
// 100, 25 by default.
func (c *Chain) GetClass(ctx context.Context, classHash string, opts *GetClassQuery) (*ClassDetail, error) {
	out := new(ClassDetail)
	err := c.client.do(ctx, request{operation: "getClass", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/class/" + url.PathEscape(classHash), query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetContract: Get a contract. Class, deployment and kind of a contract, from the index
// alone. An address of which nothing is indexed is 404. `verificationTier` and what follows
// it are about the class `classHash`, and say nothing of how this contract was set up.
func (c *Chain) GetContract(ctx context.Context, address string) (*Contract, error) {
	out := new(Contract)
	err := c.client.do(ctx, request{operation: "getContract", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetContractEntrypointsQuery are the parameters of GetContractEntrypoints. What is empty or zero is not sent.
type GetContractEntrypointsQuery struct {
	// latest, a block number or a block hash. Pending blocks are not indexed.
	BlockTag string
}

func (q *GetContractEntrypointsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "block_tag", q.BlockTag)
	return v
}

// GetContractEntrypoints: Get a contract's entry points. What can be called of the class
// that the contract ended a block with. `block_tag` is `latest` (the default), a block
// number or a block hash. Answers 503 while the class has not been fetched from a node.
func (c *Chain) GetContractEntrypoints(ctx context.Context, address string, opts *GetContractEntrypointsQuery) (*Entrypoints, error) {
	out := new(Entrypoints)
	err := c.client.do(ctx, request{operation: "getContractEntrypoints", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/entrypoints", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetContractVerification: Get what was tried to verify a contract. For older clients: the
// newest job of your own workspace about the class that the contract has now, unless it
// succeeded. 404 means that there is no such record. It never tells of a verification, nor
// of the jobs of others: `verificationTier` of the contract and of its class is for
// everybody, and `verification-jobs` has the jobs.
func (c *Chain) GetContractVerification(ctx context.Context, address string) (*ContractVerification, error) {
	out := new(ContractVerification)
	err := c.client.do(ctx, request{operation: "getContractVerification", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/verification", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetMessageQuery are the parameters of GetMessage. What is empty or zero is not sent.
type GetMessageQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *GetMessageQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// GetMessage: Get the messages with a hash. A message of L1 is handled once; L2 can send the
// same message many times, and all of them are listed. `limit` is 1 to 100, 100 by default.
func (c *Chain) GetMessage(ctx context.Context, messageHash string, opts *GetMessageQuery) (*MessagePage, error) {
	out := new(MessagePage)
	err := c.client.do(ctx, request{operation: "getMessage", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/message/" + url.PathEscape(messageHash), query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetMessageAll: goes over the items of all pages of GetMessage, from the query's cursor on.
// It ends with the first error.
func (c *Chain) GetMessageAll(ctx context.Context, messageHash string, opts *GetMessageQuery) iter.Seq2[Message, error] {
	return pages(func(cursor string) ([]Message, *string, error) {
		var at GetMessageQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.GetMessage(ctx, messageHash, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// GetMyUsage: Tell what the workspace asked for. Requests and failures of the workspace's
// keys in the last 30 days, in all, by class and by key, and the newest of them one by one:
// at most 100, of the last 7 days. Counts are exact across all processes of the service;
// they are written about every second. Requests with a session are not counted. A session is
// needed, in a cookie or as a bearer token.
func (c *Client) GetMyUsage(ctx context.Context) (*Usage, error) {
	out := new(Usage)
	err := c.do(ctx, request{operation: "getMyUsage", method: http.MethodGet, path: "/v1/me/usage", again: true, session: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetPrivacyPoolAnalytics: Read what the privacy pools did. Totals by event and token, as of
// a finalized block. It is not the ledger that amounts are published from: that is `tvl`.
// What cannot be told from public events is listed in `unavailableMetrics`.
func (c *Chain) GetPrivacyPoolAnalytics(ctx context.Context) (*PrivacyAnalytics, error) {
	out := new(PrivacyAnalytics)
	err := c.client.do(ctx, request{operation: "getPrivacyPoolAnalytics", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/analytics", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetPrivacyPoolDashboard: Read what the page of the privacy pools shows. Several answers in
// one, for a page of this service. It is not for integrations: it changes with the page. Use
// the routes that its parts come from.
func (c *Chain) GetPrivacyPoolDashboard(ctx context.Context) (*PrivacyDashboard, error) {
	out := new(PrivacyDashboard)
	err := c.client.do(ctx, request{operation: "getPrivacyPoolDashboard", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/dashboard", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetPrivacyPoolSeriesQuery are the parameters of GetPrivacyPoolSeries. What is empty or zero is not sent.
type GetPrivacyPoolSeriesQuery struct {
	// How far back the series go.
	Range string
	// How long a bucket is.
	Granularity string
	// Whose supply to show.
	Token string
}

func (q *GetPrivacyPoolSeriesQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "range", q.Range)
	addText(v, "granularity", q.Granularity)
	addText(v, "token", q.Token)
	return v
}

// GetPrivacyPoolSeries: Read series of the privacy pools. Accounts with viewing keys, supply
// of a token and fees, in buckets of hours, days or weeks up to the one that the ledger is
// in, as of a finalized block. A range of `all` has at most 720 hours, 3,660 days or 522
// weeks, the newest ones. Without a `token` the supply is that of strkBTC, or where the
// registry does not know it, of WBTC.
func (c *Chain) GetPrivacyPoolSeries(ctx context.Context, opts *GetPrivacyPoolSeriesQuery) (*PrivacySeries, error) {
	out := new(PrivacySeries)
	err := c.client.do(ctx, request{operation: "getPrivacyPoolSeries", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/metrics/series", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetPrivacyPoolStatus: Read how far the privacy pools were read. Whether the ledger of the
// pools is complete and fresh, why not, and what it has counted, as of a finalized block.
func (c *Chain) GetPrivacyPoolStatus(ctx context.Context) (*PrivacyStatus, error) {
	out := new(PrivacyStatus)
	err := c.client.do(ctx, request{operation: "getPrivacyPoolStatus", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/status", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetPrivacyPoolTVL: Read what the privacy pools hold. Per token what went into the pools in
// public minus what came out, as of a finalized block. Publish a snapshot only when `status`
// and `coverage.status` are `complete`, `coverage.missingAmountEventCount` is 0,
// `coverage.decodedMaterializationFresh` is true and every asset that is used is `complete`;
// ask for `coverage.asOfL1Accepted` where settlement on L1 matters. It is no balance of
// anybody and no claim about value. Answers have a weak ETag over their bytes, and the
// Last-Modified of when this process first made them.
func (c *Chain) GetPrivacyPoolTVL(ctx context.Context) (*PrivacySnapshot, error) {
	out := new(PrivacySnapshot)
	err := c.client.do(ctx, request{operation: "getPrivacyPoolTvl", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/tvl", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetProverJob: Look at a prover job, and fetch its result. The job, to the workspace that
// owns it. Wait as long as pollAfterSeconds says before looking again. The result, or the
// prover's error, is in the first answer that could be written after the job ended, and in
// no later one: keep it at once. A job of another workspace is answered like one that does
// not exist. It draws on no budget of a minute.
func (c *Client) GetProverJob(ctx context.Context, jobID string) (*ProverJob, error) {
	out := new(ProverJob)
	err := c.do(ctx, request{operation: "getProverJob", method: http.MethodGet, path: "/v1/SN_MAIN/prove/" + url.PathEscape(jobID), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetStatus: Get the chain's status. The indexed head, the finality tiers, the lag behind
// the node, and whether the index is sound.
func (c *Chain) GetStatus(ctx context.Context) (*Status, error) {
	out := new(Status)
	err := c.client.do(ctx, request{operation: "getStatus", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/status", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetToken: Get a token. Name, symbol, decimals and supply as the contract reports them, and
// counters from its indexed transfers. Null means not known, never zero. An address is not
// found when it has no transfer, its class has not the entry points of a token, and it told
// no name.
func (c *Chain) GetToken(ctx context.Context, token string) (*TokenSummary, error) {
	out := new(TokenSummary)
	err := c.client.do(ctx, request{operation: "getToken", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetTokenBalanceQuery are the parameters of GetTokenBalance. What is empty or zero is not sent.
type GetTokenBalanceQuery struct {
	// Id of a token of an ERC-1155 contract, which has a balance for each: decimal, or 0x and
	// hexadecimal digits, below 2^256.
	TokenID string
	// A block number, a block hash, latest or pending. Pass a number or a hash for an answer
	// that can be reproduced.
	BlockTag string
}

func (q *GetTokenBalanceQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "token_id", q.TokenID)
	addText(v, "block_tag", q.BlockTag)
	return v
}

// GetTokenBalance: Read a token balance. Calls `balance_of` or `balanceOf` of the contract
// at one block and names that block. An ERC-1155 contract has a balance for each id: name it
// with `token_id`. `indexedBalance` is what indexed transfers add up to at the same block,
// so that a disagreement shows. For an answer that can be reproduced, pass a block number or
// hash.
func (c *Chain) GetTokenBalance(ctx context.Context, token string, address string, opts *GetTokenBalanceQuery) (*BalanceOf, error) {
	out := new(BalanceOf)
	err := c.client.do(ctx, request{operation: "getTokenBalance", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/balance-of/" + url.PathEscape(address), query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetTokenControls: Read who controls a token. Owner, roles, pausing, minting and
// upgradability, from indexed events, the history of the contract's class and its ABI.
// `immutable_class` is said only where the code itself cannot replace or delegate its class,
// and `fixed` where, besides, no function is known by a name that mints and no mint was
// announced since the block of the class. `not_detected` and `unknown` claim nothing.
func (c *Chain) GetTokenControls(ctx context.Context, token string) (*TokenControls, error) {
	out := new(TokenControls)
	err := c.client.do(ctx, request{operation: "getTokenControls", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/controls", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetTokenHolderAnalytics: Read how a token is spread. Concentration and distribution,
// computed from the whole newest generation in whole numbers, and growth since the
// generation before it.
func (c *Chain) GetTokenHolderAnalytics(ctx context.Context, token string) (*HolderAnalytics, error) {
	out := new(HolderAnalytics)
	err := c.client.do(ctx, request{operation: "getTokenHolderAnalytics", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/holders/analytics", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetTokenHoldings: Token holdings of an address (retired). Retired: always answered 410,
// whatever the query, with the operations that took its place. Which tokens an address may
// hold is told by asset discovery, and its balances at one block by wallet state.
func (c *Chain) GetTokenHoldings(ctx context.Context, address string) error {
	err := c.client.do(ctx, request{operation: "getTokenHoldings", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address) + "/token-holdings", again: true}, nil)
	return err
}

// GetTokenTotalSupplyQuery are the parameters of GetTokenTotalSupply. What is empty or zero is not sent.
type GetTokenTotalSupplyQuery struct {
	// A block number, a block hash, latest or pending. Pass a number or a hash for an answer
	// that can be reproduced.
	BlockTag string
}

func (q *GetTokenTotalSupplyQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "block_tag", q.BlockTag)
	return v
}

// GetTokenTotalSupply: Read a token's total supply. Calls `total_supply` or `totalSupply` of
// the contract at one block and names that block. For an answer that can be reproduced, pass
// a block number or hash.
func (c *Chain) GetTokenTotalSupply(ctx context.Context, token string, opts *GetTokenTotalSupplyQuery) (*TotalSupply, error) {
	out := new(TotalSupply)
	err := c.client.do(ctx, request{operation: "getTokenTotalSupply", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/total-supply", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetTransactionQuery are the parameters of GetTransaction. What is empty or zero is not sent.
type GetTransactionQuery struct {
	// How many events to return.
	LogLimit int64
}

func (q *GetTransactionQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "logLimit", q.LogLimit)
	return v
}

// GetTransaction: Get a transaction. A transaction with its receipt, events, token
// transfers, calldata, calls with their names and arguments, and messages. `logLimit` is 1
// to 1,000, 96 by default.
func (c *Chain) GetTransaction(ctx context.Context, txHash string, opts *GetTransactionQuery) (*Tx, error) {
	out := new(Tx)
	err := c.client.do(ctx, request{operation: "getTransaction", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/tx/" + url.PathEscape(txHash), query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetVerificationJob: Look at a verification job. The job, to the workspace that owns it.
// Wait as long as pollAfterSeconds says before looking again. A job of another workspace is
// answered like one that does not exist.
func (c *Chain) GetVerificationJob(ctx context.Context, jobID string) (*VerificationJob, error) {
	out := new(VerificationJob)
	err := c.client.do(ctx, request{operation: "getVerificationJob", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/verification-jobs/" + url.PathEscape(jobID), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetVerificationReceipt: Get the receipt of a verification. The signed receipt of a job
// that succeeded. It is worth something to who holds it against a trust document that came
// another way: see [verification](/docs/guide/verification). A job without a receipt is
// answered like one that does not exist.
func (c *Chain) GetVerificationReceipt(ctx context.Context, jobID string) (*VerificationReceipt, error) {
	out := new(VerificationReceipt)
	err := c.client.do(ctx, request{operation: "getVerificationReceipt", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/verification-jobs/" + url.PathEscape(jobID) + "/receipt", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetWalletState: Read a wallet's balances at one block. Balances of up to 25 tokens, read
// from their contracts at one block hash. With `mode` require_complete anything that could
// not be read this time fails the whole; with verified_partial the rest is returned, unless
// no node answered at all. A token that its contract will never tell at that block, such as
// spam, is reported as unreadable and fails nothing. With `scope` explicit the tokens are
// those of `tokenAddresses`; otherwise they are the candidates of asset discovery.
func (c *Chain) GetWalletState(ctx context.Context, body *WalletRequest) (*WalletState, error) {
	out := new(WalletState)
	err := c.client.do(ctx, request{operation: "getWalletState", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/query/wallet-state", body: body, kind: "application/json", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GetWebhook: Look at a webhook. The webhook, to the workspace that owns it. One of another
// workspace is answered like one that does not exist.
func (c *Chain) GetWebhook(ctx context.Context, webhookID string) (*Webhook, error) {
	out := new(Webhook)
	err := c.client.do(ctx, request{operation: "getWebhook", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// IssueMyAPIKey: Issue or rotate the default key. Issues the live key called default, with
// the scopes read, batch, write and verify, in a workspace of a partner also partner. If the
// workspace has one it is rotated: the old key is revoked with the same stroke, there is no
// time when both are good. A key with a scope that only the operator gives out is left
// alone. The request has no body. A session is needed, as a bearer token.
func (c *Client) IssueMyAPIKey(ctx context.Context) (*IssuedKey, error) {
	out := new(IssuedKey)
	err := c.do(ctx, request{operation: "issueMyApiKey", method: http.MethodPost, path: "/v1/me/api-keys", session: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListAddressActivityQuery are the parameters of ListAddressActivity. What is empty or zero is not sent.
type ListAddressActivityQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, under the same order and type.
	Cursor string
	// Newest first unless asc. A cursor belongs to its order.
	Order string
	// Only items of this kind.
	Type string
}

func (q *ListAddressActivityQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addText(v, "order", q.Order)
	addText(v, "type", q.Type)
	return v
}

// ListAddressActivity: List an address's activity. One item for every transaction that the
// address has a part in, and one for every token transfer from or to it, newest first unless
// `order` is asc. `limit` is 1 to 100, 25 by default. A page may end early and be empty; go
// on while nextCursor is not null.
func (c *Chain) ListAddressActivity(ctx context.Context, address string, opts *ListAddressActivityQuery) (*ActivityPage, error) {
	out := new(ActivityPage)
	err := c.client.do(ctx, request{operation: "listAddressActivity", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address) + "/activity", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListAddressActivityAll: goes over the items of all pages of ListAddressActivity, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListAddressActivityAll(ctx context.Context, address string, opts *ListAddressActivityQuery) iter.Seq2[ActivityItem, error] {
	return pages(func(cursor string) ([]ActivityItem, *string, error) {
		var at ListAddressActivityQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListAddressActivity(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListAddressTransactionsQuery are the parameters of ListAddressTransactions. What is empty or zero is not sent.
type ListAddressTransactionsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, under the same order and type.
	Cursor string
	// Newest first unless asc. A cursor belongs to its order.
	Order string
	// Type of the transaction, as txType: INVOKE (also execute), DECLARE, DEPLOY, DEPLOY_ACCOUNT
	// or L1_HANDLER.
	Type string
}

func (q *ListAddressTransactionsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addText(v, "order", q.Order)
	addText(v, "type", q.Type)
	return v
}

// ListAddressTransactions: List an address's transactions. Transactions that the address
// sent, that deployed it, that call it, whose L1 message it handled, or that move tokens
// from or to it; newest first unless `order` is asc, one row each. `limit` is 1 to 100, 25
// by default. With `type` a page looks at no more than about 1,000 transactions, so that it
// may end early and be empty; go on while nextCursor is not null.
func (c *Chain) ListAddressTransactions(ctx context.Context, address string, opts *ListAddressTransactionsQuery) (*AddressTxPage, error) {
	out := new(AddressTxPage)
	err := c.client.do(ctx, request{operation: "listAddressTransactions", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address) + "/transactions", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListAddressTransactionsAll: goes over the items of all pages of ListAddressTransactions,
// from the query's cursor on. It ends with the first error.
func (c *Chain) ListAddressTransactionsAll(ctx context.Context, address string, opts *ListAddressTransactionsQuery) iter.Seq2[AddressTx, error] {
	return pages(func(cursor string) ([]AddressTx, *string, error) {
		var at ListAddressTransactionsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListAddressTransactions(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListAddressTransfersQuery are the parameters of ListAddressTransfers. What is empty or zero is not sent.
type ListAddressTransfersQuery struct {
	// First block, a number.
	FromBlock string
	// Last block, a number; included.
	ToBlock string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
	// On which side an address stands. A transfer to oneself is in all three, once.
	Direction string
	// Token contract; repeat for alternatives.
	Token []string
	// erc20 (also fungible, ft), erc721 (nft), erc1155 (multitoken) or unknown.
	Type string
	// Exact symbol in any case. More than 128 contracts with it are refused.
	Symbol string
	// Only blocks from this time on: RFC 3339 with a zone, or Unix seconds.
	TimestampFrom string
	// Only blocks up to this time, included; written as timestampFrom.
	TimestampTo string
	// Type of the transaction: INVOKE (also execute), DECLARE, DEPLOY, DEPLOY_ACCOUNT or
	// L1_HANDLER.
	InvocationType string
	// Newest first unless asc. A cursor belongs to its order.
	Order string
}

func (q *ListAddressTransfersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "from_block", q.FromBlock)
	addText(v, "to_block", q.ToBlock)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addText(v, "direction", q.Direction)
	addTexts(v, "token", q.Token)
	addText(v, "type", q.Type)
	addText(v, "symbol", q.Symbol)
	addText(v, "timestampFrom", q.TimestampFrom)
	addText(v, "timestampTo", q.TimestampTo)
	addText(v, "invocationType", q.InvocationType)
	addText(v, "order", q.Order)
	return v
}

// ListAddressTransfers: List an address's token transfers. Transfers from and to the
// address, newest first unless `order` is asc. All filters apply before paging. `limit` is 1
// to 100, 25 by default. A page may end early and be empty; go on while nextCursor is not
// null.
func (c *Chain) ListAddressTransfers(ctx context.Context, address string, opts *ListAddressTransfersQuery) (*TransferPage, error) {
	out := new(TransferPage)
	err := c.client.do(ctx, request{operation: "listAddressTransfers", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/address/" + url.PathEscape(address) + "/transfers", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListAddressTransfersAll: goes over the items of all pages of ListAddressTransfers, from
// the query's cursor on. It ends with the first error.
func (c *Chain) ListAddressTransfersAll(ctx context.Context, address string, opts *ListAddressTransfersQuery) iter.Seq2[TransferItem, error] {
	return pages(func(cursor string) ([]TransferItem, *string, error) {
		var at ListAddressTransfersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListAddressTransfers(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListBlockTransactionsQuery are the parameters of ListBlockTransactions. What is empty or zero is not sent.
type ListBlockTransactionsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListBlockTransactionsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListBlockTransactions: List a block's transactions. In block order. `limit` is 1 to 100,
// 25 by default.
func (c *Chain) ListBlockTransactions(ctx context.Context, numberOrHash string, opts *ListBlockTransactionsQuery) (*TxPreviewPage, error) {
	out := new(TxPreviewPage)
	err := c.client.do(ctx, request{operation: "listBlockTransactions", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/block/" + url.PathEscape(numberOrHash) + "/txs", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListBlockTransactionsAll: goes over the items of all pages of ListBlockTransactions, from
// the query's cursor on. It ends with the first error.
func (c *Chain) ListBlockTransactionsAll(ctx context.Context, numberOrHash string, opts *ListBlockTransactionsQuery) iter.Seq2[TxPreview, error] {
	return pages(func(cursor string) ([]TxPreview, *string, error) {
		var at ListBlockTransactionsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListBlockTransactions(ctx, numberOrHash, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListBlocksQuery are the parameters of ListBlocks. What is empty or zero is not sent.
type ListBlocksQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListBlocksQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListBlocks: List blocks. The newest blocks first. `limit` is 1 to 200, 25 by default.
func (c *Chain) ListBlocks(ctx context.Context, opts *ListBlocksQuery) (*BlockPage, error) {
	out := new(BlockPage)
	err := c.client.do(ctx, request{operation: "listBlocks", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/blocks", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListBlocksAll: goes over the items of all pages of ListBlocks, from the query's cursor on.
// It ends with the first error.
func (c *Chain) ListBlocksAll(ctx context.Context, opts *ListBlocksQuery) iter.Seq2[BlockItem, error] {
	return pages(func(cursor string) ([]BlockItem, *string, error) {
		var at ListBlocksQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListBlocks(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListBridgeSignalsQuery are the parameters of ListBridgeSignals. What is empty or zero is not sent.
type ListBridgeSignalsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListBridgeSignalsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListBridgeSignals: List a bridge's movements. What the messages of a known bridge move,
// newest first, as this layer sees it: coverage stays partial because L1 is not indexed. A
// contract that is not a known bridge has none. `limit` is 1 to 100, 25 by default.
func (c *Chain) ListBridgeSignals(ctx context.Context, address string, opts *ListBridgeSignalsQuery) (*BridgeSignalPage, error) {
	out := new(BridgeSignalPage)
	err := c.client.do(ctx, request{operation: "listBridgeSignals", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/bridge-signals", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListBridgeSignalsAll: goes over the items of all pages of ListBridgeSignals, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListBridgeSignalsAll(ctx context.Context, address string, opts *ListBridgeSignalsQuery) iter.Seq2[BridgeSignal, error] {
	return pages(func(cursor string) ([]BridgeSignal, *string, error) {
		var at ListBridgeSignalsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListBridgeSignals(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListChains: List the chains. The chains that this deployment serves; the first is the
// default.
func (c *Client) ListChains(ctx context.Context) (*ChainList, error) {
	out := new(ChainList)
	err := c.do(ctx, request{operation: "listChains", method: http.MethodGet, path: "/v1/meta/chains", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListClassesQuery are the parameters of ListClasses. What is empty or zero is not sent.
type ListClassesQuery struct {
	Sort string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListClassesQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "sort", q.Sort)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListClasses: List classes. Every class that a block named. `sort` is `instances_desc`
// (most contracts first, the default), `declared_at_desc` (newest declaration first,
// undeclared ones last) or `origin_asc` (first named first). `limit` is 1 to 100, 50 by
// default. A class whose count changes between two pages of `instances_desc` may be seen
// twice, or not at all.
func (c *Chain) ListClasses(ctx context.Context, opts *ListClassesQuery) (*ClassPage, error) {
	out := new(ClassPage)
	err := c.client.do(ctx, request{operation: "listClasses", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/classes", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListClassesAll: goes over the items of all pages of ListClasses, from the query's cursor
// on. It ends with the first error.
func (c *Chain) ListClassesAll(ctx context.Context, opts *ListClassesQuery) iter.Seq2[ClassItem, error] {
	return pages(func(cursor string) ([]ClassItem, *string, error) {
		var at ListClassesQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListClasses(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListContractClassesQuery are the parameters of ListContractClasses. What is empty or zero is not sent.
type ListContractClassesQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListContractClassesQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListContractClasses: List a contract's classes. The classes that a contract has had,
// newest first, with the blocks that changed them. `limit` is 1 to 100, 25 by default.
func (c *Chain) ListContractClasses(ctx context.Context, address string, opts *ListContractClassesQuery) (*ContractClassPage, error) {
	out := new(ContractClassPage)
	err := c.client.do(ctx, request{operation: "listContractClasses", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/classes", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListContractClassesAll: goes over the items of all pages of ListContractClasses, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListContractClassesAll(ctx context.Context, address string, opts *ListContractClassesQuery) iter.Seq2[ContractClass, error] {
	return pages(func(cursor string) ([]ContractClass, *string, error) {
		var at ListContractClassesQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListContractClasses(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListContractEventsQuery are the parameters of ListContractEvents. What is empty or zero is not sent.
type ListContractEventsQuery struct {
	// Values of key 0: the event's selector, a felt and not a name. Repeat for OR, at most 128.
	Topic0 []string
	// Values of key 1. Repeat for OR. Needs topic0 and both bounds, at most 10,000 blocks with
	// both ends.
	Topic1 []string
	// Values of key 2, as topic1.
	Topic2 []string
	// Values of key 3, as topic1.
	Topic3 []string
	// Values of key 4, as topic1.
	Topic4 []string
	// Values of key 5, as topic1.
	Topic5 []string
	// Values of key 6, as topic1.
	Topic6 []string
	// Values of key 7, as topic1.
	Topic7 []string
	// Values of key 8, as topic1.
	Topic8 []string
	// Values of key 9, as topic1.
	Topic9 []string
	// Values of key 10, as topic1.
	Topic10 []string
	// Values of key 11, as topic1.
	Topic11 []string
	// Values of key 12, as topic1.
	Topic12 []string
	// Values of key 13, as topic1.
	Topic13 []string
	// Values of key 14, as topic1.
	Topic14 []string
	// Values of key 15, as topic1.
	Topic15 []string
	// First block, a number.
	FromBlock string
	// Last block, a number; included.
	ToBlock string
	// Newest first unless asc.
	Order string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
	// For older clients: the keys from position 0 on, one value each. At most 15 of key, keys
	// and keys[].
	Key []string
	// For older clients: the keys from position 0 on, one value each. At most 15 of key, keys
	// and keys[].
	Keys []string
}

func (q *ListContractEventsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addTexts(v, "topic0", q.Topic0)
	addTexts(v, "topic1", q.Topic1)
	addTexts(v, "topic2", q.Topic2)
	addTexts(v, "topic3", q.Topic3)
	addTexts(v, "topic4", q.Topic4)
	addTexts(v, "topic5", q.Topic5)
	addTexts(v, "topic6", q.Topic6)
	addTexts(v, "topic7", q.Topic7)
	addTexts(v, "topic8", q.Topic8)
	addTexts(v, "topic9", q.Topic9)
	addTexts(v, "topic10", q.Topic10)
	addTexts(v, "topic11", q.Topic11)
	addTexts(v, "topic12", q.Topic12)
	addTexts(v, "topic13", q.Topic13)
	addTexts(v, "topic14", q.Topic14)
	addTexts(v, "topic15", q.Topic15)
	addText(v, "from_block", q.FromBlock)
	addText(v, "to_block", q.ToBlock)
	addText(v, "order", q.Order)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addTexts(v, "key", q.Key)
	addTexts(v, "keys", q.Keys)
	return v
}

// ListContractEvents: List a contract's events. As the search over the chain, for one
// emitter. `key` and `keys` are accepted for older clients: their values are the keys from
// position 0 on, one each.
func (c *Chain) ListContractEvents(ctx context.Context, address string, opts *ListContractEventsQuery) (*EventPage, error) {
	out := new(EventPage)
	err := c.client.do(ctx, request{operation: "listContractEvents", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/events", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListContractEventsAll: goes over the items of all pages of ListContractEvents, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListContractEventsAll(ctx context.Context, address string, opts *ListContractEventsQuery) iter.Seq2[EventRow, error] {
	return pages(func(cursor string) ([]EventRow, *string, error) {
		var at ListContractEventsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListContractEvents(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListContractMessagesQuery are the parameters of ListContractMessages. What is empty or zero is not sent.
type ListContractMessagesQuery struct {
	Direction string
	// Only messages of this transaction.
	TxHash string
	// Only messages with this hash.
	MessageHash string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListContractMessagesQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "direction", q.Direction)
	addText(v, "txHash", q.TxHash)
	addText(v, "messageHash", q.MessageHash)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListContractMessages: List a contract's messages. Messages that the contract sent or got.
// The address may be one of L1 too. `limit` is 1 to 100, 25 by default.
func (c *Chain) ListContractMessages(ctx context.Context, address string, opts *ListContractMessagesQuery) (*MessagePage, error) {
	out := new(MessagePage)
	err := c.client.do(ctx, request{operation: "listContractMessages", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/messages", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListContractMessagesAll: goes over the items of all pages of ListContractMessages, from
// the query's cursor on. It ends with the first error.
func (c *Chain) ListContractMessagesAll(ctx context.Context, address string, opts *ListContractMessagesQuery) iter.Seq2[Message, error] {
	return pages(func(cursor string) ([]Message, *string, error) {
		var at ListContractMessagesQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListContractMessages(ctx, address, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListMessagesQuery are the parameters of ListMessages. What is empty or zero is not sent.
type ListMessagesQuery struct {
	Direction string
	// Only messages of this transaction.
	TxHash string
	// Only messages with this hash.
	MessageHash string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListMessagesQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "direction", q.Direction)
	addText(v, "txHash", q.TxHash)
	addText(v, "messageHash", q.MessageHash)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListMessages: List messages between the layers. Messages that handlers took in from L1,
// and that transactions sent to L1, newest first. `limit` is 1 to 100, 25 by default. Over a
// long run of blocks without messages a page may be short, or empty, and still have a
// nextCursor.
func (c *Chain) ListMessages(ctx context.Context, opts *ListMessagesQuery) (*MessagePage, error) {
	out := new(MessagePage)
	err := c.client.do(ctx, request{operation: "listMessages", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/messages", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListMessagesAll: goes over the items of all pages of ListMessages, from the query's cursor
// on. It ends with the first error.
func (c *Chain) ListMessagesAll(ctx context.Context, opts *ListMessagesQuery) iter.Seq2[Message, error] {
	return pages(func(cursor string) ([]Message, *string, error) {
		var at ListMessagesQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListMessages(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListMyAPIKeys: List the keys of the workspace. Metadata alone, newest first: a key itself
// is shown once, when it is issued. A session is needed, in a cookie or as a bearer token.
func (c *Client) ListMyAPIKeys(ctx context.Context) (*KeyList, error) {
	out := new(KeyList)
	err := c.do(ctx, request{operation: "listMyApiKeys", method: http.MethodGet, path: "/v1/me/api-keys", again: true, session: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListPrivacyPoolCommitmentsQuery are the parameters of ListPrivacyPoolCommitments. What is empty or zero is not sent.
type ListPrivacyPoolCommitmentsQuery struct {
	// One pool's contract. One that this service does not know as a pool has no rows.
	Pool string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, with the same filter.
	Cursor string
}

func (q *ListPrivacyPoolCommitmentsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "pool", q.Pool)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListPrivacyPoolCommitments: List the notes that were created. Public facts alone: whom a
// note belongs to, and what an encrypted one holds, is hidden by design. An encrypted note
// may hold nothing, so that their number says nothing about value. Newest first, up to the
// head. `limit` is 1 to 100, 25 by default. A page may end early and be empty; go on while
// nextCursor is not null.
func (c *Chain) ListPrivacyPoolCommitments(ctx context.Context, opts *ListPrivacyPoolCommitmentsQuery) (*PrivacyCommitmentPage, error) {
	out := new(PrivacyCommitmentPage)
	err := c.client.do(ctx, request{operation: "listPrivacyPoolCommitments", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/commitments", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListPrivacyPoolCommitmentsAll: goes over the items of all pages of
// ListPrivacyPoolCommitments, from the query's cursor on. It ends with the first error.
func (c *Chain) ListPrivacyPoolCommitmentsAll(ctx context.Context, opts *ListPrivacyPoolCommitmentsQuery) iter.Seq2[PrivacyCommitment, error] {
	return pages(func(cursor string) ([]PrivacyCommitment, *string, error) {
		var at ListPrivacyPoolCommitmentsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListPrivacyPoolCommitments(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListPrivacyPoolEventsQuery are the parameters of ListPrivacyPoolEvents. What is empty or zero is not sent.
type ListPrivacyPoolEventsQuery struct {
	// Only events of this name, which their selector tells. The only filter.
	Event string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, with the same filter.
	Cursor string
}

func (q *ListPrivacyPoolEventsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "event", q.Event)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListPrivacyPoolEvents: List the events of privacy pools. Decoded by the pool's class in
// force where the event stands; raw keys and data are always there. An event of a class or
// with a selector that is not known keeps its evidence and says no more. Newest first, up to
// the head. `limit` is 1 to 100, 25 by default. A page may end early and be empty; go on
// while nextCursor is not null.
func (c *Chain) ListPrivacyPoolEvents(ctx context.Context, opts *ListPrivacyPoolEventsQuery) (*PrivacyEventPage, error) {
	out := new(PrivacyEventPage)
	err := c.client.do(ctx, request{operation: "listPrivacyPoolEvents", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/events", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListPrivacyPoolEventsAll: goes over the items of all pages of ListPrivacyPoolEvents, from
// the query's cursor on. It ends with the first error.
func (c *Chain) ListPrivacyPoolEventsAll(ctx context.Context, opts *ListPrivacyPoolEventsQuery) iter.Seq2[PrivacyEvent, error] {
	return pages(func(cursor string) ([]PrivacyEvent, *string, error) {
		var at ListPrivacyPoolEventsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListPrivacyPoolEvents(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListPrivacyPoolMetricBucketsQuery are the parameters of ListPrivacyPoolMetricBuckets. What is empty or zero is not sent.
type ListPrivacyPoolMetricBucketsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
}

func (q *ListPrivacyPoolMetricBucketsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	return v
}

// ListPrivacyPoolMetricBuckets: List what happened in the privacy pools by the day. Counts
// of the newest days, as of a finalized block. `limit` is 1 to 90, 30 by default days.
func (c *Chain) ListPrivacyPoolMetricBuckets(ctx context.Context, opts *ListPrivacyPoolMetricBucketsQuery) (*PrivacyBuckets, error) {
	out := new(PrivacyBuckets)
	err := c.client.do(ctx, request{operation: "listPrivacyPoolMetricBuckets", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/metric-buckets", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListPrivacyPoolNullifiersQuery are the parameters of ListPrivacyPoolNullifiers. What is empty or zero is not sent.
type ListPrivacyPoolNullifiersQuery struct {
	// One pool's contract. One that this service does not know as a pool has no rows.
	Pool string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, with the same filter.
	Cursor string
}

func (q *ListPrivacyPoolNullifiersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "pool", q.Pool)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListPrivacyPoolNullifiers: List the nullifiers that were published. Each says that some
// note was used, and not which. Newest first, up to the head. `limit` is 1 to 100, 25 by
// default. A page may end early and be empty; go on while nextCursor is not null.
func (c *Chain) ListPrivacyPoolNullifiers(ctx context.Context, opts *ListPrivacyPoolNullifiersQuery) (*PrivacyNullifierPage, error) {
	out := new(PrivacyNullifierPage)
	err := c.client.do(ctx, request{operation: "listPrivacyPoolNullifiers", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/nullifiers", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListPrivacyPoolNullifiersAll: goes over the items of all pages of
// ListPrivacyPoolNullifiers, from the query's cursor on. It ends with the first error.
func (c *Chain) ListPrivacyPoolNullifiersAll(ctx context.Context, opts *ListPrivacyPoolNullifiersQuery) iter.Seq2[PrivacyNullifier, error] {
	return pages(func(cursor string) ([]PrivacyNullifier, *string, error) {
		var at ListPrivacyPoolNullifiersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListPrivacyPoolNullifiers(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListPrivacyPoolTVLQuery are the parameters of ListPrivacyPoolTVL. What is empty or zero is not sent.
type ListPrivacyPoolTVLQuery struct {
	// There are points of hours alone.
	Granularity string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before, with the same range.
	Cursor string
}

func (q *ListPrivacyPoolTVLQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addText(v, "granularity", q.Granularity)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListPrivacyPoolTVL: List what the privacy pools held by the hour. Points of the hours of a
// range, both ends included, oldest first. `limit` is 1 to 24, 24 by default; pass
// `nextCursor` on with the same range. A point is made once when its hour is finalized, and
// does not change. An hour without a point is unavailable, and not zero: nothing may be put
// in its place. Answers have a weak ETag over their bytes, and as Last-Modified when their
// newest point was made. Neither proves that a range is complete.
func (c *Chain) ListPrivacyPoolTVL(ctx context.Context, from string, to string, opts *ListPrivacyPoolTVLQuery) (*PrivacyHours, error) {
	out := new(PrivacyHours)
	err := c.client.do(ctx, request{operation: "listPrivacyPoolTvl", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/privacy-pool/tvl/series", query: joined(url.Values{"from": {from}, "to": {to}}, opts.values()), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListPrivacyPoolTVLAll: goes over the items of all pages of ListPrivacyPoolTVL, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListPrivacyPoolTVLAll(ctx context.Context, from string, to string, opts *ListPrivacyPoolTVLQuery) iter.Seq2[PrivacyHour, error] {
	return pages(func(cursor string) ([]PrivacyHour, *string, error) {
		var at ListPrivacyPoolTVLQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListPrivacyPoolTVL(ctx, from, to, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListTokenHoldersQuery are the parameters of ListTokenHolders. What is empty or zero is not sent.
type ListTokenHoldersQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListTokenHoldersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListTokenHolders: List all holders of a token. The complete census of a token's holders:
// an immutable generation as of a finalized block, with ranks from 1 to holderCount. Cursors
// belong to one generation and work until its expiresAt, while newer ones appear; an expired
// or revoked one is 400. `certification.status` is `certified` only when no balance is
// impossible, all add up to the supply that the contract reports at that block's hash, and
// sampled balances agree. 503 with Retry-After while the first generation is built. `limit`
// is 1 to 100, 25 by default.
func (c *Chain) ListTokenHolders(ctx context.Context, token string, opts *ListTokenHoldersQuery) (*HolderPage, error) {
	out := new(HolderPage)
	err := c.client.do(ctx, request{operation: "listTokenHolders", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/holders", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListTokenHoldersAll: goes over the items of all pages of ListTokenHolders, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListTokenHoldersAll(ctx context.Context, token string, opts *ListTokenHoldersQuery) iter.Seq2[HolderItem, error] {
	return pages(func(cursor string) ([]HolderItem, *string, error) {
		var at ListTokenHoldersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListTokenHolders(ctx, token, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListTokenPoolsQuery are the parameters of ListTokenPools. What is empty or zero is not sent.
type ListTokenPoolsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListTokenPoolsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListTokenPools: List the pools of a token. Pools that known exchanges announced for the
// token, newest first, as of a finalized block. `limit` is 1 to 100, 25 by default. There is
// no price source: prices, volumes and values are null, and null is not zero.
func (c *Chain) ListTokenPools(ctx context.Context, token string, opts *ListTokenPoolsQuery) (*TokenPools, error) {
	out := new(TokenPools)
	err := c.client.do(ctx, request{operation: "listTokenPools", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/markets/pools", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListTokenPoolsAll: goes over the items of all pages of ListTokenPools, from the query's
// cursor on. It ends with the first error.
func (c *Chain) ListTokenPoolsAll(ctx context.Context, token string, opts *ListTokenPoolsQuery) iter.Seq2[MarketItem, error] {
	return pages(func(cursor string) ([]MarketItem, *string, error) {
		var at ListTokenPoolsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListTokenPools(ctx, token, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListTokenTransfersQuery are the parameters of ListTokenTransfers. What is empty or zero is not sent.
type ListTokenTransfersQuery struct {
	// Sender or receiver; repeat for alternatives.
	Address []string
	// First block, a number.
	FromBlock string
	// Last block, a number; included.
	ToBlock string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListTokenTransfersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addTexts(v, "address", q.Address)
	addText(v, "from_block", q.FromBlock)
	addText(v, "to_block", q.ToBlock)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListTokenTransfers: List a token's transfers. Newest first. `address` keeps those that one
// of the addresses sent or received. `limit` is 1 to 100, 25 by default. A page may end
// early and be empty; go on while nextCursor is not null.
func (c *Chain) ListTokenTransfers(ctx context.Context, token string, opts *ListTokenTransfersQuery) (*TokenTransferPage, error) {
	out := new(TokenTransferPage)
	err := c.client.do(ctx, request{operation: "listTokenTransfers", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/transfers", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListTokenTransfersAll: goes over the items of all pages of ListTokenTransfers, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListTokenTransfersAll(ctx context.Context, token string, opts *ListTokenTransfersQuery) iter.Seq2[TokenTransferItem, error] {
	return pages(func(cursor string) ([]TokenTransferItem, *string, error) {
		var at ListTokenTransfersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListTokenTransfers(ctx, token, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListTransactionsQuery are the parameters of ListTransactions. What is empty or zero is not sent.
type ListTransactionsQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListTransactionsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListTransactions: List transactions. The newest transactions of the chain first. `limit`
// is 1 to 200, 25 by default. However many blocks without transactions lie between, only the
// last page is short.
func (c *Chain) ListTransactions(ctx context.Context, opts *ListTransactionsQuery) (*TxPage, error) {
	out := new(TxPage)
	err := c.client.do(ctx, request{operation: "listTransactions", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/txs", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListTransactionsAll: goes over the items of all pages of ListTransactions, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ListTransactionsAll(ctx context.Context, opts *ListTransactionsQuery) iter.Seq2[TxItem, error] {
	return pages(func(cursor string) ([]TxItem, *string, error) {
		var at ListTransactionsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListTransactions(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListTransfersQuery are the parameters of ListTransfers. What is empty or zero is not sent.
type ListTransfersQuery struct {
	// Sender or receiver; repeat for alternatives.
	Address []string
	// First block, a number.
	FromBlock string
	// Last block, a number; included.
	ToBlock string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
	// On which side an address stands. A transfer to oneself is in all three, once.
	Direction string
	// Token contract; repeat for alternatives.
	Token []string
	// erc20 (also fungible, ft), erc721 (nft), erc1155 (multitoken) or unknown.
	Type string
	// Exact symbol in any case. More than 128 contracts with it are refused.
	Symbol string
	// Only blocks from this time on: RFC 3339 with a zone, or Unix seconds.
	TimestampFrom string
	// Only blocks up to this time, included; written as timestampFrom.
	TimestampTo string
	// Type of the transaction: INVOKE (also execute), DECLARE, DEPLOY, DEPLOY_ACCOUNT or
	// L1_HANDLER.
	InvocationType string
}

func (q *ListTransfersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addTexts(v, "address", q.Address)
	addText(v, "from_block", q.FromBlock)
	addText(v, "to_block", q.ToBlock)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addText(v, "direction", q.Direction)
	addTexts(v, "token", q.Token)
	addText(v, "type", q.Type)
	addText(v, "symbol", q.Symbol)
	addText(v, "timestampFrom", q.TimestampFrom)
	addText(v, "timestampTo", q.TimestampTo)
	addText(v, "invocationType", q.InvocationType)
	return v
}

// ListTransfers: List transfers of all tokens. Newest first. Filters of different names must
// all match; values of one are alternatives. `direction` other than any needs an address.
// `limit` is 1 to 100, 25 by default. A page may end early and be empty; go on while
// nextCursor is not null.
func (c *Chain) ListTransfers(ctx context.Context, opts *ListTransfersQuery) (*TransferPage, error) {
	out := new(TransferPage)
	err := c.client.do(ctx, request{operation: "listTransfers", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/transfers", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListTransfersAll: goes over the items of all pages of ListTransfers, from the query's
// cursor on. It ends with the first error.
func (c *Chain) ListTransfersAll(ctx context.Context, opts *ListTransfersQuery) iter.Seq2[TransferItem, error] {
	return pages(func(cursor string) ([]TransferItem, *string, error) {
		var at ListTransfersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListTransfers(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListWebhookDeadLettersQuery are the parameters of ListWebhookDeadLetters. What is empty or zero is not sent.
type ListWebhookDeadLettersQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListWebhookDeadLettersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListWebhookDeadLetters: List messages that were given up. Messages that were not taken
// within a day, newest first: at most 100 of a webhook, for 30 days. `limit` is 1 to 100, 25
// by default.
func (c *Chain) ListWebhookDeadLetters(ctx context.Context, webhookID string, opts *ListWebhookDeadLettersQuery) (*WebhookLetterPage, error) {
	out := new(WebhookLetterPage)
	err := c.client.do(ctx, request{operation: "listWebhookDeadLetters", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID) + "/dead-letters", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListWebhookDeadLettersAll: goes over the items of all pages of ListWebhookDeadLetters,
// from the query's cursor on. It ends with the first error.
func (c *Chain) ListWebhookDeadLettersAll(ctx context.Context, webhookID string, opts *ListWebhookDeadLettersQuery) iter.Seq2[WebhookLetter, error] {
	return pages(func(cursor string) ([]WebhookLetter, *string, error) {
		var at ListWebhookDeadLettersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListWebhookDeadLetters(ctx, webhookID, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListWebhooksQuery are the parameters of ListWebhooks. What is empty or zero is not sent.
type ListWebhooksQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ListWebhooksQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ListWebhooks: List webhooks. The webhooks of the key's workspace on the chain, oldest
// first. `limit` is 1 to 100, 25 by default.
func (c *Chain) ListWebhooks(ctx context.Context, opts *ListWebhooksQuery) (*WebhookPage, error) {
	out := new(WebhookPage)
	err := c.client.do(ctx, request{operation: "listWebhooks", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/webhooks", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListWebhooksAll: goes over the items of all pages of ListWebhooks, from the query's cursor
// on. It ends with the first error.
func (c *Chain) ListWebhooksAll(ctx context.Context, opts *ListWebhooksQuery) iter.Seq2[Webhook, error] {
	return pages(func(cursor string) ([]Webhook, *string, error) {
		var at ListWebhooksQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ListWebhooks(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// PreviewTransactions: Preview many transactions. Previews of up to 100 transactions, in the
// order of the request; one named twice is answered twice, and one that is not indexed has
// `known` false. When the bounded query runs out of time the answer is 503 with Retry-After
// 2: send fewer.
func (c *Chain) PreviewTransactions(ctx context.Context, body *PreviewRequest) (*TransactionPreviews, error) {
	out := new(TransactionPreviews)
	err := c.client.do(ctx, request{operation: "previewTransactions", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/tx/previews", body: body, kind: "application/json", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ReadContractQuery are the parameters of ReadContract. What is empty or zero is not sent.
type ReadContractQuery struct {
	// Arguments, one felt each, hexadecimal or decimal; repeat.
	Calldata []string
	// A block number, a block hash, latest or pending. Pass a number or a hash for an answer
	// that can be reproduced.
	BlockTag string
}

func (q *ReadContractQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addTexts(v, "calldata", q.Calldata)
	addText(v, "block_tag", q.BlockTag)
	return v
}

// ReadContract: Call a view function. Runs a function of the contract at one block and names
// that block. `selector` is the chain's selector, not a name. `calldata` is repeated, one
// felt each, hexadecimal or decimal, at most 256.
func (c *Chain) ReadContract(ctx context.Context, address string, selector string, opts *ReadContractQuery) (*ContractRead, error) {
	out := new(ContractRead)
	err := c.client.do(ctx, request{operation: "readContract", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/contract/" + url.PathEscape(address) + "/read", query: joined(url.Values{"selector": {selector}}, opts.values()), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RedeemCode: Redeem a code. Gives the workspace the plan that a code of the operator's
// stands for. A code that was never made, is used up, was redeemed by the workspace before,
// has expired or was revoked gets one and the same 400. A code that would give the workspace
// nothing gets 409 and is not used up. Who tries many codes that are no good has to wait. A
// session is needed, as a bearer token.
func (c *Client) RedeemCode(ctx context.Context, body *RedeemInputBody) (*Redeemed, error) {
	out := new(Redeemed)
	err := c.do(ctx, request{operation: "redeemCode", method: http.MethodPost, path: "/v1/me/redeem-code", body: body, kind: "application/json", session: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RedeliverWebhookMessage: Send a dead letter again. The message is sent with its own id and
// sequence, before what is new. The request has no body.
func (c *Chain) RedeliverWebhookMessage(ctx context.Context, webhookID string, messageID string) (*Webhook, error) {
	out := new(Webhook)
	err := c.client.do(ctx, request{operation: "redeliverWebhookMessage", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID) + "/dead-letters/" + url.PathEscape(messageID) + "/redeliver"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ReplayWebhook: Begin a webhook again at a block. Everything from that block on is told
// again, in new messages with new ids. What was told before is not taken back: rows are the
// same by their own identity.
func (c *Chain) ReplayWebhook(ctx context.Context, webhookID string, body *ReplayWebhookRequest) (*Webhook, error) {
	out := new(Webhook)
	err := c.client.do(ctx, request{operation: "replayWebhook", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID) + "/replay", body: body, kind: "application/json"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RevokeMyAPIKey: Revoke a key. Ends a key of the workspace for good: it is refused within a
// second. Revoking it again changes nothing. A session is needed, as a bearer token.
func (c *Client) RevokeMyAPIKey(ctx context.Context, publicID string) (*RevokedKey, error) {
	out := new(RevokedKey)
	err := c.do(ctx, request{operation: "revokeMyApiKey", method: http.MethodDelete, path: "/v1/me/api-keys/" + url.PathEscape(publicID), session: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RotateWebhookSecret: Make a new secret. Messages are signed with the new secret and, for
// 24 hours each, also with those before. A webhook has 4 at most: a further one is refused
// with 409, which says until when. The answer holds the secret, this once. The request has
// no body.
func (c *Chain) RotateWebhookSecret(ctx context.Context, webhookID string) (*CreatedWebhook, error) {
	out := new(CreatedWebhook)
	err := c.client.do(ctx, request{operation: "rotateWebhookSecret", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID) + "/secret"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ScreenTokenHoldersQuery are the parameters of ScreenTokenHolders. What is empty or zero is not sent.
type ScreenTokenHoldersQuery struct {
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
}

func (q *ScreenTokenHoldersQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	return v
}

// ScreenTokenHolders: List the largest holders of a token. The largest holders of the newest
// generation: a bounded list for screening, and no claim to be complete.
func (c *Chain) ScreenTokenHolders(ctx context.Context, token string, opts *ScreenTokenHoldersQuery) (*ScreeningPage, error) {
	out := new(ScreeningPage)
	err := c.client.do(ctx, request{operation: "screenTokenHolders", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/token/" + url.PathEscape(token) + "/holders/screening", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ScreenTokenHoldersAll: goes over the items of all pages of ScreenTokenHolders, from the
// query's cursor on. It ends with the first error.
func (c *Chain) ScreenTokenHoldersAll(ctx context.Context, token string, opts *ScreenTokenHoldersQuery) iter.Seq2[HolderItem, error] {
	return pages(func(cursor string) ([]HolderItem, *string, error) {
		var at ScreenTokenHoldersQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.ScreenTokenHolders(ctx, token, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// Search: Find what an identifier or a name stands for. A transaction hash, an address, a
// class hash, a block hash, a block number, or the beginning of a token's symbol or name.
// Known tokens come first; what others call themselves proves nothing. Parts of identifiers
// are not searched.
func (c *Chain) Search(ctx context.Context, q string) (*SearchResult, error) {
	out := new(SearchResult)
	err := c.client.do(ctx, request{operation: "search", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/search", query: url.Values{"q": {q}}, again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SearchEventsQuery are the parameters of SearchEvents. What is empty or zero is not sent.
type SearchEventsQuery struct {
	// Values of key 0: the event's selector, a felt and not a name. Repeat for OR, at most 128.
	Topic0 []string
	// Values of key 1. Repeat for OR. Needs topic0 and both bounds, at most 10,000 blocks with
	// both ends.
	Topic1 []string
	// Values of key 2, as topic1.
	Topic2 []string
	// Values of key 3, as topic1.
	Topic3 []string
	// Values of key 4, as topic1.
	Topic4 []string
	// Values of key 5, as topic1.
	Topic5 []string
	// Values of key 6, as topic1.
	Topic6 []string
	// Values of key 7, as topic1.
	Topic7 []string
	// Values of key 8, as topic1.
	Topic8 []string
	// Values of key 9, as topic1.
	Topic9 []string
	// Values of key 10, as topic1.
	Topic10 []string
	// Values of key 11, as topic1.
	Topic11 []string
	// Values of key 12, as topic1.
	Topic12 []string
	// Values of key 13, as topic1.
	Topic13 []string
	// Values of key 14, as topic1.
	Topic14 []string
	// Values of key 15, as topic1.
	Topic15 []string
	// First block, a number.
	FromBlock string
	// Last block, a number; included.
	ToBlock string
	// Newest first unless asc.
	Order string
	// Page size. A value out of range is clamped to 1 or to the maximum.
	Limit int64
	// nextCursor of the page before.
	Cursor string
	// Emitting contract; repeat for alternatives, at most 128.
	Address []string
}

func (q *SearchEventsQuery) values() url.Values {
	v := url.Values{}
	if q == nil {
		return v
	}
	addTexts(v, "topic0", q.Topic0)
	addTexts(v, "topic1", q.Topic1)
	addTexts(v, "topic2", q.Topic2)
	addTexts(v, "topic3", q.Topic3)
	addTexts(v, "topic4", q.Topic4)
	addTexts(v, "topic5", q.Topic5)
	addTexts(v, "topic6", q.Topic6)
	addTexts(v, "topic7", q.Topic7)
	addTexts(v, "topic8", q.Topic8)
	addTexts(v, "topic9", q.Topic9)
	addTexts(v, "topic10", q.Topic10)
	addTexts(v, "topic11", q.Topic11)
	addTexts(v, "topic12", q.Topic12)
	addTexts(v, "topic13", q.Topic13)
	addTexts(v, "topic14", q.Topic14)
	addTexts(v, "topic15", q.Topic15)
	addText(v, "from_block", q.FromBlock)
	addText(v, "to_block", q.ToBlock)
	addText(v, "order", q.Order)
	addNumber(v, "limit", q.Limit)
	addText(v, "cursor", q.Cursor)
	addTexts(v, "address", q.Address)
	return v
}

// SearchEvents: Search events. Events by emitter and by the values of their keys. Values of
// one position are alternatives, positions must all match. `topic1` and later need `topic0`
// and both bounds, and cover at most 10,000 blocks, both ends included. A position takes at
// most 128 values, a search 256, and 128 emitters. `limit` is 1 to 100, 25 by default. A
// page may end early and be empty; go on while nextCursor is not null.
func (c *Chain) SearchEvents(ctx context.Context, opts *SearchEventsQuery) (*EventPage, error) {
	out := new(EventPage)
	err := c.client.do(ctx, request{operation: "searchEvents", method: http.MethodGet, path: "/v1/" + url.PathEscape(c.id) + "/events", query: opts.values(), again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SearchEventsAll: goes over the items of all pages of SearchEvents, from the query's cursor
// on. It ends with the first error.
func (c *Chain) SearchEventsAll(ctx context.Context, opts *SearchEventsQuery) iter.Seq2[EventRow, error] {
	return pages(func(cursor string) ([]EventRow, *string, error) {
		var at SearchEventsQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.SearchEvents(ctx, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

// SummarizeAddresses: Summarize many addresses. Summaries of up to 128 addresses, in the
// order of the request; one named twice is answered twice. Indexed only. When the bounded
// query runs out of time the answer is 503 with Retry-After 2: send fewer.
func (c *Chain) SummarizeAddresses(ctx context.Context, body *AddressBatchBody) (*AddressSummaries, error) {
	out := new(AddressSummaries)
	err := c.client.do(ctx, request{operation: "summarizeAddresses", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/address/summaries", body: body, kind: "application/json", again: true}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// TestWebhook: Ask for a test message. A message of type test is sent, in order with the
// others. At most 3 wait at once. The request has no body.
func (c *Chain) TestWebhook(ctx context.Context, webhookID string) (*Webhook, error) {
	out := new(Webhook)
	err := c.client.do(ctx, request{operation: "testWebhook", method: http.MethodPost, path: "/v1/" + url.PathEscape(c.id) + "/webhooks/" + url.PathEscape(webhookID) + "/test"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// UploadVerificationSource: Upload the source of a verification job. The archive that the
// package names, byte for byte, with its Content-Length and without a Content-Encoding.
// Digest, length and the rules of archives are checked while it arrives; other bytes are
// refused and change nothing. Sending the same bytes again, also at the same time, is safe
// and answered with the job as it is. When the answer is 200 the source is stored.
func (c *Chain) UploadVerificationSource(ctx context.Context, jobID string, body io.Reader) (*VerificationJob, error) {
	out := new(VerificationJob)
	err := c.client.do(ctx, request{operation: "uploadVerificationSource", method: http.MethodPut, path: "/v1/" + url.PathEscape(c.id) + "/verification-jobs/" + url.PathEscape(jobID) + "/source", body: body, kind: "application/gzip"}, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

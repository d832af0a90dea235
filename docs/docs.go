// Package docs holds the guides of this folder, so that the service serves the
// pages that the repository has.
package docs

import "embed"

// Files are the guides, by their names here.
//
//go:embed *.md decisions/*.md
var Files embed.FS

// Guide is a page of this folder.
type Guide struct {
	File    string
	Summary string
}

// ForCallers are the guides for those who call the service.
var ForCallers = []Guide{
	{"api.md", "Keys, first calls, cursors, limits, errors, finality."},
	{"clients.md", "The Go client: typed calls, iterators, retries, following the chain; other languages."},
	{"voyager.md", "The Voyager-compatible feed: which paths and fields it has, and how to move an adapter over."},
	{"pages.md", "The explorer's pages: what each shows and where that comes from."},
	{"accounts.md", "Signing in, and the keys of a workspace: issue, rotate, list, revoke."},
	{"events.md", "Event search: filters, decoding, wide ranges; classes and entry points."},
	{"addresses.md", "Addresses and their activity, contracts, messages between the layers, bridges, batches, wallet state."},
	{"tokens.md", "Tokens: transfers, summaries, what is asked of contracts."},
	{"live-reads.md", "Supplies, balances and contract calls at one block; who controls a token; its pools."},
	{"census.md", "The holder census: generations, certification, digest, metrics."},
	{"privacy-pool.md", "Privacy pools: what they say in public, and what is made of it."},
	{"rpc.md", "The JSON-RPC gateway: endpoints, versions, batches, limits, errors, writes, subscriptions."},
	{"streams.md", "Server-sent events: filters, messages, forks, coming back, limits."},
	{"verification.md", "Exact verification: archives, packages, and checking a receipt offline."},
	{"relay.md", "The prover relay: asking for proofs, fetching them once, and running it."},
	{"webhooks.md", "Webhooks: being told by signed requests; receiving, forks, retries, and running it."},
	{"registry.md", "Known tokens, exchanges, bridges, privacy pools and labels, and how to add to them."},
	{"subscriptions.md", "JSON-RPC over WebSocket: subscriptions, forks, coming back, limits, close codes."},
	{"api-checks.md", "How the answers are checked."},
}

// ForOperators are the guides for those who run it.
var ForOperators = []Guide{
	{"serving.md", "Running the service: flags, settings, keys, health, logs, metrics."},
	{"operating.md", "PostgreSQL, roles, moving, sizes, tuning, backup, recovery, alerts."},
	{"performance.md", "What was measured, against what, what bounds it, and what is next."},
	{"indexing.md", "The indexer: flags, verification, forks, finality, metrics, what the errors mean."},
	{"verification-operating.md", "Exact verification: signing keys, the signer, the transparency log."},
	{"export.md", "Exporting an index to Parquet files: families, columns, queries."},
	{"devnet.md", "A local devnet: what to start, and what is different there."},
	{"security.md", "What is promised against which attacker, how it is tested, and what is not promised."},
	{"verification-security.md", "Exact verification: what holds against hostile sources and forged receipts."},
	{"architecture.md", "The packages, the write path, how it is tested."},
	{"contributing.md", "How to add a route, and something that is kept of every block, by an example that works."},
	{"format.md", "Every table and record of an index, byte by byte."},
}

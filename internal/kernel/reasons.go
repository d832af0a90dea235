package kernel

import "fmt"

// Reason tells what a code stands for in a failure: one condition has one code on
// all routes, and where clients can use more, a reason beside it.
type Reason string

// All reasons. reasons has an entry for each, and each is explained by a page.
const (
	ReasonBlockNotFound      Reason = "block_not_found"
	ReasonContractNotFound   Reason = "contract_not_found"
	ReasonEntryPointNotFound Reason = "entry_point_not_found"
	ReasonNotAToken          Reason = "not_a_token"
	ReasonNodeUnavailable    Reason = "node_unavailable"

	ReasonStreamPlace Reason = "stream_place_gone"

	ReasonMinuteBudget  Reason = "minute_budget"
	ReasonBurst         Reason = "burst"
	ReasonConcurrency   Reason = "concurrency"
	ReasonClientAddress Reason = "client_address"
	ReasonCodeTries     Reason = "code_tries"

	ReasonActiveJob Reason = "verification_active_job"
	ReasonDailyJobs Reason = "verification_daily_jobs"
	ReasonSources   Reason = "verification_sources"
	ReasonQueueFull Reason = "verification_queue_full"
)

// reasonInfo is what a reason means.
type reasonInfo struct {
	Code  Code
	Slug  string // of the page that explains it, below /docs/
	Cause string
	Cure  string
}

// Reasons is the one table of them.
var Reasons = map[Reason]reasonInfo{
	ReasonBlockNotFound: {CodeNotFound, "api/not-found",
		"The request names a block that is not indexed: one that does not exist, has not arrived yet, or was forked away.",
		"Ask for latest, or for a block that /blocks lists."},
	ReasonContractNotFound: {CodeNotFound, "api/not-found",
		"There is no contract at the address, or was none at that block.",
		"Check the address, and that the block is not older than the contract."},
	ReasonEntryPointNotFound: {CodeNotFound, "api/live-reads",
		"The contract has no function with that selector at that block.",
		"The selector is the Keccak of the bare function name, cut to 250 bits. Behind an old proxy the implementation has the functions."},
	ReasonNotAToken: {CodeNotFound, "api/live-reads",
		"At that block the address holds no contract with the function in question, in neither spelling, or one that answers in a form that is no amount.",
		"Check the address. Tokens with many ids have no balance of an address alone."},
	ReasonNodeUnavailable: {CodeServiceUnavailable, "api/live-reads",
		"The answer has to come from a Starknet node, and none could be asked in time, or none has the block any more.",
		"Wait as long as Retry-After says and send the same request again. Routes that read the index are not affected."},
	ReasonStreamPlace: {CodeInvalidCursor, "api/cursors",
		"The place from which a stream was to go on is of another chain, so far back that no stream begins there any more, or below a fork that is deeper than the place can tell.",
		"Forget what the stream told, open it without Last-Event-ID, and read what was missed from the list of the same rows, or give from_block."},
	ReasonMinuteBudget: {CodeRateLimited, "api/rate-limits",
		"The workspace, or the key if it has a smaller limit of its own, has used up its budget for this class of routes in the current minute.",
		"Wait for the next minute, as long as Retry-After says."},
	ReasonBurst: {CodeRateLimited, "api/rate-limits",
		"More requests of a class came at once than the plan's burst. After a burst they are taken evenly, at a sixtieth of the minute's budget a second.",
		"Spread the requests over the minute."},
	ReasonConcurrency: {CodeRateLimited, "api/rate-limits",
		"The key, or the keys of the workspace together, have as many requests under way as they may have at once.",
		"Wait for answers before sending more."},
	ReasonClientAddress: {CodeRateLimited, "api/rate-limits",
		"Too many requests without a valid key came from one address, or from one IPv6 network of 64 bits.",
		"Send a valid key, or wait as long as Retry-After says."},
	ReasonCodeTries: {CodeRateLimited, "api/rate-limits",
		"Somebody tried ten codes that cannot be redeemed within an hour.",
		"Check the code with whoever gave it to you, and wait as long as Retry-After says."},
	ReasonActiveJob: {CodeRateLimited, "api/verification",
		"The workspace has a verification job that has not ended, and may have one at a time.",
		"Wait until it ends, or cancel it."},
	ReasonDailyJobs: {CodeRateLimited, "api/verification",
		"The workspace has created as many verification jobs as it may on one day, by UTC. Sending the same request again does not count.",
		"Wait for the next day, as long as Retry-After says."},
	ReasonSources: {CodeRateLimited, "api/verification",
		"The sources of the workspace that are still kept, together with this one, are more than a workspace may have kept.",
		"Wait until some are deleted by their policies: sourceDeletesAt of a job tells when. A shorter policy helps the next time."},
	ReasonQueueFull: {CodeServiceUnavailable, "api/verification",
		"There are as many verification jobs of all workspaces, or as much source, as the service takes.",
		"Wait as long as Retry-After says and send the same request again."},
}

// Because makes an Error of a reason's code.
func Because(r Reason, format string, args ...any) *Error {
	return &Error{Code: Reasons[r].Code, Reason: r, Message: fmt.Sprintf(format, args...)}
}

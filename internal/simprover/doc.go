// Package simprover is a proving service that proves nothing: it speaks the protocol of
// the real one, holds its limits, gives every answer and fails in every way that the
// prover relay must tell apart. Its proofs are noise, made from the request, so that the
// same request has the same proof.
//
// What it answers is said by the test (Next, Always), or by the request: a nonce that is
// the short string of an answer's name asks for that answer.
package simprover

// Answer is one way to answer a request for a proof.
type Answer string

// The answers of a prover that works.
const (
	Proof         Answer = "proof"         // a result
	Screened      Answer = "screened"      // a result with the attestation of a deposit
	Gzip          Answer = "gzip"          // a result, packed though nobody asked
	WrongType     Answer = "wrong_type"    // a result that is called text/plain
	BlockNotFound Answer = "block_unknown" // 24
	Invalid       Answer = "invalid"       // 55
	OldVersion    Answer = "old_version"   // 61
	BadInput      Answer = "bad_input"     // 1000
	BadType       Answer = "bad_type"      // 1001
	Blocked       Answer = "blocked"       // 10000 without data
	Sanctioned    Answer = "sanctioned"    // 10000 with data
	Reverted      Answer = "reverted"      // -32603 with the data of a revert
	Internal      Answer = "internal"      // -32603 with other data
	Bare          Answer = "bare"          // -32603 without data
	OddData       Answer = "odd_data"      // -32603 with data that is no string
	BusyNow       Answer = "busy"          // -32005
	BadParams     Answer = "bad_params"    // -32602
	NoMethod      Answer = "no_method"     // -32601
	NodeCode      Answer = "node_code"     // 42, of the prover's node
	OtherCode     Answer = "other_code"    // a code that nobody knows
)

// The answers of what stands before a prover.
const (
	HTTP302 Answer = "http_302"
	HTTP404 Answer = "http_404"
	HTTP413 Answer = "http_413"
	HTTP429 Answer = "http_429"
	HTTP500 Answer = "http_500"
	HTTP502 Answer = "http_502"
	HTTP503 Answer = "http_503"
	HTTP504 Answer = "http_504"
	Early   Answer = "early_413" // before the request was read
)

// What is no answer.
const (
	HTML        Answer = "html"         // a page, with status 200
	Empty       Answer = "empty"        // status 200 and no body
	NoResult    Answer = "no_result"    // a result that is null
	NoProof     Answer = "no_proof"     // a result without a proof
	WrongID     Answer = "wrong_id"     // the answer to another question
	Twice       Answer = "twice"        // two results in one answer
	Half        Answer = "half"         // an answer that ends early
	HalfChunked Answer = "half_chunked" // the same, in chunks
	HalfGzip    Answer = "half_gzip"    // the same, packed
	Unpackable  Answer = "unpackable"   // packed in a way that nobody asked for
	Huge        Answer = "huge"         // more than anybody reads
	Drip        Answer = "drip"         // a byte now and then, for ever
	Silence     Answer = "silence"      // nothing, for ever
	ResetBefore Answer = "reset_before" // the connection is torn before the body is read
	ResetDuring Answer = "reset_during" // in the middle of it
	ResetAfter  Answer = "reset_after"  // after it
	CloseAfter  Answer = "close_after"  // closed in good order, and without an answer
)

// Answers are all, in the order of this file.
var Answers = []Answer{
	Proof, Screened, Gzip, WrongType, BlockNotFound, Invalid, OldVersion, BadInput, BadType, Blocked, Sanctioned, Reverted,
	Internal, Bare, OddData, BusyNow, BadParams, NoMethod, NodeCode, OtherCode,
	HTTP302, HTTP404, HTTP413, HTTP429, HTTP500, HTTP502, HTTP503, HTTP504, Early,
	HTML, Empty, NoResult, NoProof, WrongID, Twice, Half, HalfChunked, HalfGzip, Unpackable, Huge, Drip, Silence,
	ResetBefore, ResetDuring, ResetAfter, CloseAfter,
}

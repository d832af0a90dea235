// Package receipt is the portable proof of an exact verification: evidence in canonical
// JSON (RFC 8785), signed with Ed25519 by a key that a separately trusted document names.
// Nothing here needs a network, a clock of others or the service.
package receipt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/strictjson"
)

// The constants of evidence.
const (
	VerifiedExact   = "verified_exact"
	ToolchainPolicy = "service-exact-v25"
	ProofScope      = "exact_source_rebuild_equals_finalized_declared_class"
)

// NotProofOf are what a receipt never says, in the order in which they are issued.
var NotProofOf = []string{"security", "audit", "official_attribution", "deployment_configuration", "current_address_class"}

// chains are those that evidence can be about.
var chains = []string{"SN_MAIN", "SN_SEPOLIA"}

// Evidence is what is signed. Texts are kept as they are spelled, because the signature
// covers the spelling; the rules leave most of them only one.
type Evidence struct {
	JobID               string      `json:"jobId"`
	ChainID             string      `json:"chainId"`
	ClassHash           string      `json:"classHash"`
	ReceiptID           uint64      `json:"receiptId"`
	Verification        string      `json:"verification"`
	SourceArchiveDigest string      `json:"sourceArchiveDigest"`
	ToolchainPolicyID   string      `json:"toolchainPolicyId"`
	CandidateDigest     string      `json:"candidateDigest"`
	Declaration         Declaration `json:"declaration"`
	ProofScope          string      `json:"proofScope"`
	NotProofOf          []string    `json:"notProofOf"`
	IssuedAt            string      `json:"issuedAt"`
}

// Declaration is where the class was declared, on a block that is finalized.
type Declaration struct {
	BlockNumber       uint64 `json:"blockNumber"`
	BlockHash         string `json:"blockHash"`
	TransactionHash   string `json:"transactionHash"`
	CompiledClassHash string `json:"compiledClassHash"`
}

// Canonical returns the bytes that are signed.
func (e *Evidence) Canonical() ([]byte, error) { return strictjson.Canonical(e) }

// Issued is when the evidence says that it was signed.
func (e *Evidence) Issued() (time.Time, error) { return dateTime("evidence.issuedAt", e.IssuedAt) }

var (
	jobIDs    = regexp.MustCompile(`^vrf_[a-z0-9]{24,40}$`)
	digests   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	dateTimes = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
)

// dateTime reads RFC 3339. Seconds of a leap, small letters and commas, which not every
// reader knows, are none here.
func dateTime(path, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !dateTimes.MatchString(text) {
		return time.Time{}, strictjson.Fail(path, "it is not a date and time of RFC 3339")
	}
	return t, nil
}

// check says what is wrong with evidence, whoever made it.
func (e *Evidence) check() error {
	const at = "evidence."
	switch {
	case !jobIDs.MatchString(e.JobID):
		return strictjson.Fail(at+"jobId", "it is not vrf_ and 24 to 40 small letters and digits")
	case !slices.Contains(chains, e.ChainID):
		return strictjson.Fail(at+"chainId", "it is not one of %s", strings.Join(chains, ", "))
	case e.ReceiptID < 1 || e.ReceiptID > strictjson.MaxInteger:
		return strictjson.Fail(at+"receiptId", "it is not from 1 to %d", uint64(strictjson.MaxInteger))
	case e.Declaration.BlockNumber > strictjson.MaxInteger:
		return strictjson.Fail(at+"declaration.blockNumber", "it is not from 0 to %d", uint64(strictjson.MaxInteger))
	case e.Verification != VerifiedExact:
		return strictjson.Fail(at+"verification", "it is not %s", VerifiedExact)
	case !digests.MatchString(e.SourceArchiveDigest):
		return strictjson.Fail(at+"sourceArchiveDigest", "it is not sha256: and 64 hex digits")
	case e.ToolchainPolicyID != ToolchainPolicy:
		return strictjson.Fail(at+"toolchainPolicyId", "it is not %s", ToolchainPolicy)
	case !digests.MatchString(e.CandidateDigest):
		return strictjson.Fail(at+"candidateDigest", "it is not sha256: and 64 hex digits")
	case e.ProofScope != ProofScope:
		return strictjson.Fail(at+"proofScope", "it is not %s", ProofScope)
	case !slices.Equal(slices.Sorted(slices.Values(e.NotProofOf)), slices.Sorted(slices.Values(NotProofOf))):
		return strictjson.Fail(at+"notProofOf", "it is not each of the five values once")
	}
	for _, h := range []struct{ name, hash string }{
		{"classHash", e.ClassHash}, {"declaration.blockHash", e.Declaration.BlockHash},
		{"declaration.transactionHash", e.Declaration.TransactionHash}, {"declaration.compiledClassHash", e.Declaration.CompiledClassHash},
	} {
		if f, err := felt.Parse(h.hash); err != nil || f.IsZero() || f.String() != h.hash {
			return strictjson.Fail(at+h.name, "it is not a felt other than 0 in its shortest form, in small letters")
		}
	}
	_, err := e.Issued()
	return err
}

// ParseEvidence reads evidence by itself, as strictly as in a receipt.
func ParseEvidence(data []byte) (*Evidence, error) {
	o, err := strictjson.Parse(data, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	e, err := parseEvidence(o)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return e, nil
}

func parseEvidence(o *strictjson.Object) (*Evidence, error) {
	err := o.Exactly("jobId", "chainId", "classHash", "receiptId", "verification", "sourceArchiveDigest", "toolchainPolicyId", "candidateDigest",
		"declaration", "proofScope", "notProofOf", "issuedAt")
	if err != nil {
		return nil, err
	}
	var e Evidence
	if err := texts(o, map[string]*string{
		"jobId": &e.JobID, "chainId": &e.ChainID, "classHash": &e.ClassHash, "verification": &e.Verification, "sourceArchiveDigest": &e.SourceArchiveDigest,
		"toolchainPolicyId": &e.ToolchainPolicyID, "candidateDigest": &e.CandidateDigest, "proofScope": &e.ProofScope, "issuedAt": &e.IssuedAt,
	}); err != nil {
		return nil, err
	}
	if e.ReceiptID, err = o.Integer("receiptId", 1, strictjson.MaxInteger); err != nil {
		return nil, err
	}
	if e.NotProofOf, err = o.Strings("notProofOf"); err != nil {
		return nil, err
	}
	d, err := o.Object("declaration")
	if err != nil {
		return nil, err
	}
	if err := d.Exactly("blockNumber", "blockHash", "transactionHash", "compiledClassHash"); err != nil {
		return nil, err
	}
	if e.Declaration.BlockNumber, err = d.Integer("blockNumber", 0, strictjson.MaxInteger); err != nil {
		return nil, err
	}
	if err := texts(d, map[string]*string{
		"blockHash": &e.Declaration.BlockHash, "transactionHash": &e.Declaration.TransactionHash, "compiledClassHash": &e.Declaration.CompiledClassHash,
	}); err != nil {
		return nil, err
	}
	return &e, e.check()
}

func texts(o *strictjson.Object, fields map[string]*string) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) { // so that one mistake of several is always told
		var err error
		if *fields[name], err = o.String(name); err != nil {
			return err
		}
	}
	return nil
}

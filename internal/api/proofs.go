package api

import (
	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
)

// SourceFacts is what speaks for the source of a class.
type SourceFacts struct {
	VerificationTier           string  `json:"verificationTier" enum:"verified_exact,verified_external,official_release,source_candidate,abi_declared,class_family,unverified" doc:"verified_exact: a source was rebuilt to exactly this class, and the receipt of it counts. abi_declared: the declared ABI is known, no source was proven. unverified: not even that. The other tiers are not given."`
	VerificationSource         *string `json:"verificationSource" enum:"receipt,federated_external" doc:"receipt: a signed receipt of this service. Null unless verified_exact, as all that follows."`
	VerificationProvider       *string `json:"verificationProvider" doc:"Who verified it: service is this one."`
	VerificationEvidenceDigest *string `json:"verificationEvidenceDigest" doc:"SHA-256 of the receipt's canonical form. Its hex digits name the proof that the receipt is in the transparency log: /receipt-log/proof/{digits}."`
	VerificationObservedAtISO  *string `json:"verificationObservedAtIso" format:"date-time" doc:"When the receipt was issued."`
	VerificationClaimCount     *int    `json:"verificationClaimCount" doc:"How many receipts of the class count; the fields beside it are of the first."`
}

// sourceFacts says what speaks for a class, whose declared ABI is known or not.
func sourceFacts(proven map[felt.Felt]proof.Standing, class felt.Felt, declared bool) SourceFacts {
	s, ok := proven[class]
	switch {
	case ok:
		at := instantISO(s.Issued)
		return SourceFacts{"verified_exact", some("receipt"), some("service"), &s.Digest, &at, &s.Count}
	case declared:
		return SourceFacts{VerificationTier: "abi_declared"}
	}
	return SourceFacts{VerificationTier: "unverified"}
}

// verified tells what decodes which classes of a view had their source proven.
func (c *Chain) verified(state *chain.State) decoded.Verified {
	if c.Proofs == nil {
		return nil
	}
	return c.Proofs.At(state).Has
}

// tellsProofs says that a name in the answer goes by a class whose source was proven.
func (t *Tx) tellsProofs() bool {
	told := func(source *string) bool { return source != nil && *source == string(abi.VerifiedABI) }
	for i := range t.Logs {
		if told(t.Logs[i].EventNameSource) {
			return true
		}
	}
	for i := range t.AccountCalls {
		if told(t.AccountCalls[i].MethodNameSource) {
			return true
		}
	}
	return t.EntryPoint != nil && told(t.EntryPoint.MethodNameSource)
}

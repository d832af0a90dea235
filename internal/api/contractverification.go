package api

import (
	"context"
	"net/http"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// ContractVerification is what a workspace tried to verify of a contract's class.
type ContractVerification struct {
	ChainID            string               `json:"chainId"`
	ContractAddress    felt.Felt            `json:"contractAddress"`
	ClassHash          *felt.Felt           `json:"classHash" doc:"The class that the contract has now, which the job is about."`
	SourceRef          *string              `json:"sourceRef" doc:"Always null: sources are not published."`
	Language           *string              `json:"language" doc:"cairo."`
	CompilerVersion    *string              `json:"compilerVersion" doc:"Always null: the job does not keep it."`
	VerificationStatus string               `json:"verificationStatus" enum:"pending,failed" doc:"pending: the job has not ended. failed: it has, without a receipt. This route never tells of a verification: verificationTier of the class does."`
	VerificationError  *string              `json:"verificationError" doc:"Of one that failed: its code, such as class_hash_mismatch, or that it was cancelled or has expired."`
	RequestedAtISO     string               `json:"requestedAtIso" format:"date-time" doc:"When the job was created."`
	VerifiedAtISO      *string              `json:"verifiedAtIso" format:"date-time" doc:"Always null."`
	UpdatedAtISO       string               `json:"updatedAtIso" format:"date-time" doc:"When the job got into its state."`
	Metadata           VerificationMetadata `json:"metadata" doc:"Where there is more to read."`
}

// VerificationMetadata is where there is more to read.
type VerificationMetadata struct {
	JobID string `json:"jobId" doc:"The job: see verification-jobs."`
	State string `json:"state" doc:"The state of the job."`
}

// Attempt is a try of a workspace to verify a class that has no receipt.
type Attempt struct {
	JobID, State       string
	Ended              bool
	Error              string // why it ended; "" of one that has not
	Requested, Updated time.Time
}

func (s *Routes) contractVerificationRoute(base kernel.Route) {
	base.ID, base.Path, base.Summary = "getContractVerification", "/v1/{chain}/contract/{address}/verification", "Get what was tried to verify a contract"
	base.Description = "For older clients: the newest job of your own workspace about the class that the contract has now, unless it succeeded. 404 means that there is no such record. It never tells of a verification, nor of the jobs of others: " +
		"`verificationTier` of the contract and of its class is for everybody, and `verification-jobs` has the jobs."
	base.Deprecated, base.Headers = true, map[string]string{"Deprecation": "true"}
	base.Depends = kernel.OnChain | kernel.OnCaller | kernel.OnClock
	base.ExampleStatus = http.StatusNotFound
	kernel.Register(s.Server, base, s.getContractVerification)
}

func (s *Routes) getContractVerification(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Contract."`
}) (*body[ContractVerification], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	var now *felt.Felt
	err = s.view(ctx, in.Chain, func(_ *Chain, r explorer.Reader, _ *chain.State) error {
		found, err := contract.Identities(ctx, r, []felt.Felt{address})
		if err == nil && found[0].Current != nil {
			now = &found[0].Current.Class
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	a, err := s.attemptOf(ctx, in.Chain, now)
	if err != nil {
		return nil, kernel.RetryLater(1, err, "Verification jobs cannot be reached right now; try again.")
	}
	if a == nil {
		return nil, kernel.Fail(kernel.CodeNotFound, "There is no verification record of %s yet.", address)
	}
	out := ContractVerification{ChainID: in.Chain, ContractAddress: address, ClassHash: now, Language: some("cairo"), VerificationStatus: "pending", VerificationError: some(a.Error),
		RequestedAtISO: instantISO(a.Requested), UpdatedAtISO: instantISO(a.Updated), Metadata: VerificationMetadata{a.JobID, a.State}}
	if a.Ended {
		out.VerificationStatus = "failed"
	}
	return &body[ContractVerification]{out}, nil
}

// attemptOf is what the caller's workspace tried; nil for whoever may see no jobs.
func (s *Routes) attemptOf(ctx context.Context, chain string, class *felt.Felt) (*Attempt, error) {
	who := kernel.RequestOf(ctx).Caller
	if s.attempt == nil || class == nil || who.Configured || who.Session || who.WorkspaceID == "" {
		return nil, nil //nolint:nilnil // there is none for them
	}
	return s.attempt(ctx, who.WorkspaceID, chain, *class)
}

package me

import (
	"context"
	"errors"
	"math"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// Redeemed is the answer to POST /v1/me/redeem-code.
type Redeemed struct {
	Plan string `json:"plan" doc:"The plan that the workspace has now. Its keys have the limits of it within a second."`
}

type redeemInput struct {
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"80" doc:"The code. Small letters, hyphens and spaces make no difference." example:"7Q2MX-94KDB-ZN3WA-0VHTE"`
	}
}

// redeemBody is room for a code, however it is spelled.
const redeemBody = 4 << 10

func (r *routes) addRedeem(s *kernel.Server, base kernel.Route) {
	base.ID, base.Method, base.Path, base.Summary = "redeemCode", http.MethodPost, "/v1/me/redeem-code", "Redeem a code"
	base.Description = "Gives the workspace the plan that a code of the operator's stands for. A code that was never made, is used up, was redeemed by the workspace before, has expired or was " +
		"revoked gets one and the same 400. A code that would give the workspace nothing gets 409 and is not used up. Who tries many codes that are no good has to wait. " +
		"A session is needed, as a bearer token."
	base.Statuses = []int{http.StatusConflict}
	base.MaxBody = redeemBody
	base.ExampleStatus = http.StatusBadRequest
	base.ExampleBody = func(kernel.Examples) string { return `{"code": "7Q2MX-94KDB-ZN3WA-0VHTE"}` }
	kernel.Register(s, base, r.redeem)
}

func (r *routes) redeem(ctx context.Context, in *redeemInput) (*answer[Redeemed], error) {
	who := kernel.RequestOf(ctx).Caller
	w, err := r.Accounts.RedeemCode(account.By(ctx, who.PublicID), who.WorkspaceID, in.Body.Code)
	var tries *account.TriesError
	switch {
	case err == nil:
		return &answer[Redeemed]{Redeemed{Plan: string(w.Plan)}}, nil
	case errors.Is(err, account.ErrCodeInvalid):
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "body.code: it is not a code that can be redeemed.")
	case errors.Is(err, account.ErrCodeGivesNothing):
		return nil, kernel.Fail(kernel.CodeConflict, "The workspace has all that the code gives. The code was not used.")
	case errors.Is(err, account.ErrCodeTakesAway):
		return nil, kernel.Fail(kernel.CodeConflict, "The workspace would lose some of what it has by the code. The code was not used: ask who gave it to you.")
	case errors.Is(err, account.ErrInternalWorkspace):
		return nil, kernel.Fail(kernel.CodeForbidden, "The workspace is the operator's own: no codes are redeemed there.")
	case errors.As(err, &tries):
		e := kernel.Because(kernel.ReasonCodeTries, "Too many codes that are no good were tried.")
		e.RetryAfter = max(int(math.Ceil(tries.Wait.Seconds())), 1)
		return nil, e
	default:
		return nil, unavailable(err)
	}
}

package accountpages

import (
	"context"
	"errors"
	"net/http"
	"time"

	"chainexplorer/internal/account"
)

type redeemPage struct {
	Form   string
	Policy account.Policy
}

func (p *pages) redeem(_ context.Context, v *visit) (*sheet, error) {
	return p.redeemWith(v, v.who.Plan, 0, nil)
}

func (p *pages) redeemWith(v *visit, plan account.Plan, status int, n *notice) (*sheet, error) {
	return &sheet{title: "Redeem a code", name: "redeem.html", status: status, notice: n, data: redeemPage{p.desk.FormToken(v.who), plan.Policy()}}, nil
}

// redeemCode gives the workspace what a code stands for. A code that is no good is not
// said to be so for any reason, nor shown again.
func (p *pages) redeemCode(ctx context.Context, v *visit) (*sheet, error) {
	space, err := p.Accounts.RedeemCode(v.by(ctx), v.who.WorkspaceID, v.asks.Get("code"))
	var tries *account.TriesError
	switch {
	case err == nil:
		return p.redeemWith(v, space.Plan, 0, done("The code is redeemed: the workspace has the plan %s. Its keys have the limits of it within a second.", space.Plan.Policy().PolicyDisplayName))
	case errors.Is(err, account.ErrCodeInvalid):
		return p.redeemWith(v, v.who.Plan, http.StatusBadRequest, refused("This is not a code that can be redeemed. It may be mistyped, used up, expired or revoked."))
	case errors.Is(err, account.ErrCodeGivesNothing):
		return p.redeemWith(v, v.who.Plan, http.StatusConflict, refused("The workspace has all that the code gives. The code was not used up."))
	case errors.Is(err, account.ErrCodeTakesAway):
		return p.redeemWith(v, v.who.Plan, http.StatusConflict, refused("The workspace would lose some of what it has by the code. The code was not used up: ask who gave it to you."))
	case errors.Is(err, account.ErrInternalWorkspace):
		return p.redeemWith(v, v.who.Plan, http.StatusForbidden, refused("The workspace is the operator's own: no codes are redeemed here."))
	case errors.As(err, &tries):
		s, err := p.redeemWith(v, v.who.Plan, http.StatusTooManyRequests, refused("Too many codes that are no good were tried. The next one may be tried in %s.", tries.Wait.Round(time.Minute)))
		s.retry = tries.Wait
		return s, err
	}
	return nil, err
}

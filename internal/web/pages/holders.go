package pages

import (
	"errors"
	"fmt"
	"html/template"
	"math/big"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/kernel"
)

// shownRows is how much of a partners' list people see.
const shownRows = "50"

// tokenHoldersView is the data of the page of a token's holders.
type tokenHoldersView struct {
	*tokenHead
	// Why there is no census of the token; "" when there is one.
	Why       string
	H         *api.HolderPage
	A         *api.HolderAnalytics
	Certified template.HTML
	Complete  template.HTML
	Spread    template.HTML
}

// tokenHoldersPage shows the largest holders of the newest census, what it claims, and how
// the token is spread. A token without a census says why.
func tokenHoldersPage(l *look) (*sheet, error) {
	a, err := l.tokenOf()
	if err != nil {
		return nil, err
	}
	v := &tokenHoldersView{}
	if v.tokenHead, err = l.tokenHead(a, "holders"); err != nil {
		return nil, err
	}
	v.H, err = ask[api.HolderPage](l, "listTokenHolders", map[string][]string{"limit": {shownRows}}, a.String())
	if err == nil {
		v.A, err = ask[api.HolderAnalytics](l, "getTokenHolderAnalytics", nil, a.String())
	}
	if v.Why, err = uncounted(err); err != nil {
		return nil, err
	}
	if v.Why == "" {
		v.Certified, v.Complete = certifiedBadge(&v.H.Certification, v.H.Snapshot.AsOfBlock), completeBadge(&v.H.Completeness)
		if v.Spread, err = ranked(v.A); err != nil {
			return nil, err
		}
	}
	return v.sheet("Holders", "tokenholders.html", v), nil
}

// uncounted says why a token's holders are not told where that is no failure.
func uncounted(err error) (string, error) {
	var e *kernel.Error
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &e) && e.Code == kernel.CodeUnqualifiedPolicy:
		return "The holders of this token are not counted: a census is made of tokens that the operator has chosen.", nil
	case errors.As(err, &e) && e.Code == kernel.CodeServiceUnavailable && e.Cause == nil:
		return "The holders of this token have not been counted yet. Look again in a moment.", nil
	case errors.As(err, &e) && e.Code == kernel.CodeNotFound:
		return "No transfer of this token is indexed, so nobody is known to hold it.", nil
	}
	return "", err
}

func certifiedBadge(c *api.HolderCertification, block uint64) template.HTML {
	switch c.Status {
	case "certified":
		return badge("good", "certified census", fmt.Sprintf("At block %d all balances add up to the supply that the contract reports, and %s that the contract was asked for agree.", block, plural(c.SampledBalances, "balance")))
	case "revoked", "audit_failed":
		return badge("bad", "census "+map[string]string{"revoked": "revoked", "audit_failed": "failed its audit"}[c.Status], "What was counted did not hold against the chain, and is not shown.")
	}
	return badge("warn", "not certified", "The census was not held against what the contract itself reports: "+c.Status+".")
}

func completeBadge(c *api.HolderCompleteness) template.HTML {
	if c.PopulationComplete {
		return badge("good", "every holder counted", "All transfers since the token's first are indexed, so that nobody is left out.")
	}
	return badge("warn", "perhaps not every holder", "It is not proven that every transfer was seen: "+c.PopulationReasonCode+".")
}

// ranked draws what the largest holders have together.
func ranked(a *api.HolderAnalytics) (template.HTML, error) {
	if a.Metrics == nil || a.HolderCount == 0 {
		return "", nil
	}
	d := chart.Distribution{ID: "spread", Title: "What the largest holders have together", Description: "Share of all that is held.", Of: "holders"}
	for _, r := range []struct {
		first, bps uint64
	}{{5, a.Metrics.Top5ShareBps}, {10, a.Metrics.Top10ShareBps}, {100, a.Metrics.Top100ShareBps}} {
		if r.first < a.HolderCount {
			d.Ranks = append(d.Ranks, chart.Rank{First: int64(r.first), Percent: percentOf(r.bps)})
		}
	}
	d.Ranks = append(d.Ranks, chart.Rank{First: int64(a.HolderCount), Percent: "100"})
	return d.HTML()
}

// percentOf writes ten-thousandths as percent.
func percentOf(bps uint64) string {
	return strconv.FormatUint(bps/100, 10) + "." + fmt.Sprintf("%02d", bps%100)
}

// Percent is a share for people.
func (v *tokenHoldersView) Percent(bps uint64) template.HTML {
	return template.HTML(`<span class="number" data-value="` + strconv.FormatUint(bps, 10) + `">` + percentOf(bps) + ` %</span>`) //nolint:gosec // digits
}

// Share is what part of all that is held somebody has, cut to ten-thousandths.
func (v *tokenHoldersView) Share(raw string) template.HTML {
	part, ok := new(big.Int).SetString(raw, 10)
	total, counted := new(big.Int).SetString(orNothing(v.H.HolderBalanceTotalRaw), 10)
	if !ok || !counted || total.Sign() <= 0 {
		return v.L.Unknown("")
	}
	return v.Percent(part.Quo(part.Mul(part, big.NewInt(10_000)), total).Uint64())
}

// tokenPoolsView is the data of the page of a token's pools.
type tokenPoolsView struct {
	*tokenHead
	P *api.TokenPools
}

// tokenPoolsPage lists the newest pools that known exchanges announced for a token.
func tokenPoolsPage(l *look) (*sheet, error) {
	a, err := l.tokenOf()
	if err != nil {
		return nil, err
	}
	v := &tokenPoolsView{}
	if v.tokenHead, err = l.tokenHead(a, "pools"); err != nil {
		return nil, err
	}
	if v.P, err = ask[api.TokenPools](l, "listTokenPools", map[string][]string{"limit": {shownRows}}, a.String()); err != nil {
		return nil, err
	}
	return v.sheet("Pools", "tokenpools.html", v), nil
}

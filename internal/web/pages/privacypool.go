package pages

import (
	"html/template"
	"net/url"
	"strconv"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/web"
)

// poolView is the data of the privacy pools' page.
type poolView struct {
	L      *look
	D      *api.PrivacyDashboard
	Status template.HTML
	// Why is what the status rests on, in a sentence.
	Why    string
	Rows   []poolRow // the newest events
	Hidden []api.PrivacyUnavailability
	// Chosen is the token whose amount is drawn; nil when nothing moved.
	Chosen                         *api.PrivacyToken
	Supply, Days, Wallets, Numbers template.HTML
	Ranges                         []poolRange
}

// poolRange is a link to another stretch of time.
type poolRange struct {
	Text, Href string
	Here       bool
}

// stretches are the ranges of the charts, with buckets of which there are not too many.
var stretches = []struct{ name, text, granularity string }{
	{"24h", "24 hours", "hour"}, {"7d", "7 days", "hour"}, {"30d", "30 days", "day"}, {"all", "all", "day"},
}

// poolPage shows what is public of the privacy pools. It asks the dashboard and the series
// of one token: the one that moved most often, unless another is chosen.
func poolPage(l *look) (*sheet, error) {
	d, err := ask[api.PrivacyDashboard](l, "getPrivacyPoolDashboard", nil)
	if err != nil {
		return nil, err
	}
	v := &poolView{L: l, D: d, Status: poolBadge(d.Status.Status, d.Status.ReasonCode), Why: ledgerWords[d.Status.ReasonCode], Rows: l.poolRows(d.RecentEvents),
		Hidden: d.Analytics.UnavailableMetrics}
	if err := v.draw(); err != nil {
		return nil, err
	}
	return &sheet{
		title:       "Privacy pool",
		description: "How much is protected in the privacy pools of " + l.Chain + " per token, how busy they are, and what is hidden by design.",
		trail:       []web.Link{{Text: l.Chain, Href: l.Href()}},
		name:        "privacypool.html", data: v,
	}, nil
}

// draw makes the charts. Without a ledger there is nothing to draw.
func (v *poolView) draw() (err error) {
	stretch := stretches[1]
	for _, s := range stretches {
		if s.name == v.L.query.Get("range") {
			stretch = s
		}
	}
	q := url.Values{"range": {stretch.name}, "granularity": {stretch.granularity}}
	if t := v.L.query.Get("token"); t != "" {
		q.Set("token", t)
	} else if flows := v.D.Analytics.TokenFlows; len(flows) > 0 {
		q.Set("token", flows[0].Token.Address.String())
	}
	series, err := ask[api.PrivacySeries](v.L, "getPrivacyPoolSeries", q)
	if err != nil {
		return err
	}
	v.Chosen = series.Token
	for _, s := range stretches {
		to := url.Values{"range": {s.name}}
		if v.L.query.Get("token") != "" {
			to.Set("token", v.L.query.Get("token"))
		}
		v.Ranges = append(v.Ranges, poolRange{s.text, withQuery(v.L.Href("privacy-pool"), to), s == stretch})
	}
	if len(series.ShieldedSupplySeries) > 0 && v.Chosen != nil {
		if v.Supply, err = supplyChart(series).HTML(); err != nil {
			return err
		}
	}
	if len(series.WalletSeries) > 0 {
		if v.Wallets, err = walletChart(series).HTML(); err != nil {
			return err
		}
	}
	if len(v.D.MetricBuckets.Items) == 0 {
		return nil
	}
	days := dayChart(v.D.MetricBuckets.Items)
	if v.Days, err = days.HTML(); err != nil {
		return err
	}
	v.Numbers, err = days.Table().HTML()
	return err
}

// supplyChart is what is protected of a token over time. A bucket that is not complete is
// not known.
func supplyChart(s *api.PrivacySeries) chart.Steps {
	places, known := placesOf(s.Token.Decimals)
	unit := "in the smallest unit"
	if known {
		unit = "units"
		if s.Token.Symbol != nil {
			unit, _ = cleanName(*s.Token.Symbol)
		}
	}
	c := chart.Steps{ID: "supply", Title: "Protected amount", Description: "All that went in by the end of each " + s.BucketGranularity + " minus all that came out.", Axis: "Time", Unit: unit}
	for i := range s.ShieldedSupplySeries {
		b := &s.ShieldedSupplySeries[i]
		p := pointOf(&b.PrivacyBucketSpan)
		if b.Status == "complete" {
			p.Value = decimal(b.ShieldedSupplyRaw, places) // "" of what is below zero
		}
		c.Points = append(c.Points, p)
	}
	return c
}

// walletChart is how many accounts can use the pools.
func walletChart(s *api.PrivacySeries) chart.Steps {
	c := chart.Steps{ID: "wallets", Title: "Accounts with a viewing key", Description: "Accounts that had set one by the end of each " + s.BucketGranularity + ".", Axis: "Time", Unit: "accounts"}
	for i := range s.WalletSeries {
		b := &s.WalletSeries[i]
		p := pointOf(&b.PrivacyBucketSpan)
		if b.Status == "complete" {
			p.Value = strconv.FormatUint(b.CumulativeViewingKeyWallets, 10)
		}
		c.Points = append(c.Points, p)
	}
	return c
}

// pointOf is where a bucket stands in a chart.
func pointOf(b *api.PrivacyBucketSpan) chart.Point {
	at, err := time.Parse(time.RFC3339, b.BucketStartISO)
	if err != nil {
		return chart.Point{Label: b.BucketStartISO}
	}
	label := at.UTC().Format("01-02 15:04")
	if b.BucketGranularity != "hour" {
		label = at.UTC().Format("2006-01-02")
	}
	title := at.UTC().Format("2006-01-02 15:04 UTC")
	if !b.Closed {
		title += " (so far)"
	}
	return chart.Point{At: float64(at.Unix()), Label: label, Title: title}
}

// dayChart is how often something moved in public.
func dayChart(days []api.PrivacyBucket) chart.Bars {
	c := chart.Bars{ID: "days", Title: "Public movements by the day", Description: "Deposits and withdrawals of each day, in UTC.",
		Parts: []chart.Part{{Name: "Deposits", Class: "inflow"}, {Name: "Withdrawals", Class: "outflow"}}}
	for i := range days {
		d := &days[i]
		day := d.BucketStartISO[:min(len(d.BucketStartISO), len(time.DateOnly))]
		title := day + ": " + plural(d.VisibleDeposits, "deposit") + ", " + plural(d.VisibleWithdrawals, "withdrawal")
		if !d.Closed {
			title += ", so far"
		}
		c.Bars = append(c.Bars, chart.Bar{Label: day, Title: title, Counts: []int64{int64(d.VisibleDeposits), int64(d.VisibleWithdrawals)}})
	}
	return c
}

// TokenHref leads to the charts of a token.
func (v *poolView) TokenHref(t *api.PrivacyToken) string {
	return withQuery(v.L.Href("privacy-pool"), url.Values{"token": {t.Address.String()}}) + "#charts"
}

// ledgerWords say what the status of the ledger rests on.
var ledgerWords = map[string]string{
	"finalized_public_flow_ledger":          "Every public movement of the pools up to a finalized block was read, and the ledger is near the newest one.",
	"incomplete_finalized_flow_ledger":      "Something in the pools' history could not be read, or is ruled out by their protocol: what is told may be too little. The reasons stand below.",
	"decoded_materialization_lag":           "The ledger, or the index itself, is behind the chain: what is told is older than it should be.",
	"materialization_freshness_unavailable": "Nobody vouches for the index right now: its nodes are silent, or it has stopped. What is told may be old.",
	"no_finalized_flow_snapshot":            "There is no ledger of the pools here: not yet, or not any more since a fork. Nothing is known, which is not zero.",
}

// gapWords are why a ledger is incomplete.
var gapWords = map[string]string{
	"unknown_pool_class":        "events of a class that is not known",
	"unknown_selector":          "events that the class is not known to have",
	"amount_decode_incomplete":  "movements whose amount could not be read",
	"event_decode_incomplete":   "events that could not be read",
	"negative_protected_amount": "movements after which more had come out than went in",
	"duplicate_commitment":      "notes that were created twice",
	"duplicate_nullifier":       "nullifiers that were published twice",
	"open_note_unpaired":        "open notes without their deposit",
	"asset_limit_exceeded":      "tokens beyond the number that can be shown",
}

// Gap says why the ledger is incomplete.
func (v *poolView) Gap(code string) string {
	if words, ok := gapWords[code]; ok {
		return words
	}
	return code
}

func poolBadge(status, reason string) template.HTML {
	switch status {
	case "complete":
		return badge("good", "complete", ledgerWords[reason])
	case "degraded":
		return badge("warn", "not to be relied on", ledgerWords[reason])
	}
	return badge("soft", "not available", ledgerWords[reason])
}

// Asset is the badge of one token's amount.
func (v *poolView) Asset(a *api.PrivacyAsset) template.HTML {
	switch a.ReasonCode {
	case "amount_decode_incomplete":
		return badge("warn", "incomplete", plural(a.MissingAmountEventCount, "movement")+" could not be read: the true amount is another.")
	case "negative_protected_amount":
		return badge("bad", "impossible", "More came out than went in: events are missing or misread, or the pool let it happen.")
	}
	why := "The sum of " + plural(a.DepositEventCount, "deposit") + " minus that of " + plural(a.WithdrawalEventCount, "withdrawal") + ", all of which could be read."
	if a.UnreconciledEventCount > 0 {
		why += " " + plural(a.UnreconciledEventCount, "movement") + " had no equal transfer of the token in front: tokens that charge for transfers do that."
	}
	return badge("good", "complete", why)
}

// Fee is what a call of a pool costs, in a token that the registry may know.
func (v *poolView) Fee(token felt.Felt, raw *string) template.HTML {
	if t, ok := v.L.served.Registry.Token(token); ok {
		return v.L.Amount(raw, uint64(t.Decimals), t.Symbol)
	}
	return v.L.Amount(raw, nil, nil) + " " + v.L.Token(token)
}

// Yes is one of two words, or unknown.
func (v *poolView) Yes(told *bool, yes, no, why string) template.HTML {
	switch {
	case told == nil:
		return v.L.Unknown(why)
	case *told:
		return template.HTML(template.HTMLEscapeString(yes)) //nolint:gosec // escaped
	}
	return template.HTML(template.HTMLEscapeString(no)) //nolint:gosec // escaped
}

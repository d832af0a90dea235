package api

import (
	"context"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// PrivacyBuckets are what happened in the newest days.
type PrivacyBuckets struct {
	ChainID           string          `json:"chainId"`
	BucketGranularity string          `json:"bucketGranularity" enum:"day"`
	Status            string          `json:"status" enum:"complete,degraded,unavailable" doc:"As of the current snapshot. When unavailable there are no items, and that is not zero."`
	Items             []PrivacyBucket `json:"items" doc:"Oldest first, up to the day that the ledger is in, from that of the first event on. A day without events is there with zeros."`
}

// PrivacyBucketSpan is what the items of all series begin with.
type PrivacyBucketSpan struct {
	BucketStartISO    string  `json:"bucketStartIso" format:"date-time" doc:"When the bucket began, in UTC. Weeks begin on Mondays."`
	BucketGranularity string  `json:"bucketGranularity" enum:"hour,day,week"`
	Status            string  `json:"status" enum:"complete,degraded" doc:"degraded from the first event on that could not be read, or that the protocol rules out."`
	Closed            bool    `json:"closed" doc:"The ledger reaches beyond the bucket. One that is not closed still grows."`
	LatestBlockNumber *uint64 `json:"latestBlockNumber" doc:"The last block of the bucket with an event of a pool, in a series of amounts with one that it sums; null when there is none."`
}

// PrivacyBucket is a day.
type PrivacyBucket struct {
	PrivacyBucketSpan
	NewViewingKeyWallets        uint64 `json:"newViewingKeyWallets" doc:"Accounts that set their viewing key in the bucket."`
	CumulativeViewingKeyWallets uint64 `json:"cumulativeViewingKeyWallets" doc:"Accounts that had set theirs by its end."`
	VisibleDeposits             uint64 `json:"visibleDeposits" doc:"Deposits and funded open notes."`
	VisibleWithdrawals          uint64 `json:"visibleWithdrawals"`
	NoteUsedEvents              uint64 `json:"noteUsedEvents"`
}

// PrivacySeries are series over a range.
type PrivacySeries struct {
	ChainID              string              `json:"chainId"`
	Range                string              `json:"range" enum:"24h,7d,30d,all"`
	BucketGranularity    string              `json:"bucketGranularity" enum:"hour,day,week"`
	Status               string              `json:"status" enum:"complete,degraded,unavailable" doc:"As of the current snapshot. When unavailable the series are empty, and that is not zero."`
	Token                *PrivacyToken       `json:"token" doc:"Whose supply is shown; null when none was asked for and the registry knows no BTC token."`
	WalletSeries         []PrivacyWalletItem `json:"walletSeries" doc:"Accounts that set a viewing key."`
	ShieldedSupplySeries []PrivacySupplyItem `json:"shieldedSupplySeries" doc:"Public movements of the token, and what is left of them. Empty when it never moved."`
	PrivacyFeeSeries     []PrivacyFeeItem    `json:"privacyFeeSeries" doc:"Fees that are evident: transfers of the fee in force to the collector in force, in transactions with an event of the pool. Calls without any event pay a fee too, and are not counted."`
}

// PrivacyWalletItem counts accounts.
type PrivacyWalletItem struct {
	PrivacyBucketSpan
	NewViewingKeyWallets        uint64 `json:"newViewingKeyWallets" doc:"Accounts that set their viewing key in the bucket."`
	CumulativeViewingKeyWallets uint64 `json:"cumulativeViewingKeyWallets" doc:"Accounts that had set theirs by its end."`
}

// PrivacySupplyItem sums movements.
type PrivacySupplyItem struct {
	PrivacyBucketSpan
	TokenAddress      felt.Felt `json:"tokenAddress"`
	DepositedRaw      string    `json:"depositedRaw" doc:"In the bucket."`
	WithdrawnRaw      string    `json:"withdrawnRaw" doc:"In the bucket."`
	ShieldedSupplyRaw string    `json:"shieldedSupplyRaw" doc:"All that went in by the end of the bucket, minus all that came out."`
}

// PrivacyFeeItem sums fees.
type PrivacyFeeItem struct {
	PrivacyBucketSpan
	TokenAddress           felt.Felt `json:"tokenAddress" doc:"What the fee is paid in."`
	FeeAmountRaw           string    `json:"feeAmountRaw" doc:"In the bucket."`
	CumulativeFeeAmountRaw string    `json:"cumulativeFeeAmountRaw" doc:"By its end."`
	FeeTransferCount       uint64    `json:"feeTransferCount" doc:"In the bucket."`
}

func (s *Routes) privacyMetricRoutes() {
	days := ledgerRoute("listPrivacyPoolMetricBuckets", "metric-buckets", "List what happened in the privacy pools by the day",
		"Counts of the newest days, as of a finalized block. `limit` is {page} days.")
	days.Page = kernel.Page{Usual: 30, Most: 90}
	kernel.Register(s.Server, days, s.listPrivacyPoolMetricBuckets)
	series := ledgerRoute("getPrivacyPoolSeries", "metrics/series", "Read series of the privacy pools",
		"Accounts with viewing keys, supply of a token and fees, in buckets of hours, days or weeks up to the one that the ledger is in, as of a finalized block. "+
			"A range of `all` has at most 720 hours, 3,660 days or 522 weeks, the newest ones. Without a `token` the supply is that of strkBTC, or where the registry does not know it, of WBTC.")
	kernel.Register(s.Server, series, s.getPrivacyPoolSeries)
}

func (s *Routes) listPrivacyPoolMetricBuckets(ctx context.Context, in *struct {
	ChainInput
	Limit kernel.Limit `query:"limit"`
}) (*body[PrivacyBuckets], error) {
	out := &body[PrivacyBuckets]{}
	err := s.privacyView(ctx, in.Chain, func(v *privacyView) (err error) {
		out.Body, err = v.days(ctx, in.Limit.Size())
		return err
	})
	return out, err
}

// days are the newest daily buckets.
func (v *privacyView) days(ctx context.Context, limit int) (PrivacyBuckets, error) {
	out := PrivacyBuckets{ChainID: v.chain.ID, BucketGranularity: "day", Items: []PrivacyBucket{}}
	out.Status, _ = v.status()
	if v.ledger == nil {
		return out, nil
	}
	list, err := v.ledger.Buckets(ctx, v.r, ledger.Window{Length: ledger.Day, Limit: limit})
	if err != nil {
		return out, err
	}
	for i := range list {
		b := &list[i]
		out.Items = append(out.Items, PrivacyBucket{spanOf("day", b.Start, b.Closed, b.Degraded, b.LatestBlock), b.NewWallets, b.Wallets,
			b.Deposits + b.OpenDeposits, b.Withdrawals, b.NotesUsed})
	}
	return out, nil
}

func spanOf(granularity string, start uint64, closed, degraded bool, latest uint64) PrivacyBucketSpan {
	out := PrivacyBucketSpan{BucketStartISO: kernel.TimestampISO(start), BucketGranularity: granularity, Status: privacyComplete, Closed: closed}
	if degraded {
		out.Status = privacyDegraded
	}
	if latest > 0 {
		out.LatestBlockNumber = &latest
	}
	return out
}

// privacyLengths are the buckets that series come in.
var privacyLengths = map[string]ledger.Length{"hour": ledger.Hour, "day": ledger.Day, "week": ledger.Week}

// privacyRanges are the ranges of series in hours; 0 is all.
var privacyRanges = map[string]uint64{"24h": 24, "7d": 7 * 24, "30d": 30 * 24, "all": 0}

// maxSeriesHours is how many hours a series has at most.
const maxSeriesHours = 720

// window is the newest buckets of a range: as many as fit into it, and a part of one as one.
func window(rng, granularity string) ledger.Window {
	w := ledger.Window{Length: privacyLengths[granularity]}
	each := w.Length.Seconds() / 3600
	switch hours := privacyRanges[rng]; {
	case hours > 0:
		w.Limit = int((hours + each - 1) / each)
	case w.Length == ledger.Hour:
		w.Limit = maxSeriesHours
	default:
		w.Limit = ledger.MaxBuckets
	}
	return w
}

func (s *Routes) getPrivacyPoolSeries(ctx context.Context, in *struct {
	ChainInput
	Range       string `query:"range" enum:"24h,7d,30d,all" default:"30d" doc:"How far back the series go."`
	Granularity string `query:"granularity" enum:"hour,day,week" default:"day" doc:"How long a bucket is."`
	Token       string `query:"token" format:"felt" maxLength:"70" doc:"Whose supply to show."`
}) (*body[PrivacySeries], error) {
	out := &body[PrivacySeries]{PrivacySeries{ChainID: in.Chain, Range: in.Range, BucketGranularity: in.Granularity,
		WalletSeries: []PrivacyWalletItem{}, ShieldedSupplySeries: []PrivacySupplyItem{}, PrivacyFeeSeries: []PrivacyFeeItem{}}}
	var asked *felt.Felt
	if in.Token != "" {
		f, err := kernel.FeltOf("query.token", in.Token)
		if err != nil {
			return nil, err
		}
		asked = &f
	}
	err := s.privacyView(ctx, in.Chain, func(v *privacyView) error { return v.series(ctx, asked, &out.Body) })
	return out, err
}

// series fills the series of a range.
func (v *privacyView) series(ctx context.Context, asked *felt.Felt, out *PrivacySeries) error {
	out.Status, _ = v.status()
	if asked == nil {
		asked = v.trackedBTC()
	}
	if asked != nil {
		called, err := privacyTokens(ctx, v.chain, v.r, []felt.Felt{*asked})
		if err != nil {
			return err
		}
		t := called[*asked]
		out.Token = &t
	}
	if v.ledger == nil {
		return nil
	}
	w := window(out.Range, out.BucketGranularity)
	list, err := v.ledger.Buckets(ctx, v.r, w)
	if err != nil {
		return err
	}
	for i := range list {
		b := &list[i]
		out.WalletSeries = append(out.WalletSeries, PrivacyWalletItem{spanOf(out.BucketGranularity, b.Start, b.Closed, b.Degraded, b.LatestBlock), b.NewWallets, b.Wallets})
	}
	if asked != nil {
		flows, err := v.ledger.Flows(ctx, v.r, *asked, w)
		if err != nil {
			return err
		}
		for i := range flows {
			f := &flows[i]
			out.ShieldedSupplySeries = append(out.ShieldedSupplySeries, PrivacySupplyItem{spanOf(out.BucketGranularity, f.Start, f.Closed, f.Degraded, f.LatestBlock),
				*asked, f.In.String(), f.Out.String(), f.Net().String()})
		}
	}
	for _, t := range v.feeTokens() {
		fees, err := v.ledger.Fees(ctx, v.r, t, w)
		if err != nil {
			return err
		}
		for i := range fees {
			f := &fees[i]
			out.PrivacyFeeSeries = append(out.PrivacyFeeSeries, PrivacyFeeItem{spanOf(out.BucketGranularity, f.Start, f.Closed, f.Degraded, f.LatestBlock),
				t, f.In.String(), f.TotalIn.String(), f.InCount})
		}
	}
	return nil
}

// feeTokens are what the pools of the ledger charge their fees in: one, as a rule.
func (v *privacyView) feeTokens() (out []felt.Felt) {
	seen := map[felt.Felt]bool{}
	for i := range v.ledger.Pools {
		if t := v.ledger.Pools[i].FeeToken; !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// trackedBTC is the token whose supply is shown unless another is asked for; nil where
// the registry knows none.
func (v *privacyView) trackedBTC() *felt.Felt {
	for _, symbol := range []string{strkBTC, "WBTC"} {
		if t := v.called(symbol); t != nil {
			return t
		}
	}
	return nil
}

const strkBTC = "strkBTC"

// called is the token that the registry calls by a symbol.
func (v *privacyView) called(symbol string) *felt.Felt {
	for _, t := range v.chain.Registry.Tokens() {
		if t.Symbol == symbol {
			return &t.Address
		}
	}
	return nil
}

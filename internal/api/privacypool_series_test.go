package api_test

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"math/big"
	"slices"
)

// poolAccounts are those that registered.
func poolAccounts(events []ledgerEvent, before uint64) map[felt.Felt]bool {
	out := map[felt.Felt]bool{}
	for i := range events {
		if e := &events[i]; e.name == "viewing_key_set" && e.time < before {
			out[e.wallet] = true
		}
	}
	return out
}

func countOf(events []ledgerEvent, names ...string) (n int) {
	for i := range events {
		if slices.Contains(names, events[i].name) {
			n++
		}
	}
	return n
}

// inTime are the events of a span.
func inTime(events []ledgerEvent, from, to uint64) (out []ledgerEvent) {
	for i := range events {
		if events[i].time >= from && events[i].time < to {
			out = append(out, events[i])
		}
	}
	return out
}

var poolSpans = map[string]uint64{"hour": 3600, "day": 86400, "week": 7 * 86400}

// bucketOf is when a bucket began; the Mondays of 2026 are those from the fifth of January on.
func bucketOf(granularity string, t uint64) uint64 {
	const monday = 1767571200 // 2026-01-05
	size := poolSpans[granularity]
	if granularity == "week" {
		return monday - size + (t-(monday-size))/size*size
	}
	return t / size * size
}

// buckets calls for each of the newest buckets, oldest first.
func (o *oracle) buckets(events []ledgerEvent, granularity string, limit int, show func(start uint64, in []ledgerEvent, span object)) {
	if len(events) == 0 {
		return
	}
	size, reached := poolSpans[granularity], o.Chain.BlockAt(o.poolThrough()).Timestamp
	first, last := bucketOf(granularity, events[0].time), bucketOf(granularity, reached)
	if n := uint64(limit); last-first >= n*size {
		first = last - (n-1)*size
	}
	for start := first; start <= last; start += size {
		show(start, inTime(events, start, start+size), object{"bucketStartIso": iso(start), "bucketGranularity": granularity, "status": "complete", "closed": reached >= start+size,
			"latestBlockNumber": nil})
	}
}

func latestOf(span object, list []ledgerEvent) object {
	if len(list) > 0 {
		span["latestBlockNumber"] = list[len(list)-1].block
	}
	return span
}

func (o *oracle) wantBuckets(limit int) object {
	events, items := o.ledgerEvents(o.poolThrough()), []object{}
	o.buckets(events, "day", limit, func(start uint64, in []ledgerEvent, span object) {
		before, by := len(poolAccounts(events, start)), len(poolAccounts(events, start+86400))
		items = append(items, with(latestOf(span, in), object{"newViewingKeyWallets": by - before, "cumulativeViewingKeyWallets": by,
			"visibleDeposits": countOf(in, "deposit", "open_note_deposited"), "visibleWithdrawals": countOf(in, "withdrawal"), "noteUsedEvents": countOf(in, "note_used")}))
	})
	return object{"chainId": chainID, "bucketGranularity": "day", "status": "complete", "items": items}
}

func (o *oracle) poolBuckets() {
	o.T.Helper()
	for limit, query := range map[int]string{30: "", 1: "?limit=1", 90: "?limit=500"} {
		o.same("listPrivacyPoolMetricBuckets", chainID+"/privacy-pool/metric-buckets"+query, o.wantBuckets(limit))
	}
}

func (o *oracle) poolSeries() {
	o.T.Helper()
	events := o.ledgerEvents(o.poolThrough())
	tokens := map[string]felt.Felt{"": o.Chain.Network().WBTC}
	for i := range events {
		if events[i].in != nil {
			tokens["&token="+events[i].token.Padded()] = events[i].token
		}
	}
	tokens["&token=0x1234"] = felt.FromUint64(0x1234)
	for query, token := range tokens {
		for _, rng := range []string{"24h", "7d", "30d", "all"} {
			for granularity, most := range map[string]map[string]int{"hour": {"24h": 24, "7d": 168, "30d": 720, "all": 720}, "day": {"24h": 1, "7d": 7, "30d": 30, "all": 3660}, "week": {"24h": 1, "7d": 1, "30d": 5, "all": 522}} {
				want := o.wantSeries(events, rng, granularity, most[rng], token)
				o.same("getPrivacyPoolSeries", chainID+"/privacy-pool/metrics/series?range="+rng+"&granularity="+granularity+query, want)
				if query == "" && rng == "30d" && granularity == "day" {
					o.same("getPrivacyPoolSeries", chainID+"/privacy-pool/metrics/series", want)
				}
			}
		}
	}
}

func (o *oracle) wantSeries(events []ledgerEvent, rng, granularity string, limit int, token felt.Felt) object {
	wallets, supply, fees := []object{}, []object{}, []object{}
	moved, paid := func(e *ledgerEvent) bool { return (e.in != nil || e.out != nil) && e.token == token }, func(e *ledgerEvent) bool { return e.fee != nil }
	filter := func(list []ledgerEvent, keep func(*ledgerEvent) bool) (out []ledgerEvent) {
		for i := range list {
			if keep(&list[i]) {
				out = append(out, list[i])
			}
		}
		return out
	}
	flows, charges := filter(events, moved), filter(events, paid)
	sum := func(list []ledgerEvent, of func(*ledgerEvent) *big.Int) *big.Int {
		total := new(big.Int)
		for i := range list {
			if n := of(&list[i]); n != nil {
				total.Add(total, n)
			}
		}
		return total
	}
	in, out, fee := func(e *ledgerEvent) *big.Int { return e.in }, func(e *ledgerEvent) *big.Int { return e.out }, func(e *ledgerEvent) *big.Int { return e.fee }
	o.buckets(events, granularity, limit, func(start uint64, own []ledgerEvent, span object) {
		end := start + poolSpans[granularity]
		before, by := len(poolAccounts(events, start)), len(poolAccounts(events, end))
		wallets = append(wallets, with(latestOf(with(object{}, span), own), object{"newViewingKeyWallets": by - before, "cumulativeViewingKeyWallets": by}))
		if len(flows) > 0 {
			here := filter(own, moved)
			supply = append(supply, with(latestOf(with(object{}, span), here), object{"tokenAddress": token, "depositedRaw": sum(here, in).String(), "withdrawnRaw": sum(here, out).String(),
				"shieldedSupplyRaw": new(big.Int).Sub(sum(inTime(flows, 0, end), in), sum(inTime(flows, 0, end), out)).String()}))
		}
		if len(charges) > 0 {
			here := filter(own, paid)
			fees = append(fees, with(latestOf(with(object{}, span), here), object{"tokenAddress": contracts.STRK, "feeAmountRaw": sum(here, fee).String(),
				"cumulativeFeeAmountRaw": sum(inTime(charges, 0, end), fee).String(), "feeTransferCount": len(here)}))
		}
	})
	return object{"chainId": chainID, "range": rng, "bucketGranularity": granularity, "status": "complete", "token": o.poolToken(token),
		"walletSeries": wallets, "shieldedSupplySeries": supply, "privacyFeeSeries": fees}
}

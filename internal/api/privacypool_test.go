package api_test

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/site"
)

// What the routes of privacy pools must answer, made from the events and the facts of
// the simulated chain.

// keptLedger is what comparing a ledger with a replay of the chain is worth.
var keptLedger = site.Evidence{Oracle: "indexed-replay", EvidenceLevel: "deploy-blocking", CertificationScope: "accounting", SLOClass: "hot"}

var (
	_ = tested(routeTest{operation: "getPrivacyPoolTvl", evidence: keptLedger, truth: (*oracle).poolTvl, golden: poolGolden("current", "tvl")})
	_ = tested(routeTest{operation: "listPrivacyPoolTvl", evidence: keptLedger, truth: (*oracle).poolHours,
		golden: poolGolden("nothing-finalized", "tvl/series?from=2026-01-01T00:00:00Z&to=2026-01-01T05:00:00Z")})
	_ = tested(routeTest{operation: "getPrivacyPoolStatus", evidence: keptLedger, truth: (*oracle).poolStatus, golden: poolGolden("current", "status")})
	_ = tested(routeTest{operation: "listPrivacyPoolMetricBuckets", evidence: keptLedger, truth: (*oracle).poolBuckets, golden: poolGolden("days", "metric-buckets?limit=7")})
	_ = tested(routeTest{operation: "getPrivacyPoolSeries", evidence: keptLedger, truth: (*oracle).poolSeries,
		golden: poolGolden("hours-of-a-token", "metrics/series?range=24h&granularity=hour&token="+contracts.STRK.String())})
	_ = tested(routeTest{operation: "getPrivacyPoolAnalytics", evidence: keptLedger, truth: (*oracle).poolAnalytics, golden: poolGolden("current", "analytics")})
	_ = tested(routeTest{operation: "getPrivacyPoolDashboard", evidence: keptLedger, truth: (*oracle).poolDashboard, golden: poolGolden("current", "dashboard")})
)

func poolGolden(name, path string) func(*world) map[string]string {
	return func(*world) map[string]string { return map[string]string{name: "/privacy-pool/" + path} }
}

// ledgerEvent is an event of the pool.
type ledgerEvent struct {
	block   uint64
	tx, log int
	time    uint64
	name    string
	token   felt.Felt
	in, out *big.Int // of movements
	wallet  felt.Felt
	keys    []felt.Felt
	data    []felt.Felt
	fee     *big.Int // paid in front of the call, with its first event
}

func (e *ledgerEvent) cursor() string { return fmt.Sprintf("%d:%d:%d", e.block, e.tx, e.log) }

// snakeName is how answers call an event.
func snakeName(event string) string {
	var b strings.Builder
	for i, c := range event {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// ledgerNames are the events of pools by their selectors.
var ledgerNames = func() map[felt.Felt]string {
	out := map[felt.Felt]string{}
	for _, name := range []string{"ViewingKeySet", "Deposit", "Withdrawal", "OpenNoteCreated", "OpenNoteDeposited", "EncNoteCreated", "NoteUsed", "ExternalContractInvoked",
		"AuditorPublicKeySet", "ScreenerPublicKeySet", "FeeAmountSet", "FeeCollectorSet", "ProofValidityBlocksSet", "OpenNoteDepositorBlockSet", "OpenNoteScreeningPolicySet",
		"Paused", "Unpaused", "ImplementationAdded", "ImplementationRemoved", "ImplementationReplaced", "ImplementationFinalized", "RoleGranted", "RoleRevoked"} {
		out[felt.Selector(name)] = snakeName(name)
	}
	return out
}()

// ledgerEvents reads the chain up to a block.
func (o *oracle) ledgerEvents(through uint64) (out []ledgerEvent) {
	o.T.Helper()
	pool := o.Chain.Pool()
	var amount, collector *felt.Felt
	for n := range through + 1 {
		b := o.Chain.BlockAt(n)
		for i := range b.Receipts {
			var paid *big.Int
			acted := false
			for j := range b.Receipts[i].Events {
				ev := &b.Receipts[i].Events[j]
				// A fee is the transfer in force in front of the first action of the call.
				if ev.From == contracts.STRK && !acted && paid == nil && amount != nil && collector != nil && !amount.IsZero() &&
					ev.Keys[0] == felt.Selector("Transfer") {
					if to, sum := transferred(ev.Keys, ev.Data); to == *collector && sum.Cmp(amount.Big()) == 0 {
						paid = sum
					}
				}
				if ev.From != pool {
					continue
				}
				e := ledgerEvent{block: n, tx: i, log: j, time: b.Timestamp, name: ledgerNames[ev.Keys[0]], keys: ev.Keys, data: ev.Data}
				if e.name == "" {
					o.T.Fatalf("block %d: event %s is not in the list", n, ev.Keys[0])
				}
				switch e.name {
				case "deposit", "open_note_deposited":
					e.token, e.in = ev.Keys[2], ev.Data[0].Big()
				case "withdrawal":
					e.token, e.out = ev.Keys[2], ev.Data[3].Big()
				case "viewing_key_set":
					e.wallet = ev.Keys[1]
				case "fee_amount_set":
					amount = &ev.Data[0]
				case "fee_collector_set":
					collector = &ev.Data[0]
				}
				if isAction(e.name) && !acted {
					acted, e.fee = true, paid
				}
				out = append(out, e)
			}
		}
	}
	return out
}

// isAction says that an event comes from a call that pays a fee.
func isAction(name string) bool {
	switch name {
	case "viewing_key_set", "deposit", "withdrawal", "open_note_created", "open_note_deposited", "enc_note_created", "note_used", "external_contract_invoked":
		return true
	}
	return false
}

// transferred reads a Transfer of either layout.
func transferred(keys, data []felt.Felt) (to felt.Felt, amount *big.Int) {
	all := append(slices.Clone(keys[1:]), data...)
	return all[1], new(big.Int).Add(all[2].Big(), new(big.Int).Lsh(all[3].Big(), 128))
}

// poolThrough is the block that the ledger is as of.
func (o *oracle) poolThrough() uint64 {
	head, _ := o.Chain.Head()
	return head - depth
}

func (o *oracle) poolAsOf() object {
	b := o.Chain.BlockAt(o.poolThrough())
	return object{"blockNumber": b.Number, "blockHash": b.Hash, "blockTimestamp": iso(b.Timestamp), "materializedAt": anything}
}

// poolToken is what is known of a token.
func (o *oracle) poolToken(address felt.Felt) object {
	if t, ok := o.Known.Chain(chainID).Token(address); ok {
		return object{"address": address, "symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals}
	}
	head, _ := o.Chain.Head()
	for _, t := range o.Chain.Tokens(head) {
		if t.Address == address {
			return object{"address": address, "symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals}
		}
	}
	return object{"address": address, "symbol": nil, "name": nil, "decimals": nil}
}

// poolFlows are the sums of tokens, by address.
func (o *oracle) poolFlows(events []ledgerEvent, through uint64) (out []object) {
	o.T.Helper()
	type sums struct {
		in, out *big.Int
		ins     int
		outs    int
	}
	by := map[felt.Felt]*sums{}
	var order []felt.Felt
	for i := range events {
		e := &events[i]
		if e.in == nil && e.out == nil {
			continue
		}
		s := by[e.token]
		if s == nil {
			s = &sums{in: new(big.Int), out: new(big.Int)}
			by[e.token], order = s, append(order, e.token)
		}
		if e.in != nil {
			s.in.Add(s.in, e.in)
			s.ins++
		} else {
			s.out.Add(s.out, e.out)
			s.outs++
		}
	}
	slices.SortFunc(order, func(a, b felt.Felt) int { return bytes.Compare(a[:], b[:]) })
	for _, t := range order {
		s := by[t]
		left := new(big.Int).Sub(s.in, s.out)
		if known := o.Chain.PoolAt(t, through); known.Protected.Cmp(left) != 0 {
			o.T.Fatalf("the chain knows of %s of %s, its events of %s", known.Protected, t, left)
		}
		token := o.poolToken(t)
		var shown any
		if d, ok := token["decimals"].(uint8); ok {
			unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d)), nil)
			shown = new(big.Rat).SetFrac(left, unit).FloatString(int(d))
		}
		out = append(out, object{"token": token, "status": "complete", "reasonCode": "finalized_public_flow_ledger", "poolContractCount": 1,
			"depositEventCount": s.ins, "withdrawalEventCount": s.outs, "depositAmountRaw": s.in.String(), "withdrawalAmountRaw": s.out.String(),
			"protectedAmountRaw": left.String(), "protectedAmount": shown, "missingAmountEventCount": 0, "valueUsd": nil})
	}
	return out
}

func lastFlow(events []ledgerEvent) *ledgerEvent {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].in != nil || events[i].out != nil {
			return &events[i]
		}
	}
	return nil
}

const poolCaveat = "Sums of the public movements of the pool contracts up to a finalized block. They are no balance of a wallet or of the contracts, tell nothing of who owns what, and are not valued."

func unvalued(reason string) object {
	return object{"status": "unavailable", "reasonCode": reason, "quoteCurrency": "USD", "totalUsd": nil}
}

// wantTvl is the snapshot of a sound ledger.
func (o *oracle) wantTvl() object {
	o.T.Helper()
	through := o.poolThrough()
	events := o.ledgerEvents(through)
	assets := []object{}
	for _, a := range o.poolFlows(events, through) {
		price := object{"status": "unavailable", "reasonCode": "price_missing"}
		for _, name := range []string{"priceUsd", "source", "provider", "confidence", "priceTimestamp", "observedAt", "maxAgeSeconds"} {
			price[name] = nil
		}
		assets = append(assets, with(a, object{"price": price, "unreconciledEventCount": 0}))
	}
	coverage := object{"status": "complete", "reasonCode": "finalized_public_flow_ledger", "finalizedOnly": true, "finalityBasis": "service_indexed_finalized_tier",
		"asOfL1Accepted": nil, "latestL1AcceptedBlockNumber": nil, "fromBlockNumber": 0, "throughBlockNumber": through, "latestEventBlockNumber": nil, "latestEventCursor": nil,
		"poolContractCount": min(1, len(events)), "tokenCount": len(assets), "missingAmountEventCount": 0, "decodedMaterializationFresh": true, "decodedEventLagBlocks": 0}
	if n, ok := o.Chain.L1Head(); ok {
		coverage["asOfL1Accepted"], coverage["latestL1AcceptedBlockNumber"] = through <= n, n
	}
	if last := lastFlow(events); last != nil {
		coverage["latestEventBlockNumber"], coverage["latestEventCursor"] = last.block, last.cursor()
	}
	return object{"schemaVersion": "1", "chainId": chainID, "scope": "strk20_privacy_pool", "status": "complete", "accountingMethod": "finalized_public_flow_ledger_v1",
		"asOf": o.poolAsOf(), "coverage": coverage, "assets": assets, "valuation": unvalued("one_or_more_assets_unpriced"), "caveat": poolCaveat}
}

func (o *oracle) poolTvl() {
	o.T.Helper()
	o.same("getPrivacyPoolTvl", chainID+"/privacy-pool/tvl", o.wantTvl())
}

// wantHours are the points of all hours that are over.
func (o *oracle) wantHours() []object {
	out := []object{}
	o.T.Helper()
	through := o.poolThrough()
	events := o.ledgerEvents(through)
	if len(events) == 0 {
		return out
	}
	reached := o.Chain.BlockAt(through).Timestamp
	for hour := events[0].time / 3600 * 3600; hour+3600 <= reached; hour += 3600 {
		last := uint64(0)
		for n := range through + 1 {
			if o.Chain.BlockAt(n).Timestamp < hour+3600 {
				last = n
			}
		}
		n := 0
		for n < len(events) && events[n].time < hour+3600 {
			n++
		}
		b := o.Chain.BlockAt(last)
		assets := []object{}
		flows := o.poolFlows(events[:n], last)
		for _, a := range flows {
			if a["protectedAmountRaw"] != "0" {
				assets = append(assets, a)
			}
		}
		var cursor any
		if flow := lastFlow(events[:n]); flow != nil {
			cursor = flow.cursor()
		}
		out = append(out, object{"timestamp": iso(hour), "status": "complete", "reasonCode": "finalized_public_flow_ledger", "accountingMethod": "finalized_public_flow_ledger_v1",
			"asOf":              object{"blockNumber": last, "blockHash": b.Hash, "blockTimestamp": iso(b.Timestamp), "latestEventCursor": cursor, "materializedAt": anything},
			"poolContractCount": 1, "tokenCount": len(flows), "missingAmountEventCount": 0, "valuation": unvalued("consumer_price_at_timestamp_required"), "assets": assets})
	}
	return out
}

// poolHours walks the points in pages of several sizes.
func (o *oracle) poolHours() {
	o.T.Helper()
	want := o.wantHours()
	for _, limit := range []int{1, 5, 24} {
		got := o.pages("listPrivacyPoolTvl", "privacy-pool/tvl/series?from=2025-12-31T22:00:00Z&to=2026-03-01T00:00:00Z", limit, nil)
		o.sameList("hours", want, got)
	}
	if len(want) < 4 {
		return
	}
	part := want[1:3]
	from, to := part[0]["timestamp"].(string), part[1]["timestamp"].(string)
	o.same("listPrivacyPoolTvl", chainID+"/privacy-pool/tvl/series?granularity=hour&from="+from+"&to="+to, object{"schemaVersion": "1", "chainId": chainID, "scope": "strk20_privacy_pool",
		"granularity": "hour", "order": "ascending", "from": from, "to": to, "limit": 24, "items": part, "nextCursor": nil, "caveat": poolCaveat})
}

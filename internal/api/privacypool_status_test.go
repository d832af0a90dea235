package api_test

import (
	"cmp"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// breakdownOf counts events by their names.
func breakdownOf(events []ledgerEvent) []object {
	counts := map[string]int{}
	for i := range events {
		counts[events[i].name]++
	}
	out := []object{}
	for _, name := range sortedKeys(counts) {
		out = append(out, object{"name": name, "count": counts[name]})
	}
	return out
}

func sortedKeys(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// poolVersions are the generations of the simulated pool's classes.
func (o *oracle) poolVersion(class felt.Felt) any {
	for _, p := range o.Known.Chain(chainID).PrivacyPools() {
		for _, c := range p.Classes {
			if c.Hash == class {
				return string(c.Generation)
			}
		}
	}
	return nil
}

// wantPool is the pool with what its events set last.
func (o *oracle) wantPool(events []ledgerEvent) object {
	head, _ := o.Chain.Head()
	class, _ := o.Chain.ClassAt(o.Chain.Pool(), head)
	out := object{"address": o.Chain.Pool(), "name": "Privacy pool", "deployedAtBlock": 0, "classHash": class.Hash, "classKnown": true, "poolVersion": o.poolVersion(class.Hash),
		"paused": nil, "proofValidityBlocks": nil, "auditorPublicKey": nil, "screenerPublicKey": nil, "fee": nil}
	fee := object{"tokenAddress": contracts.STRK, "amountRaw": nil, "collectorAddress": nil, "amountConfigBlockNumber": nil, "collectorConfigBlockNumber": nil}
	for i := range events {
		switch e := &events[i]; e.name {
		case "paused", "unpaused":
			out["paused"] = e.name == "paused"
		case "proof_validity_blocks_set":
			out["proofValidityBlocks"] = e.data[0].Big()
		case "auditor_public_key_set":
			out["auditorPublicKey"] = e.data[0]
		case "screener_public_key_set":
			out["screenerPublicKey"] = e.data[0]
		case "fee_amount_set":
			fee["amountRaw"], fee["amountConfigBlockNumber"], out["fee"] = e.data[0].Big().String(), e.block, fee
		case "fee_collector_set":
			fee["collectorAddress"], fee["collectorConfigBlockNumber"], out["fee"] = e.data[0], e.block, fee
		}
	}
	return out
}

func (o *oracle) wantPoolStatus() object {
	head, _ := o.Chain.Head()
	through := o.poolThrough()
	events := o.ledgerEvents(through)
	n := func(names ...string) int { return countOf(events, names...) }
	notes, used := n("enc_note_created", "open_note_created"), n("note_used")
	out := object{"chainId": chainID, "status": "complete", "reasonCode": "finalized_public_flow_ledger", "reasons": []object{}, "headBlockNumber": head, "finalizedBlockNumber": through,
		"asOf": o.poolAsOf(), "backfillInProgress": false, "rebuildInProgress": false, "totalEvents": len(events), "depositCount": n("deposit"), "withdrawalCount": n("withdrawal"),
		"openNoteCreatedCount": n("open_note_created"), "openNoteDepositedCount": n("open_note_deposited"), "encNoteCreatedCount": n("enc_note_created"), "noteUsedCount": used,
		"auditorPublicKeySetCount": n("auditor_public_key_set"), "viewingKeySetCount": n("viewing_key_set"), "registeredUserCount": len(poolAccounts(events, 1<<62)),
		"missingAmountEventCount": 0, "unknownSelectorEventCount": 0, "unknownClassEventCount": 0, "eventBreakdown": breakdownOf(events),
		"noteState": object{"commitmentCount": notes, "nullifierCount": used, "openNoteCreatedCount": n("open_note_created"), "openNoteDepositedCount": n("open_note_deposited"),
			"encNoteCreatedCount": n("enc_note_created"), "noteUsedCount": used, "spentNoteProxyCount": used, "unspentNoteProxyCount": max(0, notes-used),
			"source": "public_decoded_event_rows", "caveat": anything},
		"rawEventFilterTruncated": false, "materializationFresh": true, "eventLagBlocks": nil, "pools": []object{o.wantPool(events)}}
	for _, prefix := range []string{"latestEvent", "latestDecodedEvent", "latestRawEvent"} {
		with(out, object{prefix + "Block": nil, prefix + "TxIndex": nil, prefix + "LogIndex": nil, prefix + "Cursor": nil})
		if len(events) > 0 {
			last := &events[len(events)-1]
			with(out, object{"eventLagBlocks": 0, prefix + "Block": last.block, prefix + "TxIndex": last.tx, prefix + "LogIndex": last.log, prefix + "Cursor": last.cursor()})
		}
	}
	return out
}

func (o *oracle) poolStatus() {
	o.T.Helper()
	o.same("getPrivacyPoolStatus", chainID+"/privacy-pool/status", o.wantPoolStatus())
}

func (o *oracle) wantAnalytics() object {
	through := o.poolThrough()
	events := o.ledgerEvents(through)
	flows := o.poolFlows(events, through)
	transactions := map[[2]uint64]bool{}
	told := map[string]int{}
	for i := range events {
		e := &events[i]
		transactions[[2]uint64{e.block, uint64(e.tx)}] = true
		switch e.name {
		case "enc_note_created", "note_used":
			told["hidden_by_design"]++
		case "withdrawal", "open_note_created", "viewing_key_set":
			told["partial"]++
		default:
			told["public"]++
		}
	}
	visible := []object{}
	names := sortedKeys(told)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(told[b], told[a]) })
	for _, name := range names {
		visible = append(visible, object{"visibility": name, "count": told[name]})
	}
	tokens := []object{}
	moves := func(f object) int { return f["depositEventCount"].(int) + f["withdrawalEventCount"].(int) }
	slices.SortStableFunc(flows, func(a, b object) int { return cmp.Compare(moves(b), moves(a)) })
	for _, f := range flows {
		tokens = append(tokens, object{"token": f["token"], "eventCount": moves(f), "depositEventCount": f["depositEventCount"], "withdrawalEventCount": f["withdrawalEventCount"],
			"observableDepositAmountRaw": f["depositAmountRaw"], "observableWithdrawalAmountRaw": f["withdrawalAmountRaw"], "observableNetAmountRaw": f["protectedAmountRaw"], "missingAmountEventCount": 0})
	}
	var latest any
	if len(events) > 0 {
		latest = events[len(events)-1].block
	}
	missing := []object{}
	for _, m := range [][2]string{{"tvlUsd", "requires_balance_and_price_snapshots"}, {"privateSwapVolume", "volume_pricing_not_certified"},
		{"exactAnonymitySet", "commitment_state_materializer_required"}, {"privateActivity", "private_activity_metrics_not_migrated"}} {
		missing = append(missing, object{"metric": m[0], "reasonCode": m[1], "reason": anything})
	}
	return object{"chainId": chainID, "status": "complete", "asOf": o.poolAsOf(), "totalEvents": len(events), "uniqueTransactionCount": len(transactions), "contractCount": min(1, len(events)),
		"latestEventBlock": latest, "eventBreakdown": breakdownOf(events), "visibilityBreakdown": visible, "tokenFlows": tokens, "tokenFlowsLimit": 100, "tokenFlowsTruncated": false,
		"tokenFlowSourceEventLimit": 0, "tokenFlowSourceEventsTruncated": false, "missingAmountEventCount": 0, "strkbtcObserved": nil, "unknownTokenCount": 0, "unavailableMetrics": missing,
		"privateActivity": object{"source": "public_decoded_event_rows", "coverageStatus": "unavailable", "coverageReasonCode": "private_activity_metrics_not_migrated", "sourceProvenance": nil,
			"caveat": anything, "totalPrivateActionTxCount": nil, "totalHelperWithdrawalEventCount": nil, "totalNoteUsedEventCount": nil, "totalOpenNoteDepositedEventCount": nil,
			"metricsLimit": 0, "metricsTruncated": false, "metrics": []object{}}}
}

func (o *oracle) poolAnalytics() {
	o.T.Helper()
	o.same("getPrivacyPoolAnalytics", chainID+"/privacy-pool/analytics", o.wantAnalytics())
}

func (o *oracle) poolDashboard() {
	o.T.Helper()
	recent := o.wantPoolEvents()
	o.same("getPrivacyPoolDashboard", chainID+"/privacy-pool/dashboard", object{"chainId": chainID, "status": o.wantPoolStatus(), "tvl": o.wantTvl(),
		"metricBuckets": o.wantBuckets(30), "analytics": o.wantAnalytics(), "recentEvents": recent[:min(10, len(recent))]})
}

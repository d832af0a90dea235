package api

import (
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
)

func TestAgreementInStatus(t *testing.T) {
	state := &chain.State{HasHead: true, Head: chain.Head{Number: 50}}
	if agreementOf(state) != nil {
		t.Error("agreement without a quorum")
	}
	state.Agreed = chain.Agreed{Quorum: 2, Next: 31, At: time.Unix(1e9, 0), Tiers: []chain.TierAgreement{{Tier: chain.Finalized, Number: 30, Agree: 2, Asked: 3}}}
	a := agreementOf(state)
	if a == nil || *a.AgreedBlockNumber != 30 || a.ObservedAt == nil || len(a.Tiers) != 1 || a.Tiers[0] != (TierAgreement{"finalized", 30, 2, 0, 3}) {
		t.Errorf("%+v", a)
	}
	state.Fork.Count = 2
	if a := agreementOf(state); a.AgreedBlockNumber != nil {
		t.Errorf("agreed on %d after forks", *a.AgreedBlockNumber)
	}
}

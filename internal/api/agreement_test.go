package api_test

import (
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/chain"
)

func TestAgreementInStatus(t *testing.T) {
	w := newWorld(t, 51)
	agreement := func() *api.StatusAgreement {
		t.Helper()
		var s api.Status
		w.Get("/status", &s)
		return s.Agreement
	}
	if a := agreement(); a != nil {
		t.Errorf("agreement without a quorum: %+v", a)
	}
	agreed := chain.Agreed{Quorum: 2, Next: 31, At: time.Unix(1e9, 0), Tiers: []chain.TierAgreement{{Tier: chain.Finalized, Number: 30, Agree: 2, Asked: 3}}}
	w.leave(chain.AgreedKey, agreed.Encode())
	if a := agreement(); a == nil || a.AgreedBlockNumber == nil || *a.AgreedBlockNumber != 30 || a.ObservedAt == nil || !slices.Equal(a.Tiers, []api.TierAgreement{{"finalized", 30, 2, 0, 3}}) {
		t.Errorf("%+v", a)
	}
	agreed.Forks = 5 // others than the index went through: of several nothing is known
	w.leave(chain.AgreedKey, agreed.Encode())
	if a := agreement(); a == nil || a.AgreedBlockNumber != nil {
		t.Errorf("agreed after forks: %+v", a)
	}
}

package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// controls compares the control facts of tokens with the classes and upgrades of
// the simulated chain, whose tokens announce no owners and no roles.
func (o *oracle) controls(head uint64) {
	o.T.Helper()
	for i, token := range o.Chain.Tokens(head) {
		if i%3 != 0 && token.Address != o.Chain.Network().DAI {
			continue
		}
		path := chainID + "/token/" + token.Address.String() + "/controls"
		r := o.Do(http.MethodGet, "/v1/"+path, o.Key)
		var got api.TokenControls
		if err := json.Unmarshal(r.Body, &got); err != nil || r.StatusCode != http.StatusOK || !got.Indexed || got.Snapshot == nil {
			o.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
		s := got.Snapshot
		class, _ := o.Chain.ClassAt(token.Address, head)
		has := func(name string) bool { _, ok := class.Function(felt.Selector(name)); return ok }
		_, proxy := class.Function(felt.Zero)
		supply, upgrade, transfer := "unknown", "unknown", "not_detected"
		switch {
		case has("upgrade") || proxy:
			upgrade = "proxy_admin_detected"
		case class.Class.Sierra != nil:
			upgrade, supply = "immutable_class", "fixed"
		}
		if has("mint") {
			supply = "mintable"
		}
		if proxy {
			transfer = "unknown"
		}
		if s.SupplyControl.Status != supply || s.UpgradeControl.Status != upgrade || s.TransferControl.Status != transfer || s.MetadataAdmin.Status != "unknown" || s.ClassHash != class.Hash ||
			s.AsOfBlock != head || s.AsOfBlockHash != o.Chain.BlockAt(head).Hash {
			o.T.Fatalf("GET %s: %s, want %s %s %s", path, r.Body, supply, upgrade, transfer)
		}
		o.sameEvidence(path, &token, head, s.Evidence)
		o.checked("getTokenControls", path, r)
	}
	o.missing("getTokenControls", chainID+"/token/0x1234/controls")
	o.missing("getTokenControls", chainID+"/token/"+contracts.CurrentUDC.String()+"/controls")
}

func (o *oracle) sameEvidence(path string, token *simnode.Token, head uint64, got []api.ControlEvidence) {
	o.T.Helper()
	var upgrades, replaced []uint64
	for _, ref := range o.Chain.Events(simnode.EventFilter{To: head, Addresses: []felt.Felt{token.Address}, Keys: [][]felt.Felt{{contracts.SelUpgraded}}}) {
		upgrades = append(upgrades, ref.Block.Number)
	}
	var last felt.Felt
	for n := range head + 1 {
		if class, ok := o.Chain.ClassAt(token.Address, n); ok && class.Hash != last {
			replaced, last = append(replaced, n), class.Hash
		}
	}
	var seen, classes []uint64
	for _, e := range got {
		switch e.Kind {
		case "upgraded":
			seen = append(seen, *e.BlockNumber)
		case "class_deployed", "class_replaced":
			classes = append(classes, *e.BlockNumber)
		}
	}
	slices.Reverse(seen)
	slices.Reverse(classes)
	if !slices.Equal(seen, upgrades) || !slices.Equal(classes, replaced) {
		o.T.Fatalf("GET %s: upgrades at %v, want %v; classes at %v, want %v", path, seen, upgrades, classes, replaced)
	}
}

// TestControlsWithoutClass: while a class could not be had nothing is claimed,
// and nothing of that is kept.
func TestControlsWithoutClass(t *testing.T) {
	w := newWorld(t, 30, func(o *options) { o.CacheBytes = 1 << 20 })
	var got api.TokenControls
	w.Get("/token/"+contracts.STRK.String()+"/controls", &got)
	if !got.Indexed {
		t.Fatalf("%+v", got)
	}
	blind := &world{servertest.NewWithoutClasses(t, 30)}
	blind.Get("/token/"+contracts.STRK.String()+"/controls", &got)
	if got.Indexed || got.Snapshot != nil || got.ReasonCode != "controls_snapshot_missing" {
		t.Errorf("%+v", got)
	}
}

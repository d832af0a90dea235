package gateway_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/gateway"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// TestMetrics: every call is counted once, with where it was answered and how it ended,
// and the versions that can be had are told.
func TestMetrics(t *testing.T) {
	servertest.Watched(t)
	chain := simnode.New(simnode.Config{Seed: 41, Blocks: 8, L1Lag: 30})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{Version: starknet.V09}))
	t.Cleanup(srv.Close)
	pool := openPool(t, srv.URL)
	reg := prometheus.NewRegistry()
	w := newWorld(t, 8, func(o *servertest.Options) {
		o.Gateway.Chains = []gateway.Chain{{ID: servertest.ChainID, Pool: pool}}
		o.Gateway.Registerer = reg
	})
	for range 2 {
		w.call("starknet_chainId", "")
	}
	w.call("rpc.discover", "")
	w.call("starknet_getNonce", `["latest","0xabcdef"]`)
	w.call("starknet_getNonce", `["latest"]`)
	w.call("nobody_knowsMe", "")
	w.call("starknet_subscribeNewHeads", "")
	w.post(rpcPath, w.Key, `{`)
	w.post("/rpc/v0_8/"+servertest.ChainID, w.Key, request("1", "starknet_chainId", ""))

	got := map[string]float64{}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			name := strings.TrimPrefix(f.GetName(), "chainexplorer_rpc_") + " " + strings.Join(labels, " ") // by the labels' names
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	id := servertest.ChainID
	for name, want := range map[string]float64{
		"calls_total " + id + " starknet_chainId ok node":                             1,
		"calls_total " + id + " starknet_chainId ok kept":                             1,
		"calls_total " + id + " rpc.discover ok gateway":                              1,
		"calls_total " + id + " starknet_getNonce node_error node":                    1,
		"calls_total " + id + " starknet_getNonce invalid_params nobody":              1,
		"calls_total " + id + " other method_not_found nobody":                        1,
		"calls_total " + id + " starknet_subscribeNewHeads websocket_required nobody": 1,
		"call_seconds starknet_getNonce":                                              2,
		"requests_refused_total parse_error":                                          1,
		"requests_refused_total upstream_unavailable":                                 1,
		"version_served " + id + " 0.10":                                              0, "version_served " + id + " 0.9": 1, "version_served " + id + " 0.8": 0,
		"kept_answers " + id: 1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if t.Failed() {
		t.Logf("%v", got)
	}
	srv.Close()
	for range 10 { // until the node is not believed to be there
		w.call("starknet_blockNumber", "")
	}
	if families, err = reg.Gather(); err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "chainexplorer_rpc_version_served" && m.GetGauge().GetValue() != 0 {
				t.Errorf("%v is served by nobody", m)
			}
		}
	}
}

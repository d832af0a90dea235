package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"chainexplorer/internal/api"
)

// TestRPCProvider: the capabilities tell what of the gateway is served, and what is kept back.
func TestRPCProvider(t *testing.T) {
	for _, c := range []struct {
		served  api.RPCService
		status  string
		writes  string
		without []string // some of the methods that are not served
		serves  []string // some that are
	}{
		{api.RPCService{Enabled: true, WebSocket: true, Writes: true}, "authenticated_http_beta", "scoped", nil, []string{"starknet_call", "starknet_addInvokeTransaction", "starknet_subscribeNewHeads"}},
		{api.RPCService{Enabled: true, WebSocket: true}, "authenticated_http_beta", "not_available", []string{"starknet_addInvokeTransaction"}, []string{"starknet_call", "starknet_subscribeNewHeads"}},
		{api.RPCService{Enabled: true, Writes: true}, "authenticated_http_beta", "scoped", []string{"starknet_subscribeNewHeads"}, []string{"starknet_call", "starknet_addInvokeTransaction"}},
		{api.RPCService{}, "not_available", "not_available", []string{"starknet_call", "starknet_addInvokeTransaction", "starknet_subscribeNewHeads"}, nil},
	} {
		w := newWorld(t, 3, func(o *options) { o.RPC = c.served })
		var got api.Capabilities
		r := w.Do(http.MethodGet, "/v1/meta/capabilities", w.Key)
		if err := json.Unmarshal(r.Body, &got); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%d %v", r.StatusCode, err)
		}
		p := got.RPCProvider
		if p.Enabled != c.served.Enabled || p.Status != c.status || p.WriteBeta.Status != c.writes || p.WriteBeta.Enabled != (c.writes == "scoped") || p.Batch.Supported != c.served.Enabled {
			t.Errorf("%+v: %+v", c.served, p)
		}
		for _, name := range c.without {
			if !slices.Contains(p.UnsupportedUntilCertified, name) {
				t.Errorf("%+v: %s is not said to be missing", c.served, name)
			}
		}
		for _, name := range c.serves {
			if slices.Contains(p.UnsupportedUntilCertified, name) {
				t.Errorf("%+v: %s is said to be missing", c.served, name)
			}
		}
		if p.Endpoint != "/v1/"+chainID+"/rpc" || p.PublicSpecVersion != "0.10.2" || p.TraceBeta.Scope != "trace" || p.TraceBeta.QuotaClass != "rpc_trace" || p.WriteBeta.QuotaClass != "rpc_write" ||
			p.WriteBeta.OpenToAllAPIKeys || !p.StorageProofBeta.OpenToAllAPIKeys || !slices.Contains(p.StorageProofBeta.Methods, "starknet_getStorageProof") {
			t.Errorf("%+v: %+v", c.served, p)
		}
	}
}

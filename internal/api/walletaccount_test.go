package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
)

// silentOf is a node that tells no nonce, no class, or neither.
type silentOf struct {
	api.Node
	nonce, class error
	hang         bool // it does not answer for the nonce at all
}

func (n *silentOf) NonceAt(ctx context.Context, at contractcall.Block, a felt.Felt) (felt.Felt, bool, error) {
	if n.hang {
		<-ctx.Done()
		return felt.Felt{}, false, ctx.Err()
	}
	if n.nonce != nil {
		return felt.Felt{}, false, n.nonce
	}
	return n.Node.NonceAt(ctx, at, a)
}

func (n *silentOf) ClassHashAt(ctx context.Context, at contractcall.Block, a felt.Felt) (felt.Felt, bool, error) {
	if n.class != nil {
		return felt.Felt{}, false, n.class
	}
	return n.Node.ClassHashAt(ctx, at, a)
}

// TestWalletAccountInPart: a nonce or class that could not be read makes an answer partial
// as a balance does, takes the other not away, and fails the whole where all is asked for.
func TestWalletAccountInPart(t *testing.T) {
	node := &silentOf{}
	w := newWorld(t, 40, func(o *options) { node.Node, o.Chains[0].Node = o.Chains[0].Node, node })
	ask := func(mode string) reply {
		return w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state",
			jsonText(object{"ownerAddress": w.Chain.Accounts(39)[0], "mode": mode, "include": object{"nonce": true, "classHash": true}})))
	}
	read := func(r reply) (s api.WalletState) {
		t.Helper()
		if err := json.Unmarshal(r.Body, &s); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", r.StatusCode, r.Body)
		}
		return s
	}
	all := read(ask("verified_partial"))
	if all.Partial || !all.WalletSafe || all.AccountState.Nonce == nil || all.AccountState.ClassHash == nil {
		t.Fatalf("with a sound node: %+v", all)
	}
	for name, c := range map[string]struct {
		silentOf
		nonce, class string
	}{
		"no nonce":        {silentOf{nonce: contractcall.ErrUnavailable}, "error", "verified"},
		"no class":        {silentOf{class: contractcall.ErrUnavailable}, "verified", "error"},
		"no class so far": {silentOf{class: fmt.Errorf("%w: %w", contractcall.ErrUnavailable, context.DeadlineExceeded)}, "verified", "timeout"},
		"neither":         {silentOf{nonce: contractcall.ErrUnavailable, class: contractcall.ErrUnavailable}, "error", "error"},
		"a nonce never":   {silentOf{hang: true}, "timeout", "verified"},
	} {
		c.Node = node.Node
		*node = c.silentOf
		s := read(ask("verified_partial"))
		a := s.AccountState
		if !s.Partial || s.WalletSafe || s.Correctness != "verified_partial" || s.Verification != all.Verification {
			t.Errorf("%s: %+v", name, s)
		}
		if a.NonceStatus != c.nonce || a.ClassHashStatus != c.class || (a.Nonce != nil) != (c.nonce == "verified") || (a.ClassHash != nil) != (c.class == "verified") {
			t.Errorf("%s: %+v", name, a)
		}
		if c.hang {
			continue // it would take as long again
		}
		if r := ask("require_complete"); !nodeIsAway(r) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.Body)
		}
	}
}

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"

	"chainexplorer/client"
	"chainexplorer/internal/simnode"
)

// TestStreamOutlivesAKill: the service is killed while a client listens, the chain forks, and
// another process goes on: what the client has at the end is the chain.
func TestStreamOutlivesAKill(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 9, Blocks: 12})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	dir := t.TempDir()
	serve := func() *running { return startServe(t, "--node", srv.URL, "--data", dir, "--lame-duck", "0s") }
	r := serve()
	control := filepath.Join(dir, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	var heard []client.Ref
	last := ""
	// listen follows the blocks until one of a hash has come.
	listen := func(r *running, until string) {
		t.Helper()
		c, err := client.New(client.Options{BaseURL: r.base, APIKey: key, HTTP: &http.Client{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		from := int64(0)
		for m, err := range c.Chain("SN_SEPOLIA").Stream(ctx, client.StreamFilter{Kind: "block", FromBlock: &from, LastEventID: last}) {
			if err != nil {
				t.Fatal(err)
			}
			last = m.ID
			if m.Retracted() {
				heard = slices.DeleteFunc(heard, func(b client.Ref) bool { return b.Number > m.Block.Number })
				continue
			}
			if heard = append(heard, m.Block.Ref); m.Block.Hash == until {
				return
			}
		}
	}
	head, _ := chain.Head()
	listen(r, chain.BlockAt(head).Hash.String())
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.cmd.Wait() //nolint:errcheck // it was killed
	chain.Fork(5)
	chain.Extend(3)
	head, _ = chain.Head()
	r = serve()
	listen(r, chain.BlockAt(head).Hash.String())
	r.stop()
	for i, b := range heard {
		if want := chain.BlockAt(uint64(i)); b.Number != int64(i) || b.Hash != want.Hash.String() {
			t.Errorf("block %d is told as %+v", i, b)
		}
	}
	if len(heard) != int(head)+1 {
		t.Errorf("%d blocks, the chain has %d", len(heard), head+1)
	}
}

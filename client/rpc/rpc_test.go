package rpc_test

import (
	"os"
	"testing"
	"time"

	"github.com/NethermindEth/starknet.go/rpc"

	"chainexplorer/client"
	gateway "chainexplorer/client/rpc"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// TestGateway reads a block and hears of the next one, with the key of the client.
func TestGateway(t *testing.T) {
	w := servertest.NewSpeaking(t, 12, starknet.V09)
	c, err := client.New(client.Options{BaseURL: w.URL, APIKey: w.Key})
	if err != nil {
		t.Fatal(err)
	}
	chain := c.Chain(servertest.ChainID)
	p, err := gateway.Open(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	number, err := p.BlockNumber(t.Context())
	if err != nil || number != 11 {
		t.Errorf("block %d: %v", number, err)
	}
	socket, err := gateway.Subscribe(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	heads := make(chan *rpc.BlockHeader, 1)
	s, err := socket.SubscribeNewHeads(t.Context(), heads, rpc.SubscriptionBlockID{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Unsubscribe()
	w.Chain.Extend(1)
	for deadline := time.After(time.Minute); ; {
		select {
		case h := <-heads:
			if h.Number == 12 {
				if want := w.Chain.BlockAt(12).Hash.String(); h.Hash.String() != want {
					t.Errorf("block 12 is %s, want %s", h.Hash, want)
				}
				return
			}
		case err := <-s.Err():
			t.Fatal(err)
		case <-deadline:
			t.Fatal("block 12 was never told of")
		}
	}
}

// TestNoKey: who has none gets an error that says so.
func TestNoKey(t *testing.T) {
	w := servertest.NewSpeaking(t, 2, starknet.V09)
	c, err := client.New(client.Options{BaseURL: w.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.Subscribe(t.Context(), c.Chain(servertest.ChainID)); err == nil {
		t.Error("subscribed without a key")
	}
}

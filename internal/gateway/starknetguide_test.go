package gateway_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/NethermindEth/starknet.go/rpc"

	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

// guideInGo is the example of the guide, with an end.
func guideInGo(ctx context.Context, out io.Writer) error {
	provider, err := rpc.NewProvider(ctx, os.Getenv("RPC_URL"))
	if err != nil {
		return err
	}
	number, err := provider.BlockNumber(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, number)

	socket, err := rpc.NewWebsocketProvider(ctx, strings.Replace(os.Getenv("RPC_URL"), "http", "ws", 1))
	if err != nil {
		return err
	}
	defer socket.Close()
	heads := make(chan *rpc.BlockHeader)
	subscription, err := socket.SubscribeNewHeads(ctx, heads, rpc.SubscriptionBlockID{})
	if err != nil {
		return err
	}
	defer subscription.Unsubscribe()
	select {
	case head := <-heads:
		fmt.Fprintln(out, head.Number, head.Hash)
	case err := <-subscription.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// TestStarknetGoOfTheGuide runs the example of the guide, which is held to be what runs here.
func TestStarknetGoOfTheGuide(t *testing.T) {
	source, err := os.ReadFile("starknetguide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "func guideInGo(ctx context.Context, out io.Writer) error {\n")
	body, _, _ = strings.Cut(body, "\treturn nil\n}\n")
	var inside strings.Builder
	for line := range strings.Lines(body) {
		inside.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if example := guideExample(t, "go"); example != inside.String() {
		t.Errorf("docs/rpc.md has\n%s, and what runs here is\n%s", example, inside.String())
	}
	w := servertest.NewSpeaking(t, 12, starknet.V010, starknet.V09)
	t.Setenv("RPC_URL", w.URL+"/rpc/v0_9/"+servertest.ChainID+"/"+w.Key)
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := guideInGo(ctx, &out); err != nil {
		t.Fatal(err)
	}
	if want := "11\n11 " + w.Chain.BlockAt(11).Header.Hash.String() + "\n"; out.String() != want {
		t.Errorf("it prints %q, want %q", out.String(), want)
	}
}

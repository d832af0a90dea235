// Package rpc opens the explorer's JSON-RPC gateway with starknet.go, with the key of a
// client: reads, transactions and subscriptions, as of a node.
//
// It is apart from package client because starknet.go brings much along that those who only
// read the API do not need.
package rpc

import (
	"context"
	"fmt"
	"strings"

	"github.com/NethermindEth/starknet.go/client"
	"github.com/NethermindEth/starknet.go/rpc"

	explorer "chainexplorer/client"
)

// version is what this starknet.go speaks.
const version = "v0_9"

// Open opens the gateway of a chain.
func Open(ctx context.Context, chain *explorer.Chain) (*rpc.Provider, error) {
	url, options := endpoint(chain)
	p, err := rpc.NewProvider(ctx, url, options...)
	if err != nil {
		return nil, fmt.Errorf("open the JSON-RPC gateway of %s: %w", chain.ID(), err)
	}
	return p, nil
}

// Subscribe opens the gateway of a chain for subscriptions. Close it at the end.
func Subscribe(ctx context.Context, chain *explorer.Chain) (*rpc.WsProvider, error) {
	url, options := endpoint(chain)
	p, err := rpc.NewWebsocketProvider(ctx, "ws"+strings.TrimPrefix(url, "http"), options...)
	if err != nil {
		return nil, fmt.Errorf("open the subscriptions of %s: %w", chain.ID(), err)
	}
	return p, nil
}

func endpoint(chain *explorer.Chain) (string, []client.ClientOption) {
	url, header := chain.RPCEndpoint(version)
	var options []client.ClientOption
	for name := range header {
		options = append(options, client.WithHeader(name, header.Get(name)))
	}
	return url, options
}

package main

import (
	"time"

	"chainexplorer/internal/gateway"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/node"
)

// rpcFlags say how JSON-RPC is served.
type rpcFlags struct {
	Rpc            bool          `name:"rpc" default:"true" negatable:"" help:"Serve JSON-RPC below /v1/{chain}/rpc, by the nodes and the index; see docs/rpc.md."`
	RpcWebsocket   bool          `name:"rpc-websocket" default:"true" negatable:"" help:"Serve JSON-RPC and its subscriptions over WebSocket as well."`
	RpcLifetime    time.Duration `name:"rpc-lifetime" default:"24h" help:"How long a WebSocket connection may last, 1m to 720h."`
	RpcWrites      bool          `name:"rpc-writes" default:"true" negatable:"" help:"Pass signed transactions on to a node, for keys that may send them."`
	RpcIndex       bool          `name:"rpc-index" default:"true" negatable:"" help:"Answer from the index what it holds exactly; otherwise nodes answer everything."`
	RpcMemoryMib   int64         `name:"rpc-memory-mib" default:"256" help:"Memory for the nodes' answers to JSON-RPC calls, in MiB, apart from that of the indexer."`
	RpcCacheMib    int64         `name:"rpc-cache-mib" default:"64" help:"Memory for answers of nodes that can never change, of each chain, in MiB."`
	RpcConnections int           `name:"rpc-connections" default:"2048" help:"WebSocket connections of all callers; a workspace may have a quarter of them, and a key an eighth. They count among --max-connections."`
	RpcInFlight    int           `name:"rpc-in-flight" default:"64" help:"JSON-RPC calls that are put to one node at once, apart from the indexer's; a key has half of them."`
}

// defaultRPC are the flags of a command that has none.
func defaultRPC() rpcFlags {
	return rpcFlags{Rpc: true, RpcWebsocket: true, RpcWrites: true, RpcIndex: true, RpcLifetime: 24 * time.Hour, RpcMemoryMib: 256, RpcCacheMib: 64, RpcInFlight: 64, RpcConnections: 2048}
}

// check refuses settings that would only fail later.
func (f *rpcFlags) check() error {
	switch {
	case f.RpcMemoryMib < 64 || f.RpcMemoryMib > 1<<20:
		return &usageError{"--rpc-memory-mib must be 64 to 1048576"}
	case f.RpcCacheMib < 1 || f.RpcCacheMib > 1<<20:
		return &usageError{"--rpc-cache-mib must be 1 to 1048576"}
	case f.RpcInFlight < 1 || f.RpcInFlight > 1<<16:
		return &usageError{"--rpc-in-flight must be 1 to 65536"}
	case f.RpcConnections < 1 || f.RpcConnections > 1<<20:
		return &usageError{"--rpc-connections must be 1 to 1048576"}
	case f.RpcLifetime < time.Minute || f.RpcLifetime > 720*time.Hour:
		return &usageError{"--rpc-lifetime must be 1m to 720h"}
	}
	return nil
}

// guests is what callers may take up of the nodes; zero values are the defaults.
type guests struct {
	InFlight int          // calls at one node
	Memory   *node.Budget // for answers, which all chains share
}

func (f *rpcFlags) guests() guests {
	if !f.Rpc {
		return guests{}
	}
	return guests{InFlight: f.RpcInFlight, Memory: node.NewBudget(f.RpcMemoryMib << 20)}
}

// docsAddress is where people read about the methods.
func (s *service) docsAddress() string { return s.opts.BaseURL + "/docs/rpc" }

// openGateway serves JSON-RPC for the chains of the process.
func (s *service) openGateway(k *kernel.Server) error {
	f := &s.opts.RPC
	if !f.Rpc {
		return nil
	}
	o := gateway.Options{Forward: !f.RpcIndex, NoWrites: !f.RpcWrites, CacheBytes: f.RpcCacheMib << 20, NodeShare: max(f.RpcInFlight/2, 1), Registerer: s.registered, Docs: s.docsAddress(), Live: live.Limits{Lifetime: f.RpcLifetime}}
	if f.RpcWebsocket {
		o.Sockets, o.SocketsPerAddress = f.RpcConnections, s.opts.Callers.held()
	}
	for _, c := range s.chains {
		o.Chains = append(o.Chains, gateway.Chain{ID: c.id, Pool: c.pool, Store: c.engine, Depth: s.Depth})
	}
	g, err := gateway.New(k, o)
	if err != nil {
		return err
	}
	s.onClose(g.Close)
	return nil
}

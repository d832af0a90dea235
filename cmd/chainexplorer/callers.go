package main

import (
	"cmp"
	"fmt"
	"net/netip"

	"chainexplorer/internal/account"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/kernel"
)

// callerFlags bound what callers take up of an API process, so that one of them
// leaves room for the others.
type callerFlags struct {
	MaxInFlight          int      `default:"512" help:"Requests at work at once."`
	MaxInFlightWorkspace int      `default:"0" help:"Requests at work at once of all keys of one workspace, in all processes that share a control database in PostgreSQL; 0 for a quarter of --max-in-flight."`
	MaxInFlightKey       int      `default:"0" help:"Requests at work at once of one key; 0 for an eighth of --max-in-flight."`
	MaxConnections       int      `default:"4096" help:"Open connections; beyond it a new one takes the place of the one that has waited longest for its client."`
	MaxConnectionsClient int      `default:"256" help:"Those of one address, or one IPv6 network of 64 bits; a --trusted-proxy has no such bound."`
	Streams              int      `default:"2048" help:"Streams of server-sent events of all callers; a workspace may have a quarter of them, and a key an eighth. They count among --max-connections."`
	AnonymousPerMinute   int      `default:"1200" help:"Requests a minute without a valid key from one address, or one IPv6 network of 64 bits; 0 for no limit."`
	InternalKey          []string `sep:"none" placeholder:"NAME:SCOPES:SHA256" help:"A key for services of the operator's own, in no database: as 'chainexplorer admin key internal' prints it; repeatable. It never has the scope verify."`
	TrustedProxy         []string `sep:"none" placeholder:"CIDR" help:"Addresses of proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8 or 127.0.0.1; repeatable. Without it the peer of the connection is the client."`
}

// check refuses settings that would only fail later.
func (f *callerFlags) check() error {
	if f.MaxInFlight < 1 || f.MaxInFlightWorkspace < 0 || f.MaxInFlightKey < 0 || f.AnonymousPerMinute < 0 {
		return &usageError{"--max-in-flight must be at least 1, and --max-in-flight-workspace, --max-in-flight-key and --anonymous-per-minute not below 0"}
	}
	if f.MaxConnections < 1 || f.MaxConnectionsClient < 1 {
		return &usageError{"--max-connections and --max-connections-client must be at least 1"}
	}
	if f.Streams < 1 || f.Streams > 1<<20 {
		return &usageError{"--streams must be 1 to 1048576"}
	}
	if _, err := f.configured(); err != nil {
		return err
	}
	_, err := f.proxies()
	return err
}

// configured reads --internal-key.
func (f *callerFlags) configured() (list []account.ConfiguredKey, err error) {
	for _, text := range f.InternalKey {
		k, err := account.ParseConfigured(text)
		if err != nil {
			return nil, &usageError{"--" + err.Error()}
		}
		list = append(list, k)
	}
	return list, nil
}

// bounds are those of the connections. Without flags, as in a demo, they are the
// defaults.
func (f *callerFlags) bounds() (edge.Options, error) {
	proxies, err := f.proxies()
	return edge.Options{Connections: f.MaxConnections, PerAddress: f.MaxConnectionsClient, Exempt: proxies}, err
}

// held is how many connections of one address may be held open, as sockets are and as
// streams are: half of all that it may have, so that its requests get through. Without
// flags, as in a demo, it is half of the default.
func (f *callerFlags) held() int {
	return (cmp.Or(f.MaxConnectionsClient, edge.DefaultPerAddress) + 1) / 2
}

// set puts the flags into the options of an API. Without flags, as in a demo, the
// requests at work have their defaults and those without a key no limit.
func (f *callerFlags) set(o *kernel.Options) (err error) {
	o.MaxInFlight, o.MaxInFlightWorkspace, o.MaxInFlightKey = f.MaxInFlight, f.MaxInFlightWorkspace, f.MaxInFlightKey
	if o.AnonymousPerMinute = f.AnonymousPerMinute; o.AnonymousPerMinute == 0 {
		o.AnonymousPerMinute = -1
	}
	o.TrustedProxies, err = f.proxies()
	return err
}

// proxies reads --trusted-proxy: networks, or addresses on their own.
func (f *callerFlags) proxies() (out []netip.Prefix, err error) {
	for _, text := range f.TrustedProxy {
		p, err := netip.ParsePrefix(text)
		if at, one := netip.ParseAddr(text); one == nil {
			p, err = at.Unmap().Prefix(at.Unmap().BitLen())
		}
		if err != nil {
			return nil, &usageError{fmt.Sprintf("--trusted-proxy %s: want an address or a network, such as 127.0.0.1 or 10.0.0.0/8", text)}
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Package egress sends requests to addresses that strangers name, and to nothing inside of
// the network that the service runs in.
//
// What counts is the address that a connection is really made to: it is looked at after the
// name was resolved, for every connection (net.Dialer.ControlContext), so that a name that
// resolves to something else the next time gets nobody further. There is no proxy, no
// cookie and no redirect, and what went wrong is told in one sentence, whatever it was: the
// difference between a refused connection and a timeout is a map of somebody's network.
package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// The bounds of an address.
const (
	MaxURL  = 2048
	maxHost = 253
)

// Policy says what may be connected to: everything that is public, and exceptions.
type Policy struct {
	// Allow are exceptions for development: networks that are connected to although they are
	// not public, and by http, too.
	Allow []netip.Prefix
}

// closed are the networks that are not public, or that lead to such: IPv4 first, then IPv6.
// The registries of special-purpose addresses (RFC 6890 and what followed) have them all.
var closed = parse(
	"0.0.0.0/8",         // this network
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // shared by providers (CGNAT)
	"127.0.0.0/8",       // loopback
	"169.254.0.0/16",    // link-local, metadata services
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarking
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, broadcast
	"168.63.129.16/32",  // a provider's own service inside of every virtual machine
	"::/96",             // unspecified, loopback, IPv4-compatible
	"::ffff:0:0:0/96",   // IPv4-translated
	"64:ff9b::/96",      // NAT64: any IPv4 address is behind it
	"64:ff9b:1::/48",    // NAT64 of a local network
	"100::/64",          // discard only
	"100:0:0:1::/64",    // dummy prefix
	"2001::/23",         // protocol assignments, Teredo, benchmarking, ORCHID
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4: any IPv4 address is behind it
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"5f00::/16",         // segment routing
	"fc00::/7",          // unique local
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local
	"ff00::/8",          // multicast
)

func parse(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// globalIPv6 is the only part of IPv6 that is routed between networks.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// Permits says whether an address may be connected to: securely, or in the clear.
func (p Policy) Permits(ip netip.Addr, secure bool) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap() // an IPv4 address in the clothes of an IPv6 one
	for _, n := range p.Allow {
		if n.Contains(ip) {
			return true
		}
	}
	if !secure || !ip.IsValid() || ip.Is6() && !globalIPv6.Contains(ip) {
		return false
	}
	for _, n := range closed {
		if n.Contains(ip) {
			return false
		}
	}
	return true
}

// ErrURL says that an address is not one that is delivered to.
var ErrURL = errors.New("it is not an address that is delivered to")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrURL, fmt.Sprintf(format, args...))
}

// Check refuses addresses that can be refused by their looks. What a name resolves to is
// looked at when it is connected to, every time.
func (p Policy) Check(text string) error {
	if len(text) > MaxURL {
		return refused("it is longer than %d characters", MaxURL)
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f || c == '\\' {
			return refused("it has characters that must be encoded")
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return refused("it cannot be read")
	}
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || len(p.Allow) == 0):
		return refused("it must begin with https://")
	case u.User != nil:
		return refused("it must not hold a user or a password")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return refused("it must not have a fragment")
	}
	return p.checkHost(u)
}

func (p Policy) checkHost(u *url.URL) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case host == "" || len(host) > maxHost:
		return refused("its host has no name, or one that is too long")
	case u.Port() == "" && strings.HasSuffix(u.Host, ":"):
		return refused("its port is none")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return refused("its port is none")
		}
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if !p.Permits(ip, u.Scheme == "https") {
			return refused("its host is not public")
		}
		return nil
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return refused("its host is not a name")
		}
	}
	last := labels[len(labels)-1]
	switch {
	case strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "":
		return refused("its host is a number that is no address") // some resolvers would make an address of it
	case last == "localhost" && len(p.Allow) == 0:
		return refused("its host is not public")
	}
	return nil
}

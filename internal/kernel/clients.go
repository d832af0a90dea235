package kernel

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	// defaultGuests is what an address may ask without a key, a minute. A page of the
	// guides is three requests.
	defaultGuests = 1200
	// FailureCost is how many of them a refused key costs: guessing is slow.
	FailureCost = 10
	// maxClients bounds the addresses that are told apart at a time.
	maxClients = 1 << 16
)

// clients tells callers without a key apart by their address and limits them.
type clients struct {
	proxies []netip.Prefix
	buckets *buckets[netip.Prefix]
	pace    pace
	doubts  *doubts
}

// newClients takes the requests a minute for an address: 0 for the default, less
// for no limit.
func newClients(proxies []netip.Prefix, perMinute int, now func() time.Time) *clients {
	perMinute = DefaultTo(perMinute, defaultGuests)
	return &clients{proxies, newBuckets[netip.Prefix](now, maxClients), pace{perMinute, max(perMinute/4, 1)}, newDoubts()}
}

// addressOf is where a request comes from: the peer of the connection or, when
// that is a trusted proxy, the last address in X-Forwarded-For that is not one.
// What stands before it the client may have made up.
func (c *clients) addressOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap()
	if !c.trusted(at) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if at = next.Unmap().WithZone(""); !c.trusted(at) {
			break
		}
	}
	return at
}

// fromProxy says whether the connection is one of a trusted proxy.
func (c *clients) fromProxy(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && c.trusted(peer.Addr().Unmap())
}

func (c *clients) trusted(at netip.Addr) bool {
	return slices.ContainsFunc(c.proxies, func(p netip.Prefix) bool { return p.Contains(at) })
}

// group is whom an address stands for: itself, or its network of 64 bits, of
// which one host has all addresses.
func group(at netip.Addr) netip.Prefix {
	bits := at.BitLen()
	if at.Is6() {
		bits = 64
	}
	p, err := at.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // those without an address are one
	}
	return p
}

// spend takes from an address's allowance.
func (c *clients) spend(at netip.Addr, cost int) *Error {
	if c.pace.perMinute < 0 {
		return nil
	}
	wait, ok := c.buckets.take(group(at), cost, c.pace)
	if ok {
		return nil
	}
	e := Because(ReasonClientAddress, "Too many requests without a valid key came from your address.")
	e.RetryAfter = wholeSeconds(wait)
	return e
}

// refund gives back what was spent on a key that turned out to be good.
func (c *clients) refund(at netip.Addr, cost int) {
	if c.pace.perMinute >= 0 {
		c.buckets.give(group(at), cost, c.pace)
	}
}

// wholeSeconds is a wait for Retry-After.
func wholeSeconds(wait time.Duration) int { return max(int((wait+time.Second-1)/time.Second), 1) }

package node

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// Endpoint is where one node listens.
type Endpoint struct {
	// URL takes JSON-RPC over HTTP. With the scheme ws or wss the same
	// address is used for both: POST over http(s), and the live tail.
	URL string
	// WebSocketURL is where new heads are subscribed to. Nodes disagree on the
	// path, so it is never guessed: without it the node is polled.
	WebSocketURL string
}

// Config says which nodes to use and how hard to use them. Zero values stand
// for the defaults given beside each field.
type Config struct {
	Nodes []Endpoint
	// Chain is the chain that the nodes must serve; when zero, the first node that
	// answers fixes it.
	Chain felt.Felt
	// Patient lets Open return before the nodes have said who they are: see
	// Pool.Introduced.
	Patient bool

	HTTP *http.Client // a client with sensible timeouts; redirects are never followed

	MaxResponseBytes int64         // MaxAnswer, counted after decompression
	Budget           *Budget       // 256 MiB for all answers together
	RequestTimeout   time.Duration // 30 s for one request to one node
	MaxAttempts      int           // 5: how often a read goes around the nodes
	BackoffBase      time.Duration // 100 ms before the second round, then doubling
	BackoffMax       time.Duration // 10 s
	MaxRetryAfter    time.Duration // 60 s: the longest Retry-After that is kept
	MaxInFlight      int           // 32 requests per node
	GuestsInFlight   int           // 64 more per node, for calls that are passed on
	GuestWait        time.Duration // 1 s that such a call waits for a place at a node
	GuestBudget      *Budget       // 256 MiB for the answers to them
	MaxBatch         int           // 100 calls in one request

	HealthInterval time.Duration // 5 s between looks at a node's head
	PollInterval   time.Duration // 1 s instead, while Heads is used without WebSocket
	HeadTTL        time.Duration // 60 s: how long the head of a silent node counts

	QuarantineBase time.Duration // 15 s for a first false answer, then doubling
	QuarantineMax  time.Duration // 15 min

	PingInterval  time.Duration // 15 s between WebSocket pings
	WebSocketIdle time.Duration // 60 s without a message: connect again

	Rand    func() float64 // jitter, in [0,1)
	Logger  *slog.Logger   // discards
	Metrics *Metrics       // none
}

const (
	// MaxAnswer bounds one answer by what a block can be. A block has at most
	// 6e9 L2 gas, a felt of calldata, signature or event costs at least 5,120 of
	// it and at most 69 bytes of JSON: 81 MB, and the rest is small beside that.
	MaxAnswer = 96 << 20
	// DefaultBudget is the memory for all answers together.
	DefaultBudget = 256 << 20
)

func (c Config) withDefaults() Config {
	positive(&c.MaxResponseBytes, MaxAnswer)
	positive(&c.RequestTimeout, 30*time.Second)
	positive(&c.MaxAttempts, 5)
	positive(&c.BackoffBase, 100*time.Millisecond)
	positive(&c.BackoffMax, 10*time.Second)
	positive(&c.MaxRetryAfter, time.Minute)
	positive(&c.MaxInFlight, 32)
	positive(&c.GuestsInFlight, 64)
	positive(&c.GuestWait, time.Second)
	positive(&c.MaxBatch, 100)
	positive(&c.HealthInterval, 5*time.Second)
	positive(&c.PollInterval, time.Second)
	positive(&c.HeadTTL, time.Minute)
	positive(&c.QuarantineBase, 15*time.Second)
	positive(&c.QuarantineMax, 15*time.Minute)
	positive(&c.PingInterval, 15*time.Second)
	positive(&c.WebSocketIdle, time.Minute)
	if c.Budget == nil {
		c.Budget = NewBudget(DefaultBudget)
	}
	if c.GuestBudget == nil {
		c.GuestBudget = NewBudget(DefaultBudget)
	}
	c.MaxResponseBytes = min(c.MaxResponseBytes, c.Budget.half-1)
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	client := http.Client{Transport: newTransport(c.MaxInFlight + c.GuestsInFlight)}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	// Following a redirect would send a write twice, and secrets elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.HTTP = &client
	return c
}

func positive[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

func newTransport(maxInFlight int) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          0,
		MaxIdleConnsPerHost:   maxInFlight + 2,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		ReadBufferSize:        64 << 10,
		DisableCompression:    true, // asked for per node, see acceptEncoding
		// They are in memory before the budget knows of an answer.
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// address is an endpoint after checking.
type address struct {
	name    string   // scheme and host: all that logs and errors may show
	http    *url.URL // where requests are posted
	ws      string   // where heads are subscribed to, or empty
	secrets []string // parts of the addresses that must never be shown
	local   bool     // on this machine: compression would only cost
}

// Check says what is wrong with the form of the addresses, without repeating them.
func (e Endpoint) Check() error {
	_, err := parseEndpoint(e)
	return err
}

func parseEndpoints(eps []Endpoint) ([]address, error) {
	if len(eps) == 0 {
		return nil, errors.New("no node given")
	}
	out := make([]address, len(eps))
	count := map[string]int{}
	for i, e := range eps {
		a, err := parseEndpoint(e)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		out[i] = a
		count[a.name]++
	}
	for i := range out {
		if count[out[i].name] > 1 {
			out[i].name = fmt.Sprintf("%s#%d", out[i].name, i+1)
		}
	}
	return out, nil
}

func parseEndpoint(e Endpoint) (address, error) {
	u, err := parseURL(e.URL, "http", "https", "ws", "wss")
	if err != nil {
		return address{}, err
	}
	a := address{secrets: secretParts(u), local: isLoopback(u.Hostname())}
	if strings.HasPrefix(u.Scheme, "ws") {
		a.ws = u.String()
		u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	}
	a.http = u
	a.name = u.Scheme + "://" + u.Host
	if e.WebSocketURL != "" {
		w, err := parseURL(e.WebSocketURL, "ws", "wss")
		if err != nil {
			return address{}, fmt.Errorf("WebSocket %w", err)
		}
		a.ws = w.String()
		a.secrets = append(a.secrets, secretParts(w)...)
	}
	return a, nil
}

// parseURL never quotes the text it was given: it may hold a key.
func parseURL(s string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, errors.New("address is not a URL with a host")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if !slices.Contains(schemes, u.Scheme) {
		return nil, fmt.Errorf("address must start with one of %s", strings.Join(schemes, ", "))
	}
	u.Fragment = ""
	return u, nil
}

// secretParts lists what an error text must not repeat. Very short parts
// cannot be keys, and hiding them would only garble the text.
func secretParts(u *url.URL) []string {
	var parts []string
	add := func(s string) {
		if len(s) >= 6 {
			parts = append(parts, s)
		}
	}
	add(u.RawQuery)
	for _, vs := range u.Query() {
		for _, v := range vs {
			add(v)
		}
	}
	if u.User != nil {
		add(u.User.String())
		add(u.User.Username())
		pw, _ := u.User.Password()
		add(pw)
	}
	for seg := range strings.SplitSeq(u.Path, "/") {
		add(seg)
	}
	// Longest first: a part may contain another.
	arrange.By(parts, func(a, b string) int { return len(b) - len(a) })
	return parts
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// redact removes the node's secrets from text.
func (a *address) redact(text string) string {
	for _, s := range a.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

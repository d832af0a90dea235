// Package client calls the explorer's API from Go.
//
// A Client knows where the service is and who asks; a Chain of it has a method for every
// operation, with the names of the API's own document, and an iterator for every list:
//
//	c, err := client.New(client.Options{BaseURL: "https://...", APIKey: "svc_live_..."})
//	chain := c.Chain("SN_MAIN")
//	block, err := chain.GetBlock(ctx, "latest", nil)
//	for event, err := range chain.SearchEventsAll(ctx, &client.SearchEventsQuery{Address: []string{token}}) { ... }
//
// Felts, hashes and amounts are texts, as the API writes them: exact, and without a type of
// ours in your code. What may be null is a pointer: null is not zero.
//
// A call is tried again when the service says that waiting helps (429 and 503, after what
// Retry-After says) and when the connection fails and nothing can happen twice. Everything
// else comes back at once as an *Error, whose Code is made to be branched on.
//
// Follow goes along with the chain and tells when a fork took something back; CheckReceipt
// checks a verification receipt without asking anybody; package rpc below is the JSON-RPC
// gateway and its subscriptions through starknet.go.
//
// The methods and types in *.gen.go are made from the OpenAPI document of the service.
package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Names of the variables that FromEnv reads.
const (
	EnvBaseURL = "SERVICE_BASE_URL"
	EnvAPIKey  = "SERVICE_API_KEY"
	EnvChain   = "SERVICE_CHAIN"
)

// Options say where the service is and who asks.
type Options struct {
	// BaseURL is where the service is, such as https://explorer.example. Needed.
	BaseURL string
	// APIKey is sent with every call but those of an account.
	APIKey string
	// Session is the token of a person who signed in, for /v1/me.
	Session string
	// HTTP makes the calls; one with a timeout of a minute unless set. It follows no
	// redirect to another host: the key would go with it.
	HTTP *http.Client
	// Attempts are made of a call before its error is given back, the first one included; 4
	// unless set, and 1 for no retries.
	Attempts int
	// MaxWait is the longest that is waited for another attempt; a minute unless set. When
	// the service asks for more, the error is given back at once.
	MaxWait time.Duration
	// MaxAnswer is the largest answer that is read, in bytes; 64 MiB unless set.
	MaxAnswer int64
	// UserAgent tells the operator who calls.
	UserAgent string
}

// Client calls a service. It can be used by many goroutines.
type Client struct {
	base    *url.URL
	options Options
	http    *http.Client
}

// New makes a Client. It asks nothing yet.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("base URL: it must be http or https and a host, and perhaps a path")
	}
	if strings.ContainsAny(o.APIKey+o.Session, "\r\n\x00\"' \t") {
		return nil, errors.New("API key: it has characters that no key has")
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	o.Attempts, o.MaxWait, o.MaxAnswer = cmp.Or(o.Attempts, 4), cmp.Or(o.MaxWait, time.Minute), cmp.Or(o.MaxAnswer, 64<<20)
	o.UserAgent = cmp.Or(o.UserAgent, "chainexplorer-client")
	c := &Client{base: base, options: o, http: &http.Client{Timeout: time.Minute}}
	if o.HTTP != nil {
		own := *o.HTTP
		c.http = &own
	}
	if c.http.CheckRedirect == nil {
		c.http.CheckRedirect = func(to *http.Request, via []*http.Request) error {
			if to.URL.Host != base.Host || to.URL.Scheme != base.Scheme || len(via) > 3 {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	return c, nil
}

// FromEnv makes a Client, and the Chain of it, from SERVICE_BASE_URL, SERVICE_API_KEY and
// SERVICE_CHAIN; SN_MAIN unless that is set.
func FromEnv() (*Chain, error) {
	c, err := New(Options{BaseURL: os.Getenv(EnvBaseURL), APIKey: os.Getenv(EnvAPIKey)})
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", EnvBaseURL, EnvAPIKey, err)
	}
	return c.Chain(cmp.Or(os.Getenv(EnvChain), "SN_MAIN")), nil
}

// Chain is one of the chains of a service.
type Chain struct {
	client *Client
	id     string
}

// Chain is the chain of that name, such as SN_MAIN. Whether the service has it, the first
// call says.
func (c *Client) Chain(id string) *Chain { return &Chain{client: c, id: id} }

// ID is the name of the chain.
func (c *Chain) ID() string { return c.id }

// RPCEndpoint is the JSON-RPC gateway of the chain in a version of the specification, such
// as v0_10, and what must be sent with each request: for a JSON-RPC client of your own.
// Package rpc below this one has those of starknet.go.
func (c *Chain) RPCEndpoint(version string) (string, http.Header) {
	h := http.Header{"User-Agent": {c.client.options.UserAgent}}
	if c.client.options.APIKey != "" {
		h.Set("X-Service-Api-Key", c.client.options.APIKey)
	}
	return c.client.base.String() + "/rpc/" + url.PathEscape(version) + "/" + url.PathEscape(c.id), h
}

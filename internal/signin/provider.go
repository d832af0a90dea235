package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"chainexplorer/internal/session"
)

// Bounds on what a provider can cost us: it may be slow, lie, or be somebody else.
const (
	providerTime  = 5 * time.Second // for one question
	providerBytes = 1 << 20         // of one answer
	providerSeats = 8               // questions at once
	providerFor   = time.Hour       // until what it publishes is read again
	providerPause = 2 * time.Second // after it did not answer
	maxCode       = 4 << 10
)

// Provider is an OpenID Connect provider that the operator trusts.
type Provider struct {
	Issuer       string
	ClientID     string
	ClientSecret string // "" for a public client
	// BaseURL is how browsers reach this service. It is never taken from a request.
	BaseURL string
	// Domains lead people whose e-mail address is there to the workspace that they join.
	Domains map[string]string
	// Timeout bounds each question to the provider: 5 s when zero.
	Timeout time.Duration
}

// provider asks it.
type provider struct {
	Provider
	client *http.Client
	now    func() time.Time
	seats  chan struct{}
	turn   chan struct{} // held by who reads what it publishes, or looks at the rest

	known   *published
	until   time.Time // when known is read again or, without it, may be
	failure error
}

// published is what a provider says of itself.
type published struct {
	*oidc.Provider
	oauth2.Config
	namesItself bool // in the addresses by which people come back
}

func newProvider(p Provider, now func() time.Time) *provider {
	if p.Timeout == 0 {
		p.Timeout = providerTime
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes, t.MaxConnsPerHost = 64<<10, providerSeats
	return &provider{Provider: p, now: now, seats: make(chan struct{}, providerSeats), turn: make(chan struct{}, 1),
		// A redirect is not followed: it could lead the client's secret elsewhere.
		client: &http.Client{Timeout: p.Timeout, Transport: bounded{t}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// name is what people are told of the provider.
func (p *provider) name() string {
	if u, err := url.Parse(p.Issuer); err == nil {
		return u.Host
	}
	return p.Issuer
}

// bounded cuts answers off that are longer than they may be.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = &shortBody{res.Body, providerBytes}
	}
	return res, err
}

type shortBody struct {
	io.ReadCloser
	left int
}

var errTooLong = fmt.Errorf("the provider's answer is longer than %d bytes", providerBytes)

func (b *shortBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

var errBusy = errors.New("too many people sign in at once")

// enter takes one of few places for those who wait for the provider.
func (p *provider) enter() (leave func(), err error) {
	select {
	case p.seats <- struct{}{}:
		return func() { <-p.seats }, nil
	default:
		return nil, errBusy
	}
}

// look reads what the provider publishes, when it has not lately.
func (p *provider) look(ctx context.Context) (*published, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	now := p.now()
	if now.Before(p.until) {
		return p.known, p.failure
	}
	// Others wait for this: it ends whether or not the first one stays. The client of the
	// context is also what asks for the keys later on.
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Timeout)
	defer cancel()
	known, err := p.discover(oidc.ClientContext(asked, p.client))
	p.known, p.failure, p.until = known, err, now.Add(providerFor)
	if err != nil {
		p.until = now.Add(providerPause)
	}
	return known, err
}

func (p *provider) discover(ctx context.Context) (*published, error) {
	found, err := oidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Named   bool     `json:"authorization_response_iss_parameter_supported"`
		Keys    string   `json:"jwks_uri"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	at := found.Endpoint()
	asked := []string{at.AuthURL, at.TokenURL, more.Keys}
	if info := found.UserInfoEndpoint(); info != "" { // not every provider has it
		asked = append(asked, info)
	}
	for _, address := range asked {
		if err := CheckIssuer(address); err != nil {
			return nil, fmt.Errorf("discover: endpoint: %w", err)
		}
	}
	at.AuthStyle = oauth2.AuthStyleInHeader
	if p.ClientSecret == "" || len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic") {
		at.AuthStyle = oauth2.AuthStyleInParams
	}
	return &published{Provider: found, namesItself: more.Named, Config: oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: at,
		RedirectURL: strings.TrimSuffix(p.BaseURL, "/") + CallbackPath, Scopes: []string{oidc.ScopeOpenID, "email"}}}, nil
}

// CheckIssuer refuses an address of a provider that others on the way could answer for.
func CheckIssuer(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Fragment != "" || u.User != nil {
		return errors.New("it is not an address such as https://accounts.example") // which is not repeated: it may hold a password
	}
	here := u.Hostname() == "localhost" || u.Hostname() == "::1" || strings.HasPrefix(u.Hostname(), "127.")
	if u.Scheme != "https" && (u.Scheme != "http" || !here) {
		return fmt.Errorf("%q is not reached over TLS", address)
	}
	return nil
}

// errLies is what a provider says that cannot be believed.
var errLies = errors.New("what the provider says cannot be believed")

// redeem turns the code that somebody brought back into who they are.
func (p *provider) redeem(ctx context.Context, code, verifier, nonce string) (none session.Identity, _ error) {
	known, err := p.look(ctx)
	if err != nil {
		return none, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := known.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return none, fmt.Errorf("exchange the code: %w", err)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return none, fmt.Errorf("%w: there is no ID token", errLies)
	}
	// Issuer, audience, expiry, algorithm and signature are checked here.
	token, err := known.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return none, fmt.Errorf("%w: %w", errLies, err)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return none, fmt.Errorf("%w: %w", errLies, err)
	}
	switch {
	case token.Nonce != nonce:
		return none, fmt.Errorf("%w: the nonce is of another sign-in", errLies)
	case c.Party != "" && c.Party != p.ClientID, len(token.Audience) > 1 && c.Party == "":
		return none, fmt.Errorf("%w: the token was made for another client", errLies)
	case token.Subject == "":
		return none, fmt.Errorf("%w: the token is nobody's", errLies)
	}
	if c.Email == "" && known.UserInfoEndpoint() != "" { // some tell it only to who asks
		info, err := known.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
		if err != nil {
			return none, fmt.Errorf("ask who it is: %w", err)
		}
		if info.Subject != token.Subject {
			return none, fmt.Errorf("%w: it told of somebody else", errLies)
		}
		c = claims{}
		if err := info.Claims(&c); err != nil {
			return none, fmt.Errorf("%w: %w", errLies, err)
		}
	}
	id := session.Identity{Issuer: p.Issuer, Subject: token.Subject}
	// An address with two @ is read differently by different readers.
	if c.Verified && strings.Count(c.Email, "@") == 1 {
		id.Email = c.Email
	}
	return id, nil
}

// claims are what a provider says of a person.
type claims struct {
	Email    string `json:"email"`
	Verified truth  `json:"email_verified"`
	Party    string `json:"azp"`
}

// truth is a boolean, which some providers write as a text.
type truth bool

func (t *truth) UnmarshalJSON(text []byte) error {
	*t = string(text) == "true" || string(text) == `"true"`
	return nil
}

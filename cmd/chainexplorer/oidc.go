package main

import (
	"fmt"
	"strings"

	"chainexplorer/internal/signin"
)

// oidcFlags name the OpenID Connect provider by which people sign in, if there is one.
type oidcFlags struct {
	OidcIssuer           string   `placeholder:"URL" help:"OpenID Connect provider by which people sign in, such as https://accounts.example. Needs --oidc-client-id and --base-url; see docs/accounts.md."`
	OidcClientID         string   `name:"oidc-client-id" placeholder:"ID" help:"What the provider knows this service as. Let it send people back to /login/oidc/callback below --base-url."`
	OidcClientSecret     string   `placeholder:"SECRET" help:"The secret of that client, unless it is a public one. Better put into CHAINEXPLORER_OIDC_CLIENT_SECRET or a file."`
	OidcClientSecretFile string   `placeholder:"FILE" help:"File with that secret."`
	OidcDomain           []string `sep:"none" placeholder:"DOMAIN=WORKSPACE" help:"Who has a verified e-mail address there becomes a member of the workspace when they first sign in, such as example.org=acme; repeatable. Others must have been added."`
}

// provider is the one that the flags name, nil when they name none.
func (f *oidcFlags) provider(baseURL string) (*signin.Provider, error) {
	if f.OidcIssuer == "" {
		if f.OidcClientID != "" || f.OidcClientSecret != "" || f.OidcClientSecretFile != "" || len(f.OidcDomain) > 0 {
			return nil, &usageError{"who is the provider? Give --oidc-issuer with the other --oidc settings"}
		}
		return nil, nil
	}
	if err := signin.CheckIssuer(f.OidcIssuer); err != nil {
		return nil, &usageError{"--oidc-issuer: " + err.Error()}
	}
	if f.OidcClientID == "" || baseURL == "" {
		return nil, &usageError{"--oidc-issuer needs --oidc-client-id, and --base-url to which the provider sends people back"}
	}
	p := &signin.Provider{Issuer: f.OidcIssuer, ClientID: f.OidcClientID, ClientSecret: f.OidcClientSecret, BaseURL: baseURL, Domains: map[string]string{}}
	if f.OidcClientSecretFile != "" {
		if p.ClientSecret != "" {
			return nil, &usageError{"give --oidc-client-secret or --oidc-client-secret-file, not both"}
		}
		text, err := readSetting("--oidc-client-secret-file", f.OidcClientSecretFile)
		if err != nil {
			return nil, err
		}
		if p.ClientSecret = strings.TrimSpace(string(text)); p.ClientSecret == "" {
			return nil, &usageError{"--oidc-client-secret-file: the file is empty"}
		}
	}
	for _, rule := range f.OidcDomain {
		domain, workspace, ok := strings.Cut(rule, "=")
		if domain = strings.ToLower(domain); !ok || workspace == "" || !strings.Contains(domain, ".") || strings.ContainsAny(domain, "@ /*") || p.Domains[domain] != "" {
			return nil, &usageError{fmt.Sprintf("--oidc-domain %s: want a domain and the workspace for it, such as example.org=acme, each domain once", rule)}
		}
		p.Domains[domain] = workspace
	}
	return p, nil
}

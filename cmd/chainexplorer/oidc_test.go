package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOidcSettings refuses settings by which nobody could sign in, or the wrong ones.
func TestOidcSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(" hush \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := oidcFlags{OidcIssuer: "https://accounts.example", OidcClientID: "c", OidcClientSecretFile: file, OidcDomain: []string{"Example.org=acme", "b.example=b=c"}}
	p, err := good.provider("https://api.example")
	if err != nil || p.ClientSecret != "hush" || p.Domains["example.org"] != "acme" || p.Domains["b.example"] != "b=c" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := new(oidcFlags).provider(""); p != nil || err != nil {
		t.Error(p, err)
	}
	for name, change := range map[string]func(*oidcFlags){
		"no issuer": func(f *oidcFlags) { f.OidcIssuer = "" }, "plain": func(f *oidcFlags) { f.OidcIssuer = "http://accounts.example" }, "no address": func(f *oidcFlags) { f.OidcIssuer = "accounts" },
		"no client": func(f *oidcFlags) { f.OidcClientID = "" }, "two secrets": func(f *oidcFlags) { f.OidcClientSecret = "x" }, "no file": func(f *oidcFlags) { f.OidcClientSecretFile += "x" },
		"no workspace": func(f *oidcFlags) { f.OidcDomain = []string{"example.org"} }, "an address": func(f *oidcFlags) { f.OidcDomain = []string{"a@example.org=acme"} },
		"twice": func(f *oidcFlags) { f.OidcDomain = []string{"example.org=a", "EXAMPLE.org=b"} }, "all": func(f *oidcFlags) { f.OidcDomain = []string{"*=a"} },
	} {
		f := good
		change(&f)
		if p, err := f.provider("https://api.example"); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if _, err := good.provider(""); err == nil || !strings.Contains(err.Error(), "--base-url") {
		t.Error(err)
	}
}

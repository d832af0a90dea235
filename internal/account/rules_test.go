package account

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"testing"
)

// testVerifyOnEveryKey: also on one that was stored before that was so.
func testVerifyOnEveryKey(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{Scopes: Read})
	if d.key.Key.Scopes != Read|Verify {
		t.Errorf("issued with %s", d.key.Key.Scopes)
	}
	err := d.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE api_key SET scopes = 'read'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if who, err := d.auth.Authenticate(t.Context(), d.key.Plaintext); err != nil || who.Scopes != Read|Verify {
		t.Errorf("%+v, %v", who, err)
	}
}

// testPartnerNoMore: keys lose the scope with the workspace's kind, and keep the others.
func testPartnerNoMore(t *testing.T, at place) {
	d := newDoor(t, at, NewKey{Scopes: Read | Partner})
	space, err := d.WorkspaceByID(t.Context(), d.key.Key.WorkspaceID)
	if err != nil {
		t.Fatal(err)
	}
	scopes := func(want Scopes) {
		t.Helper()
		if who, err := d.auth.Authenticate(t.Context(), d.key.Plaintext); err != nil || who.Scopes != want {
			t.Errorf("%s, %v, want %s", who.Scopes, err, want)
		}
	}
	for _, c := range []struct {
		kind Kind
		want Scopes
	}{
		{WalletKind, Read | Partner | Verify}, // it never was a partner: the operator gave it the scope
		{PartnerKind, Read | Partner | Verify},
		{Ordinary, Read | Verify},
		{PartnerKind, Read | Verify},
	} {
		if _, err := d.ChangeWorkspace(t.Context(), space.Name, "", c.kind); err != nil {
			t.Fatal(err)
		}
		scopes(c.want)
	}
}

// testOrigins: they are kept, shown, believed and handed on to the key that follows.
func testOrigins(t *testing.T, at place) {
	origins, err := ParseOrigins([]string{"https://b.example", "https://a.example:8443", "https://b.example"})
	if err != nil || origins != "https://a.example:8443 https://b.example" {
		t.Fatal(origins, err)
	}
	d := newDoor(t, at, NewKey{Label: DefaultLabel, Origins: origins})
	check := func(key string) {
		t.Helper()
		who, err := d.auth.Authenticate(t.Context(), key)
		if err != nil || who.Origins != origins || !who.Origins.Allows("https://b.example") || who.Origins.Allows("https://b.example.evil") || who.Origins.Allows("null") || who.Origins.Allows("https://a.example") {
			t.Errorf("%+v, %v", who, err)
		}
	}
	check(d.key.Plaintext)
	next, _, err := d.Rotate(t.Context(), d.key.Key.PublicID)
	if err != nil {
		t.Fatal(err)
	}
	check(next.Plaintext)
	last, _, err := d.RotateDefault(t.Context(), d.key.Key.WorkspaceID)
	if err != nil {
		t.Fatal(err)
	}
	check(last.Plaintext)
	list, _, err := d.ListKeys(t.Context(), "", 0)
	if err != nil || list[0].Origins != origins {
		t.Errorf("%+v, %v", list, err)
	}
	if !Origins("").Allows("https://anywhere.example") {
		t.Error("a key without origins is refused")
	}
	var invalid *InvalidError
	for _, wrong := range []string{"", "example.com", "ftp://a.example", "https://a.example/", "https://A.example", "https://a.example?x", "https://u@a.example", "https://", "null", "*", "https://*.a.example", "https://a.example:443", "http://a.example:80", "https://a.example:", "https://é.example", "https://a.example https://b.example", "https://" + strings.Repeat("a", 300)} {
		if _, err := ParseOrigins([]string{wrong}); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, err := ParseOrigins(make([]string, 21)); !errors.As(err, &invalid) {
		t.Error(err)
	}
	if _, err := d.CreateKey(t.Context(), NewKey{WorkspaceID: d.key.Key.WorkspaceID, Origins: "*"}); !errors.As(err, &invalid) {
		t.Error(err)
	}
}

// TestConfiguredKeys are let in by their settings alone, and never may verify.
func TestConfiguredKeys(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	key, setting, err := NewConfigured(rand.Reader, "billing", Read|Partner)
	if err != nil || strings.Contains(setting, key[prefixSize:]) {
		t.Fatal(setting, err)
	}
	k, err := ParseConfigured(setting)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.auth.Authenticate(t.Context(), key); !errors.Is(err, ErrUnknown) {
		t.Errorf("before it was configured: %v", err)
	}
	auth := NewAuthenticator(d.Repository, nil)
	if err := auth.Configure([]ConfiguredKey{k}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		who, err := auth.Authenticate(t.Context(), key)
		if err != nil || who.PublicID != "internal_billing" || who.Scopes != Read|Partner || who.Kind != InternalKind || !who.Configured {
			t.Errorf("%+v, %v", who, err)
		}
	}
	if who, err := auth.Authenticate(t.Context(), d.key.Plaintext); err != nil || who.Configured {
		t.Errorf("a key of a workspace: %+v, %v", who, err)
	}
	other, _, err := NewConfigured(rand.Reader, "other", Read)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := auth.Authenticate(t.Context(), other); !errors.Is(err, ErrUnknown) {
		t.Errorf("one that is not configured: %v", err)
	}
	if list, _, err := d.ListKeys(t.Context(), "", 0); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := auth.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	sum := setting[strings.LastIndex(setting, ":"):]
	var invalid *InvalidError
	for _, wrong := range []string{"", "billing", "a:read:00", "a:read" + sum + "0", ":read" + sum, "A:read" + sum, "a::" + sum, "a:fly" + sum, "a:read,verify" + sum, "a:read:" + key, strings.Repeat("a", 33) + ":read" + sum, "a:read:zz" + sum[3:]} {
		if _, err := ParseConfigured(wrong); !errors.As(err, &invalid) || strings.Contains(err.Error(), key[prefixSize:]) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if err := auth.Configure([]ConfiguredKey{k, k}); !errors.As(err, &invalid) {
		t.Error(err)
	}
	if _, _, err := NewConfigured(rand.Reader, "billing", DefaultScopes); !errors.As(err, &invalid) {
		t.Errorf("verify: %v", err)
	}
}

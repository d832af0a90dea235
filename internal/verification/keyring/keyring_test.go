package keyring_test

import (
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crypto/rand"

	"chainexplorer/internal/verification/keyring"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is moved by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newRing(t *testing.T) (*keyring.Ring, *clock) {
	t.Helper()
	c := &clock{start}
	return &keyring.Ring{Dir: filepath.Join(t.TempDir(), "keys"), Now: c.now}, c
}

func states(t *testing.T, r *keyring.Ring) string {
	t.Helper()
	list, err := r.List()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		if !e.Held {
			t.Errorf("the private key of %s is not there", e.ID)
		}
		out = append(out, e.ID+" "+string(e.State))
	}
	return strings.Join(out, ", ")
}

func TestCreateRotateRevoke(t *testing.T) {
	r, c := newRing(t)
	if _, err := r.Rotate(keyring.New{}, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("rotate without a folder: %v", err)
	}
	m, err := r.Create(keyring.New{ID: "a"}, "explorer.example/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{m.Path, filepath.Join(r.Dir, keyring.LogKeyFile)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if key, err := keyring.ReadPrivate(m.Path); err != nil || !m.Key.PublicKey.Equal(key.Public()) {
		t.Errorf("the private key does not fit (%v)", err)
	}
	if key, _, err := keyring.ReadLogPublic(m.LogPath); err != nil || key.Name() != "explorer.example/log" {
		t.Errorf("log key: %v", err)
	}
	if _, err := r.Create(keyring.New{ID: "b"}, ""); !errors.Is(err, keyring.ErrHasKey) {
		t.Errorf("a second first key: %v", err)
	}
	// The next one is announced a week ahead, and both are valid for two days.
	if _, err := r.Rotate(keyring.New{ID: "b", StartsIn: 168 * time.Hour}, 48*time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "a valid, b not_yet_valid"}, {168*time.Hour - time.Second, "a valid, b not_yet_valid"}, {168 * time.Hour, "a valid, b valid"},
		{216*time.Hour - time.Second, "a valid, b valid"}, {216 * time.Hour, "a expired, b valid"},
	} {
		c.at = start.Add(step.after)
		if got := states(t, r); got != step.want {
			t.Errorf("after %s: %s, want %s", step.after, got, step.want)
		}
	}
	if _, err := r.Rotate(keyring.New{ID: "a"}, 0); !errors.Is(err, keyring.ErrTaken) {
		t.Errorf("an id twice: %v", err)
	}
	if k, err := r.Revoke("b"); err != nil || k.RevokedAt == nil {
		t.Fatal(err)
	}
	if got := states(t, r); got != "a expired, b revoked" {
		t.Error(got)
	}
	if _, err := r.Revoke("b"); !errors.Is(err, keyring.ErrRevoked) {
		t.Errorf("revoked twice: %v", err)
	}
	if _, err := r.Revoke("c"); !errors.Is(err, keyring.ErrUnknown) {
		t.Errorf("an unknown key: %v", err)
	}
	// After a revocation the next one is good, and the revoked one stays revoked.
	if _, err := r.Rotate(keyring.New{ID: "c", Lifetime: time.Hour}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := states(t, r); got != "a expired, b revoked, c valid" {
		t.Error(got)
	}
	c.at = c.at.Add(time.Hour)
	if got := states(t, r); got != "a expired, b revoked, c expired" {
		t.Error(got)
	}
}

// TestRotateAtOnce: a key that is replaced in the second in which it became valid ends, too.
func TestRotateAtOnce(t *testing.T) {
	r, c := newRing(t)
	if _, err := r.Create(keyring.New{ID: "a"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rotate(keyring.New{ID: "b"}, 0); err != nil {
		t.Fatal(err)
	}
	c.at = start.Add(time.Second)
	if got := states(t, r); got != "a expired, b valid" {
		t.Error(got)
	}
}

func TestRefusedKeysChangeNothing(t *testing.T) {
	r, _ := newRing(t)
	if _, err := r.Create(keyring.New{ID: "a"}, ""); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../b", ".hidden", "-flag", "log", "sp ace", strings.Repeat("k", 121), "a/b"} {
		if _, err := r.Rotate(keyring.New{ID: id}, 0); !errors.Is(err, keyring.ErrBadID) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, n := range []keyring.New{{StartsIn: -1}, {Lifetime: -1}} {
		if _, err := r.Rotate(n, 0); !errors.Is(err, keyring.ErrBadTimes) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if _, err := r.Rotate(keyring.New{}, -1); !errors.Is(err, keyring.ErrBadTimes) {
		t.Error(err)
	}
	after, err := os.ReadDir(r.Dir)
	if err != nil || len(after) != len(before) || states(t, r) != "a valid" {
		t.Errorf("something changed: %v, %s (%v)", after, states(t, r), err)
	}
	other, _ := newRing(t)
	if _, err := other.Create(keyring.New{}, "two words"); err == nil {
		t.Error("a log with a bad name was made")
	}
	// A document that is damaged is not replaced.
	if err := os.WriteFile(filepath.Join(r.Dir, keyring.TrustFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rotate(keyring.New{ID: "b"}, 0); err == nil {
		t.Error("a damaged trust document was replaced")
	}
}

func TestReadPrivateRefuses(t *testing.T) {
	dir := t.TempDir()
	encode := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	}
	_, good, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		mode os.FileMode
		want string
	}{
		"good":            {encode(good), 0o600, ""},
		"read only":       {encode(good), 0o400, ""},
		"group can read":  {encode(good), 0o640, "by others (mode 0640)"},
		"all can read":    {encode(good), 0o604, "by others (mode 0604)"},
		"group can write": {encode(good), 0o620, "by others"},
		"RSA":             {encode(other), 0o600, "not an Ed25519 key"},
		"two keys":        {append(encode(good), encode(good)...), 0o600, "not one key"},
		"no key":          {[]byte("hello"), 0o600, "not one key"},
		"broken":          {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hello")}), 0o600, "PKCS #8"},
		"huge":            {make([]byte, 1<<20), 0o600, "more than"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := keyring.ReadPrivate(path); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := keyring.ReadPrivate(dir); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a folder: %v", err)
	}
}

// TestCreateOfNothing: a wrong setting makes no file, and above all no key of a log, whose name is for good.
func TestCreateOfNothing(t *testing.T) {
	r, _ := newRing(t)
	for want, c := range map[error]struct {
		key    keyring.New
		origin string
	}{
		keyring.ErrBadID:    {keyring.New{ID: "a b"}, "explorer.example/log"},
		keyring.ErrBadTimes: {keyring.New{StartsIn: -time.Second}, "explorer.example/log"},
		keyring.ErrBadLog:   {keyring.New{}, "explorer.example log"},
	} {
		if _, err := r.Create(c.key, c.origin); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
}

// TestCreateAfterAKill: the key of a log that a killed command left stays, with its name, and gets its public half.
func TestCreateAfterAKill(t *testing.T) {
	for range 8 { // keys with plus signs among them
		r, _ := newRing(t)
		m, err := r.Create(keyring.New{ID: "a"}, "explorer.example/log")
		if err != nil {
			t.Fatal(err)
		}
		public, err := os.ReadFile(m.LogPath)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{m.Path, m.Trust, m.LogPath} {
			if err := os.Remove(gone); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Create(keyring.New{ID: "a"}, "other.example/log"); !errors.Is(err, keyring.ErrOtherLog) {
			t.Errorf("another name: %v", err)
		}
		if again, err := r.Create(keyring.New{ID: "a"}, "explorer.example/log"); err != nil || again.LogPath != m.LogPath {
			t.Fatalf("%+v %v", again, err)
		}
		if text, err := os.ReadFile(m.LogPath); err != nil || string(text) != string(public) {
			t.Errorf("%q %v, it was %q", text, err, public)
		}
	}
}

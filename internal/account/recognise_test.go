package account

import (
	"errors"
	"testing"
)

// TestTags: every character of a key counts, and the tags of one process mean nothing to another.
func TestTags(t *testing.T) {
	c, key := newRecogniser(), testKey(t, 3, Live)
	first := c.of(key)
	seen := map[tag]int{first: -1}
	if c.of(key) != first {
		t.Error("a key has two tags")
	}
	if newRecogniser().of(key) == c.of(key) {
		t.Error("two processes have one tag for a key")
	}
	for i := range key {
		other := []byte(key)
		other[i] ^= 1
		g := c.of(string(other))
		if at, twice := seen[g]; twice {
			t.Errorf("keys that differ at %d and at %d have one tag", i, at)
		}
		seen[g] = i
	}
}

// TestRecognised: whoever is recognised is still asked about, and nobody is recognised who was not accepted.
func TestRecognised(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	known := func(key string) bool {
		g := d.auth.tags.of(key)
		_, ok := d.auth.tags.known.get(&g)
		return ok
	}
	if known(d.key.Plaintext) {
		t.Fatal("a key is recognised that nobody has used")
	}
	for range 3 {
		if _, err := d.auth.Authenticate(t.Context(), d.key.Plaintext); err != nil {
			t.Fatal(err)
		}
	}
	if !known(d.key.Plaintext) {
		t.Error("a key that was accepted is not recognised")
	}
	never := testKey(t, 8, Live)
	if _, err := d.auth.Authenticate(t.Context(), never); !errors.Is(err, ErrUnknown) {
		t.Errorf("a key that was never issued: %v", err)
	}
	if known(never) {
		t.Error("a key is recognised that was refused")
	}
	if _, _, err := d.RevokeKey(t.Context(), d.key.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	if _, err := d.auth.Authenticate(t.Context(), d.key.Plaintext); !errors.Is(err, ErrUnknown) {
		t.Errorf("a key that is recognised and was revoked: %v", err)
	}
}

package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"time"

	"chainexplorer/internal/verification/strictjson"
)

// The constants of a receipt.
const (
	SchemaVersion = "service-portable-verification-receipt-v1"
	Algorithm     = "Ed25519"
)

// MaxBytes bounds a receipt; a real one has about 1,500.
const MaxBytes = 16 << 10

// clockSkew is how far ahead the clock of a signer may be.
const clockSkew = 10 * time.Minute

// Receipt is evidence with its signature.
type Receipt struct {
	SchemaVersion string    `json:"schemaVersion"`
	Algorithm     string    `json:"algorithm"`
	KeyID         string    `json:"keyId"`
	Evidence      *Evidence `json:"evidence"`
	Signature     string    `json:"signature"`
}

var keyIDs = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// strict takes one spelling of every value: no padding, no bits that mean nothing.
var strict = base64.RawURLEncoding.Strict()

// decode reads unpadded base64url of exactly size bytes.
func decode(text string, size int) ([]byte, bool) {
	if len(text) != strict.EncodedLen(size) { // the decoder skips line ends
		return nil, false
	}
	b, err := strict.DecodeString(text)
	return b, err == nil && len(b) == size
}

// Parse reads a receipt and holds it against the schema. That says nothing about who
// made it: see Trust.Verify. Integers are in their canonical form afterwards.
func Parse(data []byte) (*Receipt, error) {
	r, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return r, nil
}

func parse(data []byte) (*Receipt, error) {
	o, err := strictjson.Parse(data, MaxBytes)
	if err != nil {
		return nil, err
	}
	if err := o.Exactly("schemaVersion", "algorithm", "keyId", "evidence", "signature"); err != nil {
		return nil, err
	}
	var r Receipt
	if err := texts(o, map[string]*string{"schemaVersion": &r.SchemaVersion, "algorithm": &r.Algorithm, "keyId": &r.KeyID, "signature": &r.Signature}); err != nil {
		return nil, err
	}
	switch _, ok := decode(r.Signature, ed25519.SignatureSize); {
	case r.SchemaVersion != SchemaVersion:
		return nil, strictjson.Fail("schemaVersion", "it is not %s", SchemaVersion)
	case r.Algorithm != Algorithm:
		return nil, strictjson.Fail("algorithm", "it is not %s", Algorithm)
	case !keyIDs.MatchString(r.KeyID):
		return nil, strictjson.Fail("keyId", "it is not 1 to 128 letters, digits, dots, underscores, colons and dashes")
	case !ok:
		return nil, strictjson.Fail("signature", "it is not 64 bytes as unpadded base64url")
	}
	evidence, err := o.Object("evidence")
	if err != nil {
		return nil, err
	}
	if r.Evidence, err = parseEvidence(evidence); err != nil {
		return nil, err
	}
	return &r, nil
}

// Sign makes the receipt of evidence, which must hold to the schema.
func Sign(e Evidence, keyID string, key ed25519.PrivateKey) (*Receipt, error) {
	if !keyIDs.MatchString(keyID) {
		return nil, errors.New("sign a receipt: the key has no proper id")
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("sign a receipt: %w", err)
	}
	message, err := e.Canonical()
	if err != nil {
		return nil, fmt.Errorf("sign a receipt: %w", err)
	}
	return &Receipt{SchemaVersion: SchemaVersion, Algorithm: Algorithm, KeyID: keyID, Evidence: &e, Signature: strict.EncodeToString(ed25519.Sign(key, message))}, nil
}

// Failure says by one word why a receipt that holds to the schema is not believed.
type Failure string

// Why a receipt is not believed.
const (
	KeyUnknown     Failure = "key_unknown"
	KeyRevoked     Failure = "key_revoked"
	KeyNotYetValid Failure = "key_not_yet_valid"
	KeyExpired     Failure = "key_expired"
	IssuedAhead    Failure = "issued_in_the_future"
	BadSignature   Failure = "signature_invalid"
)

var failures = map[Failure]string{
	KeyUnknown:     "the trusted document has no key of that id",
	KeyRevoked:     "its key was revoked: whoever has it can date a receipt as they like, so that none of its receipts counts",
	KeyNotYetValid: "it was issued before its key was valid",
	KeyExpired:     "it was issued when its key was no longer valid",
	IssuedAhead:    "it was issued in the future, as this machine's clock has it",
	BadSignature:   "the signature does not fit the evidence and the key",
}

// Refusal is the error of a receipt that is not believed.
type Refusal struct{ Failure Failure }

func (r *Refusal) Error() string {
	return fmt.Sprintf("receipt not believed (%s): %s", r.Failure, failures[r.Failure])
}

// Verify says whether a receipt is signed by a key that is trusted for the time when
// it was issued. A key that has expired since vouches for what it signed before.
func (t *Trust) Verify(r *Receipt, now time.Time) error {
	key := t.Key(r.KeyID)
	if key == nil {
		return &Refusal{Failure: KeyUnknown}
	}
	issued, err := r.Evidence.Issued()
	if err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	if err := key.Signed(r); err != nil { // first: what is not signed is not to be talked about
		return err
	}
	return key.Admits(issued, now)
}

// Signed says whether the key made the signature of a receipt, which stays so whatever
// becomes of the key.
func (k *Key) Signed(r *Receipt) error {
	message, err := r.Evidence.Canonical()
	if err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	signature, ok := decode(r.Signature, ed25519.SignatureSize)
	if !ok || !ed25519.Verify(k.PublicKey, message, signature) {
		return &Refusal{Failure: BadSignature}
	}
	return nil
}

// Admits says whether what the key signed at a time counts.
func (k *Key) Admits(issued, now time.Time) error {
	refuse := func(f Failure) error { return &Refusal{Failure: f} }
	switch {
	case k.RevokedAt != nil:
		return refuse(KeyRevoked)
	case issued.Before(k.NotBefore):
		return refuse(KeyNotYetValid)
	case k.NotAfter != nil && !issued.Before(*k.NotAfter):
		return refuse(KeyExpired)
	case issued.After(now.Add(clockSkew)):
		return refuse(IssuedAhead)
	}
	return nil
}

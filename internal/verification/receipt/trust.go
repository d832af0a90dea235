package receipt

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"time"

	"chainexplorer/internal/verification/strictjson"
)

// TrustSchemaVersion is of the document that names the keys.
const TrustSchemaVersion = "service-receipt-trust-root-v1"

const (
	maxTrustBytes = 64 << 10
	maxKeys       = 64
)

// Trust is the trust-root document: the keys that receipts are believed by. Whoever
// checks receipts pins it, over a channel that they trust; a receipt cannot bring it.
type Trust struct{ Keys []Key }

// Key is a public key and what it is good for.
type Key struct {
	ID        string
	PublicKey ed25519.PublicKey
	NotBefore time.Time
	NotAfter  *time.Time // the first moment at which it is no longer valid; nil while nobody has said
	RevokedAt *time.Time // nil unless it was
}

// Key is the one of an id, nil when the document has none.
func (t *Trust) Key(id string) *Key {
	for i := range t.Keys {
		if t.Keys[i].ID == id {
			return &t.Keys[i]
		}
	}
	return nil
}

// ParseTrust reads the document, as strictly as a receipt.
func ParseTrust(data []byte) (*Trust, error) {
	t, err := parseTrust(data)
	if err != nil {
		return nil, fmt.Errorf("trust document: %w", err)
	}
	return t, nil
}

func parseTrust(data []byte) (*Trust, error) {
	o, err := strictjson.Parse(data, maxTrustBytes)
	if err != nil {
		return nil, err
	}
	if err := o.Exactly("schemaVersion", "keys"); err != nil {
		return nil, err
	}
	switch version, err := o.String("schemaVersion"); {
	case err != nil:
		return nil, err
	case version != TrustSchemaVersion:
		return nil, strictjson.Fail("schemaVersion", "it is not %s", TrustSchemaVersion)
	}
	list, err := o.Objects("keys")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > maxKeys {
		return nil, strictjson.Fail("keys", "there are not 1 to %d", maxKeys)
	}
	t := &Trust{}
	for _, o := range list {
		k, err := parseKey(o)
		if err != nil {
			return nil, err
		}
		for _, other := range t.Keys {
			if other.ID == k.ID || other.PublicKey.Equal(k.PublicKey) {
				return nil, strictjson.Fail(o.Path("keyId"), "another key has the same id or is the same key")
			}
		}
		t.Keys = append(t.Keys, *k)
	}
	return t, nil
}

func parseKey(o *strictjson.Object) (*Key, error) {
	if err := o.Exactly("keyId", "algorithm", "publicKey", "notBefore", "notAfter", "revokedAt"); err != nil {
		return nil, err
	}
	var k Key
	var algorithm, public, notBefore string
	if err := texts(o, map[string]*string{"keyId": &k.ID, "algorithm": &algorithm, "publicKey": &public, "notBefore": &notBefore}); err != nil {
		return nil, err
	}
	key, ok := decode(public, ed25519.PublicKeySize)
	switch {
	case !keyIDs.MatchString(k.ID):
		return nil, strictjson.Fail(o.Path("keyId"), "it is not 1 to 128 letters, digits, dots, underscores, colons and dashes")
	case algorithm != Algorithm:
		return nil, strictjson.Fail(o.Path("algorithm"), "it is not %s", Algorithm)
	case !ok:
		return nil, strictjson.Fail(o.Path("publicKey"), "it is not 32 bytes as unpadded base64url")
	}
	k.PublicKey = key
	var err error
	if k.NotBefore, err = dateTime(o.Path("notBefore"), notBefore); err != nil {
		return nil, err
	}
	if k.NotAfter, err = optionalTime(o, "notAfter"); err != nil {
		return nil, err
	}
	if k.RevokedAt, err = optionalTime(o, "revokedAt"); err != nil {
		return nil, err
	}
	if k.NotAfter != nil && !k.NotBefore.Before(*k.NotAfter) {
		return nil, strictjson.Fail(o.Path("notAfter"), "it is not after notBefore")
	}
	return &k, nil
}

func optionalTime(o *strictjson.Object, name string) (*time.Time, error) {
	text, err := o.OptionalString(name)
	if err != nil || text == nil {
		return nil, err
	}
	t, err := dateTime(o.Path(name), *text)
	return &t, err
}

// keyDocument is a key as it is written.
type keyDocument struct {
	KeyID     string  `json:"keyId"`
	Algorithm string  `json:"algorithm"`
	PublicKey string  `json:"publicKey"`
	NotBefore string  `json:"notBefore"`
	NotAfter  *string `json:"notAfter"`
	RevokedAt *string `json:"revokedAt"`
}

// Document writes the document, so that ParseTrust reads it.
func (t *Trust) Document() ([]byte, error) {
	doc := struct {
		SchemaVersion string        `json:"schemaVersion"`
		Keys          []keyDocument `json:"keys"`
	}{SchemaVersion: TrustSchemaVersion}
	moment := func(t *time.Time) *string {
		if t == nil {
			return nil
		}
		text := t.UTC().Format(time.RFC3339)
		return &text
	}
	for _, k := range t.Keys {
		doc.Keys = append(doc.Keys, keyDocument{k.ID, Algorithm, strict.EncodeToString(k.PublicKey), *moment(&k.NotBefore), moment(k.NotAfter), moment(k.RevokedAt)})
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the trust document: %w", err)
	}
	if _, err := ParseTrust(data); err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

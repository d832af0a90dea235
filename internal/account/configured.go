package account

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// A configured key is one that the operator writes into the settings of a process, for
// services of the operator's own. It is in no database: it has no row, no last use and
// no usage there, and ends when the process is started without it. It cannot have the
// scope verify, which is for workspaces. The settings hold its digest, so that they are
// no secret; a key is random enough for a plain one.

// ConfiguredKey is such a key.
type ConfiguredKey struct {
	Name   string
	Scopes Scopes
	sum    [sha256.Size]byte
}

const maxConfiguredName = 32

// ParseConfigured reads NAME:SCOPES:SHA256, such as
// billing:read,batch:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.
// No error holds the text: it may have been a key.
func ParseConfigured(text string) (k ConfiguredKey, err error) {
	bad := func(reason string) (ConfiguredKey, error) {
		return ConfiguredKey{}, &InvalidError{"internal-key", reason}
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 || HoldsKey(text) {
		return bad("want NAME:SCOPES:SHA256, as 'chainexplorer admin key internal' prints it")
	}
	k.Name = parts[0]
	if k.Name == "" || len(k.Name) > maxConfiguredName || strings.Trim(k.Name, "0123456789abcdefghijklmnopqrstuvwxyz-") != "" {
		return bad(fmt.Sprintf("the name must have 1 to %d characters of a-z, 0-9 and -", maxConfiguredName))
	}
	if k.Scopes, err = ParseScopes(parts[1]); err != nil {
		return bad(fmt.Sprintf("%s: the scopes must be of %s", k.Name, strings.Join(ScopeNames(), ", ")))
	}
	if k.Scopes.Has(Verify) {
		return bad(k.Name + ": the scope verify is for keys of workspaces alone")
	}
	if n, err := hex.Decode(k.sum[:], []byte(parts[2][:min(len(parts[2]), 2*len(k.sum))])); err != nil || n != len(k.sum) || len(parts[2]) != 2*len(k.sum) {
		return bad(k.Name + ": the digest must be 64 hex digits, as 'chainexplorer admin key internal' prints it")
	}
	return k, nil
}

// NewConfigured makes a key, and returns what to write into the settings. Nothing is
// stored.
func NewConfigured(rand io.Reader, name string, scopes Scopes) (plaintext, setting string, err error) {
	if plaintext, err = newKey(rand, Live); err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(plaintext))
	setting = name + ":" + strings.Join(scopes.Names(), ",") + ":" + hex.EncodeToString(sum[:])
	if _, err := ParseConfigured(setting); err != nil {
		return "", "", err
	}
	return plaintext, setting, nil
}

// Configure lets configured keys in. It is called before the first request.
func (a *Authenticator) Configure(list []ConfiguredKey) error {
	keys, names := map[[sha256.Size]byte]*Principal{}, map[string]bool{}
	for _, k := range list {
		if names[k.Name] || keys[k.sum] != nil {
			return &InvalidError{"internal-key", k.Name + ": it is there twice"}
		}
		names[k.Name] = true
		id := "internal_" + k.Name
		keys[k.sum] = &Principal{KeyID: "ak_" + id, PublicID: id, WorkspaceID: "ws_" + id, Plan: Enterprise, Kind: InternalKind, Scopes: k.Scopes,
			Policy: Enterprise.Policy(), Environment: Live, Configured: true}
	}
	if len(keys) > 0 {
		a.configured = keys
	}
	return nil
}

// isConfigured finds a configured key. It is asked about keys that are not known
// otherwise, so that the others do not pay for it.
func (a *Authenticator) isConfigured(presented string) (Principal, bool) {
	if a.configured == nil {
		return Principal{}, false
	}
	who := a.configured[sha256.Sum256([]byte(presented))]
	if who == nil {
		return Principal{}, false
	}
	return *who, true
}

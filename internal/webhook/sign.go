package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/control"
)

// Messages are signed by the rules of Standard Webhooks: HMAC-SHA256 over the id, the time
// of the attempt and the body. A secret is shown as whsec_ and base64.
const (
	secretPrefix = "whsec_"
	secretSize   = 32

	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

func (r *Repo) newSecret() (string, error) {
	var b [secretSize]byte
	if _, err := io.ReadFull(r.rand, b[:]); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:]), nil
}

// oldSecret is one that another has taken the place of.
type oldSecret struct {
	Secret string `json:"secret"`
	Until  int64  `json:"until"` // in microseconds
}

// Sign is the signature of a message at a time: one for the secret, and one for each before
// that is still good.
func (s *Subscription) Sign(id string, at time.Time, body []byte) (string, error) {
	secrets := []string{s.secret}
	for _, old := range slices.Backward(s.old) {
		if at.Before(control.Moment(old.Until)) {
			secrets = append(secrets, old.Secret)
		}
	}
	var out []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return "", fmt.Errorf("the secret of webhook %s is damaged", s.ID) // and not told
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", id, strconv.FormatInt(at.Unix(), 10)) //nolint:errcheck // a hash never fails
		mac.Write(body)                                                  //nolint:errcheck // as above
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(out, " "), nil
}

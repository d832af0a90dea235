package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"golang.org/x/mod/sumdb/note"
)

// ReceiptCheck is what a receipt is held against. Trust and LogKey must have come to you
// over a channel that you trust: a service that lies would serve its own.
type ReceiptCheck struct {
	// Trust is the trust document, which says which keys count. Needed.
	Trust []byte
	// LogProof shows that the receipt is in the transparency log whose public key LogKey is;
	// both or none.
	LogProof []byte
	LogKey   string
	// Now is when a key's validity is looked at; the machine's time unless set.
	Now time.Time
}

// CheckedReceipt is a receipt that is believed.
type CheckedReceipt struct {
	// KeyID is the key that signed it.
	KeyID string
	// Evidence is what was signed.
	Evidence VerificationEvidence
	// LogOrigin, LogIndex and LogSize say where in which log it is; LogOrigin is empty when
	// that was not shown.
	LogOrigin         string
	LogIndex, LogSize int64
}

// ReceiptRefusal says why a receipt is not believed, in one word: key_unknown, key_revoked,
// key_not_yet_valid, key_expired, issued_in_the_future or signature_invalid.
type ReceiptRefusal struct {
	Failure string
	text    string
}

func (r *ReceiptRefusal) Error() string { return r.text }

// CheckReceipt checks a verification receipt, as GetVerificationReceipt gives it in JSON. It
// asks nobody.
func CheckReceipt(data []byte, with ReceiptCheck) (*CheckedReceipt, error) {
	trust, err := receipt.ParseTrust(with.Trust)
	if err != nil {
		return nil, fmt.Errorf("trust document: %w", err)
	}
	r, err := receipt.Parse(data)
	if err != nil {
		return nil, err
	}
	if with.Now.IsZero() {
		with.Now = time.Now()
	}
	if err := trust.Verify(r, with.Now); err != nil {
		var refusal *receipt.Refusal
		if errors.As(err, &refusal) {
			return nil, &ReceiptRefusal{Failure: string(refusal.Failure), text: err.Error()}
		}
		return nil, err
	}
	out := &CheckedReceipt{KeyID: r.KeyID}
	signed, err := r.Evidence.Canonical()
	if err == nil {
		err = json.Unmarshal(signed, &out.Evidence)
	}
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	if (with.LogProof == nil) != (with.LogKey == "") {
		return nil, errors.New("a proof of the log needs the log's key, and the key a proof")
	}
	if with.LogProof == nil {
		return out, nil
	}
	key, err := note.NewVerifier(with.LogKey)
	if err != nil {
		return nil, fmt.Errorf("key of the log: %w", err)
	}
	proof, err := logproof.Parse(with.LogProof)
	if err != nil {
		return nil, err
	}
	head, err := proof.Verify(r, key)
	if err != nil {
		return nil, err
	}
	out.LogOrigin, out.LogIndex, out.LogSize = head.Origin, proof.Index, head.Size
	return out, nil
}

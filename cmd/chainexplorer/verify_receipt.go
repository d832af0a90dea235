package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
)

type verifyReceiptCommand struct {
	File       string `arg:"" type:"existingfile" help:"The receipt."`
	Trust      string `required:"" type:"existingfile" placeholder:"FILE" help:"The trust document, which you got over a channel that you trust: it says which keys count."`
	ClassHash  string `placeholder:"HASH" help:"The class that the receipt must be about."`
	Chain      string `placeholder:"CHAIN" help:"The chain that it must be about, such as SN_MAIN."`
	Archive    string `type:"existingfile" placeholder:"FILE" help:"The source archive that it must be about, byte by byte."`
	LogProof   string `type:"existingfile" placeholder:"FILE" help:"Proof that the receipt is in the transparency log, from /receipt-log/proof. Needs --log-key."`
	LogKey     string `type:"existingfile" placeholder:"FILE" help:"Public key of the log, which you got over a channel that you trust."`
	Withdrawal string `type:"existingfile" placeholder:"FILE" help:"Proof that the receipt was withdrawn, from /receipt-log/withdrawn: if it is one, the receipt is not believed. Needs --log-key."`
	RequireLog bool   `help:"Do not believe a receipt that is not shown to be in the log."`
	JSON       bool   `name:"json" help:"Print JSON."`
}

// receiptView is what --json prints of a receipt that is believed.
type receiptView struct {
	Believed    bool              `json:"believed"`
	KeyID       string            `json:"keyId"`
	Digest      string            `json:"digest"` // by which the log knows the receipt
	TrustDigest string            `json:"trustDigest"`
	Evidence    *receipt.Evidence `json:"evidence"`
	Log         *logView          `json:"log"` // null when it was not shown to be in a log
}

// logView is where in which log a receipt is.
type logView struct {
	Origin string `json:"origin"`
	Index  int64  `json:"index"`
	Size   int64  `json:"size"`
}

// Run checks a receipt. It asks nobody.
func (c *verifyReceiptCommand) Run(con *console) error {
	var class felt.Felt
	if c.ClassHash != "" {
		var err error
		if class, err = felt.Parse(c.ClassHash); err != nil {
			return &usageError{"--class-hash: " + err.Error()}
		}
	}
	switch {
	case (c.LogProof == "" && c.Withdrawal == "") != (c.LogKey == ""):
		return &usageError{"--log-key goes together with --log-proof or --withdrawal: the key says which log counts"}
	case c.RequireLog && c.LogProof == "":
		return &usageError{"--require-log needs --log-proof and --log-key"}
	}
	document, err := readBounded(c.Trust, 64<<10)
	if err != nil {
		return err
	}
	trust, err := receipt.ParseTrust(document)
	if err != nil {
		return err
	}
	data, err := readBounded(c.File, receipt.MaxBytes)
	if err != nil {
		return err
	}
	r, err := receipt.Parse(data)
	if err != nil {
		return err
	}
	now := time.Now
	if con.now != nil {
		now = con.now
	}
	if err := trust.Verify(r, now()); err != nil {
		return err
	}
	e := r.Evidence
	switch {
	case c.ClassHash != "" && e.ClassHash != class.String():
		return fmt.Errorf("the receipt is about another class: %s", e.ClassHash)
	case c.Chain != "" && e.ChainID != c.Chain:
		return fmt.Errorf("the receipt is about another chain: %s", e.ChainID)
	}
	if c.Archive != "" {
		digest, err := fileDigest(c.Archive, archive.Standard.Compressed)
		if err != nil {
			return err
		}
		if digest != e.SourceArchiveDigest {
			return fmt.Errorf("the receipt is about another archive: %s, and %s is %s", e.SourceArchiveDigest, c.Archive, digest)
		}
	}
	entry, err := logproof.Entry(r)
	if err != nil {
		return err
	}
	if err := c.withdrawn(r); err != nil {
		return err
	}
	sum := sha256.Sum256(document)
	view := receiptView{Believed: true, KeyID: r.KeyID, Digest: logproof.Digest(entry), TrustDigest: "sha256:" + hex.EncodeToString(sum[:]), Evidence: e}
	if view.Log, err = c.inLog(r); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, view)
	}
	_, err = fmt.Fprintf(con.out, `Believed, if the trust document is the right one: %s
The source archive %s,
built under %s, gives exactly the class %s of %s,
declared in block %d by transaction %s.
Receipt %d of job %s, issued %s, signed by %s; in the log it is %s.
It is no proof of: %s.
%s
`, view.TrustDigest, e.SourceArchiveDigest, e.ToolchainPolicyID, e.ClassHash, e.ChainID, e.Declaration.BlockNumber, e.Declaration.TransactionHash,
		e.ReceiptID, e.JobID, e.IssuedAt, r.KeyID, view.Digest, strings.ReplaceAll(strings.Join(e.NotProofOf, ", "), "_", " "), view.Log)
	return err
}

func (v *logView) String() string {
	if v == nil {
		return "It was not shown to be in the transparency log: who holds the key may have made it for you alone (--log-proof)."
	}
	return fmt.Sprintf("It is in the transparency log %s, at place %d of %d.", v.Origin, v.Index, v.Size)
}

// withdrawn is an error if there is a proof that the receipt was withdrawn, or something in its
// place that proves nothing.
func (c *verifyReceiptCommand) withdrawn(r *receipt.Receipt) error {
	if c.Withdrawal == "" {
		return nil
	}
	p, key, err := c.readProof(c.Withdrawal)
	if err != nil {
		return fmt.Errorf("--withdrawal: %w", err)
	}
	head, err := p.VerifyWithdrawal(r, key)
	if err != nil {
		return fmt.Errorf("--withdrawal: %w", err)
	}
	return fmt.Errorf("the receipt was withdrawn by who issued it: the transparency log %s says so at place %d of %d", head.Origin, p.Index, head.Size)
}

// inLog holds a receipt against the proof, if there is one.
func (c *verifyReceiptCommand) inLog(r *receipt.Receipt) (*logView, error) {
	if c.LogProof == "" {
		return nil, nil //nolint:nilnil // which the output says
	}
	p, key, err := c.readProof(c.LogProof)
	if err != nil {
		return nil, err
	}
	head, err := p.Verify(r, key)
	if err != nil {
		return nil, err
	}
	return &logView{head.Origin, p.Index, head.Size}, nil
}

// readProof reads a proof, and the key of the log that it is to be of.
func (c *verifyReceiptCommand) readProof(path string) (*logproof.Proof, note.Verifier, error) {
	key, _, err := keyring.ReadLogPublic(c.LogKey)
	if err != nil {
		return nil, nil, err
	}
	data, err := readBounded(path, logproof.MaxBytes)
	if err != nil {
		return nil, nil, err
	}
	p, err := logproof.Parse(data)
	return p, key, err
}

// fileDigest digests a file that may be as large as an archive.
func fileDigest(path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if n > limit {
		return "", fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

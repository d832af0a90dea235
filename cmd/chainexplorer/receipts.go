package main

import (
	"context"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/site"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/publication"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/translog"
)

// publishEvery is how often the head of the log is signed, if it grew.
const publishEvery = time.Second

// receiptFlags say what is published of verification receipts.
type receiptFlags struct {
	ReceiptTrust  string `placeholder:"FILE" help:"Trust document of verification receipts, to be published at /.well-known/service-receipt-trust-root.json; see docs/verification-operating.md."`
	ReceiptLogKey string `placeholder:"FILE" help:"Public key of the transparency log of receipts (log.pub), to publish the log at /receipt-log."`
}

// signerFlags say who signs.
type signerFlags struct {
	Signer string `placeholder:"unix:PATH" help:"Where 'chainexplorer signer' listens, such as unix:/run/chainexplorer/signer.sock."`
}

// client calls the signer; it is nil without one.
func (f *signerFlags) client() (*signer.Client, error) {
	if f.Signer == "" {
		return nil, nil //nolint:nilnil // none was named
	}
	c, err := signer.NewClient(f.Signer)
	if err != nil {
		return nil, &usageError{"--signer " + err.Error()}
	}
	return c, nil
}

// publish serves what everybody may read about receipts, and returns what of it the discovery
// documents name. The log is nil without its key.
func (f *receiptFlags) publish(k *kernel.Server, s *service) (listed []site.Document, log *translog.Log, err error) {
	o := publication.Options{Trust: f.ReceiptTrust}
	if f.ReceiptTrust != "" {
		listed = append(listed, site.Document{Path: publication.TrustPath, Type: kernel.JSONType, Title: "Keys that verification receipts are believed by"})
	}
	if f.ReceiptLogKey != "" {
		key, text, err := keyring.ReadLogPublic(f.ReceiptLogKey)
		if err != nil {
			return nil, nil, err
		}
		log = translog.New(s.control, key)
		o.Log, o.LogKey = log, text
		listed = append(listed, site.Document{Path: publication.LogPath + "/checkpoint", Type: "text/plain; charset=utf-8", Title: "Signed head of the transparency log of receipts"})
	}
	return listed, log, publication.New(k, o)
}

// keepPublishing has the heads of the log signed until the context ends. The same trouble is told once.
func (s *service) keepPublishing(ctx context.Context) {
	last := ""
	s.receipts.Run(ctx, s.signer, publishEvery, func(err error) {
		if err.Error() != last {
			s.con.log.Error("the log of receipts is not published", "err", err)
		}
		last = err.Error()
	})
}

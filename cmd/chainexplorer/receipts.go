package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/site"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/publication"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/standing"
	"chainexplorer/internal/verification/translog"
	"chainexplorer/internal/verification/withdrawal"
)

// publishEvery is how often the head of the log is signed, if it grew.
const publishEvery = time.Second

// receiptFlags say what is published of verification receipts.
type receiptFlags struct {
	ReceiptTrust string `placeholder:"FILE" help:"Trust document of verification receipts, to be published at /.well-known/service-receipt-trust-root.json; classes are called verified by the keys in it. See docs/verification-operating.md."`
	receiptLogFlags
}

// receiptLogFlags name the log of receipts, to those who have its heads signed as well.
type receiptLogFlags struct {
	ReceiptLogKey string `placeholder:"FILE" help:"Public key of the transparency log of receipts (log.pub), to publish the log at /receipt-log and to have its heads signed by --signer."`
}

// check reads what the flags name, so that a wrong name is told before anything starts.
func (f *receiptFlags) check() error {
	if f.ReceiptTrust != "" {
		if _, err := readSetting("--receipt-trust", f.ReceiptTrust); err != nil {
			return err
		}
	}
	return f.receiptLogFlags.check()
}

func (f *receiptLogFlags) check() error {
	if f.ReceiptLogKey == "" {
		return nil
	}
	_, _, err := keyring.ReadLogPublic(f.ReceiptLogKey)
	return wrongFile("--receipt-log-key", err)
}

// open returns the log, with its key as people pin it; nil without a key.
func (f *receiptLogFlags) open(db *control.DB) (*translog.Log, string, error) {
	if f.ReceiptLogKey == "" {
		return nil, "", nil
	}
	key, text, err := keyring.ReadLogPublic(f.ReceiptLogKey)
	if err != nil {
		return nil, "", err
	}
	return translog.New(db, key), text, nil
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
	o := publication.Options{Trust: f.ReceiptTrust, Revoked: s.revoked}
	if f.ReceiptTrust != "" {
		listed = append(listed, site.Document{Path: publication.TrustPath, Type: kernel.JSONType, Title: "Keys that verification receipts are believed by"})
	}
	if o.Log, o.LogKey, err = f.open(s.control); err != nil {
		return nil, nil, err
	}
	if o.Log != nil {
		listed = append(listed, site.Document{Path: publication.LogPath + "/checkpoint", Type: "text/plain; charset=utf-8", Title: "Signed head of the transparency log of receipts"})
	}
	return listed, o.Log, publication.New(k, o)
}

// proofs are what the reads tell of receipts, by the keys of the trust document. Without one
// nobody here knows which keys are good, and the reads tell of none.
func (s *service) proofs(ctx context.Context, jobs *job.Repo) *proof.Book {
	if s.opts.Receipts.ReceiptTrust == "" {
		if s.opts.Signer.Signer != "" {
			s.con.log.Warn("receipts are signed and --receipt-trust is not set: no class is called verified")
		}
		return nil
	}
	s.proven = standing.New(standing.Options{Jobs: jobs, Chain: job.Chain, Trust: s.opts.Receipts.ReceiptTrust, Revoked: s.revoked, Withdrawn: withdrawal.New(s.control, nil), Logger: s.con.log})
	s.proven.Refresh(ctx)
	return proof.New(s.proven.Known)
}

func newReceiptFailures(reg prometheus.Registerer) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "chainexplorer_receipt_log_failures_total", Help: "Times that the head of the transparency log of receipts could not be signed or kept."})
	reg.MustRegister(c)
	return c
}

// keepPublishing has the heads of a log signed until the context ends, where there are both.
// The same trouble is told once.
func (p *composition) keepPublishing(ctx context.Context, log *translog.Log, by *signer.Client) {
	if log == nil || by == nil {
		return
	}
	last, failures := "", newReceiptFailures(p.registered)
	log.Run(ctx, by, publishEvery, func(err error) {
		failures.Inc()
		if err.Error() != last {
			p.con.log.Error("the log of receipts is not published", "err", err)
		}
		last = err.Error()
	})
}

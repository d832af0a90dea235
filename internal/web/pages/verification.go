package pages

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// verificationView is the data of the page about verification.
type verificationView struct {
	L *look
	// Query is what was looked up, and FoundClass and FoundContract what it is.
	Query         string
	FoundClass    *api.ClassDetail
	FoundContract *api.Contract
	Chains        []verifiedChain
	Log           *receiptLog
}

// verifiedChain says of a chain whether receipts are believed here.
type verifiedChain struct {
	ID     string
	Served bool
	Here   bool
}

// receiptLog is the signed head of the log of receipts.
type receiptLog struct {
	Size   int64
	Signed string
	// Why is set where there is a log and its head cannot be read.
	Why string
}

// verificationPath is for all chains: whoever looks something up names one.
const verificationPath = "/verification"

// verification serves the page. It is made anew each time: receipts and the log change
// without a block.
func (p *Pages) verification() {
	p.HandleSheet(kernel.Sheet{
		ID: "pageVerification", Pattern: "GET " + verificationPath,
		Make: func(w http.ResponseWriter, r *http.Request) error {
			id, err := p.verifiedOn(r.URL.Query().Get("chain"))
			if err != nil {
				return err
			}
			p.moods[id].now(r.Context())
			return p.show(w, r, id, verificationPage, []string{"chain", "q"})
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, p.routes.Order[0], e) },
		Dress:  web.SetLiveHeaders,
	})
}

// verifiedOn is the chain that a look-up is on: the one that was asked for, or else the
// first on which receipts are believed.
func (p *Pages) verifiedOn(asked string) (string, error) {
	if asked != "" {
		if !slices.Contains(p.routes.Order, asked) {
			return "", kernel.Fail(kernel.CodeInvalidRequest, "The chain %q is not served here; %s is.", kernel.Clip(asked, 40), kernel.Listed(p.routes.Order))
		}
		return asked, nil
	}
	for _, id := range p.routes.Order {
		if p.routes.Chains[id].Proofs != nil {
			return id, nil
		}
	}
	return p.routes.Order[0], nil
}

// verificationPage tells what verification means, and what is known of a class or a
// contract.
func verificationPage(l *look) (*sheet, error) {
	v := &verificationView{L: l, Query: strings.TrimSpace(l.query.Get("q")), Log: l.p.receiptLog(l.ctx)}
	for _, id := range l.p.routes.Order {
		v.Chains = append(v.Chains, verifiedChain{id, l.p.routes.Chains[id].Proofs != nil, id == l.Chain})
	}
	out := &sheet{title: "Verification", description: "Whether the source of a class or a contract is what runs: look it up, check a receipt, or hand a source in.",
		name: "verification.html", data: v}
	if v.Log != nil {
		l.says("The log of receipts is no part of the API: its signed head is at /receipt-log/checkpoint.")
	}
	if v.Query == "" {
		l.says("Nothing was looked up. What is known of a source is told by GET /v1/" + l.Chain + "/class/{classHash} and GET /v1/" + l.Chain + "/contract/{address}.")
		return out, nil
	}
	if err := v.find(); err != nil {
		return nil, err
	}
	if v.FoundClass == nil && v.FoundContract == nil {
		out.status = http.StatusNotFound
	}
	return out, nil
}

// find looks for a class and for a contract.
func (v *verificationView) find() error {
	f, err := kernel.FeltOf("query.q", v.Query)
	if err != nil {
		return err
	}
	if v.FoundClass, err = found(ask[api.ClassDetail](v.L, "getClass", map[string][]string{"instanceLimit": {"1"}}, f.String())); err != nil {
		return err
	}
	v.FoundContract, err = found(ask[api.Contract](v.L, "getContract", nil, f.String()))
	return err
}

// found is nil for what is not there.
func found[T any](answer *T, err error) (*T, error) {
	var e *kernel.Error
	if errors.As(err, &e) && e.Code == kernel.CodeNotFound {
		return nil, nil //nolint:nilnil // there is none
	}
	return answer, err
}

// Proven is the badge of what speaks for a source.
func (s sourceView) Proven() template.HTML {
	if s.V.L.served.Proofs == nil {
		return badge("soft", "not told", "Receipts of this chain are not believed here: this service has no list of the keys that count, or verifies nothing on it. A class may be verified elsewhere.")
	}
	switch s.S.VerificationTier {
	case "verified_exact":
		return badge("good", "verified exactly", "A locked source tree, built with a pinned compiler and without a network, gave exactly this class. The receipt of it is signed by a key that counts, and the block that declared the class is on the chain.")
	case "abi_declared":
		if s.Withdrawn != nil {
			return withdrawnBadge()
		}
		return badge("soft", "not verified", "The ABI that was declared with the class is known. Nobody has shown here which source it comes from.")
	}
	return badge("soft", "not verified", "Not even the declared ABI of the class is known here.")
}

// ProofHref is the proof that a receipt is in the log.
func (v *verificationView) ProofHref(s *api.SourceFacts) string {
	if s.VerificationEvidenceDigest == nil || v.Log == nil {
		return ""
	}
	if digits := digitsOf(*s.VerificationEvidenceDigest); digits != "" {
		return "/receipt-log/proof/" + digits
	}
	return ""
}

// digitsOf is what a digest is called by the log; "" for what is none.
func digitsOf(digest string) string {
	_, digits, ok := strings.Cut(digest, ":")
	if !ok || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return digits
}

// withdrawn is what was taken back of a class.
type withdrawn struct {
	Count  int
	At     string // the last one
	Digits string // of the last one, as the log calls it
}

// Withdrawn is what was taken back of the receipts of a class; nil: nothing, as far as is known.
func (l *look) Withdrawn(class *felt.Felt) *withdrawn {
	if class == nil {
		return nil
	}
	w, ok := l.served.Proofs.Withdrawn(*class)
	if !ok {
		return nil
	}
	return &withdrawn{w.Count, w.At.Format(time.RFC3339), digitsOf(w.Digest)}
}

// withdrawnBadge is of a class whose receipts were all taken back.
func withdrawnBadge() template.HTML {
	return badge("warn", "verification withdrawn", "A receipt said which source gives this class, and was withdrawn: what it said does not count any more. That can be for the compiler's sake or the operator's, and says nothing about the class itself.")
}

// receiptLog reads the signed head of the log; nil where there is none.
func (p *Pages) receiptLog(ctx context.Context) *receiptLog {
	if p.Checkpoint == nil {
		return nil
	}
	size, signed, err := p.Checkpoint(ctx)
	if err != nil {
		p.Log.Warn("the head of the log of receipts is not shown", "err", err)
		return &receiptLog{Why: "Its head cannot be read right now, or nothing is in it yet."}
	}
	return &receiptLog{Size: size, Signed: string(signed)}
}

// sourceView is what speaks for a source, with the look that shows it.
type sourceView struct {
	V         *verificationView
	S         *api.SourceFacts
	Withdrawn *withdrawn
}

// Facts hands what speaks for the source of a class to its template.
func (v *verificationView) Facts(s api.SourceFacts, class *felt.Felt) sourceView {
	return sourceView{v, &s, v.L.Withdrawn(class)}
}

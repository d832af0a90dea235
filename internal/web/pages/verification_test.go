package pages_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
)

// TestVerificationPage looks classes and contracts up: one that a receipt speaks for, and
// others.
func TestVerificationPage(t *testing.T) {
	var known atomic.Pointer[proof.Known]
	known.Store(&proof.Known{})
	w := &world{servertest.New(t, 30, func(o *servertest.Options) { o.Chains[0].Proofs = proof.New(known.Load) })}
	var list api.ClassPage
	w.Get("/classes?limit=2", &list)
	class, other := list.Items[0], list.Items[1]
	digest := "sha256:" + strings.Repeat("ab", 32)
	at := *class.DeclaredBlock
	known.Store(&proof.Known{Version: 1, Classes: map[felt.Felt][]proof.Proof{
		class.ClassHash: {{Declared: block.Ref{Number: at, Hash: w.Chain.BlockAt(at).Hash}, Digest: digest, Issued: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}}}})
	var of api.ClassDetail
	w.Get("/class/"+class.ClassHash.String(), &of)
	if of.VerificationTier != "verified_exact" || len(of.Instances.Items) == 0 {
		t.Fatalf("the class is %s with %d contracts", of.VerificationTier, len(of.Instances.Items))
	}
	for _, q := range []string{class.ClassHash.String(), of.Instances.Items[0].ContractAddress.String()} {
		page := w.look("/verification?q="+q, http.StatusOK)
		for _, want := range []string{"<summary>verified exactly</summary>", `data-value="` + digest + `"`, "2026-05-04T03:02:01Z", class.ClassHash.String()} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s", q, want)
			}
		}
	}
	if page := w.look("/verification?q="+other.ClassHash.String(), http.StatusOK); !strings.Contains(page, "<summary>not verified</summary>") || strings.Contains(page, digest) {
		t.Error("another class is called verified")
	}
	for path, status := range map[string]int{"/verification?q=0x1234567": 404, "/verification?q=seven": 400, "/verification?chain=SN_NONE": 400} {
		w.look(path, status)
	}
}

// TestNoVerification: where no receipts are believed the page says so, and calls nothing
// unverified because of it.
func TestNoVerification(t *testing.T) {
	w := sharedWorld(t, 40)
	var list api.ClassPage
	w.Get("/classes?limit=1", &list)
	page := w.look("/verification?chain="+chainID+"&q="+list.Items[0].ClassHash.String(), http.StatusOK)
	for _, want := range []string{chainID + ": no verification is served", "<summary>not told</summary>", "publishes no log of receipts", `href="/verify-receipt"`, "chainexplorer verify submit"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<summary>not verified</summary>") {
		t.Error("what is not known is told")
	}
}

// TestReceiptLogHead shows the head of the log as it was signed, and that it cannot be read.
func TestReceiptLogHead(t *testing.T) {
	var fails atomic.Bool
	w := &world{servertest.New(t, 2, func(o *servertest.Options) {
		o.Checkpoint = func(context.Context) (int64, []byte, error) {
			if fails.Load() {
				return 0, nil, errors.New("no database")
			}
			return 12345, []byte("explorer.example/receipt-log\n12345\n<root>\n"), nil
		}
	})}
	page := w.look("/verification", http.StatusOK)
	for _, want := range []string{`data-value="12345"`, "explorer.example/receipt-log", "&lt;root&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	fails.Store(true)
	if page = w.look("/verification", http.StatusOK); strings.Contains(page, "12345") || !strings.Contains(page, "cannot be read right now") {
		t.Error("a head that cannot be read is shown")
	}
}

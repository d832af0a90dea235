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

// TestWithdrawnReceipts: a class whose receipts were taken back is not called verified, and
// the pages say that it was. One that was verified anew is both.
func TestWithdrawnReceipts(t *testing.T) {
	var known atomic.Pointer[proof.Known]
	known.Store(&proof.Known{})
	w := &world{servertest.New(t, 30, func(o *servertest.Options) {
		o.Chains[0].Proofs = proof.New(known.Load)
		o.Checkpoint = func(context.Context) (int64, []byte, error) { return 3, []byte("head"), nil }
	})}
	var list api.ClassPage
	w.Get("/classes?limit=2", &list)
	class, other, at := list.Items[0].ClassHash, list.Items[1].ClassHash, *list.Items[0].DeclaredBlock
	var of api.ClassDetail
	w.Get("/class/"+class.String(), &of)
	contract := of.Instances.Items[0].ContractAddress.String()
	digits := strings.Repeat("cd", 32)
	taken := proof.Withdrawal{}.With("sha256:"+digits, time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)).With("sha256:"+strings.Repeat("ef", 32), time.Date(2026, 5, 6, 7, 8, 8, 0, time.UTC))
	tells := func(path string, wanted bool, what ...string) {
		t.Helper()
		page := w.look(path, http.StatusOK)
		for _, part := range what {
			if strings.Contains(page, part) != wanted {
				t.Errorf("%s has %s: %t", path, part, !wanted)
			}
		}
	}
	paths := []string{"/" + chainID + "/class/" + class.String(), "/" + chainID + "/contract/" + contract, "/verification?q=" + class.String(), "/verification?q=" + contract}
	said, proven := []string{"2026-05-06T07:08:09Z"}, "<summary>verification withdrawn</summary>"
	for _, path := range paths {
		tells(path, false, said...)
	}
	known.Store(&proof.Known{Version: 1, Withdrawn: map[felt.Felt]proof.Withdrawal{class: taken}})
	for _, path := range paths {
		tells(path, true, append(said, proven)...)
		tells(path, false, "<summary>source verified", "<summary>verified exactly")
	}
	tells(paths[0], true, "; 2 receipts withdrawn")
	tells(paths[2], true, `href="/receipt-log/withdrawn/`+digits+`"`)
	tells("/verification?q="+other.String(), false, "2026-05-06", "verification withdrawn")

	known.Store(&proof.Known{Version: 2, Withdrawn: map[felt.Felt]proof.Withdrawal{class: taken}, Classes: map[felt.Felt][]proof.Proof{
		class: {{Declared: block.Ref{Number: at, Hash: w.Chain.BlockAt(at).Hash}, Digest: "sha256:" + strings.Repeat("ab", 32), Issued: time.Date(2026, 7, 4, 3, 2, 1, 0, time.UTC)}}}})
	for _, path := range paths {
		tells(path, true, append(said, "2026-07-04T03:02:01Z")...)
		tells(path, false, proven)
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

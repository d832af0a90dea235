package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/routes"
	"chainexplorer/internal/verification/standing"
	"chainexplorer/internal/verification/standing/standingtest"
)

// verifiedWorld serves one index under the names of both chains, so that nothing but the
// name can be why receipts count on the one and not on the other.
type verifiedWorld struct {
	*world
	maker    standingtest.Maker
	ring     *keyring.Ring
	receipts *standing.Receipts
}

func newVerifiedWorld(t *testing.T, n int) *verifiedWorld {
	t.Helper()
	v := &verifiedWorld{ring: &keyring.Ring{Dir: t.TempDir()}}
	v.world = newWorld(t, n, func(o *options) {
		v.ring.Now = o.Now
		made, err := v.ring.Create(keyring.New{ID: "first"}, "")
		if err != nil {
			t.Fatal(err)
		}
		limits := job.Standard
		limits.PerDay = 100
		jobs := job.New(o.Control(), job.Options{Now: o.Now, Limits: limits})
		v.maker = standingtest.Maker{Jobs: jobs, Key: made, Now: o.Now}
		v.receipts = standing.New(standing.Options{Jobs: jobs, Chain: job.Chain, Trust: made.Trust, Now: o.Now})
		main := o.Chains[0]
		main.ID, main.Proofs = job.Chain, proof.New(v.receipts.Known)
		o.Chains = append(o.Chains, main)
		o.Attempt = routes.Attempts(jobs)
	})
	v.maker.Workspace = v.Space.ID
	return v
}

// on reads a route of a chain.
func (v *verifiedWorld) on(chain, path string, out any) reply {
	v.T.Helper()
	r := v.Do(http.MethodGet, "/v1/"+chain+path, v.Key)
	if err := json.Unmarshal(r.Body, out); err != nil || r.StatusCode != http.StatusOK {
		v.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
	}
	return r
}

// proven is a class that emits events, with a contract that has it and a transaction that
// called it; all was accepted on L1.
type proven struct{ class, contract, tx felt.Felt }

func (v *verifiedWorld) subject() proven {
	v.T.Helper()
	var c api.Contract
	v.on(job.Chain, "/contract/"+contracts.STRK.String(), &c)
	var page api.EventPage
	v.on(job.Chain, "/contract/"+contracts.STRK.String()+"/events?order=asc&limit=100", &page)
	for _, e := range page.Items {
		var tx api.Tx
		if r := v.on(job.Chain, "/tx/"+e.TxHash.String(), &tx); r.Header.Get("Cache-Control") == immutable && *e.EventTimeClassHash == *c.ClassHash {
			return proven{*c.ClassHash, contracts.STRK, e.TxHash}
		}
	}
	v.T.Fatalf("the simulation has no such contract: %+v", c)
	return proven{}
}

// said is all that the reads of a chain say of the source of a class, in one word each.
func (v *verifiedWorld) said(chain string, p proven) string {
	v.T.Helper()
	var words []string
	say := func(what, word string) { words = append(words, what+" "+word) }
	facts := func(what string, f api.SourceFacts) {
		word := f.VerificationTier
		if exact := word == "verified_exact"; (f.VerificationSource != nil) != exact || (f.VerificationProvider != nil) != exact || (f.VerificationEvidenceDigest != nil) != exact ||
			(f.VerificationObservedAtISO != nil) != exact || (f.VerificationClaimCount != nil) != exact {
			v.T.Errorf("%s: %+v", what, f)
		}
		if f.VerificationClaimCount != nil {
			word += fmt.Sprintf(" by %s of %s, %d: %s at %s", *f.VerificationSource, *f.VerificationProvider, *f.VerificationClaimCount, (*f.VerificationEvidenceDigest)[:15], *f.VerificationObservedAtISO)
		}
		say(what, word)
	}
	var one api.ClassDetail
	v.on(chain, "/class/"+p.class.String(), &one)
	facts("class", one.SourceFacts)
	var list api.ClassPage
	v.on(chain, "/classes?limit=100", &list)
	for _, c := range list.Items {
		if c.ClassHash == p.class {
			facts("list", c.SourceFacts)
		} else if c.VerificationTier == "verified_exact" {
			v.T.Errorf("class %s is verified as well", c.ClassHash)
		}
	}
	var c api.Contract
	v.on(chain, "/contract/"+p.contract.String(), &c)
	facts("contract", c.SourceFacts)
	var had api.ContractClassPage
	v.on(chain, "/contract/"+p.contract.String()+"/classes", &had)
	facts("history", had.Items[0].SourceFacts)

	event := func(what string, e *api.EventContent) {
		if e.EventTimeClassHash == nil || *e.EventTimeClassHash != p.class {
			if e.EventNameSource != nil && *e.EventNameSource == "verified_abi" {
				v.T.Errorf("an event of %s is verified: %+v", e.Address, e)
			}
			return
		}
		if e.DecodedFieldsSource == nil || *e.DecodedFieldsSource != *e.EventNameSource {
			v.T.Errorf("%s: name by %v, fields by %v", what, e.EventNameSource, e.DecodedFieldsSource)
		}
		if word := what + " " + *e.EventNameSource; words[len(words)-1] != word {
			words = append(words, word)
		}
	}
	var events api.EventPage
	v.on(chain, "/events?limit=100&address="+p.contract.String(), &events)
	for i := range events.Items {
		event("events", &events.Items[i].EventContent)
	}
	v.on(chain, "/events?limit=100&topic0="+felt.Selector("Transfer").String(), &events)
	for i := range events.Items {
		event("search", &events.Items[i].EventContent)
	}
	var tx api.Tx
	v.on(chain, "/tx/"+p.tx.String(), &tx)
	for i := range tx.Logs {
		event("tx", &tx.Logs[i].EventContent)
	}
	return strings.Join(words, "\n")
}

// How long clients may keep an answer.
const immutable, checked = "private, max-age=3600, immutable", "private, no-cache"

const (
	declaredOnly = "class abi_declared\nlist abi_declared\ncontract abi_declared\nhistory abi_declared\nevents class_abi\nsearch class_abi\ntx class_abi"
	provenExact  = "class %[1]s\nlist %[1]s\ncontract %[1]s\nhistory %[1]s\nevents verified_abi\nsearch verified_abi\ntx verified_abi"
)

// TestReadsTellOfReceipts: all that shows a class says that its source was proven as long
// as a receipt counts, and not a moment longer than the trust document is read again;
// whatever was kept before is not sent any more.
func TestReadsTellOfReceipts(t *testing.T) {
	v := newVerifiedWorld(t, 60)
	p := v.subject()
	expect := func(what, want string) {
		t.Helper()
		for range 2 { // the second time by what was kept
			if got := v.said(job.Chain, p); got != want {
				t.Fatalf("%s:\n%s\nwant\n%s", what, got, want)
			}
		}
		if got := v.said(chainID, p); got != declaredOnly {
			t.Fatalf("%s, on the other chain:\n%s", what, got)
		}
	}
	exactly := func(r *receipt.Receipt, n int) string {
		t.Helper()
		entry, err := logproof.Entry(r)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(provenExact, fmt.Sprintf("verified_exact by receipt of service, %d: %s at %s", n, fmt.Sprintf("sha256:%x", entry)[:15], r.Evidence.IssuedAt))
	}
	txPath := "/v1/" + job.Chain + "/tx/" + p.tx.String()
	caching := func(want string) reply {
		t.Helper()
		r := v.Do(http.MethodGet, txPath, v.Key)
		servertest.Expect(t, r, http.StatusOK, "", map[string]string{"Cache-Control": want})
		return r
	}
	expect("without a receipt", declaredOnly)
	caching(immutable)

	// A receipt that names a block of another chain counts for nothing here.
	v.maker.Receipt(t, p.class, 0, felt.FromUint64(0xbad))
	v.maker.Receipt(t, p.class, 1_000_000, v.Chain.BlockAt(0).Hash)
	expect("before anybody looked", declaredOnly)
	v.receipts.Refresh(t.Context())
	expect("with a declaration elsewhere", declaredOnly)

	first := v.maker.Receipt(t, p.class, 0, v.Chain.BlockAt(0).Hash)
	v.receipts.Refresh(t.Context())
	expect("with a receipt", exactly(first, 1))
	told := caching(checked)

	// The same again by another key, and then the first is revoked.
	v.Clock.Advance(time.Minute)
	var err error
	if v.maker.Key, err = v.ring.Rotate(keyring.New{ID: "second"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	second := v.maker.Receipt(t, p.class, 0, v.Chain.BlockAt(0).Hash)
	v.receipts.Refresh(t.Context())
	expect("with two", exactly(first, 2))
	if _, err := v.ring.Revoke("first"); err != nil {
		t.Fatal(err)
	}
	v.receipts.Refresh(t.Context())
	expect("with the second alone", exactly(second, 1))
	if _, err := v.ring.Revoke("second"); err != nil {
		t.Fatal(err)
	}
	v.receipts.Refresh(t.Context())
	expect("with both keys revoked", declaredOnly)
	caching(immutable)
	stale := v.Do(http.MethodGet, txPath, v.Key, "If-None-Match", told.Header.Get("ETag"))
	servertest.Expect(t, stale, http.StatusOK, "", nil)
}

// TestCallsTellOfReceipts: the names and arguments of what was called say so, too.
func TestCallsTellOfReceipts(t *testing.T) {
	v := newVerifiedWorld(t, 60)
	p := v.subject()
	v.maker.Receipt(t, p.class, 0, v.Chain.BlockAt(0).Hash)
	v.receipts.Refresh(t.Context())
	found := 0
	for n := range uint64(40) {
		for _, truth := range v.Chain.BlockAt(n).Transactions {
			var there, here api.Tx
			v.on(chainID, "/tx/"+truth.Hash.String(), &there)
			v.on(job.Chain, "/tx/"+truth.Hash.String(), &here)
			for i, c := range here.AccountCalls {
				was, is := there.AccountCalls[i].MethodNameSource, c.MethodNameSource
				if of := c.CallTimeClassHash; was == nil || of == nil || *of != p.class || *was != "class_abi" {
					if fmt.Sprint(value(was)) != fmt.Sprint(value(is)) {
						t.Errorf("a call of %v is named by %v, not %v", of, value(is), value(was))
					}
					continue
				}
				if found++; *is != "verified_abi" || value(there.AccountCalls[i].DecodedArgumentsSource) == "class_abi" && value(c.DecodedArgumentsSource) != "verified_abi" {
					t.Errorf("the call has its name by %v and its arguments by %v", value(is), value(c.DecodedArgumentsSource))
				}
				if i > 0 {
					continue
				}
				var previews api.TransactionPreviews
				r := v.Send(v.Request(http.MethodPost, "/v1/"+job.Chain+"/tx/previews", `{"hashes":["`+truth.Hash.String()+`"]}`))
				if err := json.Unmarshal(r.Body, &previews); err != nil {
					t.Fatal(err)
				}
				var sent struct {
					Items []struct{ TxHash, PrimaryMethodSource string }
				}
				v.on(job.Chain, "/address/"+here.FromAddress.String()+"/transactions?limit=100", &sent)
				for _, row := range sent.Items {
					if row.TxHash == truth.Hash.String() && row.PrimaryMethodSource != "verified_abi" {
						t.Errorf("in a list it is %q", row.PrimaryMethodSource)
					}
				}
				if got := value(previews.Items[0].PrimaryMethodSource); got != "verified_abi" {
					t.Errorf("in a preview it is %q", got)
				}
			}
		}
		if found > 3 {
			return
		}
	}
	t.Fatal("nobody calls the class")
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestForkedDeclarationsProveNothing: a receipt counts while the block that it names is on
// the chain, and not for the very next request after a fork took it.
func TestForkedDeclarationsProveNothing(t *testing.T) {
	v := newVerifiedWorld(t, 40)
	tier := func() (string, uint64) {
		t.Helper()
		var list api.ClassPage
		v.on(job.Chain, "/classes?sort=declared_at_desc&limit=100", &list)
		for _, c := range list.Items {
			if c.VerificationTier == "verified_exact" {
				return c.ClassHash.String(), *c.DeclaredBlock
			}
		}
		return "", 0
	}
	var list api.ClassPage
	v.on(job.Chain, "/classes?sort=declared_at_desc&limit=1", &list)
	class, number := list.Items[0].ClassHash, *list.Items[0].DeclaredBlock
	if number < 20 {
		t.Fatalf("the newest declaration is in block %d", number)
	}
	v.maker.Receipt(t, class, number, v.Chain.BlockAt(number).Hash)
	old := v.maker.Receipt(t, list.Items[0].ClassHash, 0, v.Chain.BlockAt(number).Hash) // a number that fits no hash
	v.receipts.Refresh(t.Context())
	if got, at := tier(); got != class.String() || at != number {
		t.Fatalf("verified is %q of block %d; receipt %d", got, at, old.Evidence.ReceiptID)
	}
	var one api.ClassDetail
	if v.on(job.Chain, "/class/"+class.String(), &one); *one.VerificationClaimCount != 1 {
		t.Errorf("%d receipts count", *one.VerificationClaimCount)
	}
	// A fork above it changes nothing.
	head, _ := v.Chain.Head()
	v.Chain.Fork(int(head - number))
	v.Chain.Extend(1)
	v.CatchUp()
	if got, _ := tier(); got != class.String() {
		t.Fatalf("after a fork above the declaration %q is verified", got)
	}
	head, _ = v.Chain.Head()
	v.Chain.Fork(int(head-number) + 1)
	v.Chain.Extend(1)
	v.CatchUp()
	if got, at := tier(); got != "" {
		t.Fatalf("%s is verified by the block %d of another branch", got, at)
	}
}

// TestOlderViewOfVerification: a workspace sees its own last job about the contract's class
// unless it succeeded, and nobody sees those of others.
func TestOlderViewOfVerification(t *testing.T) {
	v := newVerifiedWorld(t, 60)
	p := v.subject()
	path := "/v1/" + job.Chain + "/contract/" + p.contract.String() + "/verification"
	stranger, _ := v.Stranger("stranger", account.Free, account.Limits{})
	// expect asks as the owner and as those who must not see anything.
	expect := func(status, failure, state string) {
		t.Helper()
		absent := v.Do(http.MethodGet, "/v1/"+chainID+"/contract/"+p.contract.String()+"/verification", v.Key)
		servertest.Expect(t, absent, http.StatusNotFound, "not_found", nil)
		r := v.Do(http.MethodGet, path, stranger)
		servertest.Expect(t, r, http.StatusNotFound, "not_found", map[string]string{"Deprecation": "true"})
		if r.Envelope().Message != absent.Envelope().Message {
			t.Errorf("others are told %q", r.Envelope().Message)
		}
		r = v.Do(http.MethodGet, path, v.Key)
		if status == "" {
			servertest.Expect(t, r, http.StatusNotFound, "not_found", nil)
			return
		}
		servertest.Expect(t, r, http.StatusOK, "", map[string]string{"Deprecation": "true", "Cache-Control": "private, no-store"})
		var got api.ContractVerification
		if err := json.Unmarshal(r.Body, &got); err != nil {
			t.Fatal(err)
		}
		if got.VerificationStatus != status || value(got.VerificationError) != failure || got.Metadata.State != state || *got.ClassHash != p.class || got.ContractAddress != p.contract ||
			got.ChainID != job.Chain || got.VerifiedAtISO != nil || got.SourceRef != nil {
			t.Errorf("%s", r.Body)
		}
		if strings.Contains(string(r.Body), "verified_exact") {
			t.Errorf("it says %s", r.Body)
		}
	}
	expect("", "", "")
	v.maker.Compare(t, felt.FromUint64(0x5eed)) // about another class
	expect("", "", "")
	end := func() {
		t.Helper()
		w := v.maker.Jobs
		list, err := w.List(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Cancel(t.Context(), "key", v.Space.ID, job.Chain, list[0].ID); err != nil {
			t.Fatal(err)
		}
		v.Clock.Advance(time.Second)
	}
	end()
	v.maker.Create(t, p.class)
	expect("pending", "", "awaiting_upload")
	v.Clock.Advance(job.Standard.UploadWindow)
	expect("failed", "expired", "expired")
	work := v.maker.Compare(t, p.class)
	expect("pending", "", "comparing")
	if err := v.maker.Jobs.Differ(t.Context(), work, []string{"abi"}); err != nil {
		t.Fatal(err)
	}
	expect("failed", "class_hash_mismatch", "mismatch")
	v.Clock.Advance(time.Second)
	v.maker.Create(t, p.class)
	end()
	expect("failed", "cancelled", "cancelled")
	v.maker.Receipt(t, p.class, 0, v.Chain.BlockAt(0).Hash)
	v.receipts.Refresh(t.Context())
	expect("", "", "")
	servertest.Expect(t, v.Do(http.MethodGet, "/v1/"+job.Chain+"/contract/0x77/verification", v.Key), http.StatusNotFound, "not_found", nil)
}

// TestReadsWhileReceiptsChange: whoever reads while a key is revoked and trusted again, and
// while the chain forks, gets one or the other whole, and never the old word afterwards.
func TestReadsWhileReceiptsChange(t *testing.T) {
	servertest.Watched(t)
	v := newVerifiedWorld(t, 60)
	p := v.subject()
	v.maker.Receipt(t, p.class, 0, v.Chain.BlockAt(0).Hash)
	trust := v.maker.Key.Trust
	good, err := os.ReadFile(trust)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.ring.Revoke("first"); err != nil {
		t.Fatal(err)
	}
	revoked, err := os.ReadFile(trust)
	if err != nil {
		t.Fatal(err)
	}
	// ask reads the class and a transaction that it logged in.
	ask := func() string {
		var c api.ClassDetail
		var tx api.Tx
		for path, out := range map[string]any{"/class/" + p.class.String(): &c, "/tx/" + p.tx.String(): &tx} {
			if r := v.Do(http.MethodGet, "/v1/"+job.Chain+path, v.Key); json.Unmarshal(r.Body, out) != nil || r.StatusCode != http.StatusOK {
				t.Errorf("GET %s: %d %s", path, r.StatusCode, r.Body)
				return ""
			}
		}
		word := c.VerificationTier
		if (c.VerificationSource != nil) != (word == "verified_exact") || (c.VerificationClaimCount != nil) != (word == "verified_exact") {
			t.Errorf("half a word: %+v", c.SourceFacts)
		}
		for _, l := range tx.Logs {
			if l.EventTimeClassHash != nil && *l.EventTimeClassHash == p.class {
				return word + " " + value(l.EventNameSource)
			}
		}
		return word
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				ask()
			}
		})
	}
	for i := range 6 {
		text, want := good, "verified_exact verified_abi"
		if i%2 == 1 {
			text, want = revoked, "abi_declared class_abi"
		}
		if err := os.WriteFile(trust, text, 0o600); err != nil {
			t.Fatal(err)
		}
		v.receipts.Refresh(t.Context())
		if got := ask(); got != want {
			t.Errorf("the next one reads %s, want %s", got, want)
		}
		v.Chain.Fork(2)
		v.Chain.Extend(1)
		v.CatchUp()
	}
	stop()
	readers.Wait()
}

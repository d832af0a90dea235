package publication_test

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/publication"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/revocation"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/translog"
)

// Where pages come from: the first may send credentials.
const (
	allowedOrigin = "https://explorer.example"
	strangeOrigin = "https://elsewhere.example"
)

type bench struct {
	t      *testing.T
	url    string
	db     *control.DB
	ring   *keyring.Ring
	log    *translog.Log
	signer *signer.Signer
	key    string

	mu sync.Mutex
	at time.Time
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

func newBench(t *testing.T, published bool) *bench {
	t.Helper()
	b := &bench{t: t, at: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	var err error
	if b.db, err = control.Open(t.Context(), control.Options{Path: controltest.File(t)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.db.Close() }) //nolint:errcheck // a test's
	secret := b.db.CursorSecret()
	k, err := kernel.New(kernel.Options{Keys: account.NewAuthenticator(account.NewRepository(b.db, account.Options{}), nil), Cursors: kernel.NewCursors(secret[:]), Address: "127.0.0.1:1",
		Origins: []string{allowedOrigin}, AnonymousPerMinute: -1})
	if err != nil {
		t.Fatal(err)
	}
	b.ring = &keyring.Ring{Dir: filepath.Join(t.TempDir(), "keys")}
	m, err := b.ring.Create(keyring.New{ID: "first"}, "log.example/receipts")
	if err != nil {
		t.Fatal(err)
	}
	public, text, err := keyring.ReadLogPublic(m.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	b.key, b.log = text, translog.New(b.db, public)
	if b.signer, err = signer.Open(signer.Options{Keys: []string{m.Path}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.signer.Close() }) //nolint:errcheck // a test's
	o := publication.Options{Now: b.now, Revoked: revocation.New(b.db, b.now)}
	if published {
		o.Trust, o.Log, o.LogKey = m.Trust, b.log, text
	}
	if err := publication.New(k, o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func (b *bench) get(path string, header ...string) (*http.Response, []byte) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp, body
}

func newReceipt(t *testing.T, id int) (*receipt.Receipt, []byte) {
	t.Helper()
	r, err := receipt.Sign(receipt.Evidence{
		JobID: "vrf_" + strings.Repeat("a", 24), ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: uint64(id), Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-05-01T12:00:00Z",
	}, "test", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, text
}

func (b *bench) add(ids ...int) {
	b.t.Helper()
	if err := b.db.Update(b.t.Context(), func(tx *sql.Tx) error {
		for _, id := range ids {
			_, text := newReceipt(b.t, id)
			if _, err := translog.Append(b.t.Context(), tx, text); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
}

func TestTrustDocument(t *testing.T) {
	b := newBench(t, true)
	resp, body := b.get(publication.TrustPath)
	trust, err := receipt.ParseTrust(body)
	if err != nil || resp.StatusCode != 200 || trust.Keys[0].ID != "first" || !strings.Contains(resp.Header.Get("Cache-Control"), "public, max-age=") || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("%v %v %s (%v)", resp.StatusCode, resp.Header, body, err)
	}
	older := body
	tag := resp.Header.Get("ETag")
	if resp, body := b.get(publication.TrustPath, "If-None-Match", tag); resp.StatusCode != 304 || len(body) > 0 {
		t.Errorf("a copy that is good: %d", resp.StatusCode)
	}
	// A revocation is published without a restart.
	if _, err := b.ring.Revoke("first"); err != nil {
		t.Fatal(err)
	}
	b.pass(2 * time.Second)
	_, body = b.get(publication.TrustPath, "If-None-Match", tag)
	if trust, err = receipt.ParseTrust(body); err != nil || trust.Keys[0].RevokedAt == nil {
		t.Errorf("after the revocation: %s (%v)", body, err)
	}
	// What is no trust document is not passed on, nor one that takes the revocation back.
	for _, text := range []string{`{"keys":[]}`, string(older)} {
		if err := os.WriteFile(filepath.Join(b.ring.Dir, keyring.TrustFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			b.pass(2 * time.Second)
			if resp, body := b.get(publication.TrustPath); resp.StatusCode != 503 || strings.Contains(string(body), b.ring.Dir) {
				t.Errorf("%.20s: %d %s", text, resp.StatusCode, body)
			}
		}
	}
}

func TestLog(t *testing.T) {
	b := newBench(t, true)
	if _, body := b.get("/receipt-log/key"); string(body) != b.key+"\n" {
		t.Errorf("the key is %s", body)
	}
	if resp, _ := b.get("/receipt-log/checkpoint"); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("an empty log: %d", resp.StatusCode)
	}
	var ids []int
	for id := 1; id <= 258; id++ {
		ids = append(ids, id)
	}
	b.add(ids...)
	if _, err := b.log.Publish(t.Context(), b.signer); err != nil {
		t.Fatal(err)
	}
	b.add(259)
	r, _ := newReceipt(t, 257)
	path, err := publication.ProofPath(r)
	if err != nil {
		t.Fatal(err)
	}
	resp, body := b.get(path)
	proof, err := logproof.Parse(body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %s (%v)", resp.StatusCode, body, err)
	}
	public, _, err := keyring.ReadLogPublic(filepath.Join(b.ring.Dir, keyring.LogPublicFile))
	if err != nil {
		t.Fatal(err)
	}
	if head, err := proof.Verify(r, public); err != nil || head.Size != 258 || proof.Index != 256 {
		t.Errorf("%+v (%v)", proof, err)
	}
	_, signed := b.get("/receipt-log/checkpoint")
	head, err := logproof.OpenCheckpoint(signed, public)
	if err != nil {
		t.Fatal(err)
	}
	// The whole tree over HTTP: the root follows from the tiles.
	tiles := &overHTTP{b}
	root, err := tlog.TreeHash(head.Size, tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: head.Root}, tiles))
	if err != nil || root != head.Root {
		t.Errorf("the root from tiles: %v (%v)", root, err)
	}
	if resp, body := b.get("/receipt-log/tile/entries/001.p/2"); resp.StatusCode != 200 || len(body) != 2*34 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("entries: %d, %d bytes, %v", resp.StatusCode, len(body), resp.Header)
	}
	unpublished, _ := newReceipt(t, 259)
	later, err := publication.ProofPath(unpublished)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		later: 503, "/receipt-log/proof/" + strings.Repeat("0", 64): 404, strings.ToUpper(path[len("/receipt-log/proof/"):]): 404, "/receipt-log/proof/12": 404,
		"/receipt-log/tile/0/000": 200, "/receipt-log/tile/0/001.p/2": 200, "/receipt-log/tile/0/001.p/3": 404, "/receipt-log/tile/0/001": 404, "/receipt-log/tile/1/000.p/1": 200,
		"/receipt-log/tile/2/000.p/1": 404, "/receipt-log/tile/0/0": 404, "/receipt-log/tile/0/x000/000": 404, "/receipt-log/tile/data/000": 404, "/receipt-log/tile/8/0/000": 404,
		"/receipt-log/tile/0/001.p/256": 404, "/receipt-log/tile/0/001.p/0": 404, "/receipt-log/tile/": 404, "/receipt-log/tile/-1/000": 404,
	} {
		if !strings.HasPrefix(path, "/") {
			path = "/receipt-log/proof/" + path
		}
		resp, body := b.get(path)
		if resp.StatusCode != want || want != 200 && !strings.Contains(string(body), `"code"`) {
			t.Errorf("%s: %d %s, want %d", path, resp.StatusCode, body, want)
		}
	}
}

// overHTTP reads tiles as a monitor does.
type overHTTP struct{ b *bench }

func (o *overHTTP) Height() int                     { return 8 }
func (o *overHTTP) SaveTiles([]tlog.Tile, [][]byte) {}
func (o *overHTTP) ReadTiles(list []tlog.Tile) (out [][]byte, err error) {
	for _, t := range list {
		resp, body := o.b.get("/receipt-log/" + strings.Replace(t.Path(), "tile/8/", "tile/", 1))
		if resp.StatusCode != 200 {
			return nil, fmt.Errorf("%s: %d", t.Path(), resp.StatusCode)
		}
		out = append(out, body)
	}
	return out, nil
}

func TestNothingIsPublished(t *testing.T) {
	b := newBench(t, false)
	for _, path := range []string{publication.TrustPath, "/receipt-log/key", "/receipt-log/checkpoint", "/receipt-log/tile/0/000", "/receipt-log/proof/" + strings.Repeat("0", 64)} {
		if resp, body := b.get(path); resp.StatusCode != 404 || !strings.Contains(string(body), "issues no verification receipts") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

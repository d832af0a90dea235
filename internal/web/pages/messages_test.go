package pages_test

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
)

// longChain is one with more messages and movements than fit on a page.
const longChain = 140

var (
	rowLink  = regexp.MustCompile(`data-label="Message"><a [^>]*data-value="(0x[0-9a-f]{64})"`)
	nextLink = regexp.MustCompile(`rel="next" href="([^"]*)">next page`)
)

// walk follows a list from page to page and returns the first group of all matches.
func (w *world) walk(path string, row *regexp.Regexp) (found []string) {
	w.T.Helper()
	for pages := 0; path != ""; pages++ {
		if pages > 50 {
			w.T.Fatalf("%s: the list does not end", path)
		}
		page := w.look(path, http.StatusOK)
		for _, m := range row.FindAllStringSubmatch(page, -1) {
			found = append(found, m[1])
		}
		path = ""
		if next := nextLink.FindStringSubmatch(page); next != nil {
			path = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	return found
}

// TestMessages walks the lists of messages and finds those of the chain, each once and in
// order; the page of each tells what the API tells of it.
func TestMessages(t *testing.T) {
	w := sharedWorld(t, longChain)
	var all, toL1 []string
	for _, m := range w.Chain.Messages(0, longChain-1) {
		hash := "0x" + hex.EncodeToString(m.Hash[:])
		all = append(all, hash)
		if m.ToL1 {
			toL1 = append(toL1, hash)
		}
	}
	slices.Reverse(all)
	slices.Reverse(toL1)
	if len(all) < 26 || len(toL1) == 0 || len(toL1) == len(all) {
		t.Fatalf("the chain has %d messages, %d of them to L1", len(all), len(toL1))
	}
	base := "/" + chainID + "/messages"
	if got := w.walk(base, rowLink); !slices.Equal(got, all) {
		t.Errorf("%d messages, want %d", len(got), len(all))
	}
	if got := w.walk(base+"?direction=l2_to_l1", rowLink); !slices.Equal(got, toL1) {
		t.Errorf("%d messages to L1, want %d", len(got), len(toL1))
	}
	for _, hash := range slices.Compact(slices.Sorted(slices.Values(all))) {
		var list api.MessagePage
		w.Get("/message/"+hash, &list)
		m := &list.Items[0]
		page := w.page("/message/" + hash)
		want := []string{hash, m.TxHash.String(), *m.TimestampISO, m.L1ContractAddress.String(), m.L2ContractAddress.String()}
		for _, f := range m.Payload {
			want = append(want, f.String())
		}
		if i := m.Interpretation; i != nil {
			want = append(want, *i.AmountRaw, i.Recipient.String())
		}
		got := values(page)
		for _, v := range want {
			if !slices.Contains(got, v) {
				t.Errorf("%s: the page does not show %s", hash, v)
			}
		}
		for status, word := range map[string]string{"consumed_on_l2": "arrived on Starknet", "failed_on_l2": "failed on Starknet",
			"sent_pending_l1_acceptance": "on its way to Ethereum", "sent_l1_consumption_unknown": "ready on Ethereum"} {
			if shown := strings.Contains(page, "<summary>"+word+"</summary>"); shown != (status == m.Status) {
				t.Errorf("%s is %s, and the page says %q: %t", hash, m.Status, word, shown)
			}
		}
		// What L1 did is not known, and not drawn as reached or failed.
		if m.Direction == "l2_to_l1" && !strings.Contains(page, "not known: L1 is not indexed") && !strings.Contains(page, "not before the block is accepted") {
			t.Errorf("%s: the page does not say that L1 is not indexed", hash)
		}
	}
}

// TestFindMessage: whatever somebody has of a transfer leads to it.
func TestFindMessage(t *testing.T) {
	w := sharedWorld(t, longChain)
	var list api.MessagePage
	w.Get("/messages?limit=1", &list)
	m := &list.Items[0]
	base := "/" + chainID + "/messages"
	for q, want := range map[string]string{
		m.MessageHash:                "/" + chainID + "/message/" + m.MessageHash,
		m.TxHash.String():            base + "?txHash=" + m.TxHash.String(),
		m.L1ContractAddress.String(): base + "?contract=" + m.L1ContractAddress.String(),
	} {
		r := w.Do(http.MethodGet, base+"?q="+q, "")
		if got := r.Header.Get("Location"); r.StatusCode != http.StatusFound || got != want {
			t.Errorf("%s: %d %s, want %s", q, r.StatusCode, got, want)
		}
		if page := w.look(want, http.StatusOK); !strings.Contains(page, m.MessageHash) {
			t.Errorf("%s does not show the message", want)
		}
	}
	if page := w.look(base+"?contract=0x77", http.StatusOK); !strings.Contains(page, "No indexed message matches.") {
		t.Error("a contract without messages does not say so")
	}
	for path, status := range map[string]int{"/messages?q=seven": 400, "/messages?direction=up": 400, "/messages?txHash=7x": 400, "/messages?contract=x": 400, "/messages?cursor=AAAA": 400, "/messages?bridge=x": 400,
		"/message/0xnothex": 400, "/message/0x" + strings.Repeat("0", 60) + "1234": 404, "/messages?q=0x" + strings.Repeat("f", 64): 404} {
		if page := w.look("/"+chainID+path, status); !strings.Contains(page, "/docs/") {
			t.Errorf("%s: no help in %s", path, clip(page))
		}
	}
}

// TestBridgeMovements: the list of a bridge says what it moved, as the API does.
func TestBridgeMovements(t *testing.T) {
	w := sharedWorld(t, longChain)
	seen := 0
	for _, b := range w.Registry.Bridges() {
		path := "/messages?bridge=" + b.L2.String()
		var list api.BridgeSignalPage
		w.Get("/contract/"+b.L2.String()+"/bridge-signals?limit=25", &list)
		got := values(w.page(path))
		for i := range list.Items {
			s := &list.Items[i]
			for _, v := range []*string{s.MessageHash, s.AmountRaw} {
				if v != nil && !slices.Contains(got, *v) {
					t.Errorf("%s: the page does not show %s", b.Name, *v)
				}
			}
			if s.AmountRaw != nil {
				seen++
			}
		}
		if page := w.page("/messages"); !strings.Contains(page, "?bridge="+b.L2.String()) {
			t.Errorf("no link to %s", b.Name)
		}
	}
	if seen == 0 {
		t.Error("no bridge moved anything")
	}
	if page := w.page("/messages?bridge=0x77"); !strings.Contains(page, "not in the registry of bridges") {
		t.Error("a contract that is no bridge is not told apart")
	}
}

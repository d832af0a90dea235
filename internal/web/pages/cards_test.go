package pages_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/chart"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/web"
	"chainexplorer/internal/web/card"
)

// largestCard is how large a picture may be.
const largestCard = 60 << 10

var sharedPicture = regexp.MustCompile(`<meta property="og:image" content="([^"]*)">`)

// pictured fetches the picture that a page names.
func (w *world) pictured(path string) servertest.Reply {
	w.T.Helper()
	found := sharedPicture.FindStringSubmatch(w.look(path, http.StatusOK))
	if found == nil || !strings.HasPrefix(found[1], w.Server.BaseURL+"/") {
		w.T.Fatalf("%s names the picture %q", path, found)
	}
	at := strings.TrimPrefix(found[1], w.Server.BaseURL)
	r := w.Do(http.MethodGet, at, "")
	p, err := png.Decode(bytes.NewReader(r.Plain()))
	if err != nil || r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "image/png" || r.Header.Get("ETag") == "" || len(r.Plain()) > largestCard {
		w.T.Fatalf("%s: %d %v %v, %d bytes", at, r.StatusCode, err, r.Header, len(r.Plain()))
	}
	if size := p.Bounds().Size(); size.X != card.Wide || size.Y != card.High {
		w.T.Errorf("%s is of the size %v", at, size)
	}
	if again := w.Do(http.MethodGet, at, "", "If-None-Match", r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		w.T.Errorf("%s again: %d", at, again.StatusCode)
	}
	return r
}

// TestCards: the pages that are shared most have a picture, which says what the chain does
// and not what a token calls itself.
func TestCards(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	l := ledgerOf(w)
	same := func(path string, want card.Card) {
		t.Helper()
		want.Foot = "Chain Explorer · as of block " + web.Group(l.head)
		want.Kind += " on " + chainID
		file, err := want.PNG()
		if err != nil {
			t.Fatal(err)
		}
		if got := w.pictured("/" + chainID + path); !bytes.Equal(got.Plain(), file) {
			t.Errorf("the picture of %s is not that of %+v", path, want)
		}
	}
	plural := func(n int, word string) string {
		if n != 1 {
			word += "s"
		}
		return fmt.Sprintf("%d %s", n, word)
	}
	short := func(f felt.Felt) string { return f.String()[:6] + "…" + f.String()[len(f.String())-4:] }
	moment := func(seconds uint64) string {
		return strings.NewReplacer("T", " ", "Z", " UTC").Replace(iso(seconds))
	}
	for n, settled := range map[uint64]string{truthBlocks - 1: "accepted on L2", truthBlocks - 15: "finalized", 3: "accepted on L1"} {
		b := w.Chain.BlockAt(n)
		events := 0
		for i := range b.Receipts {
			events += len(b.Receipts[i].Events)
		}
		same(fmt.Sprintf("/block/%d", n), card.Card{Kind: "Block", Title: fmt.Sprint(n), Facts: []string{moment(b.Timestamp), plural(len(b.Transactions), "transaction") + ", " + plural(events, "event"), settled}})
	}
	who := felt.MustParse(w.busiest())
	shifts := 0
	for _, d := range l.done[who] {
		if d.shift != nil {
			shifts++
		}
	}
	cells := chart.IdenticonCells(who[:])
	facts := []string{"account", plural(len(l.joined(who)), "transaction"), plural(shifts, "token transfer")}
	for _, part := range []string{"", "/holdings", "/transfers"} {
		same("/address/"+who.String()+part, card.Card{Kind: "Address", Title: short(who), Facts: facts, Cells: &cells})
	}
	known, unknown := 0, 0
	for _, k := range w.Chain.Tokens(l.head) {
		moves := 0
		for _, s := range l.shifts {
			if s.token.Address == k.Address {
				moves++
			}
		}
		entry, listed := w.Registry.Token(k.Address)
		_, like := w.Registry.Resembles(k.Address, k.Symbol)
		_, named := w.Registry.Resembles(k.Address, k.Name)
		if moves == 0 || like || named || known > 2 && listed || unknown > 4 && !listed {
			continue
		}
		cells := chart.IdenticonCells(k.Address[:])
		c := card.Card{Kind: "Token", Title: short(k.Address), Facts: []string{"unknown token", plural(moves, "transfer")}, Cells: &cells}
		if unknown++; listed {
			known, unknown = known+1, unknown-1
			c.Title, c.Facts = entry.Symbol, []string{short(k.Address), "known token", plural(moves, "transfer")}
		}
		same("/token/"+k.Address.String(), c)
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d known tokens, %d others", known, unknown)
	}
	tx := &w.Chain.BlockAt(40).Transactions[0]
	other := &w.Chain.BlockAt(40).Transactions[1]
	if bytes.Equal(w.pictured("/"+chainID+"/tx/"+tx.Hash.String()).Plain(), w.pictured("/"+chainID+"/tx/"+other.Hash.String()).Plain()) {
		t.Error("two transactions have one picture")
	}
	w.pictured("/")
}

// TestCardsRefused: a picture is of something that is there, and takes no words from anybody.
func TestCardsRefused(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for path, status := range map[string]int{
		"/block/x/card.png": 400, "/block/99999/card.png": 404, "/tx/0x1/card.png": 404, "/tx/x/card.png": 400, "/address/x/card.png": 400, "/token/x/card.png": 400, "/token/0x1234567/card.png": 404,
		"/block/3/card.png?title=hello": 400, "/address/0x5/card.png?v=1": 400,
	} {
		w.look("/"+chainID+path, status)
	}
	w.look("/card.png?text=hello", http.StatusBadRequest)
}

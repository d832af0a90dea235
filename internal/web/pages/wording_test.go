package pages_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// clumsy is what no page says: machine words, two words for one thing, and slips.
var clumsy = regexp.MustCompile(`(?i)\ban contract\b|burnt|\berc(20|721|1155)\b|by (openzeppelin|argent|braavos)\b|\d units? of (<[^>]*>)*BEING|\d+e-\d`)

// TestWording: pages call tokens, accounts and addresses as people do, and each by one name.
func TestWording(t *testing.T) {
	w := sharedWorld(t, 60)
	paths := []string{}
	for _, path := range everyPage(w) {
		paths = append(paths, path)
	}
	for _, a := range w.Chain.Accounts(5) {
		paths = append(paths, "/"+chainID+"/address/"+a.String(), "/"+chainID+"/address/"+a.String()+"/activity", "/"+chainID+"/contract/"+a.String())
	}
	for n := range 60 {
		paths = append(paths, fmt.Sprintf("/%s/block/%d", chainID, n))
	}
	things := false
	for _, path := range paths {
		page := w.look(path, http.StatusOK)
		if i := strings.Index(page, "<main"); i >= 0 {
			page = page[i:]
		}
		text := attributes.ReplaceAllString(page, "")
		if bad := clumsy.FindString(strings.ReplaceAll(text, "OpenZeppelin", "")); bad != "" {
			t.Errorf("%s says %q", path, bad)
		}
		things = things || strings.Contains(text, "#")
	}
	if !things {
		t.Error("no thing of a collection is called by its number")
	}
	builder := w.Chain.BlockAt(20).Sequencer
	label, ok := w.Registry.Label(builder)
	if !ok {
		t.Fatal("nobody knows the sequencer")
	}
	for _, path := range []string{"/block/20", "/address/" + w.busiest()} {
		if page := w.page(path); !strings.Contains(page, `data-value="`+builder.String()+`">`+label.Name+`</a>`) {
			t.Errorf("%s does not call the sequencer %q", path, label.Name)
		}
	}
	page := w.page("/address/0x0")
	for _, part := range []string{"<h1", "Zero address", "minted from it and burned to it", "It is no account", " minted to <a"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page of the zero address lacks %q", part)
		}
	}
	if page := w.page("/classes"); !strings.Contains(page, "ERC-20 token") {
		t.Error("no class is of an ERC-20 token")
	}
	if page := w.look("/"+chainID+"/events?contract=0x1&key1=1&from_block=1&to_block=9", http.StatusBadRequest); !strings.Contains(page, "a contract alone is not enough") {
		t.Error("a search without an event is not told so")
	}
}

// attributes of elements are for programs, but for titles.
var attributes = regexp.MustCompile(`\s(?:data-[a-z-]+|href|value|id|for|name|class|action)="[^"]*"`)

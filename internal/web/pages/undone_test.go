package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestUndone: what is not found after a fork may have been undone by it, and the page says
// what is known of that, for an hour.
func TestUndone(t *testing.T) {
	w := ownWorld(t, 40)
	head, mid := w.Chain.BlockAt(39), w.Chain.BlockAt(38)
	nowhere := fmt.Sprintf("/%s/tx/0x%x", chainID, 12345)
	if page := w.look(nowhere, http.StatusNotFound); strings.Contains(page, "fork") {
		t.Errorf("without a fork: %s", page)
	}
	w.Chain.Fork(3)
	w.Chain.Extend(1)
	w.CatchUp()
	w.Clock.Advance(2 * time.Second)
	const lately = "A fork above block 36 lately undid blocks 37 to 39."
	for path, want := range map[string]string{
		"/block/" + head.Hash.String(): "This was block 39, which was undone by a fork above block 36.",
		"/block/" + mid.Hash.String():  lately + " If this is the hash of one of them",
		"/tx/0x3039":                   lately + " If this transaction was in one of them, it is gone until it is in a block again.",
		"/block/4000":                  "",
		"/class/0x3039":                "",
	} {
		page := w.look("/"+chainID+path, http.StatusNotFound)
		if !strings.Contains(page, want) || strings.Contains(page, "undid blocks 37 to 39") != strings.HasPrefix(want, lately) {
			t.Errorf("%s: want %q: %s", path, want, page)
		}
	}
	if page := w.look("/"+chainID+"/block/"+head.Hash.String(), http.StatusNotFound); !strings.Contains(page, `href="/`+chainID+`/block/39"`) {
		t.Errorf("it does not lead on: %s", page)
	}
	w.Clock.Advance(1000 * time.Hour)
	if page := w.look(nowhere, http.StatusNotFound); strings.Contains(page, "lately") {
		t.Errorf("long after the fork: %s", page)
	}
}

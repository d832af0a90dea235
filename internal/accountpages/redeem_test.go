package accountpages_test

import (
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/account"
)

// TestRedeem: a code gives the workspace its plan, once; one that is no good says
// nothing of why, and is not shown again.
func TestRedeem(t *testing.T) {
	w := newWorld(t)
	_, space := w.Stranger("small", account.Free, account.Limits{})
	bob := w.SignIn("bob", space)
	_, code, err := w.Repo.CreateCode(t.Context(), account.NewCode{Plan: account.Growth})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, strings.Repeat("-", 9)+code)
	if page := w.page(bob, "/account/redeem"); !strings.Contains(page, "<strong>Free</strong>") {
		t.Error(page)
	}
	try := func(code string) (int, string) {
		r := w.send(bob, "/account/redeem", "code", code)
		if strings.Contains(string(r.Body), code) {
			t.Errorf("the page repeats %q", code)
		}
		if retry := r.Header.Get("Retry-After"); (r.StatusCode == http.StatusTooManyRequests) != (retry != "") {
			t.Errorf("%d with Retry-After %q", r.StatusCode, retry)
		}
		return r.StatusCode, said(r.Body)
	}
	if status, text := try("WRONG-WRONG-WRONG-WRONG"); status != http.StatusBadRequest || !strings.HasPrefix(text, "bad: ") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := try(" " + strings.ToLower(code)); status != 200 || !strings.Contains(text, "plan Growth") {
		t.Errorf("%d %s", status, text)
	}
	if page := w.page(bob, "/account"); !strings.Contains(page, "3,000 a minute") || !strings.Contains(page, "Growth") {
		t.Error("the overview has the plan from before")
	}
	if status, text := try(code); status != http.StatusBadRequest || !strings.HasPrefix(text, "bad: ") {
		t.Errorf("once more: %d %s", status, text)
	}
	_, same, err := w.Repo.CreateCode(t.Context(), account.NewCode{Plan: account.Growth})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := try(same); status != http.StatusConflict || !strings.Contains(text, "not used up") {
		t.Errorf("what gives nothing: %d %s", status, text)
	}
	for range 20 {
		if status, text := try("WRONG-WRONG-WRONG-WRONG"); status == http.StatusTooManyRequests {
			if !strings.Contains(text, "may be tried in") {
				t.Error(text)
			}
			return
		}
	}
	t.Error("one can guess for ever")
}

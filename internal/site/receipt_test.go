package site_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestReceiptPage checks every receipt of the vectors in a real browser.
func TestReceiptPage(t *testing.T) {
	ctx := browser(t)
	w := sharedWorld(t, 60)
	data, err := os.ReadFile("../verification/receipt/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Trust   json.RawMessage
		Vectors []struct{ Name, Receipt, Want string }
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Vectors) < 250 {
		t.Fatalf("%d vectors (%v)", len(file.Vectors), err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(w.URL+"/verify-receipt")); err != nil {
		t.Fatal(err)
	}
	ask := fmt.Sprintf(`(() => { const file = %s; window.answers = null;
		Promise.all(file.vectors.map((v) => verifyReceipt(v.receipt, JSON.stringify(file.trust), new Date(file.now)).then(() => "", (e) => e.message || "?"))).then((a) => { window.answers = a; }); return true; })()`, data)
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](ask)); err != nil {
		t.Fatal(err)
	}
	until := func(expression string) string {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("the page gave no answer (%v)", err)
			}
			if text != "" {
				return text
			}
		}
	}
	var answers []string
	if err := json.Unmarshal([]byte(until(`window.answers ? JSON.stringify(window.answers) : ""`)), &answers); err != nil || len(answers) != len(file.Vectors) {
		t.Fatalf("%d answers (%v)", len(answers), err)
	}
	good := ""
	for i, v := range file.Vectors {
		if (answers[i] == "") != (v.Want == "") {
			t.Errorf("%s: the browser says %q, want %q", v.Name, answers[i], v.Want)
		}
		if v.Name == "as it is issued" {
			good = v.Receipt
		}
	}
	// A file that is dropped is read; one that can be no receipt is not.
	drop := `(() => { const field = document.querySelector("#receipt"), data = new DataTransfer(); field.value = "";
		data.items.add(new File([%s], "receipt.json")); field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true })); return true; })()`
	for content, show := range map[string]string{quoted(t, good): `document.querySelector("#receipt").value`, `"x".repeat(65537)`: `document.querySelector("#receipt-outcome").textContent`} {
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(drop, content))); err != nil {
			t.Fatal(err)
		}
		if got := until(show); got != good && !strings.HasPrefix(got, "Not read: the file is larger") {
			t.Errorf("after a drop there is %.100q", got)
		}
	}
	// By hand, as people do; and the page cannot ask anybody.
	for receipt, want := range map[string]string{good: "Believed, if", strings.Replace(good, "0x123abc", "0x123abd", 1): "Not believed: the signature does not fit"} {
		fill := fmt.Sprintf(`(() => { document.querySelector("#receipt-outcome").textContent = ""; document.querySelector("#receipt").value = %s; document.querySelector("#trust").value = %s;
			document.querySelector("#receipt-check").click(); return true; })()`, quoted(t, receipt), quoted(t, string(file.Trust)))
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fill)); err != nil {
			t.Fatal(err)
		}
		if got := until(`document.querySelector("#receipt-outcome").textContent`); !strings.Contains(got, want) {
			t.Errorf("the page says %q, want %q", got, want)
		}
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`(window.asked = "", fetch("/healthz").then(() => { window.asked = "answered"; }, () => { window.asked = "refused"; }), true)`)); err != nil {
		t.Fatal(err)
	}
	if got := until(`window.asked`); got != "refused" {
		t.Errorf("a request of the page was %s", got)
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

package accountpages_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"chainexplorer/internal/signin"
)

// person sits at a real browser.
type person struct {
	*world
	ctx context.Context
}

func (w *world) person() *person {
	w.T.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		w.T.Skip("chromium is not installed: scripts/tools.sh installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(w.T.Context(), options...)
	w.T.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	w.T.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	w.T.Cleanup(cancel)
	return &person{w, ctx}
}

func (p *person) do(steps ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.T.Fatal(err)
	}
}

// open goes to a page.
func (p *person) open(path string) { p.T.Helper(); p.do(chromedp.Navigate(p.URL + path)) }

// press clicks, and waits for what is to appear.
func (p *person) press(what, until string) {
	p.T.Helper()
	p.do(chromedp.Click(chromedp.CSS(what)), chromedp.WaitVisible(chromedp.CSS(until)))
}

// eval asks the page, as its developer would.
func eval[T any](p *person, script string) T {
	p.T.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.T.Fatalf("%s: %v", script, err)
	}
	return v
}

// until waits for what the page will say.
func (p *person) until(script string) {
	p.T.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](script)); err != nil {
		p.T.Fatalf("%s: %v", script, err)
	}
}

// reads says what the page shows.
func (p *person) reads() string { p.T.Helper(); return eval[string](p, `document.body.innerText`) }

// wants holds what the page shows against texts.
func (p *person) wants(texts ...string) {
	p.T.Helper()
	page := p.reads()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			p.T.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}

// signIn follows a link and confirms it.
func (p *person) signIn(name string) {
	p.T.Helper()
	link, err := p.People.NewLink(p.T.Context(), name, p.Space.ID)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Secrets = append(p.Secrets, strings.Repeat("-", 9)+link.Token[4:])
	p.open(strings.TrimPrefix(signin.LinkURL(p.URL, link.Token), p.URL))
	p.press(`main button[type=submit]`, ".account")
}

// TestInABrowser is the life of a key as a person has it: sign in, issue, copy, call,
// see the call, revoke, be refused, sign out.
func TestInABrowser(t *testing.T) {
	w := newWorld(t)
	p := w.person()
	p.open("/account/keys") // who is not signed in is led away
	if at := eval[string](p, `location.pathname`); at != "/login" {
		t.Fatalf("at %s", at)
	}
	p.signIn("ada")
	if at := eval[string](p, `location.pathname + location.search`); at != "/account" {
		t.Fatalf("after the sign-in at %s", at)
	}
	p.wants("ada", "Begin with a key")
	if jar := eval[string](p, `document.cookie`); jar != "" {
		t.Error("a script can read the session")
	}
	p.press(`.tabs a[href="/account/keys"]`, `button[value=issue]`)
	p.press(`button[value=issue]`, ".secret")
	key := eval[string](p, `document.querySelector(".secret code").textContent`)
	w.Secrets = append(w.Secrets, key)
	if where := eval[string](p, `location.href`); strings.Contains(where, key[9:]) || where != w.URL+"/account/keys" {
		t.Errorf("the address has the key, or leads nowhere: %s", where)
	}
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		if _, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, browser.SetPermissionParams{Origin: w.URL, Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted}); err != nil {
			t.Fatal(err)
		}
	}
	name := eval[string](p, `document.querySelector(".copyable .copy").getAttribute("aria-label")`)
	p.do(chromedp.Click(chromedp.CSS(".copyable:has(.secret) .copy")))
	p.until(`document.querySelector(".copyable:has(.secret) .copy").textContent === "Copied"`)
	if copied := eval[string](p, `navigator.clipboard.readText()`); copied != key || name != "Copy the key" {
		t.Errorf("the button %q copied %d characters, want the %d of the key", name, len(copied), len(key))
	}
	if got := w.status(key); got != 200 {
		t.Errorf("the copied key: %d", got)
	}
	w.flush()
	p.press(`.tabs a[href="/account/usage"]`, "svg[role=img]")
	p.wants("/v1/{chain}/status", "By key", "By class")
	if bars := eval[int](p, `document.querySelectorAll("svg .answered").length`); bars != 2 { // and one in the legend
		t.Errorf("%d bars", bars)
	}
	p.open("/account/keys")
	p.do(chromedp.Click(chromedp.CSS(`td.act summary[aria-label^="Revoke the key default"]`)))
	p.press(`tr:has(summary[aria-label^="Revoke the key default"]) button[value=revoke]`, ".notice.good")
	p.wants("is revoked")
	if got := w.status(key); got != 401 {
		t.Errorf("the revoked key: %d", got)
	}
	p.do(chromedp.Click(chromedp.CSS(`.who button`)), chromedp.WaitNotPresent(chromedp.CSS(".account")))
	p.open("/account/keys")
	if at := eval[string](p, `location.pathname`); at != "/login" {
		t.Errorf("after the sign-out at %s", at)
	}
}

// TestWithoutScripts: what is read is read, and forms work, on every page.
func TestWithoutScripts(t *testing.T) {
	w := newWorld(t)
	w.record(w.Issue().Key, w.Clock.Now(), 5, 1, "light")
	w.flush()
	p := w.person()
	p.signIn("ada")
	if _, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/account": "60,000 a minute", "/account/keys": "Active keys", "/account/usage": "20.0% of them", "/account/members": "Your sessions"} {
		p.open(path)
		p.wants(want)
		if eval[int](p, `document.querySelectorAll("button.copy").length`) != 0 {
			t.Fatal("scripts run")
		}
	}
	p.open("/account/keys")
	p.press(`button[value=issue]`, ".secret")
	key := eval[string](p, `document.querySelector(".secret code").textContent`)
	w.Secrets = append(w.Secrets, key)
	if got := w.status(key); got != 200 {
		t.Errorf("the key: %d", got)
	}
}

// TestByKeyboardAndPhone: no page is wider than a telephone, keeps its own policy, and
// every control can be reached by the keyboard, where it shows.
func TestByKeyboardAndPhone(t *testing.T) {
	w := newWorld(t)
	w.record(w.Issue().Key, w.Clock.Now(), 30, 20, "heavy")
	w.flush()
	w.SignIn("a.person.with.a.very.long.name.indeed@department.of.long.names.example.org", w.Space)
	p := w.person()
	p.signIn("ada")
	for _, width := range []int64{390, 1280} {
		p.do(chromedp.EmulateViewport(width, 844))
		for _, path := range append(paths, "/account/usage?window=30d") {
			p.open(path)
			eval[bool](p, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
			if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s is %d wide on a screen of %d", path, wide, width)
			}
			lost := eval[[]string](p, `[...document.querySelectorAll("main a, main button, main summary, main input:not([type=hidden])")].filter((e) => {
				e.focus();
				return document.activeElement !== e || e.getBoundingClientRect().width < 8;
			}).map((e) => e.outerHTML)`)
			if len(lost) > 0 {
				t.Errorf("%s: out of reach: %v", path, lost)
			}
		}
	}
	p.open("/account/members")
	p.do(chromedp.SendKeys(chromedp.CSS("#name"), "carol\r"), chromedp.WaitVisible(chromedp.CSS(".secret")))
	token := eval[string](p, `new URL(document.querySelector(".secret code").textContent).searchParams.get("token")`)
	w.Secrets = append(w.Secrets, strings.Repeat("-", 9)+token[4:])
	p.wants("The link for carol")
}

package walk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os/exec"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// visitTime bounds what a page may take, on a machine that does other things as well.
const visitTime = 3 * time.Minute

// ErrNoBrowser says that there is nothing to look with.
var ErrNoBrowser = errors.New("chromium is not installed: scripts/tools.sh installs it")

// Browser is one tab of a real browser.
type Browser struct {
	ctx   context.Context
	next  func() (chromedp.ConsoleMessage, error, bool)
	marks int
	axe   string
}

// Screen is what a page is looked at on.
type Screen struct {
	Width, Height int64
	Dark          bool
}

func (s Screen) String() string {
	theme := "light"
	if s.Dark {
		theme = "dark"
	}
	return strconv.FormatInt(s.Width, 10) + " " + theme
}

// Open starts a browser, which ends with ctx or by close. With the source of axe-core,
// visits look for what keeps people from using a page.
func Open(ctx context.Context, axe string) (b *Browser, close func(), err error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, ErrNoBrowser
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	ctx, endAll := chromedp.NewExecAllocator(ctx, options...)
	ctx, endTab := chromedp.NewContext(ctx)
	next, stop := iter.Pull2(chromedp.Console(ctx))
	return &Browser{ctx: ctx, next: next, axe: axe}, func() { endTab(); stop(); endAll() }, nil
}

// Judge sets the source of axe-core; with "" visits do without.
func (b *Browser) Judge(axe string) { b.axe = axe }

// Do runs actions in the tab, for at most as long as a visit.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, visitTime)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// Press presses keys as people do: a key that the page takes for itself writes nothing.
func (b *Browser) Press(keys string) error {
	return b.Do(chromedp.KeyEvent(keys, func(e *input.DispatchKeyEventParams) {
		if e.Type == kb.KeyDown { // which writes whatever the page says
			e.Type = kb.KeyRawDown
		}
	}))
}

// Eval is the value of an expression in the page, which is waited for if it is a promise.
func Eval[T any](b *Browser, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, visitTime)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return v, fmt.Errorf("evaluate %.80q: %w", expression, err)
	}
	return v, nil
}

// Until waits until an expression is true in the page, whichever page that is by then.
func (b *Browser) Until(expression string) error {
	ctx, cancel := context.WithTimeout(b.ctx, visitTime)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if yes && err == nil {
			return nil
		}
		select {
		case <-again.C: // a page that is being left fails, too
		case <-ctx.Done():
			return fmt.Errorf("wait for %.200s: %w", expression, errors.Join(ctx.Err(), err))
		}
	}
}

// Show sets the screen: its size, and the theme that the reader prefers.
func (b *Browser) Show(s Screen) error {
	theme := "light"
	if s.Dark {
		theme = "dark"
	}
	if err := b.Do(chromedp.EmulateViewport(s.Width, s.Height)); err != nil {
		return fmt.Errorf("set the size of the screen: %w", err)
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	if err != nil {
		return fmt.Errorf("set the theme: %w", err)
	}
	return nil
}

// Print shows pages as they are on paper, or on the screen again. Whatever the reader
// prefers, the paper is white.
func (b *Browser) Print(paper bool) error {
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	if paper {
		media.Media = "print"
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		return fmt.Errorf("set the medium: %w", err)
	}
	return nil
}

// Attend has pages behave as those of a window that has the focus, and hear of where it goes.
func (b *Browser) Attend() error {
	_, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	if err != nil {
		return fmt.Errorf("give the focus: %w", err)
	}
	return nil
}

// Scripts lets pages run theirs, or not.
func (b *Browser) Scripts(run bool) error {
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
	if err != nil {
		return fmt.Errorf("switch scripts: %w", err)
	}
	return nil
}

// Picture is what the screen shows, as PNG.
func (b *Browser) Picture() ([]byte, error) {
	ctx, cancel := context.WithTimeout(b.ctx, visitTime)
	defer cancel()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// Complaints are the errors that the browser told of since they were last asked for:
// exceptions, what the policy of the page forbids, and requests that failed.
func (b *Browser) Complaints() (all []string, err error) {
	// Messages come in order: whatever was said before this one is there when it is.
	b.marks++
	mark := "walk: so far " + strconv.Itoa(b.marks)
	if _, err := Eval[bool](b, `(console.debug("`+mark+`"), true)`); err != nil {
		return nil, err
	}
	for {
		m, err, ok := b.next()
		switch {
		case err != nil:
			return all, fmt.Errorf("read the console: %w", err)
		case !ok:
			return all, errors.New("the console ended")
		case m.Text == mark:
			return all, nil
		case m.Type == chromedp.ConsoleError || m.IsException():
			all = append(all, fmt.Sprintf("%s (%s)", m, m.URL))
		}
	}
}

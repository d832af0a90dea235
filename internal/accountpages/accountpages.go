// Package accountpages is what people who are signed in see of their workspace: its
// plan, keys, usage and members, and how they change them.
//
// The pages ask what the routes below /v1/me ask, and need no script: forms are sent
// as such. It guarantees that a key is shown once, on the answer to the form that
// issued it and nowhere else, and that sending the same form again, as a reload does,
// issues no second one.
package accountpages

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
	"chainexplorer/internal/usage"
	"chainexplorer/internal/web"
)

// Where the pages are.
const (
	Path        = "/account"
	keysPath    = Path + "/keys"
	usagePath   = Path + "/usage"
	membersPath = Path + "/members"
	redeemPath  = Path + "/redeem"
	switchPath  = Path + "/workspace"
)

// Options are what the pages work on.
type Options struct {
	Accounts *account.Repository
	People   *session.Repository
	Usage    *usage.Repository
	// Chain is the one that examples name.
	Chain string
}

type pages struct {
	Options
	desk *signin.Desk
}

// New registers the pages at the desk where people sign in.
func New(desk *signin.Desk, o Options) {
	p := &pages{Options: o, desk: desk}
	desk.Page("GET "+Path, p.page(p.overview))
	desk.Page("GET "+keysPath, p.page(p.keys))
	desk.Action("POST "+keysPath, p.action(p.changeKeys))
	desk.Page("GET "+usagePath, p.page(p.usage))
	desk.Page("GET "+membersPath, p.page(p.members))
	desk.Action("POST "+membersPath, p.action(p.changeMembers))
	desk.Page("GET "+redeemPath, p.page(p.redeem))
	desk.Action("POST "+redeemPath, p.action(p.redeemCode))
	desk.Action("POST "+switchPath, p.switchTo)
}

// visit is a request of somebody who is signed in.
type visit struct {
	who  session.Who
	now  time.Time
	asks url.Values // the query, or the form
}

// by is the context of what the visitor changes.
func (v *visit) by(ctx context.Context) context.Context { return account.By(ctx, v.who.PersonID) }

// sheet is a page to be written: a template with its data.
type sheet struct {
	title, name string
	data        any
	status      int // 200 when zero
	notice      *notice
	retry       time.Duration // after which it may be tried again; 0: nothing is said
}

// notice stands above a page: what became of a form.
type notice struct{ Tone, Text string }

func done(format string, args ...any) *notice { return &notice{"good", fmt.Sprintf(format, args...)} }

func refused(format string, args ...any) *notice {
	return &notice{"bad", fmt.Sprintf(format, args...)}
}

// handler makes a page, or fails because the database cannot be asked.
type handler func(context.Context, *visit) (*sheet, error)

func (p *pages) page(h handler) func(http.ResponseWriter, *http.Request, session.Who) {
	return func(w http.ResponseWriter, r *http.Request, who session.Who) {
		p.serve(w, r, h, &visit{who: who, now: p.desk.Now().UTC(), asks: r.URL.Query()})
	}
}

func (p *pages) action(h handler) func(http.ResponseWriter, *http.Request, session.Who, url.Values) {
	return func(w http.ResponseWriter, r *http.Request, who session.Who, form url.Values) {
		p.serve(w, r, h, &visit{who: who, now: p.desk.Now().UTC(), asks: form})
	}
}

//go:embed *.html
var files embed.FS

var templates = template.Must(template.New("").Funcs(web.Funcs()).Funcs(funcs).ParseFS(files, "*.html"))

// tab is an entry of the navigation.
type tab struct {
	Text, Href string
	Here       bool
}

func (p *pages) serve(w http.ResponseWriter, r *http.Request, h handler, v *visit) {
	s, err := h(r.Context(), v)
	var body template.HTML
	if err == nil {
		body, err = p.frame(r.URL.Path, s, v)
	}
	if err != nil {
		p.desk.Log.Warn("page not made", "request_id", kernel.RecordOf(w).ID, "path", r.URL.Path, "err", err)
		w.Header().Set("Retry-After", "1")
		why := "Accounts cannot be reached right now. Try again in a moment."
		if r.Method == http.MethodPost {
			why = "Accounts cannot be reached right now. Whether the change was made is not known: look before you try again."
		}
		p.desk.Refuse(w, r, http.StatusServiceUnavailable, "Temporarily unavailable", why)
		return
	}
	if s.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((s.retry+time.Second-1)/time.Second)))
	}
	p.desk.Write(w, r, kernel.DefaultTo(s.status, http.StatusOK), web.Page{Title: s.title + " · " + v.who.Workspace + " · Chain Explorer", Body: body})
}

// frame puts a sheet below the navigation that all pages share.
func (p *pages) frame(at string, s *sheet, v *visit) (template.HTML, error) {
	inner, err := render(s.name, s.data)
	if err != nil {
		return "", err
	}
	tabs := []tab{{Text: "Overview", Href: Path}, {Text: "Keys", Href: keysPath}, {Text: "Usage", Href: usagePath}, {Text: "Members", Href: membersPath}, {Text: "Redeem", Href: redeemPath}}
	for i := range tabs {
		tabs[i].Here = tabs[i].Href == at
	}
	return render("frame.html", map[string]any{
		"Who": v.who, "Tabs": tabs, "Title": s.title, "Notice": s.notice, "Body": inner, "Form": p.desk.FormToken(v.who), "Logout": signin.LogoutPath,
	})
}

func render(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by a template, which escapes
}

package accountpages

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
)

// mostWorkspaces is how many workspaces of a person are shown.
const mostWorkspaces = 100

// switchTo takes the visitor to another workspace of theirs, with a session of its own.
func (p *pages) switchTo(w http.ResponseWriter, r *http.Request, who session.Who, form url.Values) {
	s, err := p.People.Switch(r.Context(), p.desk.SessionCookie(r), form.Get("workspace"))
	if err == nil {
		p.desk.Admit(w, r, s, Path)
		return
	}
	p.serve(w, r, func(ctx context.Context, v *visit) (*sheet, error) {
		if !errors.Is(err, account.ErrWorkspaceNotFound) {
			return nil, err
		}
		page, err := p.overview(ctx, v)
		if err != nil {
			return nil, err
		}
		page.status, page.notice = http.StatusNotFound, refused("You belong to no such workspace. Nothing was changed.")
		return page, nil
	}, &visit{who: who, now: p.desk.Now().UTC(), asks: form})
}

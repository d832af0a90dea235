package accountpages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
)

// mostMembers is how many people are listed: more than owners can invite.
const mostMembers = 2 * session.MaxMembers

type membersPage struct {
	Now      time.Time
	Form     string
	Who      session.Who
	Owner    bool // the visitor
	Owners   int
	Members  []session.Member
	More     bool
	Sessions []session.Session
	Invite   *invitation // just made
	Days     int         // an invitation is good
}

// invitation is a link, with the only copy of its token.
type invitation struct {
	session.Link
	URL string
}

func (p *pages) members(ctx context.Context, v *visit) (*sheet, error) {
	return p.membersWith(ctx, v, 0, nil, nil)
}

func (p *pages) membersWith(ctx context.Context, v *visit, status int, n *notice, link *invitation) (*sheet, error) {
	page := membersPage{Now: v.now, Form: p.desk.FormToken(v.who), Who: v.who, Invite: link, Days: int(session.InviteTime / (24 * time.Hour))}
	var err error
	if page.Members, page.More, err = p.People.Members(ctx, v.who.WorkspaceID, mostMembers); err != nil {
		return nil, err
	}
	for _, m := range page.Members {
		if m.Role == session.Owner {
			page.Owners++
			page.Owner = page.Owner || m.PersonID == v.who.PersonID // the visit may have changed it
		}
	}
	if page.Sessions, err = p.People.Sessions(ctx, v.who.PersonID); err != nil {
		return nil, err
	}
	return &sheet{title: "Members", name: "members.html", data: &page, status: status, notice: n}, nil
}

// changeMembers does what a form of the page of members asks for. Whether the visitor
// may is said by the repository, with the same stroke.
func (p *pages) changeMembers(ctx context.Context, v *visit) (*sheet, error) {
	person, space, actor := v.asks.Get("person"), v.who.WorkspaceID, v.who.PersonID
	var said string
	var link *invitation
	var err error
	switch v.asks.Get("action") {
	case "invite":
		link, err = p.invite(ctx, v)
	case "own":
		said, err = "They are an owner now.", p.People.SetRole(ctx, person, space, session.Owner, actor)
	case "disown":
		said, err = "They are an owner no longer.", p.People.SetRole(ctx, person, space, session.Ordinary, actor)
	case "leave":
		if err = p.People.Leave(ctx, actor, space, actor); err == nil {
			return &sheet{title: "You left the workspace", name: "left.html"}, nil
		}
	case "remove":
		said, err = "They are a member no longer, and signed out here. Keys that they issued go on: revoke those that they may know.", p.People.Leave(ctx, person, space, actor)
	case "end-member":
		var n int
		n, err = p.People.EndIn(ctx, person, space, actor)
		said = fmt.Sprintf("%s ended.", plural(n, "session"))
	case "end":
		said, err = "The session is ended.", p.People.EndOwn(ctx, actor, v.asks.Get("session"))
	case "end-others":
		var n int
		n, err = p.People.EndOthers(ctx, actor, v.who.SessionID)
		said = fmt.Sprintf("%s ended. This one goes on.", plural(n, "other session"))
	default:
		return p.membersWith(ctx, v, http.StatusBadRequest, refused("The form does not say what to do. Nothing was changed."), nil)
	}
	if err != nil {
		status, why := explain(err)
		if why == "" {
			return nil, err
		}
		return p.membersWith(ctx, v, status, refused("%s Nothing was changed.", why), nil)
	}
	if said == "" {
		return p.membersWith(ctx, v, 0, nil, link)
	}
	return p.membersWith(ctx, v, 0, done("%s", said), nil)
}

// explain puts a refusal into words; "" when it is none.
func explain(err error) (status int, why string) {
	var invalid *account.InvalidError
	switch {
	case errors.As(err, &invalid):
		return http.StatusBadRequest, "The name cannot be taken: " + invalid.Reason + "."
	case errors.Is(err, session.ErrNotOwner):
		return http.StatusForbidden, "Only an owner of the workspace may do that."
	case errors.Is(err, session.ErrLastOwner):
		return http.StatusConflict, "A workspace needs an owner: make somebody else one first."
	case errors.Is(err, session.ErrAlreadyMember):
		return http.StatusConflict, "They are a member already, and sign in as they did before. If they cannot, the operator makes a link for them."
	case errors.Is(err, session.ErrTooManyMembers):
		return http.StatusConflict, fmt.Sprintf("The workspace has %d members, as many as it may have.", session.MaxMembers)
	case errors.Is(err, session.ErrPersonNotFound):
		return http.StatusNotFound, "They are no member of the workspace."
	case errors.Is(err, session.ErrInvalid):
		return http.StatusNotFound, "You have no such session open."
	}
	return 0, ""
}

// invite makes a link for somebody new.
func (p *pages) invite(ctx context.Context, v *visit) (*invitation, error) {
	link, err := p.People.Invite(ctx, v.asks.Get("name"), v.who.WorkspaceID, v.who.PersonID)
	if err != nil {
		return nil, err
	}
	return &invitation{link, signin.LinkURL(p.desk.Origin, link.Token)}, nil
}

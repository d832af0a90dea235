package main

import (
	"context"
	"fmt"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/session"
)

type sessionCommands struct {
	Create sessionCreateCommand `cmd:"" help:"Sign somebody in to a workspace and print the token of the session, once: what the routes below /v1/me take."`
	Revoke sessionRevokeCommand `cmd:"" help:"End all sessions of somebody, at once and everywhere."`
}

// people is open for those who work on sessions.
func (f *controlFlags) people(ctx context.Context, con *console, fn func(*session.Repository, *account.Repository) error) error {
	return f.open(ctx, con, false, func(db *control.DB) error {
		return explain(fn(session.NewRepository(db, session.Options{}), account.NewRepository(db, account.Options{})))
	})
}

type sessionCreateCommand struct {
	controlFlags
	Workspace string `required:"" placeholder:"NAME" help:"Workspace to sign in to."`
	User      string `default:"operator" placeholder:"NAME" help:"Who signs in. They become a member of the workspace unless they are."`
}

// Run prints the token only after the session is safely stored.
func (c *sessionCreateCommand) Run(ctx context.Context, con *console) error {
	return c.people(ctx, con, func(people *session.Repository, accounts *account.Repository) error {
		w, err := accounts.WorkspaceByName(ctx, c.Workspace)
		if err != nil {
			return err
		}
		s, err := people.Open(ctx, c.User, w.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"sessionToken": s.Token, "sessionId": s.SessionID, "user": s.Person, "workspace": w.Name, "expiresAt": s.ExpiresAt})
		}
		_, err = fmt.Fprintf(con.out, "token      %s\nuser       %s\nworkspace  %s\nexpires    %s, or after %s without use\nThe token is not shown again: only a digest of it is stored.\n",
			s.Token, s.Person, w.Name, when(&s.ExpiresAt, ""), session.Idle)
		return err
	})
}

type sessionRevokeCommand struct {
	controlFlags
	User string `required:"" placeholder:"NAME" help:"Whose sessions to end, by name or id. Guests of that name in any workspace are meant, too."`
}

// Run ends them; once more does no harm.
func (c *sessionRevokeCommand) Run(ctx context.Context, con *console) error {
	return c.people(ctx, con, func(people *session.Repository, _ *account.Repository) error {
		ids, err := people.PeopleByName(ctx, c.User)
		if err != nil {
			return err
		}
		n := 0
		for _, id := range ids {
			ended, err := people.EndAll(ctx, id, "operator")
			if err != nil {
				return err
			}
			n += ended
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"user": c.User, "ended": n})
		}
		_, err = fmt.Fprintf(con.out, "%d sessions of %s ended\n", n, c.User)
		return err
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
)

type memberCommands struct {
	List   memberListCommand   `cmd:"" help:"List the members of a workspace by name."`
	Role   memberRoleCommand   `cmd:"" help:"Make a member an owner of the workspace, or an ordinary member. The last owner stays one."`
	Remove memberRemoveCommand `cmd:"" help:"Take somebody out of a workspace: they are signed out there at once. The last owner is not removed."`
}

// memberFlags name a workspace.
type memberFlags struct {
	controlFlags
	Workspace string `required:"" placeholder:"NAME" help:"Workspace."`
}

// of is open for those who work on the members of the workspace.
func (f *memberFlags) of(ctx context.Context, con *console, fn func(*session.Repository, account.Workspace) error) error {
	return f.people(ctx, con, func(people *session.Repository, accounts *account.Repository) error {
		w, err := accounts.WorkspaceByName(ctx, f.Workspace)
		if err != nil {
			return err
		}
		return fn(people, w)
	})
}

// change is of for a change of one member, whom it finds by name.
func (f *memberFlags) change(ctx context.Context, con *console, user string, fn func(people *session.Repository, personID, workspaceID string) error) error {
	return f.of(ctx, con, func(people *session.Repository, w account.Workspace) error {
		id, err := people.MemberByName(ctx, user, w.ID)
		if err == nil {
			err = fn(people, id, w.ID)
		}
		switch {
		case errors.Is(err, session.ErrPersonNotFound):
			return fmt.Errorf("there is no such member of %s: see 'chainexplorer admin member list'", w.Name)
		case errors.Is(err, session.ErrLastOwner):
			return fmt.Errorf("%w, with 'chainexplorer admin member role'", err)
		}
		return err
	})
}

type memberListCommand struct{ memberFlags }

// Run lists members by name.
func (c *memberListCommand) Run(ctx context.Context, con *console) error {
	return c.of(ctx, con, func(people *session.Repository, w account.Workspace) error {
		list, more, err := people.Members(ctx, w.ID, account.MaxPage)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"items": append([]session.Member{}, list...), "truncated": more})
		}
		rows := [][]string{{"NAME", "ROLE", "SINCE", "JOINED", "SESSIONS", "SEEN", "ID"}}
		for _, m := range list {
			rows = append(rows, []string{m.Name, string(m.Role), when(&m.Since, ""), when(m.JoinedAt, "invited"), strconv.Itoa(m.Sessions), when(m.SeenAt, "-"), m.PersonID})
		}
		return printList(con, rows, more)
	})
}

type memberRoleCommand struct {
	memberFlags
	User string `required:"" placeholder:"NAME" help:"Who gets the role."`
	Role string `required:"" placeholder:"ROLE" help:"Role: owner or member."`
}

// Run sets the role; once more does no harm.
func (c *memberRoleCommand) Run(ctx context.Context, con *console) error {
	role, err := session.ParseRole(c.Role)
	if err != nil {
		return &usageError{"--" + err.Error()}
	}
	return c.change(ctx, con, c.User, func(people *session.Repository, personID, workspaceID string) error {
		if err := people.SetRole(ctx, personID, workspaceID, role, "operator"); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"id": personID, "user": c.User, "workspace": c.Workspace, "role": role})
		}
		_, err := fmt.Fprintf(con.out, "%s has the role %s in %s\n", c.User, role, c.Workspace)
		return err
	})
}

type memberRemoveCommand struct {
	memberFlags
	User string `required:"" placeholder:"NAME" help:"Who is removed."`
}

// Run removes the member; keys that they issued are the workspace's, and stay.
func (c *memberRemoveCommand) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, c.User, func(people *session.Repository, personID, workspaceID string) error {
		if err := people.Leave(ctx, personID, workspaceID, "operator"); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"id": personID, "user": c.User, "workspace": c.Workspace, "removed": true})
		}
		_, err := fmt.Fprintf(con.out, "%s is no member of %s any more, and signed out there; revoke the keys that they may know\n", c.User, c.Workspace)
		return err
	})
}

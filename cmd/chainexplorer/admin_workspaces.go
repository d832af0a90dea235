package main

import (
	"context"
	"fmt"

	"chainexplorer/internal/account"
)

type workspaceCommands struct {
	Create workspaceCreateCommand `cmd:"" help:"Make a workspace."`
	Change workspaceChangeCommand `cmd:"" help:"Give a workspace another plan or kind. Its keys have the new limits within a second."`
	List   workspaceListCommand   `cmd:"" help:"List the workspaces."`
}

type workspaceCreateCommand struct {
	controlFlags
	Name string `arg:"" help:"Name of the workspace; no other may have it."`
	Plan string `default:"free" help:"Plan: free, developer, growth, business, enterprise or wallet."`
	Kind string `default:"ordinary" help:"Kind: ordinary, wallet, partner or internal; see docs/accounts.md."`
}

// Run makes the workspace, and the database when there is none.
func (c *workspaceCreateCommand) Run(ctx context.Context, con *console) error {
	plan, err := account.ParsePlan(c.Plan)
	if err != nil {
		return &usageError{"--" + err.Error()}
	}
	kind, err := account.ParseKind(c.Kind)
	if err != nil {
		return &usageError{"--" + err.Error()}
	}
	return c.with(ctx, con, true, func(r *account.Repository) error {
		w, err := r.CreateWorkspaceOf(ctx, c.Name, plan, kind)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, w)
		}
		_, err = fmt.Fprintf(con.out, "workspace %s made, plan %s, kind %s, id %s\n", w.Name, w.Plan, w.Kind, w.ID)
		return err
	})
}

type workspaceChangeCommand struct {
	controlFlags
	Name string `arg:"" help:"Name of the workspace."`
	Plan string `placeholder:"PLAN" help:"Plan: free, developer, growth, business, enterprise or wallet. Default: the one it has."`
	Kind string `placeholder:"KIND" help:"Kind: ordinary, wallet, partner or internal. Default: the one it has."`
}

// Run changes the workspace; once more does no harm.
func (c *workspaceChangeCommand) Run(ctx context.Context, con *console) error {
	if c.Plan == "" && c.Kind == "" {
		return &usageError{"what to change? Give --plan, --kind or both"}
	}
	return c.with(ctx, con, false, func(r *account.Repository) error {
		w, err := r.ChangeWorkspace(ctx, c.Name, account.Plan(c.Plan), account.Kind(c.Kind))
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, w)
		}
		_, err = fmt.Fprintf(con.out, "workspace %s has plan %s, kind %s\n", w.Name, w.Plan, w.Kind)
		return err
	})
}

type workspaceListCommand struct{ controlFlags }

// Run lists workspaces by name.
func (c *workspaceListCommand) Run(ctx context.Context, con *console) error {
	return c.with(ctx, con, false, func(r *account.Repository) error {
		list, more, err := r.ListWorkspaces(ctx, account.MaxPage)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"items": append([]account.Workspace{}, list...), "truncated": more})
		}
		rows := [][]string{{"NAME", "PLAN", "KIND", "MADE", "ID"}}
		for _, w := range list {
			rows = append(rows, []string{w.Name, string(w.Plan), string(w.Kind), when(&w.CreatedAt, ""), w.ID})
		}
		return printList(con, rows, more)
	})
}

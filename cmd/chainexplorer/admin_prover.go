package main

import (
	"context"
	"fmt"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	proving "chainexplorer/internal/relay/job"
)

type proverCommands struct {
	Budget proverBudgetCommand `cmd:"" help:"Say how many prover jobs a key, or each key of a workspace, may have at once and a day."`
}

type proverBudgetCommand struct {
	controlFlags
	Workspace string `xor:"whose" required:"" placeholder:"NAME" help:"Each key of this workspace that has no budget of its own."`
	Key       string `xor:"whose" required:"" placeholder:"ID" help:"This key, by its id, such as key_0123456789abcdef."`
	PerDay    int    `placeholder:"N" help:"Jobs that it may create on a day of UTC."`
	AtOnce    int    `placeholder:"N" help:"Jobs that have not ended."`
	Usual     bool   `help:"Take the budget away: the flags of the service say how much it is."`
}

// Run sets the budget. It holds for the next request.
func (c *proverBudgetCommand) Run(ctx context.Context, con *console) error {
	if c.Usual == (c.PerDay > 0 || c.AtOnce > 0) || !c.Usual && (c.PerDay < 1 || c.AtOnce < 1 || c.PerDay > 1_000_000 || c.AtOnce > 1_000) {
		return &usageError{"give --per-day (1 to 1000000) and --at-once (1 to 1000), or --usual"}
	}
	if c.Key != "" && !strings.HasPrefix(c.Key, "key_") {
		// Perhaps the key itself: it must not be repeated on the screen.
		return &usageError{"give the key's id, which begins with key_, and not the key; see 'chainexplorer admin key list'"}
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		owner, name := c.Key, "key "+c.Key
		if c.Workspace != "" {
			w, err := account.NewRepository(db, account.Options{}).WorkspaceByName(ctx, c.Workspace)
			if err != nil {
				return err
			}
			owner, name = w.ID, "each key of workspace "+c.Workspace
		}
		b, text := &proving.Budget{Concurrency: c.AtOnce, PerDay: c.PerDay}, fmt.Sprintf("%d prover jobs a day, %d at once", c.PerDay, c.AtOnce)
		if c.Usual {
			b, text = nil, "the usual budget of prover jobs"
		}
		if err := proving.New(db, proving.Options{}).SetBudget(ctx, owner, b, text); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"owner": owner, "perDay": c.PerDay, "atOnce": c.AtOnce, "usual": c.Usual})
		}
		_, err := fmt.Fprintf(con.out, "%s has %s\n", name, text)
		return err
	})
}

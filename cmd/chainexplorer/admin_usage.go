package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/usage"
)

type usageCommand struct {
	controlFlags
	Workspace string        `placeholder:"NAME" help:"Tell of the keys of this workspace and of its newest failures, in place of the totals of all."`
	Window    time.Duration `default:"720h" help:"Since how long ago requests are counted; at most 744h, in whole hours."`
}

// Run tells what keys asked for, as far as it was written down: a running service is
// at most a second or two ahead.
func (c *usageCommand) Run(ctx context.Context, con *console) error {
	if c.Window <= 0 || c.Window > usage.KeepCounts {
		return &usageError{fmt.Sprintf("--window must be longer than zero and at most %s", usage.KeepCounts)}
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		accounts := account.NewRepository(db, account.Options{})
		return explain(c.tell(ctx, con, accounts, usage.NewRepository(db, accounts, nil)))
	})
}

func (c *usageCommand) tell(ctx context.Context, con *console, accounts *account.Repository, r *usage.Repository) error {
	if c.Workspace == "" {
		return c.totals(ctx, con, r)
	}
	w, err := accounts.WorkspaceByName(ctx, c.Workspace)
	if err != nil {
		return err
	}
	u, err := r.Of(ctx, w.ID, c.Window)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, u)
	}
	fmt.Fprintf(con.out, "since     %s\nrequests  %d, of which %d failed\n\n", when(&u.WindowStart, ""), u.TotalRequests, u.TotalFailures) //nolint:errcheck // table tells
	rows := [][]string{{"KEY", "LABEL", "STATUS", "REQUESTS", "FAILURES", "LAST REQUEST", "LAST FAILURE"}}
	for _, k := range u.PerKey {
		rows = append(rows, []string{k.APIKey.PublicID, k.APIKey.Label, keyState(k.APIKey, u.WindowEnd), strconv.FormatInt(k.TotalRequests, 10), strconv.FormatInt(k.FailureCount, 10),
			when(k.LastRequestAt, "none"), when(k.LastFailureAt, "none")})
	}
	if err := table(con.out, rows); err != nil {
		return err
	}
	if u.PerKeyTruncated {
		fmt.Fprintf(con.out, "and more: only the newest %d are shown\n", len(u.PerKey)) //nolint:errcheck // stdout
	}
	if len(u.RecentFailures) == 0 {
		return nil
	}
	fmt.Fprintln(con.out) //nolint:errcheck // stdout
	rows = [][]string{{"FAILED AT", "STATUS", "KEY", "REQUEST", "ID"}}
	for _, e := range u.RecentFailures[:min(len(u.RecentFailures), 20)] {
		rows = append(rows, []string{when(&e.ObservedAt, ""), strconv.Itoa(e.StatusCode), e.APIKeyPublicID, e.Method + " " + e.RoutePath, e.RequestID})
	}
	return table(con.out, rows)
}

func (c *usageCommand) totals(ctx context.Context, con *console, r *usage.Repository) error {
	list, more, err := r.Totals(ctx, c.Window)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, map[string]any{"items": list, "truncated": more})
	}
	rows := [][]string{{"WORKSPACE", "REQUESTS", "FAILURES", "LAST REQUEST"}}
	for _, t := range list {
		rows = append(rows, []string{t.Workspace, strconv.FormatInt(t.TotalRequests, 10), strconv.FormatInt(t.TotalFailures, 10), when(t.LastRequestAt, "none")})
	}
	return printList(con, rows, more)
}

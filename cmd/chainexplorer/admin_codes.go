package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/account"
)

type codeCommands struct {
	Create codeCreateCommand `cmd:"" help:"Make a code that gives a workspace a plan, and print it, once. Members redeem it by POST /v1/me/redeem-code."`
	List   codeListCommand   `cmd:"" help:"List codes, newest first: everything but the codes."`
	Revoke codeRevokeCommand `cmd:"" help:"End a code for good. What it gave stays."`
}

type codeCreateCommand struct {
	controlFlags
	Plan    string        `required:"" placeholder:"PLAN" help:"Plan that the code gives: free, developer, growth, business, enterprise or wallet."`
	Kind    string        `placeholder:"KIND" help:"Kind that it gives, too: wallet or partner. Default: the workspace keeps its own."`
	Uses    int           `default:"1" help:"How many workspaces may redeem it, each once."`
	Expires time.Duration `default:"720h" placeholder:"TIME" help:"The code ends after this time, such as 720h; 0s for never."`
	Note    string        `placeholder:"TEXT" help:"What the operator wants to remember of it."`
}

// Run prints the code only after it is safely stored.
func (c *codeCreateCommand) Run(ctx context.Context, con *console) error {
	plan, err := account.ParsePlan(c.Plan)
	if err != nil {
		return &usageError{"--" + err.Error()}
	}
	if c.Expires < 0 || c.Uses < 1 {
		return &usageError{"--expires must not be below zero, and --uses at least 1"}
	}
	return c.with(ctx, con, false, func(r *account.Repository) error {
		code, text, err := r.CreateCode(ctx, account.NewCode{Plan: plan, Kind: account.Kind(c.Kind), Note: c.Note, Uses: c.Uses, Lifetime: c.Expires})
		if err != nil {
			return err
		}
		const notice = "The code is not shown again: only a digest of it is stored."
		if c.JSON {
			err = printJSON(con.out, map[string]any{"code": text, "details": code, "notice": notice})
		} else {
			_, err = fmt.Fprintf(con.out, "code       %s\nid         %s\ngives      %s\nuses       %d\nexpires    %s\n%s\n", text, code.ID, gives(code), code.Uses, when(code.ExpiresAt, "never"), notice)
		}
		if err != nil {
			return fmt.Errorf("print the code (it is stored; revoke %s and make another): %w", code.ID, err)
		}
		return nil
	})
}

func gives(c account.Code) string {
	if c.Kind == "" {
		return "plan " + string(c.Plan)
	}
	return "plan " + string(c.Plan) + ", kind " + string(c.Kind)
}

type codeListCommand struct{ controlFlags }

// Run lists everything about codes but the codes.
func (c *codeListCommand) Run(ctx context.Context, con *console) error {
	return c.with(ctx, con, false, func(r *account.Repository) error {
		list, more, err := r.ListCodes(ctx, account.MaxPage)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"items": append([]account.Code{}, list...), "truncated": more})
		}
		rows := [][]string{{"ID", "STATUS", "CODE", "GIVES", "USED", "MADE", "EXPIRES", "NOTE"}}
		for _, k := range list {
			rows = append(rows, []string{k.ID, string(k.Status), "…" + k.Hint, gives(k), strconv.Itoa(k.Used) + " of " + strconv.Itoa(k.Uses), when(&k.CreatedAt, ""), when(k.ExpiresAt, "never"), k.Note})
		}
		return printList(con, rows, more)
	})
}

type codeRevokeCommand struct {
	controlFlags
	ID string `arg:"" name:"id" help:"Id of the code, such as cod_0123456789abcdef."`
}

// Run revokes the code; once more does no harm.
func (c *codeRevokeCommand) Run(ctx context.Context, con *console) error {
	if !strings.HasPrefix(c.ID, "cod_") {
		// Perhaps the code itself: it must not be repeated on the screen.
		return &usageError{"give the code's id, which begins with cod_, and not the code; see 'chainexplorer admin codes list'"}
	}
	return c.with(ctx, con, false, func(r *account.Repository) error {
		code, already, err := r.RevokeCode(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"details": code})
		}
		verb := "is"
		if already {
			verb = "was already"
		}
		_, err = fmt.Fprintf(con.out, "code %s %s revoked at %s; %d workspaces had redeemed it\n", code.ID, verb, when(code.RevokedAt, ""), code.Used)
		return err
	})
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	proving "chainexplorer/internal/relay/job"
)

type keyCommands struct {
	Create   keyCreateCommand   `cmd:"" help:"Make an API key and print it, once."`
	List     keyListCommand     `cmd:"" help:"List API keys, newest first."`
	Internal keyInternalCommand `cmd:"" help:"Make a key for a service of the operator's own and print it with the setting that lets it in. Nothing is stored."`
	Rotate   keyRotateCommand   `cmd:"" help:"Replace an API key by a new one with the same rights, and print that, once. The old one is refused within a second."`
	Revoke   keyRevokeCommand   `cmd:"" help:"End an API key for good. A running service refuses it within a second."`
}

// explain tells what to do about mistakes that the repository found.
func explain(err error) error {
	var invalid *account.InvalidError
	switch {
	case errors.As(err, &invalid):
		return &usageError{invalid.Error()}
	case errors.Is(err, account.ErrWorkspaceNotFound):
		return fmt.Errorf("%w: see 'chainexplorer admin workspace list'", err)
	case errors.Is(err, account.ErrKeyNotFound):
		return fmt.Errorf("%w: see 'chainexplorer admin key list'", err)
	case errors.Is(err, account.ErrKeyRevoked):
		return fmt.Errorf("%w: make a new one with 'chainexplorer admin key create'", err)
	case errors.Is(err, account.ErrCodeNotFound):
		return fmt.Errorf("%w: see 'chainexplorer admin codes list'", err)
	case errors.Is(err, account.ErrTooManyKeys):
		return fmt.Errorf("%w: revoke one first", err)
	}
	return err
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table prints rows in columns.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t")) //nolint:errcheck // Flush tells
	}
	return t.Flush()
}

func when(t *time.Time, never string) string {
	if t == nil {
		return never
	}
	return t.UTC().Format(time.RFC3339)
}

func printList(con *console, rows [][]string, more bool) error {
	if err := table(con.out, rows); err != nil || !more {
		return err
	}
	_, err := fmt.Fprintf(con.out, "and more: only %d are shown\n", account.MaxPage)
	return err
}

type keyCreateCommand struct {
	controlFlags
	Workspace string         `required:"" placeholder:"NAME" help:"Workspace that the key belongs to."`
	Scope     []string       `placeholder:"SCOPE" help:"What the key may do: read, batch, write, verify, prove, trace, partner; several by comma or by repeating the flag. Default: read,batch,write,verify; verify is always among them."`
	Label     string         `default:"operator" help:"Name by which people know the key; operator unless set. Members replace the one that is called default."`
	Expires   *time.Duration `placeholder:"TIME" help:"The key ends after this time, such as 720h. Default: never."`
	Test      bool           `help:"Make a key for tests (svc_test_...)."`
	Origin    []string       `sep:"none" placeholder:"ORIGIN" help:"Web origin from which the key may be used, such as https://wallet.example; repeatable. Default: from all."`

	LightPerMinute int `placeholder:"N" help:"Requests a minute of the class light. Default of this and the next: the plan's."`
	HeavyPerMinute int `placeholder:"N" help:"Requests a minute of the class heavy."`
	BatchPerMinute int `placeholder:"N" help:"Requests a minute of the class batch."`
	Burst          int `placeholder:"N" help:"Requests at once."`
}

// Run prints the key only after it is safely stored.
func (c *keyCreateCommand) Run(ctx context.Context, con *console) error {
	n := account.NewKey{Label: c.Label, Environment: account.Live,
		Limits: account.Limits{LightPerMinute: c.LightPerMinute, HeavyPerMinute: c.HeavyPerMinute, BatchPerMinute: c.BatchPerMinute, Burst: c.Burst}}
	if c.Test {
		n.Environment = account.Test
	}
	if c.Scope != nil {
		scopes, err := account.ParseScopes(strings.Join(c.Scope, ","))
		if err != nil {
			return &usageError{"--" + err.Error()}
		}
		n.Scopes = scopes
	}
	origins, err := account.ParseOrigins(c.Origin)
	if err != nil {
		return &usageError{"--" + err.Error()}
	}
	n.Origins = origins
	if c.Expires != nil {
		if *c.Expires <= 0 {
			return &usageError{"--expires must be longer than zero, such as 720h"}
		}
		n.Lifetime = *c.Expires
	}
	return c.with(ctx, con, false, func(r *account.Repository) error {
		w, err := r.WorkspaceByName(ctx, c.Workspace)
		if err != nil {
			return err
		}
		n.WorkspaceID = w.ID
		issued, err := r.CreateKey(ctx, n)
		if err != nil {
			return err
		}
		if err := c.print(con, w, issued); err != nil {
			return fmt.Errorf("print the key (it is stored; revoke %s and make another): %w", issued.Key.PublicID, err)
		}
		return nil
	})
}

const shownOnce = "The key is not shown again: only a digest of it is stored."

func (c *keyCreateCommand) print(con *console, w account.Workspace, i account.Issued) error {
	if c.JSON {
		return printJSON(con.out, map[string]any{"plaintextKey": i.Plaintext, "apiKey": i.Key, "workspace": w.Name, "notice": shownOnce})
	}
	_, err := fmt.Fprintf(con.out, "key        %s\nid         %s\nworkspace  %s, plan %s\nscopes     %s\nexpires    %s\n%s\n",
		i.Plaintext, i.Key.PublicID, w.Name, w.Plan, i.Key.Scopes, when(i.Key.ExpiresAt, "never"), shownOnce)
	return err
}

type keyListCommand struct {
	controlFlags
	Workspace string `placeholder:"NAME" help:"Only keys of this workspace."`
}

// Run lists everything about keys but the keys.
func (c *keyListCommand) Run(ctx context.Context, con *console) error {
	return c.with(ctx, con, false, func(r *account.Repository) error {
		var of string
		if c.Workspace != "" {
			w, err := r.WorkspaceByName(ctx, c.Workspace)
			if err != nil {
				return err
			}
			of = w.ID
		}
		list, more, err := r.ListKeys(ctx, of, account.MaxPage)
		if err != nil {
			return err
		}
		if c.JSON {
			items := make([]keyItem, 0, len(list))
			for _, k := range list {
				items = append(items, keyItem{k, k.Workspace})
			}
			return printJSON(con.out, map[string]any{"items": items, "truncated": more})
		}
		rows := [][]string{{"ID", "WORKSPACE", "STATUS", "KEY", "LABEL", "SCOPES", "MADE", "USED", "EXPIRES"}}
		now := time.Now()
		for _, k := range list {
			rows = append(rows, []string{k.PublicID, k.Workspace, keyState(k, now), k.MaskedKey, k.Label, strings.Join(k.Scopes.Names(), ","),
				when(&k.CreatedAt, ""), when(k.LastUsedAt, "never"), when(k.ExpiresAt, "never")})
		}
		return printList(con, rows, more)
	})
}

// keyItem is the key summary of the public API with the workspace's name.
type keyItem struct {
	account.Key
	Workspace string `json:"workspace"`
}

func keyState(k account.Key, now time.Time) string {
	if k.Status == account.Active && k.ExpiresAt != nil && !now.Before(*k.ExpiresAt) {
		return "expired"
	}
	return string(k.Status)
}

type keyRevokeCommand struct {
	controlFlags
	PublicID string `arg:"" name:"id" help:"Id of the key, such as key_0123456789abcdef."`
}

// Run revokes the key; once more does no harm.
func (c *keyRevokeCommand) Run(ctx context.Context, con *console) error {
	if !strings.HasPrefix(c.PublicID, "key_") {
		// Perhaps the key itself: it must not be repeated on the screen.
		return &usageError{"give the key's id, which begins with key_, and not the key; see 'chainexplorer admin key list'"}
	}
	return c.with(ctx, con, false, func(r *account.Repository) error {
		k, already, err := r.RevokeKey(ctx, c.PublicID)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"apiKey": k})
		}
		verb := "is"
		if already {
			verb = "was already"
		}
		_, err = fmt.Fprintf(con.out, "key %s %s revoked at %s\n", k.PublicID, verb, when(k.RevokedAt, ""))
		return err
	})
}

type keyRotateCommand struct {
	controlFlags
	PublicID string `arg:"" name:"id" help:"Id of the key, such as key_0123456789abcdef."`
}

// Run prints the new key only after it is safely stored, and the old one revoked.
func (c *keyRotateCommand) Run(ctx context.Context, con *console) error {
	if !strings.HasPrefix(c.PublicID, "key_") {
		return &usageError{"give the key's id, which begins with key_, and not the key; see 'chainexplorer admin key list'"}
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		issued, old, err := account.NewRepository(db, account.Options{}).Rotate(ctx, c.PublicID, proving.New(db, proving.Options{}).Inherit)
		if err != nil {
			return explain(err)
		}
		if c.JSON {
			err = printJSON(con.out, map[string]any{"plaintextKey": issued.Plaintext, "apiKey": issued.Key, "revoked": old, "notice": shownOnce})
		} else {
			_, err = fmt.Fprintf(con.out, "key        %s\nid         %s\nscopes     %s\nexpires    %s\nrevoked    %s\n%s\n",
				issued.Plaintext, issued.Key.PublicID, issued.Key.Scopes, when(issued.Key.ExpiresAt, "never"), old.PublicID, shownOnce)
		}
		if err != nil {
			return fmt.Errorf("print the key (it is stored; revoke %s and make another): %w", issued.Key.PublicID, err)
		}
		return nil
	})
}

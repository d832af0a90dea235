package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"chainexplorer/internal/account"
)

type keyInternalCommand struct {
	Name  string   `arg:"" help:"Name of the service, of a-z, 0-9 and -; logs and metrics call the key internal_NAME."`
	Scope []string `default:"read" placeholder:"SCOPE" help:"What the key may do: read, batch, write, prove, trace, partner; several by comma or by repeating the flag. Never verify."`
	JSON  bool     `name:"json" help:"Print JSON."`
}

// Run prints the key and what to give to --internal-key. It needs no database.
func (c *keyInternalCommand) Run(_ context.Context, con *console) error {
	scopes, err := account.ParseScopes(strings.Join(c.Scope, ","))
	if err != nil {
		return &usageError{"--" + err.Error()}
	}
	key, setting, err := account.NewConfigured(rand.Reader, c.Name, scopes)
	if err != nil {
		return explain(err)
	}
	const notice = "The key is not shown again and stored nowhere. It is let in by processes that are started with the setting, and ends with those."
	if c.JSON {
		return printJSON(con.out, map[string]any{"plaintextKey": key, "setting": setting, "notice": notice})
	}
	_, err = fmt.Fprintf(con.out, "key        %s\nsetting    --internal-key %s\n%s\n", key, setting, notice)
	return err
}

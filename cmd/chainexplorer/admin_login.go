package main

import (
	"context"
	"fmt"
	"net/url"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
)

type loginCommand struct {
	controlFlags
	Workspace string `required:"" placeholder:"NAME" help:"Workspace to sign in to."`
	User      string `default:"operator" placeholder:"NAME" help:"Who signs in. They become a member of the workspace unless they are."`
	BaseURL   string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"How the service is reached, as serve and api are told by --base-url; http://127.0.0.1:8080 unless set."`
}

// Run prints a link that signs somebody in with a browser, once.
func (c *loginCommand) Run(ctx context.Context, con *console) error {
	if u, err := url.Parse(c.BaseURL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return &usageError{fmt.Sprintf("--base-url %s: want an address such as https://api.example", withoutUser(c.BaseURL))}
	}
	return c.people(ctx, con, func(people *session.Repository, accounts *account.Repository) error {
		w, err := accounts.WorkspaceByName(ctx, c.Workspace)
		if err != nil {
			return err
		}
		link, err := people.NewLink(ctx, c.User, w.ID)
		if err != nil {
			return err
		}
		at := signin.LinkURL(c.BaseURL, link.Token)
		if c.JSON {
			return printJSON(con.out, map[string]any{"url": at, "user": link.Person, "workspace": w.Name, "expiresAt": link.ExpiresAt})
		}
		_, err = fmt.Fprintf(con.out, "link       %s\nuser       %s\nworkspace  %s\nexpires    %s\nOpen it in a browser and confirm. It is good once, for whoever has it, and not shown again.\n",
			at, link.Person, w.Name, when(&link.ExpiresAt, ""))
		return err
	})
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/index"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

type privacyPoolCommands struct {
	Rematerialize rematerializeCommand `cmd:"" help:"Have the ledger of privacy pools made anew, beside the one that is served."`
}

type rematerializeCommand struct {
	Operator string `placeholder:"URL" help:"Address of a running process's --metrics, such as http://127.0.0.1:9464: it has its ledger made anew and goes on meanwhile."`
	operatorTokenFlags
	Data  string `placeholder:"DIR" help:"Without --operator: the directory of an index, or the data directory, of a process that is stopped. The ledger is made when it runs again."`
	Chain string `placeholder:"CHAIN" help:"Which chain, such as SN_MAIN; needed with --store and where there are several."`
	storeFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help is shown by rematerialize --help.
func (rematerializeCommand) Help() string {
	return "The ledger is made anew by itself when the registry has another class of a pool. This command is for an operator who wants it made without such a reason. " +
		"What is served goes on being served until the new one has caught up; a process that is stopped meanwhile goes on where it was. 'privacy-pool/status' tells how far it is."
}

// asked is what was asked for.
type asked struct {
	Chain    string `json:"chain"`
	Requests uint64 `json:"requests"` // so far
}

// Run asks, and says what for.
func (c *rematerializeCommand) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	given := 0
	for _, s := range []string{c.Operator, c.Data, c.Store} {
		if s != "" {
			given++
		}
	}
	if given != 1 || c.Store != "" && c.Chain == "" {
		return &usageError{"give --operator URL of a running process, --data DIR when it is stopped, or --store postgres://... with --chain"}
	}
	a, err := c.ask(ctx, con.quiet())
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, a)
	}
	fmt.Fprintf(con.out, "asked for a new ledger of the privacy pools of %s\n", a.Chain) //nolint:errcheck // stdout
	return nil
}

func (c *rematerializeCommand) ask(ctx context.Context, con *console) (a asked, err error) {
	var e store.Engine
	switch {
	case c.Operator != "":
		return c.askRunning(ctx)
	case c.Store != "":
		e, err = c.openPostgres(ctx, c.Chain, access{Existing: true}, con.log, nil)
		a.Chain = c.Chain
	default:
		e, a.Chain, err = c.open(ctx, con)
	}
	if err != nil {
		return a, err
	}
	defer e.Close() //nolint:errcheck // every commit is durable when it returns
	a.Requests, err = privacypool.Rematerialize(ctx, e, owner())
	return a, err
}

// open opens the index of a stopped process.
func (c *rematerializeCommand) open(ctx context.Context, con *console) (store.Engine, string, error) {
	dirs, err := storesIn(c.Data)
	if err != nil {
		return nil, "", err
	}
	var names []string
	for _, dir := range dirs {
		e, err := openPebble(ctx, pebble.Options{Dir: dir, Logger: con.log})
		if err != nil {
			if strings.Contains(err.Error(), "in use by another process") {
				err = errors.Join(err, errors.New("ask the running process: give --operator http://ADDRESS, with the address of its --metrics"))
			}
			return nil, "", err
		}
		state, err := stateOf(ctx, e)
		name := index.ChainName(state.Format.ChainID)
		if err == nil && state.Present && (c.Chain == "" && len(dirs) == 1 || c.Chain == name) {
			return e, name, nil
		}
		e.Close() //nolint:errcheck // nothing was changed
		if err != nil {
			return nil, "", err
		}
		names = append(names, name)
	}
	return nil, "", &usageError{fmt.Sprintf("which chain? Give --chain, one of %s", strings.Join(names, ", "))}
}

// askRunning asks a process at its operator's address.
func (c *rematerializeCommand) askRunning(ctx context.Context) (a asked, err error) {
	token, err := (&operatorFlags{OperatorToken: c.OperatorToken, OperatorTokenFile: c.OperatorTokenFile}).token()
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	to := strings.TrimSuffix(c.Operator, "/") + rematerializePath + "?chain=" + url.QueryEscape(c.Chain)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, nil)
	if err != nil {
		return a, &usageError{fmt.Sprintf("--operator %s: %v", c.Operator, err)}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, fmt.Errorf("ask the running process: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read below
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return a, fmt.Errorf("ask the running process: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return a, fmt.Errorf("the running process answered %s: %s", res.Status, strings.TrimSpace(string(text)))
	}
	if err := json.Unmarshal(text, &a); err != nil || a.Chain == "" {
		return a, errors.Join(fmt.Errorf("%s is not a --metrics address of this program", c.Operator), err)
	}
	return a, nil
}

const rematerializePath = "/privacy-pool/rematerialize"

// rematerialize answers that request in a running process.
func rematerialize(b *backups, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source, ready := b.source()
		if !ready {
			http.Error(w, "not ready yet", http.StatusServiceUnavailable)
			return
		}
		var names []string
		for name := range source.Stores {
			names = append(names, name)
		}
		slices.Sort(names)
		a := asked{Chain: r.URL.Query().Get("chain")}
		if a.Chain == "" && len(names) == 1 {
			a.Chain = names[0]
		}
		e := source.Stores[a.Chain]
		if e == nil {
			http.Error(w, "which chain? Give one of "+strings.Join(names, ", "), http.StatusBadRequest)
			return
		}
		var err error
		a.Requests, err = privacypool.Rematerialize(r.Context(), e, owner())
		switch {
		case errors.Is(err, privacypool.ErrAsking):
			http.Error(w, err.Error(), http.StatusConflict)
			return
		case err != nil:
			log.Error("a new ledger of privacy pools cannot be asked for", "chain", a.Chain, "err", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(a) //nolint:errcheck // whoever asked is gone
	})
}

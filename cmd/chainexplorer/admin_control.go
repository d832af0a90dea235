package main

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

// controlFlags find the control database, by the same settings and in the same
// order as serve and api do: what they are given finds it here too.
type controlFlags struct {
	Control string `placeholder:"FILE|URL" help:"Control database: a file, or a PostgreSQL database (postgres://...). Default: control.db in --data, or else the database of --store."`
	Data    string `placeholder:"DIR" help:"Data directory of the service, where the control database is control.db unless --control says otherwise."`
	Store   string `placeholder:"URL" help:"PostgreSQL database of the service, which holds the control database where neither --control nor --data is given."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// path is where the control database is.
func (f *controlFlags) path() (string, error) {
	o := serviceOptions{Control: f.Control}
	o.Data, o.Store.Store = f.Data, f.Store
	path := o.controlPath()
	if path == "" {
		return "", &usageError{"which control database? Give --control FILE|URL, --data DIR or --store URL, on the command line, in the environment (CHAINEXPLORER_DATA) or in a file (--config)"}
	}
	return path, nil
}

// open opens the database for the time of fn. A running service need not stop.
func (f *controlFlags) open(ctx context.Context, con *console, make bool, fn func(*control.DB) error) error {
	path, err := f.path()
	if err != nil {
		return err
	}
	db, err := control.Open(ctx, control.Options{Path: path, MustExist: !make, BeforeUpgrade: f.readable(con.quiet().log), Logger: con.log})
	if errors.Is(err, control.ErrNotExist) {
		return fmt.Errorf("%w: check --control, --data or --store, or begin with 'chainexplorer admin workspace create'", err)
	} else if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// with is open for those who work on accounts.
func (f *controlFlags) with(ctx context.Context, con *console, make bool, fn func(*account.Repository) error) error {
	return f.open(ctx, con, make, func(db *control.DB) error {
		return explain(fn(account.NewRepository(db, account.Options{})))
	})
}

package main

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/control"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/label"
	"chainexplorer/internal/registry"
)

type labelCommands struct {
	Add    labelAddCommand    `cmd:"" help:"Name an address, or rename it. A running service shows it within seconds."`
	List   labelListCommand   `cmd:"" help:"List the names that were given with this command; those of the registry are not among them."`
	Remove labelRemoveCommand `cmd:"" help:"Take an address's name away."`
}

// labelFlags are what all of them need.
type labelFlags struct {
	controlFlags
	Chain string `required:"" placeholder:"CHAIN" help:"The chain, such as SN_MAIN."`
}

func (f *labelFlags) with(ctx context.Context, con *console, fn func(*label.Repository) error) error {
	return f.open(ctx, con, false, func(db *control.DB) error {
		err := fn(label.NewRepository(db, nil))
		var invalid *label.InvalidError
		switch {
		case errors.As(err, &invalid):
			return &usageError{invalid.Error()}
		case errors.Is(err, label.ErrNotFound):
			return fmt.Errorf("%w: see 'chainexplorer admin label list'", err)
		}
		return err
	})
}

func labelAddress(text string) (felt.Felt, error) {
	a, err := felt.Parse(text)
	if err != nil {
		return a, &usageError{fmt.Sprintf("address: %q is not 0x and 1 to 64 hex digits of a felt", text)}
	}
	return a, nil
}

type labelAddCommand struct {
	labelFlags
	Address    string `arg:"" help:"Address."`
	Name       string `arg:"" help:"What to call it."`
	Protocol   string `help:"Protocol that it belongs to."`
	Kind       string `help:"Kind of the protocol, such as dex, bridge or exchange."`
	Source     string `default:"operator" help:"Who says so."`
	Confidence string `default:"high" enum:"high,medium,low" help:"How sure it is: high, medium or low."`
}

// Run names an address.
func (c *labelAddCommand) Run(ctx context.Context, con *console) error {
	a, err := labelAddress(c.Address)
	if err != nil {
		return err
	}
	l := registry.Label{Address: a, Name: c.Name, Protocol: c.Protocol, Kind: c.Kind, Source: c.Source, Confidence: registry.Confidence(c.Confidence)}
	return c.with(ctx, con, func(r *label.Repository) error {
		if err := r.Put(ctx, c.Chain, l); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, labelView(c.Chain, l))
		}
		_, err := fmt.Fprintf(con.out, "%s is called %s on %s\n", a, c.Name, c.Chain)
		return err
	})
}

type labelListCommand struct{ labelFlags }

// Run lists names.
func (c *labelListCommand) Run(ctx context.Context, con *console) error {
	return c.with(ctx, con, func(r *label.Repository) error {
		list, err := r.List(ctx, c.Chain)
		if err != nil {
			return err
		}
		if c.JSON {
			views := []map[string]string{}
			for _, l := range list {
				views = append(views, labelView(c.Chain, l))
			}
			return printJSON(con.out, views)
		}
		rows := [][]string{{"ADDRESS", "NAME", "PROTOCOL", "KIND", "SOURCE", "CONFIDENCE"}}
		for _, l := range list {
			rows = append(rows, []string{l.Address.String(), l.Name, l.Protocol, l.Kind, l.Source, string(l.Confidence)})
		}
		return table(con.out, rows)
	})
}

type labelRemoveCommand struct {
	labelFlags
	Address string `arg:"" help:"Address."`
}

// Run takes a name away.
func (c *labelRemoveCommand) Run(ctx context.Context, con *console) error {
	a, err := labelAddress(c.Address)
	if err != nil {
		return err
	}
	return c.with(ctx, con, func(r *label.Repository) error {
		if err := r.Remove(ctx, c.Chain, a); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]string{"chain": c.Chain, "address": a.String()})
		}
		_, err := fmt.Fprintf(con.out, "%s has no name on %s any more\n", a, c.Chain)
		return err
	})
}

func labelView(chain string, l registry.Label) map[string]string {
	return map[string]string{"chain": chain, "address": l.Address.String(), "name": l.Name, "protocol": l.Protocol, "kind": l.Kind, "source": l.Source, "confidence": string(l.Confidence)}
}

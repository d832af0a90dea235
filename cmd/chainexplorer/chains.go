package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/store/postgres"
)

// indexed names the chain whose index is to be served, when there is one: the
// chain that the operator named, or else the only one in the directory or the
// database.
func (p *composition) indexed(ctx context.Context, id string) (string, error) {
	if p.Store.Store != "" {
		return p.Store.indexed(ctx, id, !p.Role.Index, p.con.log)
	}
	if isStore(p.Data) {
		return "", &usageError{fmt.Sprintf("--data %s is the index of one chain, as 'index' makes it: give a directory that holds it as a folder named like the chain, such as DIR/SN_MAIN", p.Data)}
	}
	if id != "" {
		if isStore(filepath.Join(p.Data, id)) {
			return id, nil
		}
		return "", nil
	}
	entries, err := os.ReadDir(p.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("data directory: %w", err)
	}
	var names []string
	for _, e := range entries {
		if isStore(filepath.Join(p.Data, e.Name())) {
			names = append(names, e.Name())
		}
	}
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", &usageError{fmt.Sprintf("--data %s holds the indexes of %s: name their nodes with --chain, such as --chain %s=URL, or give another --data",
		p.Data, strings.Join(names, ", "), names[0])}
}

// indexed names the chain whose schema is there. Several chains share a database
// often, so that only a node can tell which of them is meant when none is named.
func (f *storeFlags) indexed(ctx context.Context, id string, readOnly bool, log *slog.Logger) (string, error) {
	if readOnly {
		return id, nil // it waits for the index
	}
	schemas, err := postgres.Schemas(ctx, f.Store)
	if err != nil {
		return "", err
	}
	schemas = slices.DeleteFunc(schemas, func(s string) bool { return !strings.HasPrefix(s, chainSchema) })
	if id != "" {
		if schema, err := schemaOf(id); err != nil || !slices.Contains(schemas, schema) {
			return "", err
		}
		return id, nil
	}
	if len(schemas) != 1 {
		return "", nil
	}
	e, err := f.openPostgres(ctx, strings.TrimPrefix(schemas[0], chainSchema), access{ReadOnly: true}, log, nil)
	if errors.Is(err, postgres.ErrOutdated) || errors.Is(err, postgres.ErrNoStore) {
		return "", nil // to be made, or made up to date, by who indexes
	}
	if err != nil {
		return "", err
	}
	state, err := stateOf(ctx, e)
	if err = errors.Join(err, e.Close()); err != nil || !state.Present {
		return "", err
	}
	return index.ChainName(state.Format.ChainID), nil
}

// chainID is the id of a chain by its name, the reverse of index.ChainName.
func chainID(name string) (felt.Felt, error) {
	var id felt.Felt
	var err error
	if strings.HasPrefix(name, "0x") {
		id, err = felt.Parse(name)
	} else {
		id, err = felt.FromShortString(name)
	}
	if err != nil {
		return id, fmt.Errorf("%q is not the name of a chain: %w", name, err)
	}
	return id, nil
}

// askChain waits for a node to say which chain it serves.
func askChain(ctx context.Context, source *index.Nodes, log *slog.Logger) (felt.Felt, error) {
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 15*time.Second) {
		id, err := source.ChainID(ctx)
		if wrong := new(node.WrongChainError); err == nil || errors.As(err, &wrong) {
			return id, err
		}
		log.Warn("waiting for a node", "err", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return felt.Felt{}, ctx.Err()
		}
	}
}

// refuseStrangers ends the service when a node that answers at its start is none
// of the chain's. One that answers later is not asked anything, and the service
// goes on with what it has.
func (c *chainParts) refuseStrangers(ctx context.Context) error {
	if err := c.pool.Introduced(ctx); err != nil && ctx.Err() == nil {
		return c.refusal(err)
	}
	return nil
}

// refusal says what to do about a node of another chain.
func (c *chainParts) refusal(err error) error {
	wrong := new(node.WrongChainError)
	if !errors.As(err, &wrong) || c.where == "" {
		return err
	}
	serves := index.ChainName(wrong.Chain)
	if c.named {
		return fmt.Errorf("--chain %s: its node serves the chain %s", c.id, serves)
	}
	return fmt.Errorf("%s holds the index of %s and the node serves the chain %s: give another node, or another --data; for several chains name them with --chain",
		c.where, c.id, serves)
}

// heard is what the chain's nodes said lately; it asks nobody.
func (c *chainParts) heard() chain.Seen { return heardBy(c.pool) }

// trouble is why nothing new is indexed, where that is a matter of this machine.
func (c *chainParts) trouble() string {
	if d, ok := c.engine.(*diskStore); ok {
		return d.trouble()
	}
	return ""
}

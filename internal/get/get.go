// Package get is the API on the command line: a command for every operation that reads,
// made from the client's table of operations, and what prints the answers for people
// (tables that fit the terminal), for programs (JSON) and for sheets (CSV).
//
// Whatever the chain made up is printed without its power over a terminal: controls and
// marks that turn text around are written as escapes.
package get

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"slices"
	"strings"

	"chainexplorer/client"
	"chainexplorer/internal/felt"
)

// Service says which service is asked.
type Service struct {
	URL     string `name:"url" env:"SERVICE_BASE_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Where the service is, or SERVICE_BASE_URL; http://127.0.0.1:8080 unless set."`
	Chain   string `env:"SERVICE_CHAIN" default:"SN_MAIN" placeholder:"CHAIN" help:"The chain, or SERVICE_CHAIN; SN_MAIN unless set."`
	KeyFile string `type:"existingfile" placeholder:"FILE" help:"File with the API key; otherwise SERVICE_API_KEY has it."`
}

// Flags are what all commands take.
type Flags struct {
	Service

	JSON   bool `name:"json" xor:"form" help:"Print JSON as the API answers; with --all or --follow one item a line."`
	CSV    bool `name:"csv" xor:"form" help:"Print the items of a list as CSV, with their names in the first line."`
	All    bool `xor:"how" help:"Go over all pages of a list."`
	Max    int  `default:"100000" placeholder:"N" help:"Of --all: at most so many items; 100,000 unless set. When there are more, the command says so and fails."`
	Follow bool `xor:"how" help:"Go along with the chain: print what is new until stopped, and tell when a fork took something back."`
}

// Console is where the answers go.
type Console struct {
	Out io.Writer
	// Err is where it is told what is no answer.
	Err io.Writer
	// Width is that of the terminal; 0 when Out is none.
	Width int
	// Progress is told how many items there are so far, and at which block, -1 when they are
	// of none; nil when nobody looks.
	Progress func(items int, block int64)
}

// maxKey bounds the file of a key.
const maxKey = 4 << 10

// Client asks the service.
func (f *Service) Client() (*client.Client, error) {
	key := os.Getenv(client.EnvAPIKey)
	if f.KeyFile != "" {
		file, err := os.Open(f.KeyFile)
		if err != nil {
			return nil, err
		}
		defer file.Close() //nolint:errcheck // read only
		text, err := io.ReadAll(io.LimitReader(file, maxKey))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.KeyFile, err)
		}
		key = strings.TrimSpace(string(text))
	}
	return client.New(client.Options{BaseURL: f.URL, APIKey: key, UserAgent: "chainexplorer-get"})
}

// Run asks for an operation and prints the answer.
func (f *Flags) Run(ctx context.Context, con *Console, o *client.Operation, values url.Values) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	named(values)
	if strings.Contains(o.Path, "{chain}") {
		values.Set("chain", f.Chain)
	}
	switch {
	case f.Follow && f.CSV:
		return errors.New("--follow tells what forks take back, and CSV has no way to say so: use --json")
	case f.Follow && !o.Followable():
		return fmt.Errorf("only what is of a range of blocks can be followed: %s", strings.Join(followable(), ", "))
	case (f.All || f.CSV) && !o.Paged:
		return errors.New("--all and --csv are for lists")
	}
	if (f.All || f.Follow) && !values.Has("limit") {
		values.Set("limit", "100") // as many as a page has at most, so that there are few
	}
	switch {
	case f.Follow:
		return f.follow(ctx, con, c, o, values)
	case f.All:
		return f.all(con, c.CallAll(ctx, o, values))
	}
	answer, err := c.Call(ctx, o, values)
	if err != nil {
		return explained(err)
	}
	switch {
	case f.CSV:
		var page struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor *string           `json:"nextCursor"`
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return fmt.Errorf("the answer cannot be read: %w", err)
		}
		if err := f.all(con, each(page.Items)); err != nil || page.NextCursor == nil {
			return err
		}
		_, err := fmt.Fprintln(con.Err, "There is more: --all goes over all pages, --cursor goes on after these.")
		return err
	case f.JSON:
		return printJSON(con, answer)
	}
	return printValue(con, answer)
}

// all prints items as they come.
func (f *Flags) all(con *Console, items iter.Seq2[json.RawMessage, error]) error {
	p := newPrinter(f, con)
	n := 0
	for item, err := range items {
		if err != nil {
			return errors.Join(p.end(), explained(err))
		}
		if n++; n > f.Max {
			return errors.Join(p.end(), fmt.Errorf("there are more than %d items: --max says how many are wanted", f.Max))
		}
		if err := p.item(item); err != nil {
			return err
		}
		if con.Progress != nil {
			con.Progress(n, position(item))
		}
	}
	return p.end()
}

func (f *Flags) follow(ctx context.Context, con *Console, c *client.Client, o *client.Operation, values url.Values) error {
	p := newPrinter(f, con)
	for change, err := range c.Chain(f.Chain).Follow(ctx, o, values, client.FollowOptions{}) {
		if ctx.Err() != nil {
			return p.end() // stopped, as it is meant to be
		}
		if err != nil {
			return errors.Join(p.end(), explained(err))
		}
		if change.Undone {
			if err := p.undone(change.Upto); err != nil {
				return err
			}
		}
		for _, item := range change.Items {
			if err := p.item(item); err != nil {
				return err
			}
		}
		if err := p.flush(); err != nil {
			return err
		}
	}
	return p.end()
}

func each(items []json.RawMessage) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// position is the block that an item is of; -1 when it is of none.
func position(item json.RawMessage) int64 {
	at := struct {
		BlockNumber *int64 `json:"blockNumber"`
	}{}
	if json.Unmarshal(item, &at) != nil || at.BlockNumber == nil {
		return -1
	}
	return *at.BlockNumber
}

// named makes selectors of names: people think of Transfer.
func named(values url.Values) {
	for _, name := range []string{"topic0", "selector"} {
		for i, v := range values[name] {
			if v != "" && !strings.HasPrefix(v, "0x") && !strings.HasPrefix(v, "0X") {
				values[name][i] = felt.Selector(v).String()
			}
		}
	}
}

// explained says what to do about a failure that is nobody's mistake but a missing setting.
func explained(err error) error {
	if client.Code(err) == "unauthorized" {
		return fmt.Errorf("%w\nSet SERVICE_API_KEY, or give --key-file", err)
	}
	return err
}

func followable() (out []string) {
	for _, o := range Operations() {
		if o.Followable() {
			out = append(out, Name(&o))
		}
	}
	slices.Sort(out)
	return out
}

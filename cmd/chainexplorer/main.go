// Command chainexplorer is the whole service in one binary. Each subcommand is
// one file beside this one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"chainexplorer/internal/get"
	"chainexplorer/internal/logs"
)

type commands struct {
	Demo      demoCommand      `cmd:"" help:"Show the whole product on built-in simulated chains. Start here."`
	Serve     serveCommand     `cmd:"" help:"Index chains from their nodes and serve the API and the pages."`
	Index     indexCommand     `cmd:"" help:"Index a chain from its nodes into a directory or PostgreSQL, and keep it up to date."`
	API       apiCommand       `cmd:"" name:"api" help:"Serve the API and the pages of chains that other processes index into PostgreSQL."`
	Worker    workerCommand    `cmd:"" help:"Do the jobs beside the indexers of a chain in PostgreSQL: names of tokens, pools, the ledger of privacy pools, holder census."`
	Get       getCommands      `cmd:"" help:"Ask a service: status, blocks, transactions, events, tokens and all else that its API reads."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Offer a service's reads to an agent, by the Model Context Protocol on standard input and output."`
	Verify    verifyCommands   `cmd:"" help:"Prepare a source tree for exact verification, submit it, and check archives and receipts offline."`
	Signer    signerCommand    `cmd:"" help:"Hold the keys of verification receipts, apart from the service, and sign for it."`
	Simnode   simnodeCommand   `cmd:"" help:"Serve a simulated chain like a node does: for trying things out and for tests."`
	Simprover simproverCommand `cmd:"" help:"Serve a simulated prover, with every answer and fault of a real one: for trying the relay out and for tests."`
	Admin     adminCommands    `cmd:"" help:"Commands for the operator."`

	Version    versionCommand    `cmd:"" help:"Say what this program was built from, and how; --version does so too."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
	Completion completionCommand `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Complete   completeCommand   `cmd:"" hidden:"" passthrough:"" help:"Print what a command line can go on with."`

	Config   string     `placeholder:"FILE" help:"Settings in YAML, by the names of the flags. Flags and CHAINEXPLORER_* variables win over it."`
	LogLevel slog.Level `default:"info" placeholder:"LEVEL" help:"Least severe log record to print: debug, info, warn or error; info unless set."`
}

// console is where a command prints.
type console struct {
	out, err io.Writer
	log      *slog.Logger
	// terminal is set when err is a terminal that progress can be drawn on.
	terminal *screen
	// now is the clock of what is shown; time.Now when nil.
	now func() time.Time
	// patience says how long the command may take to end after the first signal.
	patience func(time.Duration)
}

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	cmds := newCommands()
	exited, code := false, 0
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"} // no flag of all commands: simnode has one of that name
	}
	settings, err := loadSettings(args)
	if len(args) > 0 && args[0] == "complete" {
		settings, err = loadSettings(nil) // the file's name is still being typed
	}
	if err != nil {
		fmt.Fprintf(stderr, "chainexplorer: %v\n", err) //nolint:errcheck // nobody is left to tell
		return exitUsage
	}
	parser, err := kong.New(cmds,
		kong.Resolvers(settings),
		kong.Name("chainexplorer"),
		kong.Description("An explorer for Starknet: indexer, API and pages in one program."),
		kong.UsageOnError(),
		kong.Writers(stdout, stderr),
		kong.Exit(func(c int) { exited, code = true, c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
	)
	if err != nil {
		fmt.Fprintf(stderr, "chainexplorer: %v\n", err) //nolint:errcheck // nobody is left to tell
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kctx, err := parser.Parse(args)
	if exited { // --help
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "chainexplorer: %v\nTry 'chainexplorer --help'.\n", err) //nolint:errcheck // as above
		return exitUsage
	}
	if slices.Contains(services, kctx.Command()) {
		unread, end := detached(stderr)
		stderr = unread
		defer end()
	}
	signals := newStopper(stderr)
	ctx, stop := signals.listen()
	defer stop()
	c := newConsole(stdout, stderr, cmds.LogLevel)
	c.patience = func(d time.Duration) { signals.limit.Store(int64(d)) }
	if slices.Contains([]string{"serve", "index", "api", "worker"}, kctx.Command()) {
		for _, name := range strangeVariables(parser.Model, os.Environ()) {
			c.log.Warn("a variable of the environment is no setting, and does nothing", "name", name)
		}
	}
	kctx.BindTo(ctx, (*context.Context)(nil))
	if o, values := get.Selected(kctx); o != nil {
		err = cmds.Get.run(ctx, c, o, values)
	} else {
		err = kctx.Run(c)
	}
	var usage *usageError
	var ended *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		fmt.Fprintf(stderr, "chainexplorer: %v\n", err) //nolint:errcheck // as above
		return ended.code
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "chainexplorer: %v\n", err) //nolint:errcheck // as above
		return exitUsage
	default:
		fmt.Fprintf(stderr, "chainexplorer: %v\n", err) //nolint:errcheck // as above
		return exitFailure
	}
}

// quiet is for commands that talk to a person and not to a log: only trouble is logged.
func (c *console) quiet() *console {
	q := *c
	q.log = q.logger(slog.LevelError)
	return &q
}

// usageError is a mistake in the command line that only shows when it is looked at closely.
type usageError struct{ reason string }

func (e *usageError) Error() string { return e.reason }

func newConsole(stdout, stderr io.Writer, level slog.Level) *console {
	c := &console{out: stdout, err: stderr, terminal: newScreen(stderr, os.Getenv), patience: func(time.Duration) {}}
	c.log = c.logger(level)
	return c
}

// logger logs as text on a terminal and as JSON elsewhere.
func (c *console) logger(level slog.Level) *slog.Logger {
	if c.terminal != nil {
		return slog.New(logs.New(c.terminal, true, level))
	}
	f, ok := c.err.(*os.File) // a terminal perhaps that cannot redraw
	return slog.New(logs.New(c.err, ok && term.IsTerminal(int(f.Fd())), level))
}

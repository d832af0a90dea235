package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCommand struct{}

// Help is shown by man --help.
func (manCommand) Help() string {
	return "chainexplorer man > /usr/local/share/man/man1/chainexplorer.1"
}

// Run prints the manual page, made from the command line itself, so that it never grows old.
func (manCommand) Run(con *console, k *kong.Kong) error {
	var b strings.Builder
	writeManual(&b, k.Model)
	_, err := io.WriteString(con.out, b.String())
	return err
}

// roff keeps a text from being taken for a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.Join(strings.Fields(text), " "))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func writeManual(b *strings.Builder, model *kong.Application) {
	line := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" { // an empty line is a request, too
			b.WriteString(text + "\n")
		}
	}
	line(`.TH CHAINEXPLORER 1 "" "%s" "User Commands"`, roff(version()))
	line(".SH NAME\nchainexplorer \\- %s", roff(strings.TrimSuffix(model.Help, ".")))
	line(".SH SYNOPSIS\n.B chainexplorer\n.I command\n[\n.I arguments\n] [\n.I flags\n]")
	line(".SH DESCRIPTION\n%s", roff("The demo command shows the whole product on built-in simulated chains; serve runs it for real. Each command explains itself with --help."))
	line(".SH OPTIONS\nThese go with every command.")
	manualFlags(line, model.Flags)
	line(".SH COMMANDS")
	for _, leaf := range model.Leaves(true) {
		line(".SS %s", roff(manualUsage(leaf)))
		line("%s", roff(leaf.Help))
		if leaf.Detail != "" {
			line(".PP\n%s", roff(leaf.Detail))
		}
		manualFlags(line, leaf.Flags)
		if leaf.Parent != nil && leaf.Parent.Type == kong.CommandNode && len(leaf.Parent.Flags) > 0 {
			line(".PP\n%s", roff("It also takes the flags of "+leaf.Parent.Name+"."))
		}
	}
	for _, node := range model.Children {
		if len(node.Children) > 0 && len(node.Flags) > 0 && !node.Hidden {
			line(".SS %s", roff("All commands of "+node.Name))
			manualFlags(line, node.Flags)
		}
	}
	line(".SH ENVIRONMENT")
	for _, v := range [][2]string{
		{"CHAINEXPLORER_*", "Any flag, in capitals and with underscores: CHAINEXPLORER_LOG_LEVEL is --log-level. A flag wins."},
		{"SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_CHAIN", "Of get: where the service is, the key, and the chain."},
	} {
		line(".TP\n.B %s\n%s", roff(v[0]), roff(v[1]))
	}
	line(".SH EXIT STATUS\n0 when all went well, 1 when not, 2 when the command line is wrong.")
	line(".SH SEE ALSO\n%s", roff("The guides are served below /docs of every service."))
}

// manualUsage is a command with its arguments.
func manualUsage(node *kong.Node) string {
	words := []string{node.Path()}
	for _, p := range node.Positional {
		words = append(words, p.Summary())
	}
	return strings.Join(words, " ")
}

func manualFlags(line func(string, ...any), flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		name := "--" + f.Name
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		line(".TP\n.B %s\n%s", roff(name), roff(cmp.Or(f.Help, "See --help.")))
	}
}

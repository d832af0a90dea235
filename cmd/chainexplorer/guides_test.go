package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// guideOf names the files in which a command's flags are explained.
var guideOf = map[string][]string{
	"serve":  {"docs/serving.md", "docs/verification-operating.md", "docs/relay.md", "docs/webhooks.md"},
	"index":  {"docs/indexing.md"},
	"api":    {"docs/operating.md", "docs/serving.md", "docs/relay.md", "docs/webhooks.md"}, // its flags are those of serve
	"worker": {"docs/operating.md", "docs/indexing.md", "docs/verification-operating.md", "docs/webhooks.md"},
	"verify": {"docs/verification.md"},
	"signer": {"docs/verification-operating.md"},
	"admin":  {"docs/verification-operating.md", "docs/operating.md", "docs/serving.md", "docs/indexing.md", "docs/addresses.md", "docs/api.md", "docs/accounts.md", "docs/relay.md", "docs/export.md"},
}

// everyCommand are flags that all commands have; serving.md explains them once.
var everyCommand = []string{"help", "config", "log-level", "version"}

// TestEveryFlagStandsInItsGuide walks the command line and holds it against what
// people read. Commands that start nothing of an operator's explain their flags by
// --help alone.
func TestEveryFlagStandsInItsGuide(t *testing.T) {
	cmds := newCommands()
	parser, err := kong.New(cmds, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	checked := 0
	for _, leaf := range parser.Model.Leaves(true) {
		path := strings.Fields(leaf.Path())
		guides := guideOf[path[0]]
		for _, flag := range leaf.Flags {
			if guides == nil || flag.Hidden || slices.Contains(everyCommand, flag.Name) {
				continue
			}
			found := false
			for _, file := range guides {
				if texts[file] == "" {
					text, err := os.ReadFile("../../" + file)
					if err != nil {
						t.Fatal(err)
					}
					texts[file] = string(text)
				}
				found = found || strings.Contains(texts[file], "--"+flag.Name) || strings.Contains(texts[file], "--no-"+flag.Name)
			}
			checked++
			if !found {
				t.Errorf("%s --%s stands in none of %v", strings.Join(path, " "), flag.Name, guides)
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d flags were looked at", checked)
	}
}

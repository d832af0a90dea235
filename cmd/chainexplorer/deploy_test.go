package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// parses checks a command line without running it, as run does.
func parses(t *testing.T, args ...string) {
	t.Helper()
	settings, err := loadSettings(args)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, kong.Resolvers(settings))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Errorf("%q: %v", args, err)
	}
}

// TestDeployFiles: the commands and settings in the files that operators copy
// are ones that this program knows.
func TestDeployFiles(t *testing.T) {
	const dir = "../../docs/deploy/"
	unit, err := os.ReadFile(dir + "chainexplorer.service")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(unit), "\nExecStart=/usr/local/bin/chainexplorer ")
	if !found {
		t.Fatal("the unit starts something else")
	}
	line, _, _ := strings.Cut(rest, "\n")
	parses(t, strings.Fields(strings.Replace(line, "/etc/chainexplorer/", dir, 1))...)

	text, err := os.ReadFile(dir + "compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index", "api"} {
		s := compose.Services[name]
		if s.Image != "chainexplorer" {
			t.Errorf("%s runs %q", name, s.Image)
		}
		for k, v := range s.Environment {
			t.Setenv(k, v)
		}
		parses(t, s.Command...)
	}
}

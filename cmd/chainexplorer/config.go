package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// Settings come from four places. The first that has a value wins:
//
//	flag            --batch-mib 40
//	environment     CHAINEXPLORER_BATCH_MIB=40
//	config file     batch-mib: 40        (--config FILE, or CHAINEXPLORER_CONFIG)
//	default
//
// A flag that can be repeated takes a list in the file, and values separated by
// white space in the environment.

const envPrefix = "CHAINEXPLORER_"

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settings resolves flags that the command line does not set.
type settings struct {
	file   string
	values map[string]any
}

// loadSettings reads the config file that the command line or the environment names.
func loadSettings(args []string) (*settings, error) {
	s := &settings{values: map[string]any{}}
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--config="); ok {
			s.file = v
		} else if a == "--config" && i+1 < len(args) {
			s.file = args[i+1]
		}
	}
	if s.file == "" {
		s.file = os.Getenv(envName("config"))
	}
	if s.file == "" {
		return s, nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	if err := yaml.Unmarshal(text, &s.values); err != nil {
		return nil, fmt.Errorf("config file %s: %w", s.file, err)
	}
	return s, nil
}

// Validate refuses names that no command knows: a misspelt setting must not be
// ignored.
func (s *settings) Validate(app *kong.Application) error {
	known := flagNames(app)
	var unknown []string
	for name := range s.values {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("config file %s: unknown setting %s", s.file, strings.Join(unknown, ", "))
	}
	return nil
}

// flagNames are those of all commands.
func flagNames(app *kong.Application) map[string]bool {
	known := map[string]bool{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			known[f.Name] = true
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(app.Node)
	return known
}

// strangeVariables are those of the environment that have our prefix and are no setting of
// any command, in order. They are no error, as in the file: Kubernetes sets some for every
// service that is called like the program.
func strangeVariables(app *kong.Application, environ []string) (out []string) {
	known := map[string]bool{}
	for name := range flagNames(app) {
		known[envName(name)] = true
	}
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, envPrefix) && !known[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Resolve is asked for every flag that the command line does not set.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == "help" || flag.Name == "config" {
		return nil, nil
	}
	if v, ok := os.LookupEnv(envName(flag.Name)); ok {
		if flag.IsSlice() {
			return texts(strings.Fields(v)), nil
		}
		return v, nil
	}
	v, ok := s.values[flag.Name]
	if !ok {
		return nil, nil
	}
	switch v := v.(type) {
	case []any:
		if !flag.IsSlice() {
			return nil, errors.New("one value is wanted, the config file has a list")
		}
		var list []string
		for _, item := range v {
			list = append(list, fmt.Sprint(item))
		}
		return texts(list), nil
	case map[string]any, nil:
		return nil, errors.New("the config file has no plain value")
	default:
		if flag.IsSlice() {
			return texts([]string{fmt.Sprint(v)}), nil
		}
		return fmt.Sprint(v), nil
	}
}

// texts makes a list that kong takes as it is, commas and all.
func texts(list []string) any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

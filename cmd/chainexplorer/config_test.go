package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// parse runs the command line through the same parser as the program.
func parse(t *testing.T, args ...string) (*commands, error) {
	t.Helper()
	s, err := loadSettings(args)
	if err != nil {
		return nil, err
	}
	cmds := newCommands()
	p, err := kong.New(cmds, kong.Resolvers(s), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Parse(args)
	return cmds, err
}

// TestPrecedence: flag over environment over file over default.
func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	text := "data: /from/file\ncache-mib: 11\nundo-blocks: 12\nfinality-depth: 13\nnode:\n  - http://file:1,ws://file:2\n  - http://file:3\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHAINEXPLORER_CONFIG", file)
	t.Setenv("CHAINEXPLORER_CACHE_MIB", "21")
	t.Setenv("CHAINEXPLORER_UNDO_BLOCKS", "22")
	cmds, err := parse(t, "serve", "--undo-blocks=32")
	if err != nil {
		t.Fatal(err)
	}
	s := cmds.Serve
	if s.UndoBlocks != 32 || s.CacheMib != 21 || s.FinalityDepth != 13 || s.Data != "/from/file" || s.Listen != "127.0.0.1:8080" {
		t.Errorf("settings are %+v", s)
	}
	if want := []string{"http://file:1,ws://file:2", "http://file:3"}; !reflect.DeepEqual(s.Node, want) {
		t.Errorf("nodes are %q, want %q", s.Node, want)
	}
	t.Setenv("CHAINEXPLORER_NODE", "http://env:1 http://env:2")
	if cmds, err = parse(t, "serve"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http://env:1", "http://env:2"}; !reflect.DeepEqual(cmds.Serve.Node, want) {
		t.Errorf("nodes are %q, want %q", cmds.Serve.Node, want)
	}
}

func TestBadSettings(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"unknown name", "data: /x\ncache: 3\n", "unknown setting cache"},
		{"not YAML", "data: [", "config file"},
		{"list for one value", "data: [a, b]\nnode: http://x\n", "one value is wanted"},
		{"not a number", "data: /x\nnode: http://x\ncache-mib: much\n", "cache-mib"},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-")+".yaml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := parse(t, "serve", "--config", file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := parse(t, "serve", "--config", dir+"/none.yaml"); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("missing file: %v", err)
	}
}

// TestServeMistakes: every bad setting is refused before anything starts.
func TestServeMistakes(t *testing.T) {
	data := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no node", nil, "Give --node URL or --chain SN_MAIN=URL"},
		{"both", []string{"--node=http://127.0.0.1:1", "--chain=SN_MAIN=http://127.0.0.1:1"}, "not both"},
		{"unnamed chain", []string{"--chain=http://127.0.0.1:1"}, "want SN_MAIN=URL"},
		{"other chain", []string{"--chain=ETH=http://127.0.0.1:1"}, "want SN_MAIN=URL"},
		{"origin with a path", []string{"--node=http://127.0.0.1:1", "--origin=https://a.example/x"}, "a scheme and a host alone"},
		{"bad base", []string{"--node=http://127.0.0.1:1", "--base-url=api.example"}, "--base-url"},
		{"bad address", []string{"--node=http://127.0.0.1:1", "--listen=nowhere"}, "listen"},
	} {
		_, stderr, code := output(t, append([]string{"serve", "--data=" + data}, c.args...)...)
		if code == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, output lacks %q:\n%s", c.name, code, c.want, stderr)
		}
	}
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// TestJobsSetting: jobs are done unless somebody says otherwise, wherever that is.
func TestJobsSetting(t *testing.T) {
	file := t.TempDir() + "/settings.yaml"
	if err := os.WriteFile(file, []byte("jobs: false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		env  string
		want bool
	}{
		"default":          {nil, "", true},
		"flag":             {[]string{"--no-jobs"}, "", false},
		"file":             {[]string{"--config", file}, "", false},
		"flag over file":   {[]string{"--config", file, "--jobs"}, "", true},
		"environment":      {nil, "false", false},
		"flag over others": {[]string{"--config", file, "--jobs"}, "false", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv("CHAINEXPLORER_JOBS", c.env)
			}
			cmds, err := parse(t, append([]string{"index", "--node=http://127.0.0.1:1"}, c.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			if cmds.Index.Jobs != c.want {
				t.Errorf("jobs: %v", cmds.Index.Jobs)
			}
		})
	}
}

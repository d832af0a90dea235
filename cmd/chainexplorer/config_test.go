package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	data, wrong := t.TempDir(), t.TempDir()+"/file"
	if err := os.WriteFile(wrong, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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
		{"base with a password", []string{"--node=http://127.0.0.1:1", "--base-url=https://me:hunter2@api.example"}, "--base-url"},
		{"bad address", []string{"--node=http://127.0.0.1:1", "--listen=nowhere"}, "--listen"},
		{"bad port", []string{"--node=http://127.0.0.1:1", "--metrics=127.0.0.1:99999"}, "--metrics"},
		{"no node's address", []string{"--node=x"}, "--node: address is not a URL with a host"},
		{"another scheme", []string{"--node=ftp://me:hunter2@h"}, "--node: address must start with"},
		{"bad address of a socket", []string{"--node=http://127.0.0.1:1,x"}, "--node: WebSocket address"},
		{"no node's address, chain", []string{"--chain=SN_MAIN=http://me:hunter2@[::1"}, "--chain SN_MAIN: address is not a URL"},
		{"other chain, password", []string{"--chain=SN_MAINX=http://me:hunter2@127.0.0.1:1"}, "want SN_MAIN=URL"},
		{"bad collector", []string{"--node=http://127.0.0.1:1", "--trace-endpoint=ftp://me:hunter2@h"}, "--trace-endpoint ***@h"},
		{"origin, password", []string{"--node=http://127.0.0.1:1", "--origin=https://me:hunter2@h"}, "--origin ***@h"},
		{"provider, password", []string{"--node=http://127.0.0.1:1", "--base-url=https://api.example", "--oidc-client-id=x", "--oidc-issuer=https://me:hunter2@h"}, "--oidc-issuer"},
		{"internal key", []string{"--node=http://127.0.0.1:1", "--internal-key=x"}, "--internal-key"},
		{"registry", []string{"--node=http://127.0.0.1:1", "--registry=" + wrong}, "registry"},
		{"log key", []string{"--node=http://127.0.0.1:1", "--receipt-log-key=" + wrong}, "--receipt-log-key"},
	} {
		_, stderr, code := output(t, append([]string{"serve", "--data=" + data}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, output lacks %q:\n%s", c.name, code, c.want, stderr)
		}
		if strings.Contains(stderr, "hunter2") {
			t.Errorf("%s: a password is told: %s", c.name, stderr)
		}
	}
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// TestStrangeVariables: what has our prefix and is no setting is told of.
func TestStrangeVariables(t *testing.T) {
	parser, err := kong.New(newCommands())
	if err != nil {
		t.Fatal(err)
	}
	got := strangeVariables(parser.Model, []string{"PATH=/x", "CHAINEXPLORER_VERFY=all", "CHAINEXPLORER_VERIFY=all", "CHAINEXPLORER_CONFIG=x", "CHAINEXPLORER_BATCH=", "CHAINEXPLORERS=1"})
	if want := []string{"CHAINEXPLORER_BATCH", "CHAINEXPLORER_VERFY"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestFolderNames: a folder may be called what would be a pattern.
func TestFolderNames(t *testing.T) {
	data := filepath.Join(t.TempDir(), `a[b*?\c`)
	index := filepath.Join(data, "SN_MAIN")
	if err := os.MkdirAll(index, 0o700); err != nil {
		t.Fatal(err)
	}
	p := composition{}
	p.Data = data
	if id, err := p.indexed(t.Context(), ""); err != nil || id != "" || isStore(index) {
		t.Errorf("nothing is there: %q, %v", id, err)
	}
	if err := os.WriteFile(filepath.Join(index, "MANIFEST-000001"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{"", "SN_MAIN"} {
		if id, err := p.indexed(t.Context(), named); err != nil || id != "SN_MAIN" {
			t.Errorf("%q: %q, %v", named, id, err)
		}
	}
	if err := checkDataDir(index); err != nil {
		t.Error(err)
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

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	parser, err := kong.New(newCommands(), kong.Resolvers(settings))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Errorf("%q: %v", args, err)
	}
}

// started is what a unit starts the program with, and the unit itself.
func started(t *testing.T, file string) (line, unit string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\nExecStart=/usr/local/bin/chainexplorer ")
	if !found {
		t.Fatalf("%s starts something else", file)
	}
	line, _, _ = strings.Cut(rest, "\n")
	return line, string(text)
}

// TestDeployFiles: the commands and settings in the files that operators copy
// are ones that this program knows.
func TestDeployFiles(t *testing.T) {
	const dir = "../../docs/deploy/"
	line, _ := started(t, dir+"chainexplorer.service")
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
	for _, name := range []string{"index", "worker", "api"} {
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

// TestRoleUnit: the unit for roles apart starts each of them with the settings
// that its first lines speak of.
func TestRoleUnit(t *testing.T) {
	line, unit := started(t, "../../docs/deploy/chainexplorer@.service")
	values := map[string]string{"store": "postgres://db/explorer", "node": "[http://127.0.0.1:6060]", "chain": "[SN_MAIN]",
		"jobs": "false", "metrics": "127.0.0.1:9464", "listen": "127.0.0.1:8080"}
	for _, role := range []string{"index", "worker", "api"} {
		_, rest, found := strings.Cut(unit, "\n#   "+role+".yaml")
		if !found {
			t.Fatalf("the unit says nothing of %s", role)
		}
		names, _, _ := strings.Cut(rest, "\n")
		var text strings.Builder
		for name := range strings.SplitSeq(names, ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), ":")
			value, known := values[name]
			if !known {
				t.Errorf("%s: what is %q?", role, name)
			}
			text.WriteString(name + ": " + value + "\n")
		}
		file := t.TempDir() + "/" + role + ".yaml"
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(strings.NewReplacer("/etc/chainexplorer/%i.yaml", file, "%i", role).Replace(line))
		parses(t, args...)
	}
}

// TestAlerts: the rules ask for what the program exports, say what is wrong, and
// Prometheus takes them.
func TestAlerts(t *testing.T) {
	const file = "../../docs/deploy/alerts.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	known, seen := exported(t), map[string]bool{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			checkExpression(t, known, r.Alert, r.Expr)
			if seen[r.Alert] || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s is there twice, or has no severity, summary or description", r.Alert)
			}
			seen[r.Alert] = true
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d alerts", len(seen))
	}
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not there: Prometheus itself was not asked (make tools installs it)")
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", "--lint-fatal", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// TestUnitsAreHardened: systemd itself says how much a break-in would be worth.
func TestUnitsAreHardened(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not there")
	}
	for _, unit := range []string{"chainexplorer.service", "chainexplorer@.service"} {
		// The threshold is in tenths; beyond it the command fails.
		cmd := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=24", "../../docs/deploy/"+unit)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}

// TestImageHasItsSource: what .dockerignore keeps out is nothing that the program is built from.
func TestImageHasItsSource(t *testing.T) {
	text, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	var in []string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			in = append(in, name)
		}
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, ".")
	list.Dir, list.Env = ".", append(os.Environ(), "GOFLAGS=")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(out))
	if len(files) < 100 {
		t.Fatalf("only %d files", len(files))
	}
	for _, f := range files {
		f, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(f, "/")
		if !slices.Contains(in, top) || strings.Contains(f, "testdata/") || strings.HasSuffix(f, "_test.go") {
			t.Errorf(".dockerignore leaves %s out", f)
		}
	}
}

// TestCompose: the program that reads the compose file takes it.
func TestCompose(t *testing.T) {
	command := []string{"docker", "compose"}
	if out, err := exec.Command("docker", "compose", "version").CombinedOutput(); err != nil {
		if _, err := exec.LookPath("docker-compose"); err != nil {
			t.Skipf("docker compose is not there: %s", out)
		}
		command = []string{"docker-compose"}
	}
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], "-f", "../../docs/deploy/compose.yaml", "config", "--services")...)
	cmd.Env = append(os.Environ(), "DB_PASSWORD=secret", "OPERATOR_TOKEN=0123456789abcdef", "NODE=http://node:6060")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, name := range []string{"db", "index", "worker", "api"} {
		if !slices.Contains(strings.Fields(string(out)), name) {
			t.Errorf("no service %s:\n%s", name, out)
		}
	}
}

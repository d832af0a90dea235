package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongFiles: a file that a setting names and that cannot be used is a wrong setting, in every role: the flag is
// named, and nothing is begun.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	for name, text := range map[string]string{"short": "few\n", "lines": "0123456789abcdef\n0123456789abcdef\n", "large": strings.Repeat("0123456789abcdef", mostSetting/16) + "0", "empty": ""} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(t.TempDir(), "data")
	const store = "postgres://127.0.0.1:1/x"
	roles := map[string][]string{
		"serve":  {"--node=http://127.0.0.1:1", "--data=" + data},
		"index":  {"--node=http://127.0.0.1:1", "--data=" + data},
		"worker": {"--node=http://127.0.0.1:1", "--store=" + store},
		"api":    {"--chain=SN_MAIN", "--store=" + store},
	}
	all := []string{"serve", "index", "worker", "api"}
	for _, c := range []struct {
		roles []string
		flag  string
		value string
		want  string // beside the flag
	}{
		{all, "--registry", "none", "no such file"},
		{all, "--registry", ".", "is a directory"},
		{all, "--registry", "short", "registry"},
		{[]string{"serve", "api"}, "--receipt-trust", "none", "no such file"},
		{[]string{"serve", "api"}, "--receipt-trust", "large", "more than"},
		{[]string{"serve", "worker", "api"}, "--receipt-log-key", "none", "no such file"},
		{[]string{"serve", "worker", "api"}, "--receipt-log-key", "short", "plus signs"},
		{[]string{"serve", "api"}, "--prover-file", "none", "no such file"},
		{[]string{"serve", "api"}, "--prover-file", "empty", "empty"},
		{all, "--operator-token-file", "none", "no such file"},
		{all, "--operator-token-file", "large", "more than"},
		{all, "--operator-token-file", "short", "16 characters or more"},
		{all, "--operator-token-file", "lines", "on one line"},
		{all, "--operator-host", "", "want a name alone"},
		{all, "--operator-host", "http://x", "want a name alone"},
		{all, "--metrics", "nine", "want a host and a port"},
		{[]string{"serve", "worker"}, "--signer", "tcp:x", "unix:"},
	} {
		value := c.value
		if strings.HasSuffix(c.flag, "-file") || c.flag == "--registry" || strings.HasPrefix(c.flag, "--receipt") {
			value = filepath.Join(files, value)
		}
		for _, role := range c.roles {
			_, text, code := output(t, append([]string{role, c.flag + "=" + value}, roles[role]...)...)
			named := strings.Contains(text, c.flag) || strings.Contains(text, "operator token")
			if code != exitUsage || !named || !strings.Contains(text, c.want) {
				t.Errorf("%s %s=%s: exit code %d: %s", role, c.flag, c.value, code, text)
			}
		}
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data directory was begun: %v", err)
	}
}

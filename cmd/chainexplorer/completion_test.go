package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"ad":                                 "admin",
		"admin fs":                           "fsck",
		"index --verify ":                    "off tail all",
		"index --verify = ta":                "--verify=tail", // as bash splits it
		"index --verify=ta":                  "--verify=tail",
		"--config settings.yaml serve --bas": "--base-url",
		"index --no-j":                       "--no-jobs",
		"completion ":                        "bash zsh fish",
		"compl":                              "completion", // and not the hidden one
		"index --data ":                      "",           // for the shell: a file
		"nonsense --wrong":                   "",
	} {
		out, errs, code := output(t, append([]string{"complete", "--"}, strings.Split(line, " ")...)...)
		var got []string
		for l := range strings.Lines(out) {
			word, help, _ := strings.Cut(strings.TrimSpace(l), "\t")
			got = append(got, word)
			if help == "" {
				t.Errorf("%q: %s has no description", line, word)
			}
		}
		if code != 0 || errs != "" || strings.Join(got, " ") != want {
			t.Errorf("%q: %v (%d, %s), want %s", line, got, code, errs, want)
		}
	}
	if _, _, code := output(t, "completion", "csh"); code != exitUsage {
		t.Errorf("an unknown shell ends with %d", code)
	}
}

// TestCompletionScripts gives each script to its shell.
func TestCompletionScripts(t *testing.T) {
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for shell, ask := range map[string]string{
		"bash": `source "$1"; COMP_WORDS=(chainexplorer index --verify = t); COMP_CWORD=4; _chainexplorer; echo "${COMPREPLY[@]}"
			COMP_WORDS=(chainexplorer adm); COMP_CWORD=1; _chainexplorer; echo "${COMPREPLY[@]}"`,
		"zsh": `compdef() { :; }; _describe() { print -l -- "${(@P)2}"; }; source "$1"
			words=(chainexplorer index --verify t); CURRENT=4; _chainexplorer
			words=(chainexplorer adm); CURRENT=2; _chainexplorer`,
		"fish": `source $argv[1]; complete -C 'chainexplorer index --verify t'; complete -C 'chainexplorer adm'`,
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("there is no %s here", shell)
			}
			text, _, _ := output(t, "completion", shell)
			script := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"-c", ask, shell, script}
			if shell == "fish" {
				args = []string{"-c", ask, script}
			}
			cmd := exec.CommandContext(t.Context(), shell, args...)
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(exe)+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "tail") || !strings.HasPrefix(lines[1], "admin") {
				t.Errorf("%s completes to %q", shell, out)
			}
		})
	}
}

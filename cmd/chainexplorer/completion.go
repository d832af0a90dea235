package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown by completion --help.
func (completionCommand) Help() string {
	return "Bash: source <(chainexplorer completion bash), in ~/.bashrc. Zsh: the same with zsh, in ~/.zshrc after compinit. " +
		"Fish: chainexplorer completion fish > ~/.config/fish/completions/chainexplorer.fish"
}

// The scripts ask the program itself, so that they never grow old.
var completionScripts = map[string]string{
	"bash": `_chainexplorer() {
  local reply
  COMPREPLY=()
  while IFS=$'\t' read -r reply _; do
    # Bash takes a word with = in it for three, and wants the last one alone.
    if [ "${COMP_WORDS[COMP_CWORD]}" = "=" ] || [ "${COMP_WORDS[COMP_CWORD-1]}" = "=" ]; then reply=${reply#*=}; fi
    COMPREPLY+=("$reply")
  done < <(chainexplorer complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _chainexplorer chainexplorer
`,
	"zsh": `#compdef chainexplorer
_chainexplorer() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done < <(chainexplorer complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe chainexplorer found; else _files; fi
}
compdef _chainexplorer chainexplorer
`,
	"fish": `function __chainexplorer_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (chainexplorer complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c chainexplorer -f -a '(__chainexplorer_complete)'
`,
}

// Run prints a script for a shell.
func (c *completionCommand) Run(con *console) error {
	_, err := fmt.Fprint(con.out, completionScripts[c.Shell])
	return err
}

// completeCommand is what the scripts of completion ask.
type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words behind the program's name; the last one is being typed."`
}

// Run prints what the last word can become, with a description behind a tab.
func (c *completeCommand) Run(con *console, k *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, f := range continuations(k.Model.Node, words) {
		if _, err := fmt.Fprintf(con.out, "%s\t%s\n", f[0], f[1]); err != nil {
			return err
		}
	}
	return nil
}

// continuations finds the words that can stand last, with what they mean.
func continuations(node *kong.Node, words []string) (found [][2]string) {
	words = joinEquals(words)
	current := ""
	if len(words) > 0 {
		current, words = words[len(words)-1], words[:len(words)-1]
	}
	flags := slices.Clone(node.Flags)
	var pending *kong.Flag // waits for its value
	for _, w := range words {
		switch {
		case pending != nil:
			pending = nil
		case strings.HasPrefix(w, "-"):
			if f := flagNamed(flags, w); f != nil && !f.IsBool() && !strings.Contains(w, "=") {
				pending = f
			}
		default:
			for _, child := range node.Children {
				if child.Name == w {
					node = child
					flags = append(flags, child.Flags...)
				}
			}
		}
	}
	add := func(word, help string) {
		if strings.HasPrefix(word, current) {
			help, _, _ = strings.Cut(help, "\n")
			found = append(found, [2]string{word, help})
		}
	}
	name, _, hasValue := strings.Cut(current, "=")
	switch {
	case pending != nil:
		addEnum(pending, "", add)
	case strings.HasPrefix(current, "-") && hasValue:
		if f := flagNamed(flags, name); f != nil {
			addEnum(f, name+"=", add)
		}
	case strings.HasPrefix(current, "-") || len(node.Children) == 0 && len(node.Positional) == 0:
		for _, f := range flags {
			if f.Hidden {
				continue
			}
			add("--"+f.Name, f.Help)
			if f.Tag.Negatable != "" {
				add("--no-"+f.Name, f.Help)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				add(child.Name, child.Help)
			}
		}
		for _, p := range node.Positional {
			addEnum(&kong.Flag{Value: p}, "", add)
		}
	}
	return found
}

// joinEquals undoes what bash does to --flag=value.
func joinEquals(words []string) (out []string) {
	for i, w := range words {
		last := len(out) - 1
		if last >= 0 && (w == "=" && strings.HasPrefix(out[last], "--") || i > 0 && words[i-1] == "=" && strings.HasSuffix(out[last], "=")) {
			out[last] += w
			continue
		}
		out = append(out, w)
	}
	return out
}

// flagNamed finds --name or --name=value.
func flagNamed(flags []*kong.Flag, word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, f := range flags {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func addEnum(f *kong.Flag, prefix string, add func(word, help string)) {
	if f.Enum == "" {
		return
	}
	for _, v := range f.EnumSlice() {
		add(prefix+v, f.Help)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints what this program was built from, and how.
func (c *versionCommand) Run(con *console) error {
	b := readBuild()
	if !c.JSON {
		return b.print(con.out)
	}
	enc := json.NewEncoder(con.out)
	enc.SetIndent("", "  ")
	return enc.Encode(b)
}

// build is what the toolchain wrote into the binary.
type build struct {
	Version  string            `json:"version"`
	Commit   *string           `json:"commit"` // null when it was not built in a repository
	Time     *string           `json:"commitTime"`
	Modified *bool             `json:"modified"` // whether there were changes beyond the commit
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Settings map[string]string `json:"settings"`
	order    []string
}

func readBuild() build {
	b := build{Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Settings: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = &s.Value
		case "vcs.time":
			b.Time = &s.Value
		case "vcs.modified":
			modified := s.Value == "true"
			b.Modified = &modified
		case "vcs":
		default:
			b.Settings[s.Key] = s.Value
			b.order = append(b.order, s.Key)
		}
	}
	return b
}

func (b build) print(w io.Writer) error {
	commit := "unknown: not built in a repository"
	if b.Commit != nil {
		commit = *b.Commit
		if b.Time != nil {
			commit += " of " + *b.Time
		}
		if b.Modified != nil && *b.Modified {
			commit += ", with changes that are not committed"
		}
	}
	var settings []string
	for _, k := range b.order {
		settings = append(settings, k+"="+b.Settings[k])
	}
	_, err := fmt.Fprintf(w, "chainexplorer %s\ncommit   %s\ngo       %s %s\nbuild    %s\n", b.Version, commit, b.Go, b.Platform, strings.Join(settings, " "))
	return err
}

// version is what the documents call this program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

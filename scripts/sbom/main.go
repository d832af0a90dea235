// Command sbom prints the bill of materials of a Go binary, as CycloneDX JSON:
// what `go version -m` shows, for tools that read such lists. It says nothing that
// is not in the binary, so that equal binaries have equal lists.
//
//	go run ./scripts/sbom bin/chainexplorer > chainexplorer.cdx.json
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

type document struct {
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func run(file string, out io.Writer) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(list(info, sha256.Sum256(content)))
}

// list describes a binary with this build information and digest.
func list(info *debug.BuildInfo, digest [sha256.Size]byte) document {
	program := component{Type: "application", Ref: "program", Name: info.Path, Version: info.Main.Version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(digest[:])}}}
	for _, s := range info.Settings {
		program.Properties = append(program.Properties, property{"build:" + s.Key, s.Value})
	}
	std := component{Type: "library", Ref: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	d := document{BOMFormat: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{program}, Components: []component{std}}
	all := dependency{Ref: program.Ref, DependsOn: []string{std.Ref}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Ref: m.Path + "@" + m.Version, Name: m.Path, Version: m.Version,
			PURL: "pkg:golang/" + m.Path + "@" + url.PathEscape(m.Version)}
		if m.Sum != "" {
			// The sum is over the files of the module: no hash of one file, as the format's own field means.
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		d.Components = append(d.Components, c)
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	d.Dependencies = []dependency{all}
	return d
}

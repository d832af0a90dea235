package main

import (
	"context"
	"fmt"

	"chainexplorer/internal/verification/toolchain"
)

type toolchainCommands struct {
	Add      toolchainAddCommand      `cmd:"" help:"Copy a compiler into a policy directory, with the libraries that it is linked with, and write the manifest."`
	Manifest toolchainManifestCommand `cmd:"" help:"Write the manifest of what stands in a policy directory. What is there is believed."`
	Check    toolchainCheckCommand    `cmd:"" help:"Hold a policy directory against its manifest, every byte of it."`
}

type toolchainAddCommand struct {
	Dir     string `arg:"" help:"The policy directory; it is made unless it is there."`
	Kind    string `enum:"cairo,scarb" default:"cairo" help:"cairo, a compiler for contracts with its core library, or scarb; cairo unless set."`
	Version string `required:"" placeholder:"X.Y.Z" help:"Its version, such as 2.20.0."`
	From    string `required:"" placeholder:"DIR" help:"Where it stands: a folder with bin/starknet-compile and corelib, or with bin/scarb."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run adds a toolchain to a policy.
func (c *toolchainAddCommand) Run(ctx context.Context, con *console) error {
	p, err := toolchain.Add(ctx, c.Dir, toolchain.Kind(c.Kind), c.Version, c.From)
	if err != nil {
		return err
	}
	return printPolicy(con, p, c.JSON)
}

type toolchainManifestCommand struct {
	Dir  string `arg:"" type:"existingdir" help:"The policy directory, with folders such as cairo-2.20.0."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run writes a manifest.
func (c *toolchainManifestCommand) Run(ctx context.Context, con *console) error {
	p, err := toolchain.Write(ctx, c.Dir)
	if err != nil {
		return err
	}
	return printPolicy(con, p, c.JSON)
}

type toolchainCheckCommand struct {
	Dir  string `arg:"" type:"existingdir" help:"The policy directory."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run checks a policy as it is checked before a build.
func (c *toolchainCheckCommand) Run(ctx context.Context, con *console) error {
	p, err := toolchain.Open(c.Dir)
	if err != nil {
		return err
	}
	if err := p.Check(ctx); err != nil {
		return err
	}
	return printPolicy(con, p, c.JSON)
}

// policyView is what --json prints.
type policyView struct {
	PolicyID       string          `json:"policyId"`
	ManifestDigest string          `json:"manifestDigest"`
	Toolchains     []toolchainView `json:"toolchains"`
}

type toolchainView struct {
	Kind    toolchain.Kind `json:"kind"`
	Version string         `json:"version"`
	Files   int            `json:"files"`
	Bytes   int64          `json:"bytes"`
}

func printPolicy(con *console, p *toolchain.Policy, asJSON bool) error {
	view := policyView{PolicyID: p.ID, ManifestDigest: p.Digest}
	for _, t := range p.Toolchains {
		v := toolchainView{Kind: t.Kind, Version: t.Version, Files: len(t.Files)}
		for _, f := range t.Files {
			v.Bytes += f.Bytes
		}
		view.Toolchains = append(view.Toolchains, v)
	}
	if asJSON {
		return printJSON(con.out, view)
	}
	for _, t := range view.Toolchains {
		fmt.Fprintf(con.out, "%-6s %-10s %5d files  %10d bytes\n", t.Kind, t.Version, t.Files, t.Bytes) //nolint:errcheck // stdout
	}
	_, err := fmt.Fprintf(con.out, "policy    %s\nmanifest  %s\n", view.PolicyID, view.ManifestDigest)
	return err
}

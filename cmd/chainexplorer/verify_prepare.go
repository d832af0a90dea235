package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/submission"
)

// What prepare writes.
const (
	archiveFile = "source.tar.gz"
	packageFile = "package.json"
)

type verifyPrepareCommand struct {
	Dir         string `arg:"" type:"existingdir" help:"The source tree, with Scarb.toml and Scarb.lock at its root."`
	ClassHash   string `required:"" placeholder:"HASH" help:"The declared class that the source is to reproduce."`
	PackageName string `required:"" placeholder:"NAME" help:"Scarb package that has the contract."`
	TargetName  string `required:"" placeholder:"NAME" help:"Its target of kind starknet-contract."`
	ArtifactID  string `required:"" placeholder:"ID" name:"artifact-id" help:"Id of the contract's artifact."`
	ModulePath  string `required:"" placeholder:"PATH" help:"Path of the contract's module, such as counter::Counter."`
	Visibility  string `default:"private" enum:"private,public" help:"private or public; neither publishes the source."`
	Retention   string `placeholder:"POLICY" help:"How long the source is kept: private-24h-v1 or private-7d-v1, public-30d-v1 for a public one; the first that fits unless set."`
	Out         string `placeholder:"DIR" help:"Where to write source.tar.gz and package.json; the folder .chainexplorer of the tree unless set."`
	JSON        bool   `name:"json" help:"Print JSON."`
}

// prepareView is what --json prints.
type prepareView struct {
	Archive       string              `json:"archive"`
	Package       string              `json:"package"`
	Files         int                 `json:"files"`
	FileBytes     int64               `json:"fileBytes"`
	PackageDigest string              `json:"packageDigest"`
	Content       *submission.Package `json:"content"`
}

// Run packs a tree. Nothing is written unless all of it is right.
func (c *verifyPrepareCommand) Run(con *console) error {
	out, err := c.outside()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(c.Dir) // so that no link leads out of the tree, whoever swaps it
	if err != nil {
		return fmt.Errorf("source tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // read only
	data, summary, err := archive.Pack(root.FS(), archive.Standard)
	if err != nil {
		return err
	}
	p := c.content(&summary)
	if err := p.Normalize(); err != nil {
		var refused *submission.Error
		if errors.As(err, &refused) {
			return &usageError{err.Error()}
		}
		return err
	}
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the package: %w", err)
	}
	view := prepareView{filepath.Join(out, archiveFile), filepath.Join(out, packageFile), summary.Files, summary.FileBytes, digest, p}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := errors.Join(durable.WriteFile(view.Archive, data, 0o644), durable.WriteFile(view.Package, append(body, '\n'), 0o644)); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, view)
	}
	_, err = fmt.Fprintf(con.out, "%s: %d files, %d bytes, %d when compressed\n  %s\n%s\n  %s\nThis prepares a verification and is none.\n",
		view.Archive, summary.Files, summary.FileBytes, summary.Compressed, p.UploadDigest, view.Package, digest)
	return err
}

func (c *verifyPrepareCommand) content(s *archive.Summary) *submission.Package {
	p := &submission.Package{
		SelectedClassHash: c.ClassHash, UploadDigest: s.Digest, UploadByteLength: s.Compressed, ToolchainPolicyID: submission.ToolchainPolicy,
		PackageName: c.PackageName, BuildProfile: submission.BuildProfile, TargetName: c.TargetName, TargetKind: submission.TargetKind,
		ArtifactID: c.ArtifactID, ModulePath: c.ModulePath, SourceVisibility: submission.Visibility(c.Visibility), RetentionPolicyID: submission.Retention(c.Retention),
	}
	if c.Retention == "" {
		p.RetentionPolicyID = submission.Private24Hours
		if p.SourceVisibility == submission.Public {
			p.RetentionPolicyID = submission.Public30Days
		}
	}
	return p
}

// outside is the folder to write to. It must not be part of the source, or the next
// archive would have this one inside.
func (c *verifyPrepareCommand) outside() (string, error) {
	own := filepath.Join(c.Dir, archive.ToolFolder)
	if c.Out == "" {
		return own, nil
	}
	tree, err := filepath.Abs(c.Dir)
	if err != nil {
		return "", err
	}
	out, err := filepath.Abs(c.Out)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(tree, out)
	if err == nil && inside != archive.ToolFolder && !strings.HasPrefix(inside, archive.ToolFolder+string(filepath.Separator)) &&
		inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return "", &usageError{fmt.Sprintf("--out lies in the source tree: choose another folder, or leave it out for %s", own)}
	}
	return c.Out, nil
}

package main

import (
	"fmt"
	"os"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/submission"
)

type verifyCheckCommand struct {
	File    string `arg:"" type:"existingfile" help:"The archive, such as source.tar.gz."`
	Package string `placeholder:"FILE" help:"The package that goes with it, such as package.json: whether it fits is checked, too."`
	List    bool   `help:"List the files in it."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// checkView is what --json prints.
type checkView struct {
	Digest        string      `json:"digest"`
	Bytes         int64       `json:"bytes"`
	ExpandedBytes int64       `json:"expandedBytes"`
	Files         int         `json:"files"`
	FileBytes     int64       `json:"fileBytes"`
	PackageDigest *string     `json:"packageDigest"` // null without --package
	List          []checkFile `json:"list,omitempty"`
}

type checkFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Run reads an archive with all checks.
func (c *verifyCheckCommand) Run(con *console) error {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	view := checkView{}
	s, err := archive.Read(f, archive.Standard, func(f archive.File) error {
		if c.List {
			view.List = append(view.List, checkFile{f.Path, f.Size})
		}
		return nil
	})
	if err != nil {
		return err
	}
	view.Digest, view.Bytes, view.ExpandedBytes, view.Files, view.FileBytes = s.Digest, s.Compressed, s.Expanded, s.Files, s.FileBytes
	if c.Package != "" {
		digest, err := c.fits(&s)
		if err != nil {
			return err
		}
		view.PackageDigest = &digest
	}
	if c.JSON {
		return printJSON(con.out, view)
	}
	for _, file := range view.List {
		fmt.Fprintf(con.out, "%10d  %s\n", file.Bytes, file.Path) //nolint:errcheck // stdout
	}
	if view.PackageDigest != nil {
		fmt.Fprintf(con.out, "The package fits: %s\n", *view.PackageDigest) //nolint:errcheck // stdout
	}
	_, err = fmt.Fprintf(con.out, "%d files, %d bytes, %d when compressed\n%s\nThe archive is well formed. That is no verification: nothing was built.\n",
		s.Files, s.FileBytes, s.Compressed, s.Digest)
	return err
}

// fits holds the archive against its package.
func (c *verifyCheckCommand) fits(s *archive.Summary) (digest string, err error) {
	data, err := readBounded(c.Package, submission.MaxBytes)
	if err != nil {
		return "", err
	}
	p, err := submission.Parse(data)
	if err != nil {
		return "", err
	}
	if p.UploadDigest != s.Digest || p.UploadByteLength != s.Compressed {
		return "", fmt.Errorf("the package is for another archive (verification_upload_mismatch): it says %s and %d bytes, this one is %s and %d bytes; was it compressed again?",
			p.UploadDigest, p.UploadByteLength, s.Digest, s.Compressed)
	}
	return p.Digest()
}

// Package sample is a small contract whose source ships with the program, so that there
// is something to verify anywhere: in the demonstration, and in tests.
package sample

import (
	"embed"
	"io/fs"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/submission"
)

//go:embed tree
var tree embed.FS

// Compiler is the version that the source names.
const Compiler = "2.20.0"

// Artifact is what that compiler makes of it.
//
//go:embed class.json
var Artifact []byte

// ClassHash is that of the artifact. Tests with the real compiler hold it against the source.
var ClassHash = felt.MustParse("0x1ffb03e7b10691d5186c9e371778b0a87a47186957aa53324206e088d9f28")

// Tree is the source.
func Tree() fs.FS {
	sub, err := fs.Sub(tree, "tree")
	if err != nil {
		panic(err) // it is embedded
	}
	return sub
}

// Archive is the source as it is submitted, and the package that goes with it.
func Archive() ([]byte, *submission.Package, error) {
	data, summary, err := archive.Pack(Tree(), archive.Standard)
	if err != nil {
		return nil, nil, err
	}
	return data, &submission.Package{
		SelectedClassHash: ClassHash.String(), UploadDigest: summary.Digest, UploadByteLength: summary.Compressed,
		ToolchainPolicyID: submission.ToolchainPolicy, BuildProfile: submission.BuildProfile, TargetKind: submission.TargetKind,
		PackageName: "counter", TargetName: "counter", ArtifactID: "counter_Counter", ModulePath: "counter::counter::Counter",
		SourceVisibility: submission.Private, RetentionPolicyID: submission.Private24Hours,
	}, nil
}

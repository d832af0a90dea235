// Package submission is Package V1, the body of the request that creates a verification
// job: what is to be rebuilt and compared, without the source itself.
package submission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/strictjson"
)

// The constants of Package V1.
const (
	ToolchainPolicy = receipt.ToolchainPolicy
	BuildProfile    = "release"
	TargetKind      = "starknet-contract"
)

// Visibility is of the source.
type Visibility string

// What a source can be.
const (
	Private Visibility = "private"
	Public  Visibility = "public"
)

// Retention is how long a source is kept.
type Retention string

// The policies. Public intake does not publish a source: it is kept longer.
const (
	Private24Hours Retention = "private-24h-v1"
	Private7Days   Retention = "private-7d-v1"
	Public30Days   Retention = "public-30d-v1"
)

// retentions are those that a visibility can be asked for with.
var retentions = map[Visibility][]Retention{Private: {Private24Hours, Private7Days}, Public: {Public30Days}}

// MaxBytes bounds a package; a real one has about 700.
const MaxBytes = 16 << 10

// Package is Package V1. Its twelve fields are all there, and nothing else.
type Package struct {
	SelectedClassHash string     `json:"selectedClassHash"`
	UploadDigest      string     `json:"uploadDigest"`
	UploadByteLength  int64      `json:"uploadByteLength"`
	ToolchainPolicyID string     `json:"toolchainPolicyId"`
	PackageName       string     `json:"packageName"`
	BuildProfile      string     `json:"buildProfile"`
	TargetName        string     `json:"targetName"`
	TargetKind        string     `json:"targetKind"`
	ArtifactID        string     `json:"artifactId"`
	ModulePath        string     `json:"modulePath"`
	SourceVisibility  Visibility `json:"sourceVisibility"`
	RetentionPolicyID Retention  `json:"retentionPolicyId"`
}

// Code is what a caller is told by one word.
type Code string

// Why a package is refused.
const (
	Invalid           Code = "invalid_verification_package"
	UnsupportedPolicy Code = "unsupported_policy"
)

// Error is the refusal of a package.
type Error struct {
	Code   Code
	Field  string // "" when the package as a whole is meant
	Reason string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("package refused (%s): %s", e.Code, e.Reason)
	}
	return fmt.Sprintf("package refused (%s): %s: %s", e.Code, e.Field, e.Reason)
}

var (
	digests   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	packages  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	targets   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	artifacts = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$`)
	modules   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*){0,31}$`)
)

const maxModulePath = 256

// Parse reads a package. Whatever it takes, Canonical gives one form: integers and the
// class hash are normalized before anything is compared.
func Parse(data []byte) (*Package, error) {
	o, err := strictjson.Parse(data, MaxBytes)
	if err != nil {
		return nil, invalid(err)
	}
	if err := o.Exactly("selectedClassHash", "uploadDigest", "uploadByteLength", "toolchainPolicyId", "packageName", "buildProfile", "targetName", "targetKind",
		"artifactId", "modulePath", "sourceVisibility", "retentionPolicyId"); err != nil {
		return nil, invalid(err)
	}
	var p Package
	for _, f := range []struct {
		name string
		to   *string
	}{
		{"selectedClassHash", &p.SelectedClassHash}, {"uploadDigest", &p.UploadDigest}, {"toolchainPolicyId", &p.ToolchainPolicyID},
		{"packageName", &p.PackageName}, {"buildProfile", &p.BuildProfile}, {"targetName", &p.TargetName}, {"targetKind", &p.TargetKind},
		{"artifactId", &p.ArtifactID}, {"modulePath", &p.ModulePath}, {"sourceVisibility", (*string)(&p.SourceVisibility)},
		{"retentionPolicyId", (*string)(&p.RetentionPolicyID)},
	} {
		if *f.to, err = o.String(f.name); err != nil {
			return nil, invalid(err)
		}
	}
	length, err := o.Integer("uploadByteLength", 1, uint64(archive.Standard.Compressed))
	if err != nil {
		return nil, invalid(err)
	}
	p.UploadByteLength = int64(length) //nolint:gosec // at most an archive's size
	if err := p.Normalize(); err != nil {
		return nil, err
	}
	return &p, nil
}

func invalid(err error) error {
	e := &Error{Code: Invalid, Reason: err.Error()}
	if s, ok := err.(*strictjson.Error); ok { //nolint:errorlint // they come unwrapped
		e.Field, e.Reason = s.Path, s.Reason
	}
	return e
}

// Normalize checks a package and brings its class hash into the shortest form. A policy
// that is not this service's is told apart, because no other spelling would help.
func (p *Package) Normalize() error {
	fail := func(field, format string, args ...any) error {
		return &Error{Code: Invalid, Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	hash, err := felt.Parse(p.SelectedClassHash)
	if err != nil || hash.IsZero() {
		return fail("selectedClassHash", "it is not 0x and the hex digits of a felt other than 0")
	}
	allowed := retentions[p.SourceVisibility]
	switch {
	case !digests.MatchString(p.UploadDigest):
		return fail("uploadDigest", "it is not sha256: and 64 hex digits in small letters")
	case p.UploadByteLength < 1 || p.UploadByteLength > archive.Standard.Compressed:
		return fail("uploadByteLength", "it is not from 1 to %d", archive.Standard.Compressed)
	case !packages.MatchString(p.PackageName):
		return fail("packageName", "it is not a name of letters, digits and underscores that begins with no digit, of at most 128")
	case p.BuildProfile != BuildProfile:
		return fail("buildProfile", "it is not %s", BuildProfile)
	case !targets.MatchString(p.TargetName):
		return fail("targetName", "it is not a name of letters, digits, underscores, dots and dashes, of at most 128")
	case p.TargetKind != TargetKind:
		return fail("targetKind", "it is not %s", TargetKind)
	case !artifacts.MatchString(p.ArtifactID):
		return fail("artifactId", "it is not an id of letters, digits, underscores, dots, colons and dashes, of at most 128")
	case len(p.ModulePath) > maxModulePath || !modules.MatchString(p.ModulePath):
		return fail("modulePath", "it is not names of Cairo with :: between them, of at most %d characters", maxModulePath)
	case allowed == nil:
		return fail("sourceVisibility", "it is neither %s nor %s", Private, Public)
	case !slices.Contains(allowed, p.RetentionPolicyID):
		return fail("retentionPolicyId", "for a source that is %s it is not one of %v", p.SourceVisibility, allowed)
	case p.ToolchainPolicyID != ToolchainPolicy:
		return &Error{Code: UnsupportedPolicy, Field: "toolchainPolicyId", Reason: "the only policy is " + ToolchainPolicy}
	}
	p.SelectedClassHash = hash.String()
	return nil
}

// Canonical returns the one form of a package, by RFC 8785.
func (p *Package) Canonical() ([]byte, error) { return strictjson.Canonical(p) }

// Digest names a package for idempotency: two requests with the same digest are the
// same request, however they were spelled.
func (p *Package) Digest() (string, error) {
	data, err := p.Canonical()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

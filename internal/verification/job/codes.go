package job

import "chainexplorer/internal/verification/archive"

// Code names a failure for machines.
type Code string

// The codes that a job can end with. A builder may bring others: see Message.
const (
	InvalidArchive         Code = "invalid_source_archive"
	LockfileMissing        Code = "lockfile_missing"
	DeclarationUnavailable Code = "finalized_declaration_unavailable"
	DispatchFailed         Code = "verifier_dispatch_failed"
	ClassHashMismatch      Code = "class_hash_mismatch"
	SigningFailed          Code = "receipt_signing_failed"
	UnsupportedToolchain   Code = "unsupported_toolchain"
	OfflineIncomplete      Code = "incomplete_offline_material"
	BuildFailed            Code = "build_failed"
	BuildLimitExceeded     Code = "build_limit_exceeded"
	InvalidPackage         Code = "invalid_verification_package"
)

// messages say to people what a code means. They are all that is ever said: what a
// compiler wrote stays where it was written.
var messages = map[Code]string{
	InvalidArchive:         "The archive is not one that can be built; failureReason names the rule that it breaks.",
	LockfileMissing:        "There is no Scarb.lock at the root of the source.",
	DeclarationUnavailable: "The class is not declared in a finalized block of this index. If it was declared lately, create a new job in a few minutes.",
	DispatchFailed:         "The verifier could not do its work. Nothing was found out about the source.",
	ClassHashMismatch:      "The source builds, and gives another class than the one that was declared.",
	SigningFailed:          "The classes are equal, but the receipt could not be signed. No success was published.",
	UnsupportedToolchain:   "The source asks for a compiler, or for something beside it such as scripts, plugins or options, that the policy does not have.",
	OfflineIncomplete:      "The source needs something that is not in the archive: all that is built must be in it.",
	BuildFailed:            "The source does not build under the policy.",
	BuildLimitExceeded:     "The build needs more time, memory or room than a build may have.",
	InvalidPackage:         "The manifest cannot be read, or the source does not have the package, target or contract that the job names.",
}

// Message is the sentence of a code.
func Message(c Code) string {
	if m, ok := messages[c]; ok {
		return m
	}
	return "The verification failed."
}

// Refused is the failure of an archive that was refused.
func Refused(e *archive.Error) Failure {
	if e.Reason == archive.LockfileMissing {
		return Failure{Code: LockfileMissing, Reason: string(e.Reason)}
	}
	return Failure{Code: InvalidArchive, Reason: string(e.Reason)}
}

package archive

import (
	"fmt"
	"maps"
	"slices"
)

// Reason says by one word why an archive is refused. The words are part of what
// callers see: they are not renamed.
type Reason string

// Why the envelope is refused.
const (
	NotGzip           Reason = "not_gzip"
	GzipHeader        Reason = "gzip_header"
	GzipCorrupt       Reason = "gzip_corrupt"
	GzipChecksum      Reason = "gzip_checksum"
	GzipSecondMember  Reason = "gzip_second_member"
	TrailingBytes     Reason = "trailing_bytes"
	Truncated         Reason = "truncated"
	ArchiveTooLarge   Reason = "archive_too_large"
	ExpandedTooLarge  Reason = "expanded_too_large"
	ExpansionTooSteep Reason = "expansion_too_steep"
	ExpansionTooFlat  Reason = "expansion_too_flat"
)

// Why a header of the tar inside is refused.
const (
	HeaderChecksum Reason = "header_checksum"
	HeaderNumber   Reason = "header_number"
	HeaderPadding  Reason = "header_padding"
	FormatV7       Reason = "format_v7"
	FormatGNU      Reason = "format_gnu"
	FormatUnknown  Reason = "format_unknown"
	ExtensionPax   Reason = "extension_pax"
	ExtensionGNU   Reason = "extension_gnu"
	Sparse         Reason = "sparse"
	HardLink       Reason = "hard_link"
	SymbolicLink   Reason = "symbolic_link"
	Device         Reason = "device"
	Fifo           Reason = "fifo"
	Socket         Reason = "socket"
	TypeUnknown    Reason = "type_unknown"
	TypeMismatch   Reason = "type_mismatch"
	LinkTarget     Reason = "link_target"
	Owner          Reason = "owner"
	Time           Reason = "time"
	Mode           Reason = "mode"
	ContentPadding Reason = "content_padding"
	LoneZeroBlock  Reason = "lone_zero_block"
)

// Why a path is refused.
const (
	NameEmpty         Reason = "name_empty"
	NameTooLong       Reason = "name_too_long"
	NameTooDeep       Reason = "name_too_deep"
	NameAbsolute      Reason = "name_absolute"
	NameTraversal     Reason = "name_traversal"
	NameNotClean      Reason = "name_not_clean"
	NameNotUTF8       Reason = "name_not_utf8"
	NameControl       Reason = "name_control"
	NameInvisible     Reason = "name_invisible"
	NameCharacter     Reason = "name_character"
	NameNotNormalized Reason = "name_not_normalized"
	NameCompatibility Reason = "name_compatibility"
	NameEdge          Reason = "name_edge"
	NameReserved      Reason = "name_reserved"
	NameExcluded      Reason = "name_excluded"
)

// Why a tree is refused.
const (
	Unsorted         Reason = "unsorted"
	Duplicate        Reason = "duplicate"
	Collision        Reason = "collision"
	FileAsDirectory  Reason = "file_as_directory"
	TooManyEntries   Reason = "too_many_entries"
	TooManyFolders   Reason = "too_many_folders"
	FileTooLarge     Reason = "file_too_large"
	FilesTooLarge    Reason = "files_too_large"
	NestedArchive    Reason = "nested_archive"
	Empty            Reason = "empty"
	ManifestMissing  Reason = "manifest_missing"
	LockfileMissing  Reason = "lockfile_missing"
	ChangedMeanwhile Reason = "changed_meanwhile"
)

var sentences = map[Reason]string{
	NotGzip:           "it is not a gzip file",
	GzipHeader:        "the gzip header is not the plain one: no name, comment, extra field, checksum of its own or time",
	GzipCorrupt:       "the compressed data is damaged",
	GzipChecksum:      "the gzip checksum or length does not fit the data",
	GzipSecondMember:  "another gzip member follows the first one",
	TrailingBytes:     "there are bytes behind its end",
	Truncated:         "it ends too early",
	ArchiveTooLarge:   "it has more bytes than an archive may have",
	ExpandedTooLarge:  "it expands to more bytes than allowed",
	ExpansionTooSteep: "it expands to far more bytes than source text does",
	ExpansionTooFlat:  "it has more bytes than it expands to",

	HeaderChecksum: "the checksum of a tar header is wrong",
	HeaderNumber:   "a number of a tar header is not written as octal digits",
	HeaderPadding:  "a tar header has something behind the end of a field",
	FormatV7:       "a tar header is of the old V7 format, not POSIX ustar",
	FormatGNU:      "a tar header is of the GNU format, not POSIX ustar",
	FormatUnknown:  "a tar header is not POSIX ustar",
	ExtensionPax:   "there is a pax extension",
	ExtensionGNU:   "there is a GNU extension",
	Sparse:         "it is a sparse file",
	HardLink:       "it is a hard link",
	SymbolicLink:   "it is a symbolic link",
	Device:         "it is a device",
	Fifo:           "it is a FIFO",
	Socket:         "it is a socket",
	TypeUnknown:    "it is neither a file nor a folder",
	TypeMismatch:   "its type does not fit its name or size",
	LinkTarget:     "it is no link and has the target of one",
	Owner:          "its owner is not normalized: user and group must be 0, without names",
	Time:           "its time is not normalized: it must be 0",
	Mode:           "its mode is not normalized: files have 0644 or 0755, folders 0755",
	ContentPadding: "what fills its last block is not zero",
	LoneZeroBlock:  "an empty block stands between entries",

	NameEmpty:         "it has no name",
	NameTooLong:       "its name is too long",
	NameTooDeep:       "it lies in too many folders",
	NameAbsolute:      "its path is absolute",
	NameTraversal:     "its path leads out of the tree",
	NameNotClean:      "its path has an empty part or a single dot",
	NameNotUTF8:       "its name is not UTF-8",
	NameControl:       "its name has a control character",
	NameInvisible:     "its name has a character that is not seen, or not assigned",
	NameCharacter:     "its name has a character that some systems cannot store, or that separates paths there",
	NameNotNormalized: "its name is not in Unicode's normalization form C",
	NameCompatibility: "its name has a variant of another character, such as one of full width",
	NameEdge:          "a part of its path begins with a space, a dash or a combining mark, or ends with a space or a dot",
	NameReserved:      "its name means something else on some systems",
	NameExcluded:      "this folder of the root does not belong into an archive",

	Unsorted:         "it is not in the order of the bytes of the paths",
	Duplicate:        "it is there twice",
	Collision:        "its name differs from another one in the case of letters alone",
	FileAsDirectory:  "it lies in what is a file",
	TooManyEntries:   "there are more entries than allowed",
	TooManyFolders:   "there are more folders than allowed",
	FileTooLarge:     "the file is larger than allowed",
	FilesTooLarge:    "the files are larger together than allowed",
	NestedArchive:    "it is an archive itself, or compressed",
	Empty:            "there is no file in it",
	ManifestMissing:  "there is no " + Manifest + " at the root",
	LockfileMissing:  "there is no " + Lockfile + " at the root",
	ChangedMeanwhile: "it changed while it was read",
}

// Reasons are all that an archive can be refused for, in the order of the alphabet.
func Reasons() []Reason { return slices.Sorted(maps.Keys(sentences)) }

// Sentence explains a reason to people.
func (r Reason) Sentence() string { return sentences[r] }

// Error is the refusal of an archive. Everything else that the functions of this
// package return is trouble with the source or the destination.
type Error struct {
	Reason Reason
	// Path is the entry's, "" when the archive as a whole is meant. It is what the
	// archive says: print it quoted.
	Path string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("archive refused (%s): %s", e.Reason, e.Reason.Sentence())
	}
	return fmt.Sprintf("archive refused (%s) at %.300q: %s", e.Reason, e.Path, e.Reason.Sentence())
}

func refuse(r Reason, path string) error { return &Error{Reason: r, Path: path} }

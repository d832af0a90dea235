package archive

import (
	"bytes"
	"strings"
)

// header is one block of POSIX ustar that passed.
type header struct {
	path   string // without a slash at the end
	folder bool
	size   int64
}

// Where the fields of a ustar header lie.
var (
	fieldName     = field{0, 100}
	fieldMode     = field{100, 108}
	fieldUID      = field{108, 116}
	fieldGID      = field{116, 124}
	fieldSize     = field{124, 136}
	fieldTime     = field{136, 148}
	fieldChecksum = field{148, 156}
	fieldLink     = field{157, 257}
	fieldMagic    = field{257, 265}
	fieldUser     = field{265, 297}
	fieldGroup    = field{297, 329}
	fieldMajor    = field{329, 337}
	fieldMinor    = field{337, 345}
	fieldPrefix   = field{345, 500}
	fieldRest     = field{500, 512}
)

const typeAt = 156

type field struct{ from, to int }

func (f field) of(b *[blockSize]byte) []byte { return b[f.from:f.to] }

// text is the field up to its first zero byte. More than zeros behind that is
// something that some readers see and others do not.
func (f field) text(b *[blockSize]byte) (string, bool) {
	raw := f.of(b)
	end := bytes.IndexByte(raw, 0)
	if end < 0 {
		return string(raw), true
	}
	return string(raw[:end]), allZero(raw[end:])
}

// octal reads digits that a zero byte or spaces end. The forms of other formats, a
// sign or binary numbers, are none.
func (f field) octal(b *[blockSize]byte) (int64, bool) {
	raw := f.of(b)
	var n int64
	i := 0
	for ; i < len(raw) && raw[i] >= '0' && raw[i] <= '7'; i++ {
		n = n<<3 | int64(raw[i]-'0') // at most 12 digits: 36 bits
	}
	return n, i > 0 && i < len(raw) && len(bytes.Trim(raw[i:], " \x00")) == 0
}

// parseHeader reads a block that is not all zero. The order of the checks decides
// which reason is told when there are several: what the block is comes first.
func parseHeader(b *[blockSize]byte) (header, error) {
	path, clean := pathOf(b)
	fail := func(r Reason) (header, error) { return header{}, refuse(r, path) }
	if sum, ok := fieldChecksum.octal(b); !ok || sum != checksum(b) {
		return fail(HeaderChecksum)
	}
	if r := formatOf(b); r != "" {
		return fail(r)
	}
	if r := typeOf(b[typeAt]); r != "" {
		return fail(r)
	}
	if !clean || !allZero(fieldRest.of(b)) {
		return fail(HeaderPadding)
	}
	if b[fieldName.from] == 0 { // even with a prefix: that would be another way to spell a folder
		return fail(NameEmpty)
	}
	h := header{path: path, folder: b[typeAt] == '5'}
	if r := h.metadata(b); r != "" {
		return fail(r)
	}
	slash := strings.HasSuffix(path, "/")
	if slash != h.folder && path != "/" || h.folder && h.size != 0 {
		return fail(TypeMismatch)
	}
	if h.folder && path != "/" {
		h.path = strings.TrimSuffix(path, "/")
	}
	if r := checkPath(h.path); r != "" {
		return fail(r)
	}
	if !h.folder && nestedByName(h.path) {
		return fail(NestedArchive)
	}
	return h, nil
}

func pathOf(b *[blockSize]byte) (path string, clean bool) {
	name, clean := fieldName.text(b)
	prefix, alsoClean := fieldPrefix.text(b)
	if prefix != "" {
		name = prefix + "/" + name
	}
	return name, clean && alsoClean
}

// checksum adds the bytes of a header, with spaces in the place of the sum.
func checksum(b *[blockSize]byte) (sum int64) {
	for i, c := range b {
		if i >= fieldChecksum.from && i < fieldChecksum.to {
			c = ' '
		}
		sum += int64(c)
	}
	return sum
}

func formatOf(b *[blockSize]byte) Reason {
	switch magic := fieldMagic.of(b); {
	case string(magic) == "ustar\x0000":
		return ""
	case string(magic) == "ustar  \x00":
		return FormatGNU
	case allZero(magic):
		return FormatV7
	}
	return FormatUnknown
}

// typeOf says why an entry of that type is refused, "" for files and folders.
func typeOf(flag byte) Reason {
	switch flag {
	case '0', '5':
		return ""
	case '1':
		return HardLink
	case '2':
		return SymbolicLink
	case '3', '4':
		return Device
	case '6':
		return Fifo
	case 'g', 'x', 'X':
		return ExtensionPax
	case 'S':
		return Sparse
	case 'A', 'D', 'K', 'L', 'M', 'N', 'V':
		return ExtensionGNU
	}
	return TypeUnknown
}

// metadata reads what is not the name.
func (h *header) metadata(b *[blockSize]byte) Reason {
	var mode, uid, gid, mtime int64
	for _, n := range []struct {
		field field
		to    *int64
	}{{fieldMode, &mode}, {fieldUID, &uid}, {fieldGID, &gid}, {fieldSize, &h.size}, {fieldTime, &mtime}} {
		var ok bool
		if *n.to, ok = n.field.octal(b); !ok {
			return HeaderNumber
		}
	}
	for _, dev := range []field{fieldMajor, fieldMinor} {
		if n, ok := dev.octal(b); !allZero(dev.of(b)) { // some writers leave them empty
			if !ok {
				return HeaderNumber
			} else if n != 0 {
				return Device
			}
		}
	}
	link, clean1 := fieldLink.text(b)
	user, clean2 := fieldUser.text(b)
	group, clean3 := fieldGroup.text(b)
	switch {
	case link != "":
		return LinkTarget
	case user != "" || group != "" || uid != 0 || gid != 0:
		return Owner
	case !clean1 || !clean2 || !clean3:
		return HeaderPadding
	case mtime != 0:
		return Time
	case mode != 0o755 && (h.folder || mode != 0o644):
		return Mode
	}
	return ""
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

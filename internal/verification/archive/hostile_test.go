package archive_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/verification/archive"
)

// attack is an archive that must be refused.
type attack struct {
	name   string
	reason archive.Reason
	data   []byte
	limits archive.Limits
}

// attacks makes all of them, from tables of what is tried and where.
func attacks() []attack {
	var all []attack
	add := func(reason archive.Reason, name string, data []byte) {
		all = append(all, attack{string(reason) + "/" + name, reason, data, archive.Standard})
	}
	pathAttacks(add)
	headerAttacks(add)
	typeAttacks(add)
	envelopeAttacks(add)
	treeAttacks(add)
	nestedAttacks(add)
	return append(all, bombs()...)
}

type adder = func(reason archive.Reason, name string, data []byte)

// pathAttacks puts every bad path at three places: as a file, as a folder, and above one.
func pathAttacks(add adder) {
	long := strings.Repeat("x", 101)
	for reason, paths := range map[archive.Reason][]string{
		archive.NameAbsolute:      {"/etc/passwd", "//server/share", "C:/windows", "c:windows", "z:"},
		archive.NameTraversal:     {"..", "../x", "src/../../x", "src/..", "a/b/../../../x"},
		archive.NameNotClean:      {"./src", "src/./a", "src//a", "."},
		archive.NameNotUTF8:       {"a\xff", "src/\xc0\xaf", "\xed\xa0\x80", "a\xe2\x82"},
		archive.NameControl:       {"a\nb", "a\x1b[2Jb", "a\x7f", "a\tb", "a\u0085b", "a\rb"},
		archive.NameInvisible:     {"a\u200bb", "a\u202eb", "a\ufeffb", "a\u00adb", "a\u3164b", "a\ufe0fb", "a\u2028b", "a\u00a0b", "a\ue000b", "a\u034fb", "a\U000e0041b", "\u2066a"},
		archive.NameCharacter:     {`a\b`, `..\x`, "ab:c", "a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "file.cairo::$DATA"},
		archive.NameNotNormalized: {"cafe\u0301", "\u212bngstrom", "\u1112\u1161\u11ab", "a\u0323\u0302"},
		archive.NameCompatibility: {"\uff41", "\ufb01le", "a\u00b2", "\uff0e\uff0e", "a\u2025", "\u2024git", "a\uff0fb", "\u00bd"},
		archive.NameEdge:          {" a", "a ", "a.", "-rf", "src/--eval", "src./a", "\u0301a", "a.cairo."},
		archive.NameReserved: {"con", "NUL", "aux.cairo", "src/PRN.txt", "com1", "LPT9.cairo", "conin$", "nul .x", "src/.git/config", "src/.GIT/hooks/x",
			"src/git~1/x", "lib/.git", "clock$"},
		archive.NameExcluded: {".git/config", "target/x", "Target/x", ".chainexplorer/x", ".GIT"},
		archive.NameTooLong:  {"src/" + long},
		archive.NameTooDeep:  {strings.Repeat("a/", 32) + "a"},
	} {
		for _, p := range paths {
			quoted := fmt.Sprintf("%.40q", p)
			forge := func(make func(string, ...change) forged, path string) []byte {
				if len(path) <= 100 {
					return around(make(path))
				}
				cut := strings.LastIndexByte(path, '/')
				if strings.HasSuffix(path, "/") {
					cut = strings.LastIndexByte(path[:len(path)-1], '/')
				}
				return around(make(path[cut+1:], prefixed(path[:cut])))
			}
			file := func(p string, c ...change) forged { return entry(p, "x", c...) }
			if len(p) <= 100 {
				add(reason, "file "+quoted, forge(file, p))
				add(reason, "folder "+quoted, forge(folder, p+"/"))
			}
			add(reason, "above a file "+quoted, forge(file, p+"/x"))
		}
	}
	add(archive.NameEmpty, "no name", around(entry("", "x")))
	add(archive.NameEmpty, "a folder that is all prefix", around(folder("", prefixed("src"))))
	add(archive.NameNotClean, "a prefix and a slash", around(folder("/", prefixed("src"))))
	add(archive.NameAbsolute, "the root", around(folder("/")))
	add(archive.NameAbsolute, "a prefix that is the root", around(entry("etc", "x", prefixed("/"))))
	add(archive.NameTraversal, "a prefix that leads out", around(entry("x", "x", prefixed(".."))))
	add(archive.NameTraversal, "a name that leads out of a prefix", around(entry("../../x", "x", prefixed("src"))))
	add(archive.NameTooLong, "name and prefix as long as they can be", around(entry(strings.Repeat("n", 100), "x", prefixed(strings.Repeat("p", 155)))))
}

func headerAttacks(add adder) {
	file := func(c ...change) []byte { return around(entry("src.cairo", "felt", c...)) }
	fields := []struct {
		name         string
		offset, size int
	}{{"mode", 100, 8}, {"uid", 108, 8}, {"gid", 116, 8}, {"size", 124, 12}, {"time", 136, 12}, {"major", 329, 8}, {"minor", 337, 8}}
	for _, f := range fields {
		for name, text := range map[string]string{
			"binary":             "\x80" + strings.Repeat("\x00", f.size-2) + "\x04",
			"negative binary":    strings.Repeat("\xff", f.size),
			"a sign":             "-" + strings.Repeat("0", f.size-2) + "\x00",
			"spaces before":      strings.Repeat(" ", f.size-2) + "0\x00",
			"no end":             strings.Repeat("0", f.size),
			"not octal":          strings.Repeat("0", f.size-2) + "8\x00",
			"hexadecimal":        "0x" + strings.Repeat("0", f.size-3) + "\x00",
			"digits after a gap": "0 " + strings.Repeat("0", f.size-3) + "\x00",
		} {
			add(archive.HeaderNumber, f.name+" with "+name, file(at(f.offset, text)))
		}
		if f.offset < 300 {
			add(archive.HeaderNumber, f.name+" left empty", file(at(f.offset, strings.Repeat("\x00", f.size))))
		}
	}
	for name, c := range map[string]change{
		"uid 1": at(108, "0000001\x00"), "gid 1000": at(116, "0001750\x00"), "user root": at(265, "root"), "group wheel": at(297, "wheel"),
		"uid of all bits": at(108, "7777777\x00"),
	} {
		add(archive.Owner, name, file(c))
	}
	for name, c := range map[string]change{"a second": at(136, "00000000001\x00"), "now": at(136, "14747676000\x00"), "the last": at(136, "77777777777\x00")} {
		add(archive.Time, name, file(c))
	}
	for _, mode := range []string{"0004755", "0002755", "0001755", "0000777", "0000600", "0000000", "0100644", "0000666"} {
		add(archive.Mode, "file "+mode, file(at(100, mode+"\x00")))
	}
	add(archive.Mode, "folder 0644", around(folder("src/", at(100, "0000644\x00"))))
	add(archive.FormatGNU, "its magic", file(at(257, "ustar  \x00")))
	add(archive.FormatV7, "no magic", file(at(257, strings.Repeat("\x00", 8))))
	for name, magic := range map[string]string{"other version": "ustar\x0001", "no version": "ustar\x00\x00\x00", "no zero": "ustar000", "capitals": "USTAR\x0000", "star": "tar\x00\x00\x00\x00\x00"} {
		add(archive.FormatUnknown, name, file(at(257, magic)))
	}
	for name, c := range map[string]change{
		"behind the name": at(20, "hidden"), "behind the prefix": at(345, "\x00hidden"), "at the end": at(500, "x"), "the last byte": at(511, "\x01"),
		"the mark of star": at(508, "tar\x00"), "behind the target": at(157, "\x00x"), "behind the user": at(265, "\x00x"), "behind the group": at(297, "\x00x"),
	} {
		add(archive.HeaderPadding, name, file(c))
	}
	for i, flip := range []int{0, 101, 110, 124, 140, 156, 200, 257, 300, 400} {
		good := entry("src.cairo", "felt")
		add(archive.HeaderChecksum, fmt.Sprintf("byte %d altered (%d)", flip, i), around(good.after(func(f *forged) { f.header[flip]++ })))
	}
	for name, sum := range map[string]string{"none": "        ", "zeros": "\x00\x00\x00\x00\x00\x00\x00\x00", "no number": "checksum", "zero": "000000\x00 "} {
		add(archive.HeaderChecksum, name, around(entry("src.cairo", "felt").after(at(148, sum))))
	}
	add(archive.HeaderChecksum, "made of signed bytes", around(signedSum(entry("caf\u00e9", "felt"))))
	for _, n := range []int{1, 100, 511} {
		e := entry("src.cairo", strings.Repeat("x", n))
		e.body[n] = 1
		add(archive.ContentPadding, fmt.Sprintf("behind %d bytes", n), around(e))
	}
}

// signedSum is what writers made that took bytes for signed.
func signedSum(f forged) forged {
	return f.after(func(f *forged) {
		copy(f.header[148:156], "        ")
		sum := 0
		for _, c := range f.header {
			sum += int(int8(c))
		}
		copy(f.header[148:], fmt.Sprintf("%06o\x00 ", sum))
	})
}

func typeAttacks(add adder) {
	for flag, reason := range map[byte]archive.Reason{
		'1': archive.HardLink, '2': archive.SymbolicLink, '3': archive.Device, '4': archive.Device, '6': archive.Fifo, '7': archive.TypeUnknown,
		'x': archive.ExtensionPax, 'g': archive.ExtensionPax, 'X': archive.ExtensionPax, 'S': archive.Sparse, 'L': archive.ExtensionGNU, 'K': archive.ExtensionGNU,
		'D': archive.ExtensionGNU, 'M': archive.ExtensionGNU, 'N': archive.ExtensionGNU, 'V': archive.ExtensionGNU, 'A': archive.ExtensionGNU,
		0: archive.TypeUnknown, '8': archive.TypeUnknown, '9': archive.TypeUnknown, 's': archive.TypeUnknown, 'Z': archive.TypeUnknown, ' ': archive.TypeUnknown, 0xff: archive.TypeUnknown,
	} {
		add(reason, fmt.Sprintf("type %q", flag), around(entry("thing", "", typed(flag), at(157, "Scarb.toml"))))
	}
	add(archive.SymbolicLink, "to the host", around(entry("src", "", typed('2'), at(157, "/etc"))))
	add(archive.SymbolicLink, "then a file through it", around(entry("src", "", typed('2'), at(157, "../..")), entry("src/lib.cairo", "x")))
	add(archive.HardLink, "to the manifest", around(entry("link", "", typed('1'), at(157, "Scarb.toml"))))
	add(archive.Device, "a file with device numbers", around(entry("dev", "", at(329, "0000001\x00"), at(337, "0000003\x00"))))
	add(archive.ExtensionPax, "that renames the next", around(entry("PaxHeaders/a", "18 path=/etc/cron\n", typed('x')), entry("a", "x")))
	add(archive.ExtensionPax, "for all, at the beginning", tarOf(entry("pax_global_header", "52 comment=0123\n", typed('g')), lockEntry, manifestEntry))
	add(archive.ExtensionGNU, "a long name", around(entry("././@LongLink", strings.Repeat("a/", 200)+"\x00", typed('L')), entry("a", "x")))
	add(archive.TypeMismatch, "a file with a slash", around(entry("src/", "")))
	add(archive.TypeMismatch, "a folder without one", around(folder("src")))
	add(archive.TypeMismatch, "a folder with a size", around(folder("src/", sized(512))))
	for name, text := range map[string]string{"relative": "x", "absolute": "/etc/shadow", "long": strings.Repeat("t", 100)} {
		add(archive.LinkTarget, "of a file, "+name, around(entry("a", "x", at(157, text))))
	}
	add(archive.LinkTarget, "of a folder", around(folder("src/", at(157, "../.."))))
}

// treeAttacks are about how entries stand to one another.
func treeAttacks(add adder) {
	a, b := entry("a", "x"), entry("b", "x")
	add(archive.Unsorted, "two files", around(b, a))
	add(archive.Unsorted, "the manifest last", tarOf(lockEntry, a, manifestEntry))
	add(archive.Unsorted, "by parts of paths", around(entry("src/a", "x"), entry("src-a/x", "x")))
	add(archive.Unsorted, "a folder behind its file", around(entry("src/a", "x"), folder("src/")))
	add(archive.Duplicate, "two files", around(a, a))
	add(archive.Duplicate, "two manifests", tarOf(lockEntry, manifestEntry, entry("Scarb.toml", "[other]\n")))
	add(archive.Duplicate, "a file and a folder", around(entry("src", "x"), folder("src/")))
	add(archive.Duplicate, "two folders", around(folder("src/"), folder("src/")))
	add(archive.Duplicate, "split in another way", around(entry("src/a", "x"), entry("a", "y", prefixed("src"))))
	add(archive.FileAsDirectory, "a file in a file", around(entry("src", "x"), entry("src/a", "x")))
	add(archive.FileAsDirectory, "deeper", around(entry("src", "x"), entry("src/a/b/c", "x")))
	add(archive.FileAsDirectory, "a folder in a file", around(entry("src", "x"), folder("src/a/")))
	for name, pair := range map[string][2]string{
		"files": {"src/LIB.cairo", "src/lib.cairo"}, "folders": {"Src/a", "src/b"}, "a folder and a file": {"a/SRC/a", "a/src"}, "deep folders": {"a/B/c", "a/b/d"},
		"sharp s": {"strasse", "stra\u00dfe"}, "sigmas": {"\u03c2", "\u03c3"}, "accents": {"\u00c9t\u00e9", "\u00e9t\u00e9"}, "one letter": {"a/S", "a/s"},
		"Greek iota": {"a\u0345", "a\u03b9"}, "Cherokee": {"\u13a0", "\uab70"}, "Georgian": {"\u10d0", "\u1c90"},
	} {
		paths := pair[:]
		slices.Sort(paths)
		add(archive.Collision, name, around(entry(paths[0], "x"), entry(paths[1], "x")))
	}
	add(archive.Collision, "manifests", around(entry("scarb.toml", "x")))
	add(archive.Empty, "no entries", tarOf())
	add(archive.Empty, "folders alone", tarOf(folder("src/")))
	add(archive.ManifestMissing, "a lock file alone", tarOf(lockEntry))
	add(archive.ManifestMissing, "in a folder", tarOf(lockEntry, entry("a/Scarb.toml", "x")))
	add(archive.ManifestMissing, "a folder of that name", tarOf(lockEntry, folder("Scarb.toml/")))
	add(archive.ManifestMissing, "in small letters", tarOf(lockEntry, entry("scarb.toml", "x")))
	add(archive.LockfileMissing, "a manifest alone", tarOf(manifestEntry))
	add(archive.LockfileMissing, "in a folder", tarOf(manifestEntry, entry("a/Scarb.lock", "x")))
	add(archive.LockfileMissing, "a folder of that name", tarOf(folder("Scarb.lock/"), manifestEntry))
}

func nestedAttacks(add adder) {
	for _, ext := range strings.Fields("7z a ar arj br bz2 cab cpio crate deb dmg gz iso jar lha lz lz4 lzh lzma lzo nupkg rar rpm squashfs tar taz tbz tbz2 tgz tlz txz tzst war whl xar xz z zip zst zstd ZIP Tar.GZ") {
		add(archive.NestedArchive, "called ."+ext, around(entry("src/x."+ext, "text")))
	}
	for name, head := range map[string]string{
		"gzip": string(zip(nil)), "compress": "\x1f\x9d\x90", "pack": "\x1f\xa0\x00", "zip": "PK\x03\x04\x14\x00", "empty zip": "PK\x05\x06" + strings.Repeat("\x00", 18), "split zip": "PK\x07\x08",
		"xz": "\xfd7zXZ\x00\x00", "zstd": "\x28\xb5\x2f\xfd\x24", "7z": "7z\xbc\xaf\x27\x1c\x00", "rar": "Rar!\x1a\x07\x01\x00", "lz4": "\x04\x22\x4d\x18\x64",
		"lzip": "LZIP\x01\x0c", "lzop": "\x89LZO\x00\r\n", "lzma": "]\x00\x00\x80\x00", "ar": "!<arch>\nx", "cabinet": "MSCF\x00\x00\x00\x00x", "xar": "xar!\x00\x1c",
		"squashfs": "hsqs\x00", "cpio": "\xc7\x71\x01", "cpio of the other order": "\x71\xc7\x01", "bzip2": "BZh91AY&SYxxxx",
		"cpio in text": "070701" + strings.Repeat("0", 104), "cpio in old text": "070707" + strings.Repeat("0", 70), "tar": string(tarOf(entry("a", "x"))), "empty bzip2 like": "BZh11AY&SY",
	} {
		add(archive.NestedArchive, "that begins like "+name, around(entry("src/lib.cairo", head)))
	}
}

// envelopeAttacks are about gzip and about where the tar ends. They hold whole archives.
func envelopeAttacks(add adder) {
	good := around(entry("src/lib.cairo", noise(2000)))
	packed := zip(good)
	for name, data := range map[string][]byte{"nothing": {}, "a byte": {0x1f}, "text": []byte("hello, this is text"), "a bare tar": good, "zip": []byte("PK\x03\x04 and so on")} {
		add(archive.NotGzip, name, data)
	}
	for name, c := range map[string][2]byte{"a text flag": {3, 1}, "a checksum flag": {3, 2}, "an extra flag": {3, 4}, "a name flag": {3, 8}, "a comment flag": {3, 16}, "a reserved flag": {3, 32}, "a time": {4, 1}, "a late time": {7, 0x80}, "another method": {2, 7}} {
		add(archive.GzipHeader, name, with(packed, int(c[0]), c[1]))
	}
	add(archive.GzipCorrupt, "a block of type 3", join(packed[:10], []byte{7, 0, 0, 0}, packed[14:]))
	add(archive.GzipCorrupt, "lengths that differ", join(packed[:10], []byte{1, 5, 0, 5, 0}, packed[15:]))
	for i := 1; i <= 4; i++ {
		add(archive.GzipChecksum, fmt.Sprintf("byte %d of the checksum", i), with(packed, -4-i, packed[len(packed)-4-i]+1))
		add(archive.GzipChecksum, fmt.Sprintf("byte %d of the length", i), with(packed, -i, packed[len(packed)-i]+1))
	}
	add(archive.GzipSecondMember, "the same again", join(packed, packed))
	add(archive.GzipSecondMember, "an empty one", join(packed, zip(nil)))
	add(archive.GzipSecondMember, "the tar in two", join(packed[:0], zip(good), zip(make([]byte, 512))))
	for name, more := range map[string][]byte{"a zero": {0}, "a record of zeros": make([]byte, 512), "text": []byte("hidden"), "half a mark": {0x1f}} {
		add(archive.TrailingBytes, "behind gzip: "+name, join(packed, more))
	}
	for name, more := range map[string][]byte{
		"another entry": blocksOf(entry("z", "x")), "half a block of zeros": make([]byte, 100), "a byte at the end": join(make([]byte, 511), []byte{1}), "too many zeros": make([]byte, 20*512), "text": []byte("hidden"),
	} {
		add(archive.TrailingBytes, "behind tar: "+name, zip(join(good, more)))
	}
	add(archive.LoneZeroBlock, "between entries", zip(join(blocksOf(lockEntry, manifestEntry), make([]byte, 512), tarOf(entry("z", "x")))))
	for _, n := range []int{2, 9, 10, 12, 50, len(packed) / 2, len(packed) - 9, len(packed) - 8, len(packed) - 1} {
		add(archive.Truncated, fmt.Sprintf("gzip after %d bytes", n), packed[:n])
	}
	for _, n := range []int{0, 100, 512, 600, 1024, 2048, 2148, len(good) - 1536, len(good) - 1024, len(good) - 512} {
		add(archive.Truncated, fmt.Sprintf("tar after %d bytes", n), zip(good[:n]))
	}
	add(archive.Truncated, "a size that is a lie", around(entry("z", "x", sized(100_000))))
}

func bombs() []attack {
	var all []attack
	add := func(reason archive.Reason, name string, data []byte, limit func(*archive.Limits)) {
		l := archive.Standard
		if limit != nil {
			limit(&l)
		}
		all = append(all, attack{string(reason) + "/" + name, reason, data, l})
	}
	many := func(n int, name func(int) string) []forged {
		var list []forged
		for i := range n {
			list = append(list, entry(name(i), ""))
		}
		return list
	}
	standard := archive.Standard
	add(archive.FileTooLarge, "by its header", zip(around(entry("a", "x", sized(standard.File+1)))), nil)
	add(archive.FileTooLarge, "as large as a header can say", zip(around(entry("a", "x", sized(1<<33-1)))), nil)
	add(archive.FileTooLarge, "real", zip(around(entry("a", noise(2000)))), func(l *archive.Limits) { l.File = 1999 })
	zeros := string(make([]byte, standard.File))
	add(archive.ExpansionTooSteep, "a file of zeros", zip(around(entry("a", zeros))), nil)
	add(archive.ExpansionTooSteep, "many files of zeros", zip(around(entry("a", zeros), entry("b", zeros), entry("c", zeros), entry("d", zeros))), nil)
	add(archive.TrailingBytes, "zeros without end", zip(append(around(), make([]byte, 4<<20)...)), nil)
	add(archive.ExpandedTooLarge, "headers and padding", zip(around(many(100, func(i int) string { return fmt.Sprintf("a%03d", i) })...)), func(l *archive.Limits) { l.Expanded = 50 * 512 })
	add(archive.FilesTooLarge, "files that are small", zip(around(entry("a", noise(5000)), entry("b", noise(5000)))), func(l *archive.Limits) { l.Expanded = 9000 })
	big := zip(around(entry("a", noise(50_000))))
	add(archive.ArchiveTooLarge, "a byte", big, func(l *archive.Limits) { l.Compressed = int64(len(big)) - 1 })
	add(archive.ArchiveTooLarge, "many bytes", big, func(l *archive.Limits) { l.Compressed = 5000 })
	add(archive.ArchiveTooLarge, "noise behind the end", join(big, []byte(noise(100_000))), func(l *archive.Limits) { l.Compressed = int64(len(big)) })
	add(archive.TooManyEntries, "files", zip(around(many(standard.Entries-1, func(i int) string { return fmt.Sprintf("a%05d", i) })...)), func(l *archive.Limits) { l.Ratio = 1000 })
	add(archive.TooManyEntries, "with long names that are not ASCII", zip(around(many(standard.Entries-1, func(i int) string { return fmt.Sprintf("\u00e9%05d", i) + strings.Repeat("\u00c9", 45) })...)), func(l *archive.Limits) { l.Ratio = 1000 })
	add(archive.TooManyFolders, "one file in each", zip(around(many(standard.Folders+1, func(i int) string { return fmt.Sprintf("a%05d/x", i) })...)), nil)
	add(archive.TooManyFolders, "deep ones", zip(around(many(100, func(i int) string { return fmt.Sprintf("a%03d", i) + strings.Repeat("/b", 20) })...)), nil)
	var named []forged
	for i := range standard.Folders + 1 {
		named = append(named, folder(fmt.Sprintf("a%05d/", i)))
	}
	add(archive.TooManyFolders, "named and empty", zip(around(named...)), nil)
	return all
}

// zipped says whether an attack's bytes are an envelope already.
func zipped(a attack) []byte {
	if isTar := len(a.data) >= 1024 && len(a.data)%512 == 0 && !bytes.HasPrefix(a.data, []byte{0x1f, 0x8b}); isTar && a.reason != archive.NotGzip {
		return zip(a.data)
	}
	return a.data
}

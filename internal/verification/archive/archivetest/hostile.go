package archivetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/verification/archive"
)

// Attack is an archive that must be refused.
type Attack struct {
	Name   string
	Reason archive.Reason
	Data   []byte // mostly the tar inside: see Archive
	Limits archive.Limits
}

// Attacks makes all of them, from tables of what is tried and where.
func Attacks() []Attack {
	var all []Attack
	add := func(reason archive.Reason, name string, data []byte) {
		all = append(all, Attack{string(reason) + "/" + name, reason, data, archive.Standard})
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
			forge := func(make func(string, ...Change) Forged, path string) []byte {
				if len(path) <= 100 {
					return Around(make(path))
				}
				cut := strings.LastIndexByte(path, '/')
				if strings.HasSuffix(path, "/") {
					cut = strings.LastIndexByte(path[:len(path)-1], '/')
				}
				return Around(make(path[cut+1:], Prefixed(path[:cut])))
			}
			file := func(p string, c ...Change) Forged { return Entry(p, "x", c...) }
			if len(p) <= 100 {
				add(reason, "file "+quoted, forge(file, p))
				add(reason, "folder "+quoted, forge(Folder, p+"/"))
			}
			add(reason, "above a file "+quoted, forge(file, p+"/x"))
		}
	}
	add(archive.NameEmpty, "no name", Around(Entry("", "x")))
	add(archive.NameEmpty, "a folder that is all prefix", Around(Folder("", Prefixed("src"))))
	add(archive.NameNotClean, "a prefix and a slash", Around(Folder("/", Prefixed("src"))))
	add(archive.NameAbsolute, "the root", Around(Folder("/")))
	add(archive.NameAbsolute, "a prefix that is the root", Around(Entry("etc", "x", Prefixed("/"))))
	add(archive.NameTraversal, "a prefix that leads out", Around(Entry("x", "x", Prefixed(".."))))
	add(archive.NameTraversal, "a name that leads out of a prefix", Around(Entry("../../x", "x", Prefixed("src"))))
	add(archive.NameTooLong, "name and prefix as long as they can be", Around(Entry(strings.Repeat("n", 100), "x", Prefixed(strings.Repeat("p", 155)))))
}

func headerAttacks(add adder) {
	file := func(c ...Change) []byte { return Around(Entry("src.cairo", "felt", c...)) }
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
			add(archive.HeaderNumber, f.name+" with "+name, file(At(f.offset, text)))
		}
		if f.offset < 300 {
			add(archive.HeaderNumber, f.name+" left empty", file(At(f.offset, strings.Repeat("\x00", f.size))))
		}
	}
	for name, c := range map[string]Change{
		"uid 1": At(108, "0000001\x00"), "gid 1000": At(116, "0001750\x00"), "user root": At(265, "root"), "group wheel": At(297, "wheel"),
		"uid of all bits": At(108, "7777777\x00"),
	} {
		add(archive.Owner, name, file(c))
	}
	for name, c := range map[string]Change{"a second": At(136, "00000000001\x00"), "now": At(136, "14747676000\x00"), "the last": At(136, "77777777777\x00")} {
		add(archive.Time, name, file(c))
	}
	for _, mode := range []string{"0004755", "0002755", "0001755", "0000777", "0000600", "0000000", "0100644", "0000666"} {
		add(archive.Mode, "file "+mode, file(At(100, mode+"\x00")))
	}
	add(archive.Mode, "folder 0644", Around(Folder("src/", At(100, "0000644\x00"))))
	add(archive.FormatGNU, "its magic", file(At(257, "ustar  \x00")))
	add(archive.FormatV7, "no magic", file(At(257, strings.Repeat("\x00", 8))))
	for name, magic := range map[string]string{"other version": "ustar\x0001", "no version": "ustar\x00\x00\x00", "no zero": "ustar000", "capitals": "USTAR\x0000", "star": "tar\x00\x00\x00\x00\x00"} {
		add(archive.FormatUnknown, name, file(At(257, magic)))
	}
	for name, c := range map[string]Change{
		"behind the name": At(20, "hidden"), "behind the prefix": At(345, "\x00hidden"), "at the end": At(500, "x"), "the last byte": At(511, "\x01"),
		"the mark of star": At(508, "tar\x00"), "behind the target": At(157, "\x00x"), "behind the user": At(265, "\x00x"), "behind the group": At(297, "\x00x"),
	} {
		add(archive.HeaderPadding, name, file(c))
	}
	for i, flip := range []int{0, 101, 110, 124, 140, 156, 200, 257, 300, 400} {
		good := Entry("src.cairo", "felt")
		add(archive.HeaderChecksum, fmt.Sprintf("byte %d altered (%d)", flip, i), Around(good.after(func(f *Forged) { f.header[flip]++ })))
	}
	for name, sum := range map[string]string{"none": "        ", "zeros": "\x00\x00\x00\x00\x00\x00\x00\x00", "no number": "checksum", "zero": "000000\x00 "} {
		add(archive.HeaderChecksum, name, Around(Entry("src.cairo", "felt").after(At(148, sum))))
	}
	add(archive.HeaderChecksum, "made of signed bytes", Around(signedSum(Entry("caf\u00e9", "felt"))))
	for _, n := range []int{1, 100, 511} {
		e := Entry("src.cairo", strings.Repeat("x", n))
		e.body[n] = 1
		add(archive.ContentPadding, fmt.Sprintf("behind %d bytes", n), Around(e))
	}
}

// signedSum is what writers made that took bytes for signed.
func signedSum(f Forged) Forged {
	return f.after(func(f *Forged) {
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
		add(reason, fmt.Sprintf("type %q", flag), Around(Entry("thing", "", typed(flag), At(157, "Scarb.toml"))))
	}
	add(archive.SymbolicLink, "to the host", Around(Entry("src", "", typed('2'), At(157, "/etc"))))
	add(archive.SymbolicLink, "then a file through it", Around(Entry("src", "", typed('2'), At(157, "../..")), Entry("src/lib.cairo", "x")))
	add(archive.HardLink, "to the manifest", Around(Entry("link", "", typed('1'), At(157, "Scarb.toml"))))
	add(archive.Device, "a file with device numbers", Around(Entry("dev", "", At(329, "0000001\x00"), At(337, "0000003\x00"))))
	add(archive.ExtensionPax, "that renames the next", Around(Entry("PaxHeaders/a", "18 path=/etc/cron\n", typed('x')), Entry("a", "x")))
	add(archive.ExtensionPax, "for all, at the beginning", tarOf(Entry("pax_global_header", "52 comment=0123\n", typed('g')), lockEntry, manifestEntry))
	add(archive.ExtensionGNU, "a long name", Around(Entry("././@LongLink", strings.Repeat("a/", 200)+"\x00", typed('L')), Entry("a", "x")))
	add(archive.TypeMismatch, "a file with a slash", Around(Entry("src/", "")))
	add(archive.TypeMismatch, "a folder without one", Around(Folder("src")))
	add(archive.TypeMismatch, "a folder with a size", Around(Folder("src/", sized(512))))
	for name, text := range map[string]string{"relative": "x", "absolute": "/etc/shadow", "long": strings.Repeat("t", 100)} {
		add(archive.LinkTarget, "of a file, "+name, Around(Entry("a", "x", At(157, text))))
	}
	add(archive.LinkTarget, "of a folder", Around(Folder("src/", At(157, "../.."))))
}

// treeAttacks are about how entries stand to one another.
func treeAttacks(add adder) {
	a, b := Entry("a", "x"), Entry("b", "x")
	add(archive.Unsorted, "two files", Around(b, a))
	add(archive.Unsorted, "the manifest last", tarOf(lockEntry, a, manifestEntry))
	add(archive.Unsorted, "by parts of paths", Around(Entry("src/a", "x"), Entry("src-a/x", "x")))
	add(archive.Unsorted, "a folder behind its file", Around(Entry("src/a", "x"), Folder("src/")))
	add(archive.Duplicate, "two files", Around(a, a))
	add(archive.Duplicate, "two manifests", tarOf(lockEntry, manifestEntry, Entry("Scarb.toml", "[other]\n")))
	add(archive.Duplicate, "a file and a folder", Around(Entry("src", "x"), Folder("src/")))
	add(archive.Duplicate, "two folders", Around(Folder("src/"), Folder("src/")))
	add(archive.Duplicate, "split in another way", Around(Entry("src/a", "x"), Entry("a", "y", Prefixed("src"))))
	add(archive.FileAsDirectory, "a file in a file", Around(Entry("src", "x"), Entry("src/a", "x")))
	add(archive.FileAsDirectory, "deeper", Around(Entry("src", "x"), Entry("src/a/b/c", "x")))
	add(archive.FileAsDirectory, "a folder in a file", Around(Entry("src", "x"), Folder("src/a/")))
	for name, pair := range map[string][2]string{
		"files": {"src/LIB.cairo", "src/lib.cairo"}, "folders": {"Src/a", "src/b"}, "a folder and a file": {"a/SRC/a", "a/src"}, "deep folders": {"a/B/c", "a/b/d"},
		"sharp s": {"strasse", "stra\u00dfe"}, "sigmas": {"\u03c2", "\u03c3"}, "accents": {"\u00c9t\u00e9", "\u00e9t\u00e9"}, "one letter": {"a/S", "a/s"},
		"Greek iota": {"a\u0345", "a\u03b9"}, "Cherokee": {"\u13a0", "\uab70"}, "Georgian": {"\u10d0", "\u1c90"},
	} {
		paths := pair[:]
		slices.Sort(paths)
		add(archive.Collision, name, Around(Entry(paths[0], "x"), Entry(paths[1], "x")))
	}
	add(archive.Collision, "manifests", Around(Entry("scarb.toml", "x")))
	add(archive.Empty, "no entries", tarOf())
	add(archive.Empty, "folders alone", tarOf(Folder("src/")))
	add(archive.ManifestMissing, "a lock file alone", tarOf(lockEntry))
	add(archive.ManifestMissing, "in a folder", tarOf(lockEntry, Entry("a/Scarb.toml", "x")))
	add(archive.ManifestMissing, "a folder of that name", tarOf(lockEntry, Folder("Scarb.toml/")))
	add(archive.ManifestMissing, "in small letters", tarOf(lockEntry, Entry("scarb.toml", "x")))
	add(archive.LockfileMissing, "a manifest alone", tarOf(manifestEntry))
	add(archive.LockfileMissing, "in a folder", tarOf(manifestEntry, Entry("a/Scarb.lock", "x")))
	add(archive.LockfileMissing, "a folder of that name", tarOf(Folder("Scarb.lock/"), manifestEntry))
}

func nestedAttacks(add adder) {
	for _, ext := range strings.Fields("7z a ar arj br bz2 cab cpio crate deb dmg gz iso jar lha lz lz4 lzh lzma lzo nupkg rar rpm squashfs tar taz tbz tbz2 tgz tlz txz tzst war whl xar xz z zip zst zstd ZIP Tar.GZ") {
		add(archive.NestedArchive, "called ."+ext, Around(Entry("src/x."+ext, "text")))
	}
	for name, head := range map[string]string{
		"gzip": string(Zip(nil)), "compress": "\x1f\x9d\x90", "pack": "\x1f\xa0\x00", "zip": "PK\x03\x04\x14\x00", "empty zip": "PK\x05\x06" + strings.Repeat("\x00", 18), "split zip": "PK\x07\x08",
		"xz": "\xfd7zXZ\x00\x00", "zstd": "\x28\xb5\x2f\xfd\x24", "7z": "7z\xbc\xaf\x27\x1c\x00", "rar": "Rar!\x1a\x07\x01\x00", "lz4": "\x04\x22\x4d\x18\x64",
		"lzip": "LZIP\x01\x0c", "lzop": "\x89LZO\x00\r\n", "lzma": "]\x00\x00\x80\x00", "ar": "!<arch>\nx", "cabinet": "MSCF\x00\x00\x00\x00x", "xar": "xar!\x00\x1c",
		"squashfs": "hsqs\x00", "cpio": "\xc7\x71\x01", "cpio of the other order": "\x71\xc7\x01", "bzip2": "BZh91AY&SYxxxx",
		"cpio in text": "070701" + strings.Repeat("0", 104), "cpio in old text": "070707" + strings.Repeat("0", 70), "tar": string(tarOf(Entry("a", "x"))), "empty bzip2 like": "BZh11AY&SY",
	} {
		add(archive.NestedArchive, "that begins like "+name, Around(Entry("src/lib.cairo", head)))
	}
}

// envelopeAttacks are about gzip and about where the tar ends. They hold whole archives.
func envelopeAttacks(add adder) {
	good := Around(Entry("src/lib.cairo", Noise(2000)))
	packed := Zip(good)
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
	add(archive.GzipSecondMember, "an empty one", join(packed, Zip(nil)))
	add(archive.GzipSecondMember, "the tar in two", join(packed[:0], Zip(good), Zip(make([]byte, 512))))
	for name, more := range map[string][]byte{"a zero": {0}, "a record of zeros": make([]byte, 512), "text": []byte("hidden"), "half a mark": {0x1f}} {
		add(archive.TrailingBytes, "behind gzip: "+name, join(packed, more))
	}
	for name, more := range map[string][]byte{
		"another entry": blocksOf(Entry("z", "x")), "half a block of zeros": make([]byte, 100), "a byte at the end": join(make([]byte, 511), []byte{1}), "too many zeros": make([]byte, 20*512), "text": []byte("hidden"),
	} {
		add(archive.TrailingBytes, "behind tar: "+name, Zip(join(good, more)))
	}
	add(archive.LoneZeroBlock, "between entries", Zip(join(blocksOf(lockEntry, manifestEntry), make([]byte, 512), tarOf(Entry("z", "x")))))
	for _, n := range []int{2, 9, 10, 12, 50, len(packed) / 2, len(packed) - 9, len(packed) - 8, len(packed) - 1} {
		add(archive.Truncated, fmt.Sprintf("gzip after %d bytes", n), packed[:n])
	}
	for _, n := range []int{0, 100, 512, 600, 1024, 2048, 2148, len(good) - 1536, len(good) - 1024, len(good) - 512} {
		add(archive.Truncated, fmt.Sprintf("tar after %d bytes", n), Zip(good[:n]))
	}
	add(archive.Truncated, "a size that is a lie", Around(Entry("z", "x", sized(100_000))))
}

func bombs() []Attack {
	var all []Attack
	add := func(reason archive.Reason, name string, data []byte, limit func(*archive.Limits)) {
		l := archive.Standard
		if limit != nil {
			limit(&l)
		}
		all = append(all, Attack{string(reason) + "/" + name, reason, data, l})
	}
	many := func(n int, name func(int) string) []Forged {
		var list []Forged
		for i := range n {
			list = append(list, Entry(name(i), ""))
		}
		return list
	}
	standard := archive.Standard
	add(archive.FileTooLarge, "by its header", Zip(Around(Entry("a", "x", sized(standard.File+1)))), nil)
	add(archive.FileTooLarge, "as large as a header can say", Zip(Around(Entry("a", "x", sized(1<<33-1)))), nil)
	add(archive.FileTooLarge, "real", Zip(Around(Entry("a", Noise(2000)))), func(l *archive.Limits) { l.File = 1999 })
	zeros := string(make([]byte, standard.File))
	add(archive.ExpansionTooSteep, "a file of zeros", Zip(Around(Entry("a", zeros))), nil)
	add(archive.ExpansionTooSteep, "many files of zeros", Zip(Around(Entry("a", zeros), Entry("b", zeros), Entry("c", zeros), Entry("d", zeros))), nil)
	add(archive.ExpansionTooFlat, "nothing before the first file", padded(0, Around(Entry("a", "x"))), nil)
	add(archive.ExpansionTooFlat, "nothing between files", padded(2000, Around(Entry("a", "x"))), nil)
	add(archive.ExpansionTooFlat, "nothing behind the end", padded(5*512+1024, Around(Entry("a", ""))), nil)
	add(archive.TrailingBytes, "zeros without end", Zip(append(Around(), make([]byte, 4<<20)...)), nil)
	add(archive.ExpandedTooLarge, "headers and padding", Zip(Around(many(100, func(i int) string { return fmt.Sprintf("a%03d", i) })...)), func(l *archive.Limits) { l.Expanded = 50 * 512 })
	add(archive.FilesTooLarge, "files that are small", Zip(Around(Entry("a", Noise(5000)), Entry("b", Noise(5000)))), func(l *archive.Limits) { l.Expanded = 9000 })
	big := Zip(Around(Entry("a", Noise(50_000))))
	add(archive.ArchiveTooLarge, "a byte", big, func(l *archive.Limits) { l.Compressed = int64(len(big)) - 1 })
	add(archive.ArchiveTooLarge, "many bytes", big, func(l *archive.Limits) { l.Compressed = 5000 })
	add(archive.ArchiveTooLarge, "noise behind the end", join(big, []byte(Noise(100_000))), func(l *archive.Limits) { l.Compressed = int64(len(big)) })
	add(archive.TooManyEntries, "files", Zip(Around(many(standard.Entries-1, func(i int) string { return fmt.Sprintf("a%05d", i) })...)), func(l *archive.Limits) { l.Ratio = 1000 })
	add(archive.TooManyEntries, "with long names that are not ASCII", Zip(Around(many(standard.Entries-1, func(i int) string { return fmt.Sprintf("\u00e9%05d", i) + strings.Repeat("\u00c9", 45) })...)), func(l *archive.Limits) { l.Ratio = 1000 })
	add(archive.TooManyFolders, "one file in each", Zip(Around(many(standard.Folders+1, func(i int) string { return fmt.Sprintf("a%05d/x", i) })...)), nil)
	add(archive.TooManyFolders, "deep ones", Zip(Around(many(100, func(i int) string { return fmt.Sprintf("a%03d", i) + strings.Repeat("/b", 20) })...)), nil)
	var named []Forged
	for i := range standard.Folders + 1 {
		named = append(named, Folder(fmt.Sprintf("a%05d/", i)))
	}
	add(archive.TooManyFolders, "named and empty", Zip(Around(named...)), nil)
	return all
}

// Archive is what is handed over: most attacks are the tar inside, and some an envelope.
func (a *Attack) Archive() []byte {
	if isTar := len(a.Data) >= 1024 && len(a.Data)%512 == 0 && !bytes.HasPrefix(a.Data, []byte{0x1f, 0x8b}); isTar && a.Reason != archive.NotGzip {
		return Zip(a.Data)
	}
	return a.Data
}

package archive

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// excluded are folders of the root that preparing leaves out and reading refuses:
// they are no source, and hold what their owner does not mean to hand over.
var excluded = []string{".git", ToolFolder, "target"}

// ToolFolder is where this program keeps its own files beside a tree.
const ToolFolder = ".chainexplorer"

// isExcluded is about the first part of a path.
func isExcluded(root string) bool {
	for _, e := range excluded {
		if strings.EqualFold(root, e) {
			return true
		}
	}
	return false
}

// checkPath returns why a path must not be in an archive, "" when it may. A path
// that passes names the same file on every system that people build on.
func checkPath(p string) Reason {
	switch {
	case p == "":
		return NameEmpty
	case len(p) > maxPath:
		return NameTooLong
	case !utf8.ValidString(p):
		return NameNotUTF8
	case p[0] == '/' || len(p) > 1 && p[1] == ':' && p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z':
		return NameAbsolute
	}
	parts := strings.Split(p, "/")
	if len(parts) > maxDepth {
		return NameTooDeep
	}
	for _, part := range parts {
		if r := checkPart(part); r != "" {
			return r
		}
	}
	if isExcluded(parts[0]) {
		return NameExcluded
	}
	for _, part := range parts {
		if isReserved(part) {
			return NameReserved
		}
	}
	return ""
}

func checkPart(part string) Reason {
	switch {
	case part == "" || part == ".":
		return NameNotClean
	case part == "..":
		return NameTraversal
	case len(part) > maxComponent:
		return NameTooLong
	}
	for _, r := range part {
		switch {
		case unicode.IsControl(r):
			return NameControl
		case strings.ContainsRune(`\<>:"|?*`, r):
			return NameCharacter
		case !unicode.IsGraphic(r), r != ' ' && unicode.IsSpace(r),
			unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return NameInvisible
		}
	}
	switch {
	case !norm.NFC.IsNormalString(part):
		return NameNotNormalized
	case !norm.NFKC.IsNormalString(part):
		return NameCompatibility
	}
	first, _ := utf8.DecodeRuneInString(part)
	if first == ' ' || first == '-' || unicode.IsMark(first) || strings.HasSuffix(part, " ") || strings.HasSuffix(part, ".") {
		return NameEdge
	}
	return ""
}

// isReserved tells names that open a device on Windows, whatever their extension,
// and folders whose content Git obeys.
func isReserved(part string) bool {
	name := strings.ToLower(part)
	switch name {
	case ".git", "git~1":
		return true
	}
	base, _, _ := strings.Cut(name, ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	if len(base) != 4 || base[3] < '0' || base[3] > '9' {
		return false
	}
	return base[:3] == "com" || base[:3] == "lpt"
}

// foldKey is equal for paths that a file system may take for the same. The full case
// folding makes two letters of some; the orbit of a letter has those that it misses.
func foldKey(p string) string {
	for i := range len(p) {
		if p[i] >= utf8.RuneSelf {
			return norm.NFKC.String(strings.Map(lowestOfOrbit, cases.Fold().String(p)))
		}
	}
	return strings.ToLower(p)
}

func lowestOfOrbit(r rune) rune {
	lowest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		lowest = min(lowest, next)
	}
	return unicode.ToLower(lowest)
}

// tree is what is known of the paths so far.
type tree struct {
	limits  *Limits
	last    string
	entries int
	folders int
	seen    map[string]node // by foldKey
}

type node struct {
	path   string
	folder bool
}

func newTree(l *Limits) *tree { return &tree{limits: l, seen: map[string]node{}} }

// add takes the next path, which must pass checkPath, or says why not.
func (t *tree) add(p string, folder bool) Reason {
	if t.entries++; t.entries > t.limits.Entries {
		return TooManyEntries
	}
	if t.last != "" && p <= t.last {
		if p == t.last {
			return Duplicate
		}
		return Unsorted
	}
	t.last = p
	if r := t.enterParents(path.Dir(p)); r != "" {
		return r
	}
	return t.enter(p, folder)
}

// enterParents goes up to what is known. What is above that is known as well.
func (t *tree) enterParents(dir string) Reason {
	for ; dir != "."; dir = path.Dir(dir) {
		n, known := t.seen[foldKey(dir)]
		if !known {
			if r := t.enter(dir, true); r != "" {
				return r
			}
			continue
		}
		switch {
		case n.path != dir:
			return Collision
		case !n.folder:
			return FileAsDirectory
		}
		return ""
	}
	return ""
}

func (t *tree) enter(p string, folder bool) Reason {
	key := foldKey(p)
	if n, known := t.seen[key]; known && n.path != p {
		return Collision
	}
	if folder {
		if t.folders++; t.folders > t.limits.Folders {
			return TooManyFolders
		}
	}
	t.seen[key] = node{p, folder}
	return ""
}

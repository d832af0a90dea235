package archive

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Archives and compressed files are refused by their names and by how they begin.
// A format that is read from its end can hide behind text: nothing here or in a
// build opens one.

var nestedExtensions = []string{
	".7z", ".a", ".ar", ".arj", ".br", ".bz2", ".cab", ".cpio", ".crate", ".deb", ".dmg", ".gz", ".iso", ".jar", ".lha", ".lz", ".lz4", ".lzh", ".lzma",
	".lzo", ".nupkg", ".rar", ".rpm", ".squashfs", ".tar", ".taz", ".tbz", ".tbz2", ".tgz", ".tlz", ".txz", ".tzst", ".war", ".whl", ".xar", ".xz", ".z",
	".zip", ".zst", ".zstd",
}

func nestedByName(p string) bool {
	_, found := slices.BinarySearch(nestedExtensions, strings.ToLower(path.Ext(p)))
	return found
}

// magics are how such files begin. What could begin a text has more bytes.
var magics = []struct {
	at    int
	bytes string
}{
	{0, "\x1f\x8b"},             // gzip
	{0, "\x1f\x9d"},             // compress
	{0, "\x1f\xa0"},             // compress, the old way
	{0, "PK\x03\x04"},           // zip
	{0, "PK\x05\x06"},           // zip without files
	{0, "PK\x07\x08"},           // zip of several parts
	{0, "\xfd7zXZ\x00"},         // xz
	{0, "\x28\xb5\x2f\xfd"},     // zstd
	{0, "7z\xbc\xaf\x27\x1c"},   // 7z
	{0, "Rar!\x1a\x07"},         // rar
	{0, "\x04\x22\x4d\x18"},     // lz4
	{0, "LZIP\x01"},             // lzip
	{0, "\x89LZO\x00"},          // lzop
	{0, "]\x00\x00"},            // lzma
	{0, "!<arch>\n"},            // ar
	{0, "MSCF\x00\x00\x00\x00"}, // cabinet
	{0, "xar!\x00"},             // xar
	{0, "hsqs"},                 // squashfs
	{0, "\xc7\x71"},             // cpio, binary
	{0, "\x71\xc7"},             // cpio, binary of the other order
	{257, "ustar"},              // tar
}

const hexDigits = "0123456789abcdefABCDEF"

func nestedByContent(head []byte) bool {
	for _, m := range magics {
		if len(head) > m.at && bytes.HasPrefix(head[m.at:], []byte(m.bytes)) {
			return true
		}
	}
	if len(head) >= 10 && bytes.HasPrefix(head, []byte("BZh")) && string(head[4:10]) == "1AY&SY" { // bzip2
		return true
	}
	// cpio in text: a magic number, and digits that reach far.
	return len(head) >= 76 && (bytes.HasPrefix(head, []byte("07070"))) && len(bytes.Trim(head[:76], hexDigits)) == 0
}

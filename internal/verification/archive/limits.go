package archive

// What must lie at the root of a tree.
const (
	Manifest = "Scarb.toml"
	Lockfile = "Scarb.lock"
)

// Limits bound an archive. What a reader holds in memory follows from Entries and
// Folders alone.
type Limits struct {
	Compressed int64 // bytes of the archive
	Expanded   int64 // bytes of the tar inside
	File       int64 // bytes of one file
	Entries    int   // files and folders that are named
	Folders    int   // folders, whether named or only part of a path
	// Ratio is how many bytes a byte may expand to, beyond Free bytes of the tar
	// that always may. Source text expands five times, headers of small files twenty.
	Ratio, Free int64
}

// Standard is what the service takes.
var Standard = Limits{
	Compressed: 10 << 20,
	Expanded:   64 << 20,
	File:       4 << 20,
	Entries:    4096,
	Folders:    1024,
	Ratio:      64,
	Free:       1 << 20,
}

// What a path may be; a ustar header could hold 256 bytes.
const (
	maxPath      = 255
	maxComponent = 100
	maxDepth     = 32
)

const (
	blockSize = 512
	// padding is by how much an archive may be ahead of the tar that it expands to. Blocks of a compressed stream that
	// say nothing take far more time to read than others of as many bytes.
	padding = 64 << 10
	// maxTail is the most zero blocks that writers put at the end: two, and those
	// that fill a record of twenty.
	maxTail = 21
)

package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
)

const (
	manifestName = "export.json"
	// maxManifest is room for a hundred thousand ranges of all families.
	maxManifest = 512 << 20
)

// Manifest says what an export holds. Nothing in it depends on when it was written.
type Manifest struct {
	Format        int    `json:"format"`
	Program       string `json:"program"` // the version that wrote it last
	Chain         string `json:"chain"`
	ChainID       string `json:"chainId"`
	BlocksPerFile uint64 `json:"blocksPerFile"`
	// Families are sums over the files.
	Families []Family `json:"families"`
	// Files are in the order of families and blocks.
	Files []File `json:"files"`
}

// Family is all files of a family.
type Family struct {
	Name  string `json:"name"`
	First uint64 `json:"firstBlock"`
	Last  uint64 `json:"lastBlock"` // blocks between them may be missing while an export is not complete
	Files int    `json:"files"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// File is a file that is whole.
type File struct {
	Family string `json:"family"`
	Path   string `json:"path"` // in the folder, with slashes
	First  uint64 `json:"firstBlock"`
	Last   uint64 `json:"lastBlock"`
	// LastHash is the hash of the last block, and Digest that of the index up to it.
	LastHash string `json:"lastBlockHash"`
	Digest   string `json:"digest"`
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	// KnownTokens tells, of transfers, which tokens the registry listed when they were
	// written: with others they are written anew.
	KnownTokens string `json:"knownTokens,omitempty"`
}

// pathOf is the file of a range, which keeps its name while the range grows.
func pathOf(family string, first, blocks uint64) string {
	if family == Tokens {
		return Tokens + "/" + Tokens + ".parquet"
	}
	return fmt.Sprintf("%s/blocks-%010d-%010d.parquet", family, first, first+blocks-1)
}

// ReadManifest reads what an export holds; os.ErrNotExist where there is none.
func ReadManifest(dir string) (*Manifest, error) {
	f, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	var m Manifest
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%s is larger than any export.json", f.Name())
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", f.Name(), err)
	}
	for _, file := range m.Files {
		if m.Format == Format && file.Path != pathOf(file.Family, file.First, m.BlocksPerFile) {
			return nil, fmt.Errorf("%s is damaged: it names %q", f.Name(), file.Path)
		}
	}
	return &m, nil
}

// save writes export.json. The lock is held, or nobody else is there.
func (x *run) save() error {
	m := x.manifest
	slices.SortFunc(m.Files, func(a, b File) int {
		return cmp.Or(cmp.Compare(order(a.Family), order(b.Family)), cmp.Compare(a.First, b.First))
	})
	m.Families = []Family{}
	for _, f := range m.Files {
		n := len(m.Families)
		if n == 0 || m.Families[n-1].Name != f.Family {
			m.Families = append(m.Families, Family{Name: f.Family, First: f.First})
			n++
		}
		sum := &m.Families[n-1]
		sum.Last = f.Last
		sum.Files++
		sum.Rows += f.Rows
		sum.Bytes += f.Bytes
	}
	if m.Files == nil {
		m.Files = []File{}
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err == nil {
		err = durable.WriteFile(filepath.Join(x.Dir, manifestName), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", manifestName, err)
	}
	x.report.Manifest = *m
	return nil
}

func order(family string) int { return slices.Index(Families(), family) }

// drop forgets the files that are not there any more as they were written, and takes away
// those whose blocks are not part of the chain any more, and those that another registry
// has part in. One Get for each range.
func (x *run) drop(ctx context.Context) error {
	var keep, gone []File
	err := x.Index.View(ctx, func(r explorer.Reader) error {
		keep, gone = nil, nil
		digests := map[uint64]string{} // empty where there is no such block
		for _, f := range x.manifest.Files {
			if _, asked := digests[f.Last]; !asked {
				digest, found, err := chain.DigestAt(ctx, r, f.Last)
				if err != nil {
					return err
				}
				if digests[f.Last] = ""; found {
					digests[f.Last] = hex.EncodeToString(digest[:])
				}
			}
			info, err := os.Stat(filepath.Join(x.Dir, filepath.FromSlash(f.Path)))
			if f.Digest != "" && digests[f.Last] == f.Digest && err == nil && info.Size() == f.Bytes && f.KnownTokens == x.knownTokens(f.Family) {
				keep = append(keep, f)
			} else {
				gone = append(gone, f)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	x.manifest.Files, x.report.Undone = keep, len(gone)
	if err := x.save(); err != nil {
		return err
	}
	for _, f := range gone {
		err := os.Remove(filepath.Join(x.Dir, filepath.FromSlash(f.Path)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove a file of blocks that a fork undid: %w", err)
		}
	}
	return nil
}

// knownTokens is the digest of the addresses that the registry lists, where a family
// depends on them.
func (x *run) knownTokens(family string) string {
	if family != transfers {
		return ""
	}
	sum := sha256.New()
	for _, t := range x.Registry.Tokens() { // by address
		sum.Write(t.Address[:]) //nolint:errcheck // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// job is a range, and the families that lack it.
type job struct {
	first, last uint64
	families    []family // none: the tokens
	fed         uint64   // blocks, as far as progress was told
}

// missing lists what is to be written.
func (x *run) missing(last uint64) (jobs []job) {
	type part struct {
		family string
		first  uint64
	}
	there := map[part]uint64{}
	for _, f := range x.manifest.Files {
		there[part{f.Family, f.First}] = f.Last
	}
	for first := x.First; first <= last; first += x.BlocksPerFile {
		j := job{first: first, last: min(last, first+x.BlocksPerFile-1)}
		for _, f := range x.families {
			if end, ok := there[part{f.name, first}]; ok && end >= j.last {
				x.report.Kept++
			} else {
				j.families = append(j.families, f)
			}
		}
		if len(j.families) > 0 {
			jobs = append(jobs, j)
			x.progress.Total += j.last - j.first + 1
		}
	}
	if x.tokens {
		jobs = append(jobs, job{last: last})
	}
	return jobs
}

// done puts the files of a job into export.json.
func (x *run) done(files []File) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.manifest.Files = slices.DeleteFunc(x.manifest.Files, func(old File) bool {
		return slices.ContainsFunc(files, func(f File) bool { return f.Path == old.Path })
	})
	x.manifest.Files = append(x.manifest.Files, files...)
	x.report.Written += len(files)
	return x.save()
}

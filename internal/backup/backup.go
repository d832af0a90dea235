// Package backup copies a data directory while it is in use, and puts such a
// copy back. It guarantees that a backup which has its final name is complete
// and was opened and read after it was written: every chain's store is one state
// between two commits, and its head and digest are in the manifest. The control
// database is a state of its own, taken after the stores.
//
// A backup is a folder:
//
//	backup.json   what it holds, with head and digest of every chain, and all files
//	SN_MAIN/      a store, one folder per chain
//	control.db    keys, workspaces, labels and the secrets that keys are digested with
package backup

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/durable"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

const (
	manifestName = "backup.json"
	controlName  = "control.db"
	// unfinished ends the name of a folder that is being written. One that a
	// killed process left can be removed.
	unfinished = ".unfinished"
	layout     = 1
)

// Manifest says what a backup holds.
type Manifest struct {
	Layout  int       `json:"layout"`
	Taken   time.Time `json:"taken"`
	Program string    `json:"program"` // the version that wrote it
	Chains  []Chain   `json:"chains"`
	Control bool      `json:"control"` // whether control.db is in it
	// Audit is what the audit log of control.db was found to be; nil in backups
	// from before it was a chain.
	Audit *control.AuditReport `json:"audit,omitempty"`
}

// Chain is a store as it was found in the backup.
type Chain struct {
	Name   string `json:"name"`
	Blocks bool   `json:"blocks"` // false: nothing was indexed yet
	Head   uint64 `json:"head"`
	Hash   string `json:"hash"`
	Digest string `json:"digest"` // of everything up to the head, in hex
	Bytes  uint64 `json:"bytes"`
}

// Source is what is backed up.
type Source struct {
	Stores  map[string]store.Engine // by the chain's name
	Control *control.DB             // nil when it is kept elsewhere
	Program string
	Now     func() time.Time
	Logger  *slog.Logger
	// Progress, unless nil, is told how many of the stores and the control database are
	// done, from none on, and how many there are.
	Progress func(done, total uint64)
}

// Take writes a backup to folder, which must not exist.
func Take(ctx context.Context, s Source, folder string) (_ Manifest, err error) {
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("backup: %s exists already", folder)
	}
	part := folder + unfinished
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("backup: %w", err), os.RemoveAll(part))
		}
	}()
	m := Manifest{Layout: layout, Taken: s.Now().UTC(), Program: s.Program, Chains: []Chain{}}
	done, total := uint64(0), uint64(len(s.Stores))
	if s.Control != nil {
		total++
	}
	if s.Progress == nil {
		s.Progress = func(uint64, uint64) {}
	}
	s.Progress(done, total)
	for name, e := range s.Stores {
		dir := filepath.Join(part, name)
		if err := e.Checkpoint(ctx, dir); err != nil {
			return m, err
		}
		c, err := examine(ctx, dir, name, false, s.Logger)
		if err != nil {
			return m, err
		}
		m.Chains = append(m.Chains, c)
		done++
		s.Progress(done, total)
	}
	sortChains(m.Chains)
	if s.Control != nil {
		file := filepath.Join(part, controlName)
		if err := s.Control.CopyTo(ctx, file); err != nil {
			return m, err
		}
		report, err := examineControl(ctx, file, s.Logger)
		if err != nil {
			return m, err
		}
		m.Control, m.Audit = true, &report
		s.Progress(done+1, total)
	}
	files, err := listFiles(ctx, part)
	if err != nil {
		return m, err
	}
	if err := writeManifest(part, written{m, files}); err != nil {
		return m, err
	}
	if err := durable.SyncDir(part); err != nil {
		return m, err
	}
	if err := os.Rename(part, folder); err != nil {
		return m, err
	}
	return m, durable.SyncDir(filepath.Dir(folder))
}

// written is the manifest as it lies in the folder: nobody but a restore needs to know the files.
type written struct {
	Manifest
	// Files are all but the manifest; nil in backups from before they were listed.
	Files []file `json:"files,omitempty"`
}

// Read returns the manifest of a backup.
func Read(folder string) (Manifest, error) {
	w, err := read(folder)
	return w.Manifest, err
}

// read reads the manifest. It is foreign bytes: names of chains in it become parts of paths.
func read(folder string) (m written, err error) {
	text, err := os.ReadFile(filepath.Join(folder, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is not a finished backup: it has no %s", folder, manifestName)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s in %s: %w", manifestName, folder, err)
	}
	if m.Layout != layout {
		return m, fmt.Errorf("the backup has layout %d and this program knows layout %d: restore it with the version that made it (%s)", m.Layout, layout, m.Program)
	}
	for _, c := range m.Chains {
		if !filepath.IsLocal(c.Name) || strings.ContainsAny(c.Name, `/\.`) {
			return m, fmt.Errorf("%s in %s names a chain %q", manifestName, folder, c.Name)
		}
	}
	return m, nil
}

func writeManifest(folder string, m written) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(folder, manifestName), append(text, '\n'))
}

// examineControl opens a control database that nobody else has open and reads its
// audit log. A broken one is told, and is no reason to keep no backup.
func examineControl(ctx context.Context, file string, log *slog.Logger) (r control.AuditReport, err error) {
	db, err := control.Open(ctx, control.Options{Path: file, MustExist: true, Logger: log})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if r, err = db.VerifyAudit(ctx, nil); err != nil {
		return r, err
	}
	if r.Broken != nil && log != nil {
		log.Warn("the audit log is broken", "entry", r.Broken.Sequence, "reason", r.Broken.Reason)
	}
	return r, nil
}

// examine opens a store that nobody else has open and reads its state, and every row if asked to.
func examine(ctx context.Context, dir, name string, rows bool, log *slog.Logger) (Chain, error) {
	e, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables(), ReadOnly: true, Logger: log})
	if err != nil {
		return Chain{}, err
	}
	defer e.Close() //nolint:errcheck // opened for reading
	c := Chain{Name: name}
	var s chain.State
	if err := e.View(ctx, func(r store.Reader) (err error) {
		if s, err = chain.Read(ctx, r); err != nil || !rows {
			return err
		}
		return walk(ctx, r)
	}); err != nil {
		return c, fmt.Errorf("read %s: %w", dir, err)
	}
	if s.Present && index.ChainName(s.Format.ChainID) != name {
		return c, fmt.Errorf("%s holds an index of %s", dir, index.ChainName(s.Format.ChainID))
	}
	if s.HasHead {
		c.Blocks, c.Head, c.Hash, c.Digest = true, s.Head.Number, s.Head.Hash.String(), hex.EncodeToString(s.Head.Digest[:])
	}
	c.Bytes, err = size(dir)
	return c, err
}

// walk reads every row, by which every block of them is held against its checksum.
func walk(ctx context.Context, r store.Reader) error {
	for _, t := range catalog.Tables() {
		for _, err := range r.Walk(ctx, t, nil) {
			if err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/backup"
	"chainexplorer/internal/control"
	"chainexplorer/internal/store"
)

// backupTime bounds a backup. Files are linked, so that only a slow disk needs more
// than seconds.
const backupTime = 10 * time.Minute

// backups takes backups of a running process when its operator asks. Where they
// go is a setting of the process and no part of the request.
type backups struct {
	dir  string // "" when none may be taken
	log  *slog.Logger
	busy chan struct{} // holds a token while a backup is taken

	mu      sync.Mutex
	ready   bool                    // guarded by mu
	stores  map[string]store.Engine // guarded by mu until ready
	control *control.DB             // as above
}

func newBackups(dir string, log *slog.Logger) *backups {
	return &backups{dir: dir, log: log, busy: make(chan struct{}, 1), stores: map[string]store.Engine{}}
}

// checkBackupDir refuses a folder into which files of the data directory cannot be
// linked: the indexer would stand still while they are copied.
func checkBackupDir(dir, metrics, storeURL, data string) error {
	switch {
	case dir == "":
		return nil
	case metrics == "":
		return &usageError{"--backup-dir needs --metrics: backups are asked for there"}
	case storeURL != "":
		return &usageError{"--backup-dir is for an index in a directory: back PostgreSQL up with its own tools"}
	}
	for _, d := range []string{dir, data} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("backup directory: %w", err)
		}
	}
	probe, err := os.CreateTemp(data, "link-probe-")
	if err != nil {
		return fmt.Errorf("backup directory: %w", err)
	}
	defer os.Remove(probe.Name()) //nolint:errcheck // an empty file
	if err := probe.Close(); err != nil {
		return fmt.Errorf("backup directory: %w", err)
	}
	link := filepath.Join(dir, filepath.Base(probe.Name()))
	if err := os.Link(probe.Name(), link); err != nil {
		return &usageError{fmt.Sprintf("--backup-dir must be on the file system of --data, so that a backup takes no time; copy finished backups elsewhere (%v)", err)}
	}
	return os.Remove(link)
}

// add names a store, and open the rest; then backups can be taken.
func (b *backups) add(chain string, e store.Engine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stores[chain] = e
}

func (b *backups) open(db *control.DB) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = true
	if db != nil && db.IsFile() {
		b.control = db
	}
}

func (b *backups) source() (s backup.Source, ready bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return backup.Source{Stores: b.stores, Control: b.control, Program: version(), Now: time.Now, Logger: b.log}, b.ready
}

// taken is the answer to POST /backup.
type taken struct {
	Folder string `json:"folder"`
	backup.Manifest
}

// folderTime names backups so that they sort by age.
const folderTime = "20060102T150405.000Z"

// backupStream is what a caller accepts who wants to see a backup proceed: a line
// of JSON for every step, and then one with the outcome.
const backupStream = "application/x-ndjson"

// backupStep is one of these lines. The last one is that of taken, or an error.
type backupStep struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total,omitempty"`
	Error string `json:"error,omitempty"`
}

// ServeHTTP takes a backup and answers when it is complete, or meanwhile too.
func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	source, ready := b.source()
	switch {
	case b.dir == "":
		http.Error(w, "no backups here: start with --backup-dir", http.StatusNotFound)
		return
	case !ready:
		http.Error(w, "not ready yet", http.StatusServiceUnavailable)
		return
	}
	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
	default:
		http.Error(w, "a backup is being taken", http.StatusConflict)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), backupTime)
	defer cancel()
	start := time.Now()
	folder, err := filepath.Abs(filepath.Join(b.dir, start.UTC().Format(folderTime)))
	var m backup.Manifest
	streams := r.Header.Get("Accept") == backupStream
	send := func(v any) { json.NewEncoder(w).Encode(v) } //nolint:errcheck // the client is gone
	if streams {
		source.Progress = func(done, total uint64) {
			w.Header().Set("Content-Type", backupStream)
			send(backupStep{Done: done, Total: total})
			http.NewResponseController(w).Flush() //nolint:errcheck // as above
		}
	}
	if err == nil {
		m, err = backup.Take(ctx, source, folder)
	}
	switch {
	case err != nil:
		b.log.Error("backup failed", "err", err)
		if w.Header().Get("Content-Type") == backupStream { // the status is out already
			send(backupStep{Error: err.Error()})
			return
		}
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	case !streams:
		w.Header().Set("Content-Type", "application/json")
	}
	b.log.Info("backup taken", "folder", folder, "took", time.Since(start))
	send(taken{folder, m})
}

// isStore says whether a directory holds an index.
func isStore(dir string) bool {
	entries, err := os.ReadDir(dir) // and no pattern: the folder may have brackets in its name
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "MANIFEST-") })
}

// errRunning explains a lock.
func errRunning(err error) error {
	if strings.Contains(err.Error(), "in use by another process") {
		return errors.Join(err, errors.New("ask the running process: 'chainexplorer admin backup --operator http://ADDRESS', with the address of its --metrics"))
	}
	return err
}

package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// held is the file in a scratch folder whose lock its process holds. A folder without it is
// nobody's to remove.
const held = "held"

// errTaken is when somebody who tidies up took a folder away that was just made.
var errTaken = errors.New("the folder was taken away")

// Scratch makes a folder for temporary files below another one, or in the system's place when
// that is empty; remove takes it away. Before that it takes folders of the same prefix away
// whose process was killed: those of this user whose lock nobody holds any more.
func Scratch(below, prefix string) (dir string, remove func(), err error) {
	if below == "" {
		below = os.TempDir()
	}
	list, err := os.ReadDir(below)
	if err != nil {
		return "", nil, fmt.Errorf("scratch folder: %w", err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), prefix) {
			tidy(filepath.Join(below, e.Name()))
		}
	}
	for range 10 { // who tidies up at the same time would have to meet each of them
		if dir, remove, err = scratch(below, prefix); !errors.Is(err, errTaken) {
			break
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("scratch folder: %w", err)
	}
	return dir, remove, nil
}

// scratch makes a folder, holds it, and returns one in it that is empty.
func scratch(below, prefix string) (dir string, remove func(), err error) {
	root, err := os.MkdirTemp(below, prefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(root, held), os.O_CREATE|os.O_RDWR, 0o600)
	remove = func() {
		os.RemoveAll(root) //nolint:errcheck // the next one takes away what is left
		if lock != nil {
			lock.Close() //nolint:errcheck // nothing was written
		}
	}
	if err == nil && canLock && (Lock(lock) != nil || !same(lock)) {
		err = errTaken
	}
	if err == nil {
		dir = filepath.Join(root, "files")
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// same says whether an open file is still the one of its name.
func same(f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(opened, named)
}

// tidy takes a folder away that a process left when it was killed. What cannot be taken away
// stays: it is in nobody's way.
func tidy(root string) {
	if info, err := os.Lstat(root); err != nil || !info.IsDir() || !mine(info) {
		return
	}
	lock, err := os.OpenFile(filepath.Join(root, held), os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer lock.Close() //nolint:errcheck // nothing was written
	if Lock(lock) == nil {
		os.RemoveAll(root) //nolint:errcheck // as said above
	}
}

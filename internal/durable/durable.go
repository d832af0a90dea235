// Package durable makes changes of the file system survive a power cut, and temporary files not survive their process.
package durable

import (
	"os"
	"runtime"
)

// SyncDir makes the names in a directory last: of files that were made, renamed or
// removed in it.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // it has no such call
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return f.Sync()
}

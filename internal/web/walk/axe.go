package walk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoAxe says that axe-core is not there.
var ErrNoAxe = errors.New("axe-core is not there in the version of package-lock.json: make tools installs it where it can")

// Axe is the source of axe-core, as 'make tools' has installed it at the root of the
// module, in the version that a file of versions names.
func Axe(root, versions string) (string, error) {
	want, err := os.ReadFile(versions)
	if err != nil {
		return "", fmt.Errorf("version of axe-core: %w", err)
	}
	folder := filepath.Join(root, ".tools", "axe")
	if got, err := os.ReadFile(filepath.Join(folder, filepath.Base(versions))); err != nil || !bytes.Equal(got, want) {
		return "", ErrNoAxe
	}
	source, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		return "", fmt.Errorf("axe-core: %w", err)
	}
	return string(source), nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"chainexplorer/internal/registry"
)

// mostSetting is how much a file that holds one value may have.
const mostSetting = 1 << 20

// readSetting reads a file that a flag names and that holds one value.
func readSetting(flag, path string) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, wrongFile(flag, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, mostSetting+1))
	if err == nil && len(text) > mostSetting {
		err = fmt.Errorf("%s has more than %d bytes", path, mostSetting)
	}
	return text, wrongFile(flag, err)
}

// loadRegistry reads the file of --registry.
func loadRegistry(file string) (*registry.Registry, error) {
	known, err := registry.Load(file)
	return known, wrongFile("--registry", err)
}

// wrongFile is why a file that a flag names cannot be used. That is a wrong setting, and does not
// become right when the program is started again, unless it is a matter of the machine.
func wrongFile(flag string, err error) error {
	if err == nil {
		return nil
	}
	for _, passing := range []error{syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, passing) {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	return &usageError{flag + ": " + err.Error()}
}

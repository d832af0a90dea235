package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
)

// Version is the version of the file's form.
const Version = 1

// maxFile bounds an operator's file.
const maxFile = 16 << 20

// The chains that a file can speak of.
const (
	Main    = "SN_MAIN"
	Sepolia = "SN_SEPOLIA"
)

// Registry is the registries of all chains.
type Registry struct{ chains map[string]*Chain }

// Chain returns a chain's registry; that of an unknown chain is empty.
func (r *Registry) Chain(id string) *Chain {
	if r == nil {
		return nil
	}
	return r.chains[id]
}

// With returns the registries with more entries for one chain.
func (r *Registry) With(id string, e Entries) (*Registry, error) {
	out := &Registry{map[string]*Chain{}}
	if r != nil {
		for name, c := range r.chains {
			out.chains[name] = c
		}
	}
	c, err := r.Chain(id).With(e)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", id, err)
	}
	out.chains[id] = c
	return out, nil
}

// Load adds an operator's file to the built-in facts; none when the name is empty.
func Load(name string) (*Registry, error) {
	r := Builtin()
	if name == "" {
		return r, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	if r, err = r.Parse(text); err != nil {
		return nil, fmt.Errorf("registry %s: %w", name, err)
	}
	return r, nil
}

// Parse adds the entries of an operator's file, which is YAML or JSON. Anything
// that it does not know is refused: a misspelt name must not be passed over.
func (r *Registry) Parse(text []byte) (*Registry, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	var file struct {
		Version int                `yaml:"version"`
		Chains  map[string]Entries `yaml:"chains"`
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&file); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file holds more than one document")
	}
	if file.Version != Version {
		return nil, fmt.Errorf("version is %d, this program reads %d", file.Version, Version)
	}
	out := r
	for _, id := range []string{Main, Sepolia} {
		e, ok := file.Chains[id]
		if !ok {
			continue
		}
		var err error
		if out, err = out.With(id, e); err != nil {
			return nil, err
		}
		delete(file.Chains, id)
	}
	for id := range file.Chains {
		return nil, fmt.Errorf("chain %q is none of SN_MAIN, SN_SEPOLIA", clip(id))
	}
	return out, nil
}

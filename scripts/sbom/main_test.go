package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListsWhatIsInTheBinary describes this test's own binary.
func TestListsWhatIsInTheBinary(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := run(exe, &first); err != nil {
		t.Fatal(err)
	}
	if err := run(exe, &second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two lists of one binary differ")
	}
	var d document
	if err := json.Unmarshal(first.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.BOMFormat != "CycloneDX" || len(d.Metadata.Component.Hashes) != 1 || len(d.Metadata.Component.Hashes[0].Content) != 64 {
		t.Errorf("document %+v", d)
	}
	if len(d.Components) != len(info.Deps)+1 || len(d.Dependencies[0].DependsOn) != len(d.Components) {
		t.Errorf("%d components for %d modules", len(d.Components), len(info.Deps))
	}
	refs := map[string]bool{}
	for _, c := range d.Components {
		if refs[c.Ref] {
			t.Errorf("%s twice", c.Ref)
		}
		refs[c.Ref] = true
		if !strings.HasPrefix(c.PURL, "pkg:golang/") || c.Version == "" {
			t.Errorf("component %+v", c)
		}
	}
}

// TestRefusesWhatIsNoGoBinary: an empty list would read as "nothing inside".
func TestRefusesWhatIsNoGoBinary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "letter")
	if err := os.WriteFile(file, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(file, &out); err == nil || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// watched are the tests for the race detector: those in which the program, or a command
// that does several things at once, runs in the binary of the test. The others start
// the program as users build it, without the race detector, and wait for it: they are
// run without it.
var watched = []string{
	"TestAdminVerify",
	"TestBackup",
	"TestBackupSteps",
	"TestFsckOfADataDirectory",
	"TestLimitsAcrossProcesses",
	"TestRefusesAnotherChain",
	"TestRefusesWhatIsNotItsOwn",
	"TestServe",
	"TestServeRefusesTheWrongChain",
	"TestServesWithoutItsNodeOnPostgres",
}

// watchOnly leaves the other tests out, unless somebody asks for some.
func watchOnly() error {
	flag.Parse()
	f := flag.Lookup("test.run")
	if f.Value.String() != "" {
		return nil
	}
	return f.Value.Set("^(" + strings.Join(watched, "|") + ")$")
}

// TestWatchedAreThere: a name that no test has would be watched by nobody.
func TestWatchedAreThere(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, name := range watched {
		if !strings.Contains(all.String(), "\nfunc "+name+"(t *testing.T) {\n") {
			t.Errorf("there is no test %s", name)
		}
	}
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// scarb stands in for Scarb, which the tests do not have: under its name this program
// looks at how it is called, and copies the class that lies in the tree to where Scarb
// would write it. The tree can tell it to misbehave.
func scarb(args []string) {
	want := "--offline --release --no-proc-macros --manifest-path /source/Scarb.toml --target-dir /out/target --global-cache-dir /out/cache --global-config-dir /out/config build --package "
	if !strings.HasPrefix(strings.Join(args, " "), want) {
		fmt.Println("called with", args)
		os.Exit(2)
	}
	if how, err := os.ReadFile("/source/misbehave"); err == nil {
		if err := attempts[string(how)](nil); err != nil {
			fmt.Println(err)
		}
		return
	}
	target := args[len(args)-1]
	class, err := os.ReadFile("/source/class.json")
	if err == nil {
		err = os.MkdirAll("/out/target/release", 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join("/out/target/release", target+"_Counter.contract_class.json"), class, 0o600)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

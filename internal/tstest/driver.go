package tstest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// maxLine is the longest answer that a driver gives.
const maxLine = 64 << 20

// transpile makes JavaScript of the sources without looking at types, which takes a fraction
// of the time.
const transpile = `
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";
mkdirSync("dist");
for (const name of readdirSync("src")) {
  if (name === "schema.ts") continue; // types alone
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };
  writeFileSync("dist/" + name.replace(/ts$/, "js"), ts.transpileModule(readFileSync("src/" + name, "utf8"), { compilerOptions }).outputText);
}`

// Transpiled is a copy of the package that can be run; whether it compiles is not said.
func Transpiled(t *testing.T) string {
	t.Helper()
	dir := Copy(t)
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", transpile)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make JavaScript: %v\n%.2000s", err, out)
	}
	return dir
}

// Driver is a program that uses the client as it is told.
type Driver struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Scanner
}

// Said is what the client answered, or what it threw.
type Said struct {
	Answer          json.RawMessage
	Status          int
	Code, RequestID string
	Message         string
}

// NewDriver starts test/driver.mjs of a copy that was compiled. It ends with the test.
func NewDriver(t *testing.T, dir, url, key, chain string) *Driver {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "test/driver.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SERVICE_BASE_URL="+url, "SERVICE_API_KEY="+key, "SERVICE_CHAIN="+chain)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &Driver{t: t, in: in, lines: bufio.NewScanner(out)}
	d.lines.Buffer(nil, maxLine)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close() //nolint:errcheck // it ends then
		cmd.Wait() //nolint:errcheck // however it ends
	})
	return d
}

// Ask lets the client do something; driver.mjs says what there is.
func (d *Driver) Ask(request map[string]any) Said {
	d.t.Helper()
	line, err := json.Marshal(request)
	if err == nil {
		_, err = d.in.Write(append(line, '\n'))
	}
	if err != nil {
		d.t.Fatalf("ask the driver: %v", err)
	}
	var said Said
	if !d.lines.Scan() {
		d.t.Fatalf("the driver ended: %v", d.lines.Err())
	}
	if err := json.Unmarshal(d.lines.Bytes(), &said); err != nil {
		d.t.Fatalf("the driver said %.300s: %v", d.lines.Bytes(), err)
	}
	return said
}

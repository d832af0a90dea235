package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/cairoproject"
	"chainexplorer/internal/verification/sandbox"
	"chainexplorer/internal/verification/submission"
	"chainexplorer/internal/verification/toolchain"
)

// Where things are in the sandbox. The same places for all builds: a path can be part of
// what a compiler writes.
const (
	sourceAt    = "/source"
	projectAt   = "/project"
	toolchainAt = "/toolchain"
)

// tree is a source that was laid into a fresh folder.
type tree struct {
	dir  string
	root *os.Root // of the source
}

func (t *tree) close() { _ = t.root.Close() }

// lay reads an archive into a folder. An archive that turns out to be wrong leaves files
// behind, which its caller takes away with the folder.
func lay(dir string, source io.Reader, p *submission.Package) (_ *tree, err error) {
	for _, name := range []string{"source", "project"} {
		if err := makeFolder(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "source"))
	if err != nil {
		return nil, fmt.Errorf("lay the tree: %w", err)
	}
	t := &tree{dir, root}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	summary, err := archive.Read(source, archive.Standard, t.file)
	var refused *archive.Error
	switch {
	case errors.As(err, &refused) && refused.Reason == archive.LockfileMissing:
		return nil, fail(LockfileMissing, "there is no Scarb.lock at the root", nil)
	case errors.As(err, &refused):
		return nil, fail(InvalidArchive, "the archive is refused ("+string(refused.Reason)+"): "+refused.Reason.Sentence(), nil)
	case err != nil:
		return nil, fmt.Errorf("lay the tree: %w", err)
	case summary.Digest != p.UploadDigest || summary.Compressed != p.UploadByteLength:
		return nil, fail(UploadMismatch, "the archive is not the one that the package names", nil)
	}
	return t, nil
}

func makeFolder(dir string) error {
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)); err != nil { // whatever the process masks
		return fmt.Errorf("lay the tree: %w", err)
	}
	return nil
}

// file lays a file. The root keeps it in the tree whatever its path, and it must be new.
func (t *tree) file(f archive.File) error {
	if err := t.folder(path.Dir(f.Path)); err != nil {
		return err
	}
	out, err := t.root.OpenFile(f.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f.Content)
	return errors.Join(err, out.Chmod(0o644), out.Close())
}

func (t *tree) folder(dir string) error {
	if dir == "." {
		return nil
	}
	switch err := t.root.Mkdir(dir, 0o755); {
	case err == nil:
		return t.root.Chmod(dir, 0o755)
	case errors.Is(err, os.ErrExist):
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := t.folder(path.Dir(dir)); err != nil {
		return err
	}
	return t.folder(dir)
}

// project reads what the tree says of itself, for the contract that the package names.
func (t *tree) project(p *submission.Package) (*cairoproject.Project, error) {
	project, err := cairoproject.Read(t.root.FS(), cairoproject.Selection{Package: p.PackageName, Target: p.TargetName, Artifact: p.ArtifactID, Module: p.ModulePath})
	var refused *cairoproject.Error
	if errors.As(err, &refused) {
		return nil, fail(string(refused.Code), refused.Reason, nil)
	}
	return project, err
}

// spec is what is run. Names of the package are arguments of their own, and begin with
// a letter, a digit or an underscore.
func (t *tree) spec(tool *toolchain.Toolchain, p *cairoproject.Project) (*sandbox.Spec, error) {
	s := &sandbox.Spec{
		Mounts: []sandbox.Place{{From: tool.Dir(), At: toolchainAt}, {From: filepath.Join(t.dir, "source"), At: sourceAt}},
		Links:  []sandbox.Place{{From: toolchainAt + "/lib", At: "/lib"}, {From: toolchainAt + "/lib", At: "/lib64"}},
		Dir:    toolchainAt, // the compiler looks for its core library there
		// As many threads on every machine.
		Env: []string{"RAYON_NUM_THREADS=2", "HOME=" + sandbox.Out, "TMPDIR=" + sandbox.Out, "LC_ALL=C"},
	}
	program := path.Join(toolchainAt, tool.Program())
	if tool.Kind == toolchain.Scarb {
		// Programs of Scarb find one another by what /proc would say.
		s.Links = append(s.Links, sandbox.Place{From: program, At: "/proc/self/exe"})
		s.Dir = sourceAt
		s.Output = sandbox.Out + "/target/release/" + p.Artifact + ".contract_class.json"
		s.Command = []string{program, "--offline", "--release", "--no-proc-macros", "--manifest-path", sourceAt + "/Scarb.toml", "--target-dir", sandbox.Out + "/target",
			"--global-cache-dir", sandbox.Out + "/cache", "--global-config-dir", sandbox.Out + "/config", "build", "--package", p.Package, "--target-names", p.Target}
		return s, nil
	}
	file := filepath.Join(t.dir, "project", "cairo_project.toml")
	if err := errors.Join(os.WriteFile(file, p.File(sourceAt), 0o644), os.Chmod(file, 0o644)); err != nil {
		return nil, fmt.Errorf("write the project: %w", err)
	}
	s.Mounts = append(s.Mounts, sandbox.Place{From: filepath.Join(t.dir, "project"), At: projectAt})
	s.Output = sandbox.Out + "/class.json"
	s.Command = []string{program, "--contract-path", p.Module}
	if p.AllowWarnings {
		s.Command = append(s.Command, "--allow-warnings")
	}
	s.Command = append(s.Command, projectAt, s.Output)
	return s, nil
}

// outcome says what an end of the compiler means. Its text is looked at for one sentence,
// which a source could make it print: it then fails for another reason than it has.
func outcome(r *sandbox.Result) ([]byte, error) {
	cause := fmt.Errorf("ended by %s with %d, output %q: %.2000q", r.End, r.ExitCode, r.OutputTrouble, r.Text)
	switch {
	case r.End == sandbox.TimedOut, r.End == sandbox.OutOfCPU:
		return nil, fail(LimitExceeded, "the build took longer than a build may take", cause)
	case r.End == sandbox.OutOfMemory:
		return nil, fail(LimitExceeded, "the build needs more memory than a build may have", cause)
	case r.End == sandbox.TooMuchText:
		return nil, fail(LimitExceeded, "the compiler prints more than it may", cause)
	case r.ExitCode != 0 && (bytes.Contains(r.Text, []byte("No contract matching")) || bytes.Contains(r.Text, []byte("No contracts found"))):
		return nil, fail(InvalidPackage, "the tree has no contract at the module path", cause)
	case r.ExitCode != 0:
		return nil, fail(Failed, "the compiler refuses the source", cause)
	case r.OutputTrouble == sandbox.OutputTooLarge:
		return nil, fail(LimitExceeded, "the class is larger than a class may be", cause)
	case r.OutputTrouble != sandbox.OutputFine:
		return nil, fail(Failed, "the compiler wrote no class", cause)
	}
	return r.Output, nil
}

package main

import (
	"fmt"
	"os"
	"time"

	sandboxed "chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/sandbox"
)

// verifierFlags say what sources are built with, and what a build may use.
type verifierFlags struct {
	VerificationToolchains string `placeholder:"DIR" help:"Policy directory of compilers that sources are verified with; see docs/verification-operating.md. Without it and --signer no verification jobs are taken."`

	VerificationBuilds    int    `default:"1" help:"How many sources are built at once in this process; 1 unless set, 16 at most. Each may use what the limits of a build say."`
	VerificationBuildUser int    `default:"65533" placeholder:"UID" help:"User and group of builds outside of their sandbox, by number, when this process is root; nobody else should have it. 65533 unless set."`
	VerificationCgroup    string `placeholder:"DIR" help:"Folder of a version 2 cgroup file system in which groups for builds are made. Default: the group of this process."`
	VerificationScratch   string `placeholder:"DIR" help:"Folder for sources while they are built. Default: the system's for temporary files."`

	VerificationBuildTime      time.Duration `default:"5m" placeholder:"TIME" help:"How long a build may take; 5m unless set."`
	VerificationBuildCpus      float64       `default:"2" placeholder:"NUMBER" help:"Processors that a build may use; 2 unless set."`
	VerificationBuildMemory    size          `default:"3GiB" placeholder:"SIZE" help:"Memory that a build may use, with the files that it writes; 3GiB unless set."`
	VerificationBuildProcesses int           `default:"64" help:"Processes and threads that a build may have; 64 unless set."`
	VerificationBuildSpace     size          `default:"256MiB" placeholder:"SIZE" help:"Bytes of files that a build may write; 256MiB unless set."`
	VerificationBuildOutput    size          `default:"16MiB" placeholder:"SIZE" help:"Largest class that a build may make; 16MiB unless set, which is the most."`
	VerificationBuildText      size          `default:"4MiB" placeholder:"SIZE" help:"Text that a compiler may print; 4MiB unless set."`
}

const mib = size(1 << 20)

// check refuses what no build could live with, or this machine could not bear.
func (f *verifierFlags) check() error {
	for _, bad := range []struct {
		is   bool
		want string
	}{
		{f.VerificationBuilds < 1 || f.VerificationBuilds > 16, "--verification-builds must be 1 to 16"},
		{f.VerificationBuildUser < 1 || f.VerificationBuildUser > 1<<31, "--verification-build-user must be the number of a user, and not root's"},
		{f.VerificationBuildTime < time.Second || f.VerificationBuildTime > time.Hour, "--verification-build-time must be 1s to 1h"},
		{!(f.VerificationBuildCpus >= 0.1 && f.VerificationBuildCpus <= 256), "--verification-build-cpus must be 0.1 to 256"},
		{f.VerificationBuildMemory < 64*mib || f.VerificationBuildMemory > 1<<20*mib, "--verification-build-memory must be 64MiB to 1TiB"},
		{f.VerificationBuildProcesses < 8 || f.VerificationBuildProcesses > 4096, "--verification-build-processes must be 8 to 4096"},
		{f.VerificationBuildSpace < mib || f.VerificationBuildSpace > f.VerificationBuildMemory, "--verification-build-space must be 1MiB or more, and not above --verification-build-memory, of which it is a part"},
		{f.VerificationBuildOutput < mib || f.VerificationBuildOutput > sandboxed.MaxArtifact, "--verification-build-output must be 1MiB to 16MiB"},
		{f.VerificationBuildText < mib/16 || f.VerificationBuildText > 64*mib, "--verification-build-text must be 64KiB to 64MiB"},
	} {
		if bad.is {
			return &usageError{bad.want}
		}
	}
	for name, dir := range map[string]string{"--verification-cgroup": f.VerificationCgroup, "--verification-scratch": f.VerificationScratch} {
		if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
			return &usageError{fmt.Sprintf("%s %s: there is no such folder", name, dir)}
		}
	}
	return nil
}

// options are what a builder is made of. What is not set is the sandbox's own default.
func (f *verifierFlags) options() sandboxed.Options {
	return sandboxed.Options{
		Policy: f.VerificationToolchains, Parallel: f.VerificationBuilds,
		Sandbox: sandbox.Options{
			Scratch: f.VerificationScratch, Cgroup: f.VerificationCgroup, User: f.VerificationBuildUser,
			Limits: sandbox.Limits{
				Time: f.VerificationBuildTime, CPUs: f.VerificationBuildCpus, Memory: int64(f.VerificationBuildMemory), Processes: f.VerificationBuildProcesses, //nolint:gosec // they were checked
				Space: int64(f.VerificationBuildSpace), Output: int64(f.VerificationBuildOutput), Text: int64(f.VerificationBuildText), //nolint:gosec // as above
			},
		},
	}
}

// verifierView is how operators see the settings, of whichever process verifies. What is
// left out is the default of the system.
type verifierView struct {
	Toolchains   string  `json:"toolchains,omitempty"`
	BuildsAtOnce int     `json:"buildsAtOnce"`
	User         int     `json:"user"`
	Cgroup       string  `json:"cgroup,omitempty"`
	Scratch      string  `json:"scratch,omitempty"`
	TimeSeconds  float64 `json:"timeSeconds"`
	CPUs         float64 `json:"cpus"`
	MemoryBytes  int64   `json:"memoryBytes"`
	Processes    int     `json:"processes"`
	SpaceBytes   int64   `json:"spaceBytes"`
	OutputBytes  int64   `json:"outputBytes"`
	TextBytes    int64   `json:"textBytes"`
}

func (f *verifierFlags) view() verifierView {
	o := f.options()
	l := o.Sandbox.Limits.WithDefaults()
	v := verifierView{Toolchains: o.Policy, BuildsAtOnce: max(1, o.Parallel), User: o.Sandbox.User, Cgroup: o.Sandbox.Cgroup, Scratch: o.Sandbox.Scratch, TimeSeconds: l.Time.Seconds(), CPUs: l.CPUs,
		MemoryBytes: l.Memory, Processes: l.Processes, SpaceBytes: l.Space, OutputBytes: min(l.Output, sandboxed.MaxArtifact), TextBytes: l.Text}
	if os.Geteuid() != 0 {
		v.User = os.Geteuid()
	}
	return v
}

// rows are the settings for people.
func (v *verifierView) rows() [][]string {
	or := func(s, instead string) string {
		if s == "" {
			return instead
		}
		return s
	}
	bytes := func(n int64) string { return fmt.Sprintf("%.4g MiB", float64(n)/float64(mib)) }
	return [][]string{
		{"toolchains", or(v.Toolchains, "none")}, {"builds at once", fmt.Sprint(v.BuildsAtOnce)}, {"user", fmt.Sprint(v.User)},
		{"cgroup", or(v.Cgroup, "the process's own")}, {"scratch", or(v.Scratch, "temporary files")},
		{"time", time.Duration(v.TimeSeconds * float64(time.Second)).String()}, {"processors", fmt.Sprint(v.CPUs)}, {"memory", bytes(v.MemoryBytes)}, {"processes", fmt.Sprint(v.Processes)},
		{"files", bytes(v.SpaceBytes)}, {"class", bytes(v.OutputBytes)}, {"text", bytes(v.TextBytes)},
	}
}

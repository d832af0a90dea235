// Package sandbox runs one command that nobody trusts, in bubblewrap: without a
// network, devices, host files, privileges or an environment, under limits of memory,
// processor, processes, time and output that the kernel keeps.
//
// Nothing that the command writes is opened from outside. Its only writable place is a
// bounded file system in memory that goes away with it; a part of this program, which
// stands inside of the sandbox, reads the one file that is wanted and hands its bytes
// over through a pipe.
//
// There is no way to run a command without all of it: where something is missing, New
// and Check say what, and Run refuses.
package sandbox

import (
	"errors"
	"time"
)

// Where things are inside.
const (
	// Out is the only folder that can be written to.
	Out = "/out"
	// helper is where this program stands inside. The name tells it what to do.
	helper = "/" + collectorName
)

// This program is also what stands around bubblewrap: outside it is the launcher, which
// gives its privileges away, limits itself and becomes bubblewrap; inside it is the
// collector, which starts the command and hands its output over. Whoever links this
// package can be both, told by the name that it is started with.
const (
	launcherName  = "chainexplorer-sandbox-launcher"
	collectorName = "chainexplorer-sandbox-collector"
	probeName     = "chainexplorer-sandbox-probe"
)

// ErrUnavailable is wrapped by everything that keeps a sandbox from being had, as
// opposed to what a command does inside of one.
var ErrUnavailable = errors.New("there is no sandbox")

// Options are what a sandbox is made of.
type Options struct {
	Bwrap string // bubblewrap; looked for in PATH unless set
	// Scratch is a folder for what a sandbox needs outside; the system's place for
	// temporary files unless set. User must be able to get to it.
	Scratch string
	// Cgroup is a folder of a cgroup file system in which groups can be made; the
	// group that this process is in unless set. Of version 2 alone.
	Cgroup string
	// User is who a sandbox is outside when this process is root: user and group.
	// Nobody else should have it. Unless this process is root it is itself.
	User int
	// Helper is a static program that has this package in it; this one unless set.
	Helper string
	Limits Limits
}

// DefaultUser is above those that systems give to people, and not nobody's.
const DefaultUser = 65533

// Limits are what a command may use. Zero stands for the default.
type Limits struct {
	Time      time.Duration // on the wall
	CPUs      float64       // processors at a time
	Memory    int64         // bytes, with what is written to Out
	Processes int           // processes and threads
	Space     int64         // bytes in Out
	Output    int64         // bytes of the file that is handed over
	Text      int64         // bytes of standard output and error together
}

// DefaultLimits are enough for a large contract.
var DefaultLimits = Limits{
	Time:      5 * time.Minute,
	CPUs:      2,
	Memory:    3 << 30,
	Processes: 64,
	Space:     256 << 20,
	Output:    32 << 20,
	Text:      4 << 20,
}

// WithDefaults has the default of every limit that is not set.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits
	set(&d.Time, l.Time)
	set(&d.CPUs, l.CPUs)
	set(&d.Memory, l.Memory)
	set(&d.Processes, l.Processes)
	set(&d.Space, l.Space)
	set(&d.Output, l.Output)
	set(&d.Text, l.Text)
	return d
}

func set[T int | int64 | float64 | time.Duration](to *T, from T) {
	if from > 0 {
		*to = from
	}
}

// Spec is a command, and what it sees.
type Spec struct {
	// Command is a path inside and its arguments. The first argument is the path's name.
	Command []string
	Dir     string
	Env     []string
	// Mounts are files and folders of this machine, all read-only; Links symbolic links.
	Mounts, Links []Place
	// Output is the path of the file in Out that is wanted; "" for none.
	Output string
}

// Place is something that is seen at another path inside.
type Place struct{ From, At string }

// End is how a command came to its end.
type End string

// How commands end.
const (
	Exited      End = "exited"
	TimedOut    End = "time"
	OutOfMemory End = "memory"
	OutOfCPU    End = "cpu"
	TooMuchText End = "text"
)

// Result is what became of a command.
type Result struct {
	End      End
	ExitCode int // 128 and the signal's number when a signal ended it
	// Output is the file's content, nil when there was none or it was refused: a
	// link, no plain file, or larger than allowed. OutputTrouble then says why.
	Output        []byte
	OutputTrouble OutputTrouble
	// Text is how standard output and error begin. It is the command's, as hostile as
	// its input: for the operator's eyes, quoted.
	Text []byte
}

// OutputTrouble is why there is no output.
type OutputTrouble string

// What can be wrong with an output.
const (
	OutputFine     OutputTrouble = ""
	OutputMissing  OutputTrouble = "missing"
	OutputNotPlain OutputTrouble = "not a plain file"
	OutputTooLarge OutputTrouble = "too large"
)

// keptText bounds Result.Text.
const keptText = 16 << 10

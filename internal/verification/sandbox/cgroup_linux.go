//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Control groups, of either version. Memory, processes and processors of a command are
// bounded together with those of all that it starts, which limits of single processes
// cannot do: without groups there is no sandbox.

// controllers are those that a group needs.
var controllers = []string{"memory", "pids", "cpu"}

// cgroups are where groups are made: one folder in version 2, one per controller in version 1.
type cgroups struct {
	v2      bool
	parents map[string]string // by controller; in version 2 all the same
}

// findCgroups finds where this process may make groups. With dir it is there, and
// version 2; proc and root are /proc/self and / but in tests.
func findCgroups(dir, proc, root string) (*cgroups, error) {
	if dir != "" {
		return version2(dir, filepath.Join(root, "proc"))
	}
	own, err := ownGroups(filepath.Join(proc, "cgroup"))
	if err != nil {
		return nil, err
	}
	mounts, err := groupMounts(filepath.Join(proc, "mountinfo"), root)
	if err != nil {
		return nil, err
	}
	var trouble error
	if m, there := mounts[""]; there {
		var g *cgroups
		if g, trouble = version2(m.below(own[""]), filepath.Join(root, "proc")); trouble == nil {
			return g, nil
		}
	}
	g := &cgroups{parents: map[string]string{}}
	for _, c := range controllers {
		m, there := mounts[c]
		if !there {
			return nil, errors.Join(fmt.Errorf("no control group can be made: there is no controller %s of version 1", c), trouble)
		}
		g.parents[c] = m.below(own[c])
	}
	for _, c := range controllers {
		if err := unix.Access(g.parents[c], unix.W_OK); err != nil {
			return nil, errors.Join(fmt.Errorf("no control group can be made in %s: %w", g.parents[c], err), trouble)
		}
	}
	return g, nil
}

// mount is where a hierarchy is seen, and which of its folders is seen there.
type mount struct{ at, root string }

// below is the folder of a group. In a container its path may be that outside.
func (m mount) below(group string) string {
	if rel, err := filepath.Rel(m.root, group); err == nil && filepath.IsLocal(rel) {
		if at := filepath.Join(m.at, rel); isFolder(at) {
			return at
		}
	}
	return m.at
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ownGroups reads which groups this process is in, by controller; "" is version 2.
func ownGroups(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("which control groups is this process in? %w", err)
	}
	own := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			for c := range strings.SplitSeq(f[1], ",") {
				own[c] = f[2]
			}
		}
	}
	return own, nil
}

// groupMounts reads where hierarchies are mounted, by controller; "" is version 2.
func groupMounts(file, root string) (map[string]mount, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("where are control groups mounted? %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	found := map[string]mount{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 30 23 0:26 ROOT MOUNTPOINT options - type source options,of,the,file,system
		left, right, ok := strings.Cut(lines.Text(), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		m := mount{filepath.Join(root, l[4]), l[3]}
		switch r[0] {
		case "cgroup2":
			found[""] = m
		case "cgroup":
			for c := range strings.SplitSeq(r[2], ",") {
				if slices.Contains(controllers, c) {
					found[c] = m
				}
			}
		}
	}
	return found, nil
}

// version2 makes a folder ready for groups. Controllers are given to its groups only when
// no process is in the folder itself, so those that are go into a group of their own.
func version2(dir, proc string) (*cgroups, error) {
	words := func(file string) []string {
		data, _ := os.ReadFile(filepath.Join(dir, file))
		return strings.Fields(string(data))
	}
	lacks := func(has []string) (missing []string) {
		for _, c := range controllers {
			if !slices.Contains(has, c) {
				missing = append(missing, c)
			}
		}
		return missing
	}
	if missing := lacks(words("cgroup.controllers")); missing != nil {
		return nil, fmt.Errorf("no control group can be made in %s: it is not given the controllers %v", dir, missing)
	}
	if lacks(words("cgroup.subtree_control")) != nil {
		enable := []byte("+" + strings.Join(controllers, " +"))
		err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), enable, 0o644)
		if errors.Is(err, unix.EBUSY) {
			if err = leave(dir, words("cgroup.procs")); err == nil {
				err = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), enable, 0o644)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("no control group can be made in %s: %w", dir, err)
		}
	}
	g := &cgroups{v2: true, parents: map[string]string{}}
	for _, c := range controllers {
		g.parents[c] = dir
	}
	return g, nil
}

// leave moves processes from a folder into a group below it.
func leave(dir string, pids []string) error {
	main := filepath.Join(dir, "main")
	if err := os.Mkdir(main, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("leave a control group: %w", err)
	}
	for _, pid := range pids {
		if err := os.WriteFile(filepath.Join(main, "cgroup.procs"), []byte(pid), 0o644); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("leave a control group: %w", err)
		}
	}
	return nil
}

// group is one that was made.
type group struct {
	v2   bool
	dirs map[string]string // by controller
}

const cpuPeriod = 100_000 // microseconds

// create makes a group with limits. A limit that cannot be set is an error.
func (c *cgroups) create(name string, l *Limits) (*group, error) {
	g := &group{v2: c.v2, dirs: map[string]string{}}
	for controller, parent := range c.parents {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil && (!c.v2 || !errors.Is(err, fs.ErrExist)) {
			_ = g.remove()
			return nil, fmt.Errorf("make a control group: %w", err)
		}
		g.dirs[controller] = dir
	}
	memory, pids := strconv.FormatInt(l.Memory, 10), strconv.Itoa(l.Processes)
	period, quota := strconv.Itoa(cpuPeriod), strconv.Itoa(int(l.CPUs*cpuPeriod))
	type setting struct {
		controller, file, value string
		optional                bool
	}
	settings := []setting{
		{"memory", "memory.limit_in_bytes", memory, false}, {"memory", "memory.memsw.limit_in_bytes", memory, true}, {"memory", "memory.swappiness", "0", true},
		{"pids", "pids.max", pids, false}, {"cpu", "cpu.cfs_period_us", period, false}, {"cpu", "cpu.cfs_quota_us", quota, false},
	}
	if c.v2 {
		settings = []setting{
			{"memory", "memory.max", memory, false}, {"memory", "memory.swap.max", "0", true}, {"memory", "memory.oom.group", "1", true},
			{"pids", "pids.max", pids, false}, {"cpu", "cpu.max", quota + " " + period, false},
		}
	}
	for _, s := range settings {
		err := os.WriteFile(filepath.Join(g.dirs[s.controller], s.file), []byte(s.value), 0o644)
		if err != nil && !s.optional {
			return nil, errors.Join(fmt.Errorf("limit a control group: %w", err), g.remove())
		}
	}
	return g, nil
}

// folders are the group's, each once.
func (g *group) folders() []string {
	all := make([]string, 0, len(g.dirs))
	for _, d := range g.dirs {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// add puts a process into the group.
func (g *group) add(pid int) error {
	for _, d := range g.folders() {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return fmt.Errorf("put a process into a control group: %w", err)
		}
	}
	return nil
}

// outOfMemory says whether the kernel ended a process of the group for its memory.
func (g *group) outOfMemory() bool {
	file := "memory.oom_control"
	if g.v2 {
		file = "memory.events"
	}
	data, _ := os.ReadFile(filepath.Join(g.dirs["memory"], file))
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" && f[1] != "0" {
			return true
		}
	}
	return false
}

// kill ends all processes of the group.
func (g *group) kill() {
	dir := g.dirs["pids"]
	if g.v2 && os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o644) == nil {
		return
	}
	data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for pid := range strings.FieldsSeq(string(data)) {
		if n, err := strconv.Atoi(pid); err == nil && n > 1 {
			_ = unix.Kill(n, unix.SIGKILL)
		}
	}
}

// goneTime bounds how long the kernel may take to bury processes that were ended.
const goneTime = 10 * time.Second

// end ends all processes of the group and takes it away.
func (g *group) end() error {
	deadline := time.Now().Add(goneTime)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		g.kill()
		err := g.remove()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(wait) // the kernel tells nobody when a group is empty in version 1
	}
}

// remove takes an empty group away. One that is not there is none.
func (g *group) remove() (err error) {
	for _, d := range g.folders() {
		if e := unix.Rmdir(d); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = fmt.Errorf("take the control group %s away: %w", d, e)
		}
	}
	return err
}

// sweep ends groups whose names begin so, which a process left behind.
func (c *cgroups) sweep(prefix string) {
	names := map[string]bool{}
	for _, parent := range c.parents {
		entries, _ := os.ReadDir(parent)
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
				names[e.Name()] = true
			}
		}
	}
	for name := range names {
		g := &group{v2: c.v2, dirs: map[string]string{}}
		for controller, parent := range c.parents {
			g.dirs[controller] = filepath.Join(parent, name)
		}
		_ = g.end() // the next start tries again
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cluster is a coordinator and workers that scripts/citus.sh started.
type cluster struct {
	url    string
	nodes  []*group
	script string
}

// quiet leaves out what servers do by the clock, which on a twentieth of a core is
// much, and falls into one measurement and not into the other: vacuuming, and the
// search for deadlocks, for which each node connects to all others every two seconds.
const quiet = "autovacuum = off\ncitus.distributed_deadlock_detection_factor = -1"

// startCluster starts the servers, each in a control group of its own where that is
// allowed.
func startCluster(ctx context.Context, workers int) (*cluster, error) {
	c := &cluster{script: filepath.Join("scripts", "citus.sh")}
	start := exec.CommandContext(ctx, c.script, "start", strconv.Itoa(workers))
	start.Stderr = os.Stderr
	start.Env = append(os.Environ(), "CITUS_SETTINGS="+quiet)
	out, err := start.Output()
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	lines := strings.Fields(string(out))
	c.url = lines[len(lines)-1]
	if err := c.find(); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// find puts the processes of each node into a group. The script keeps the servers in
// folders of one directory: 0 is the coordinator.
func (c *cluster) find() error {
	root := os.Getenv("CITUS_ROOT")
	if root == "" {
		root = filepath.Join(".tools", "citus")
	}
	dir, err := os.ReadFile(filepath.Join(root, "running"))
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*", "postmaster.pid"))
	if err != nil {
		return err
	}
	slices.Sort(found)
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return err
		}
		name := "worker " + filepath.Base(filepath.Dir(file))
		if name == "worker 0" {
			name = "coordinator"
		}
		g, err := newGroup(name, pid)
		if err != nil {
			fmt.Println("the CPU of the nodes is not told:", err)
			return nil
		}
		c.nodes = append(c.nodes, g)
	}
	return nil
}

// used is the CPU time of each node so far.
func (c *cluster) used() map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, g := range c.nodes {
		out[g.name] = g.used()
	}
	return out
}

// hold gives each worker no more than a share of a core.
func (c *cluster) hold(share float64) error {
	for _, g := range c.nodes {
		if g.name == "coordinator" {
			continue
		}
		if err := g.hold(share); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) stop() error {
	stop := exec.Command(c.script, "stop")
	stop.Stderr = os.Stderr
	err := stop.Run()
	for _, g := range c.nodes {
		err = errors.Join(err, g.remove())
	}
	return err
}

// group is a control group with the processes of one server, and with those that
// they will start.
type group struct {
	name string
	dirs []string // of version 1 two: that which holds, and that which counts
	v2   bool
}

const groupRoot = "/sys/fs/cgroup"

func groupDirs(name string) (dirs []string, v2 bool) {
	name = "chainexplorer-bench-" + strings.ReplaceAll(name, " ", "-")
	if _, err := os.Stat(filepath.Join(groupRoot, "cpuacct")); err == nil {
		return []string{filepath.Join(groupRoot, "cpu", name), filepath.Join(groupRoot, "cpuacct", name)}, false
	}
	return []string{filepath.Join(groupRoot, name)}, true
}

func newGroup(name string, pid int) (*group, error) {
	g := &group{name: name}
	g.dirs, g.v2 = groupDirs(name)
	pids := []int{pid}
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, err
	}
	for _, f := range strings.Fields(string(list)) {
		if child, err := strconv.Atoi(f); err == nil {
			pids = append(pids, child)
		}
	}
	for _, dir := range g.dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		for i, pid := range pids {
			err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
			if err != nil && i == 0 { // others may have ended
				return nil, err
			}
		}
	}
	return g, nil
}

// groupsWork says whether there may be groups that hold processes to a share.
func groupsWork() error {
	dirs, v2 := groupDirs("try")
	g := &group{name: "try", dirs: dirs, v2: v2}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return errors.Join(g.hold(0.5), g.remove())
}

// period is how often a share is given out: short, because a node that waits for
// its next share keeps commits waiting that need all nodes.
const period = 40 * time.Millisecond

// hold gives the group no more than a share of a core.
func (g *group) hold(share float64) error {
	quota := int64(share * float64(period.Microseconds()))
	if g.v2 {
		return os.WriteFile(filepath.Join(g.dirs[0], "cpu.max"), fmt.Appendf(nil, "%d %d", quota, period.Microseconds()), 0)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(g.dirs[0], "cpu.cfs_period_us"), fmt.Append(nil, period.Microseconds()), 0),
		os.WriteFile(filepath.Join(g.dirs[0], "cpu.cfs_quota_us"), fmt.Append(nil, quota), 0))
}

// used is the CPU time of the group.
func (g *group) used() time.Duration {
	if !g.v2 {
		text, err := os.ReadFile(filepath.Join(g.dirs[1], "cpuacct.usage"))
		if err != nil {
			return 0
		}
		n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) //nolint:errcheck // the kernel's
		return time.Duration(n)
	}
	text, err := os.ReadFile(filepath.Join(g.dirs[0], "cpu.stat"))
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(text, []byte("usage_usec "))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, _ := strconv.ParseInt(string(line), 10, 64) //nolint:errcheck // the kernel's
	return time.Duration(n) * time.Microsecond
}

// remove removes the group once its processes are gone.
func (g *group) remove() (err error) {
	for _, dir := range g.dirs {
		for range 100 {
			if err = os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
				err = nil
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return err
}

// sorted goes through figures of nodes by name.
func sorted(m map[string]time.Duration) iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

//go:build amd64 || arm64

package sandbox_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/verification/sandbox"
)

// lay writes files of a made-up system.
func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	mounted2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	mounted1 = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 23 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
		"33 23 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	own = "sys/fs/cgroup/system.slice/explorer.service/"
)

// TestFindsControlGroups of made-up systems. Real groups of the version that the machine
// has are used by all other tests.
func TestFindsControlGroups(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		memory string // where groups are made, for memory; "" when they cannot be
		v2     bool
		says   string
	}{
		"version 2, delegated": {map[string]string{
			"self/cgroup": "0::/system.slice/explorer.service\n", "self/mountinfo": mounted2,
			own + "cgroup.controllers": "cpuset cpu io memory pids\n", own + "cgroup.subtree_control": "cpu memory pids\n",
		}, own, true, ""},
		"version 2, to be enabled": {map[string]string{
			"self/cgroup": "0::/system.slice/explorer.service\n", "self/mountinfo": mounted2,
			own + "cgroup.controllers": "cpu memory pids\n", own + "cgroup.subtree_control": "\n",
		}, own, true, ""},
		"version 2, not delegated": {map[string]string{
			"self/cgroup": "0::/system.slice/explorer.service\n", "self/mountinfo": mounted2, own + "cgroup.controllers": "memory\n",
		}, "", true, "it is not given the controllers [pids cpu]"},
		"version 1": {map[string]string{
			"self/cgroup": "5:memory:/a\n4:pids:/a\n3:cpu,cpuacct:/a\n", "self/mountinfo": mounted1,
			"sys/fs/cgroup/memory/a/x": "", "sys/fs/cgroup/pids/a/x": "", "sys/fs/cgroup/cpu,cpuacct/a/x": "",
		}, "sys/fs/cgroup/memory/a", false, ""},
		"version 1 in a container": {map[string]string{
			"self/cgroup":            "5:memory:/docker/b\n4:pids:/docker/b\n3:cpu,cpuacct:/docker/b\n",
			"self/mountinfo":         strings.ReplaceAll(mounted1, " / /sys", " /docker/b /sys"),
			"sys/fs/cgroup/memory/x": "", "sys/fs/cgroup/pids/x": "", "sys/fs/cgroup/cpu,cpuacct/x": "",
		}, "sys/fs/cgroup/memory", false, ""},
		"both, and the second has nothing": {map[string]string{
			"self/cgroup": "5:memory:/\n4:pids:/\n3:cpu,cpuacct:/\n0::/\n", "self/mountinfo": mounted1 + "40 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/x": "", "sys/fs/cgroup/pids/x": "", "sys/fs/cgroup/cpu,cpuacct/x": "", "sys/fs/cgroup/unified/cgroup.controllers": "\n",
		}, "sys/fs/cgroup/memory", false, ""},
		"none": {map[string]string{"self/cgroup": "", "self/mountinfo": "22 1 8:1 / / rw - ext4 /dev/sda rw\n"}, "", false, "no control group can be made"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			lay(t, root, c.files)
			parents, v2, err := sandbox.FindGroups("", filepath.Join(root, "self"), root)
			if c.memory == "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("found %v, %v", parents, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, c.memory); parents["memory"] != want || v2 != c.v2 || len(parents) != 3 {
				t.Errorf("%v, version 2: %v, want %s", parents, v2, want)
			}
			if name == "version 2, to be enabled" {
				if got, _ := os.ReadFile(filepath.Join(root, own, "cgroup.subtree_control")); string(got) != "+memory +pids +cpu" {
					t.Errorf("controllers were enabled by %q", got)
				}
			}
		})
	}
}

// TestLimitsOfVersion2 looks at what is written; the file names are the kernel's.
func TestLimitsOfVersion2(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"cgroup.controllers": "memory pids cpu", "cgroup.subtree_control": "memory pids cpu"})
	if err := sandbox.MakeGroup(dir, "one", sandbox.Limits{Memory: 1 << 20, Processes: 7, CPUs: 1.5}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"memory.max": "1048576", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "7", "cpu.max": "150000 100000", "cgroup.procs": "4711",
	}
	got := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, "one", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(data)
	}
	if !maps.Equal(got, want) {
		t.Errorf("wrote %v, want %v", got, slices.Sorted(maps.Keys(want)))
	}
}

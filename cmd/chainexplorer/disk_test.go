package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/pebble"
)

// smallDisk is a file system of its own with so many MiB, where the machine allows
// to mount one.
func smallDisk(t *testing.T, mib string) string {
	t.Helper()
	dir, err := maybeSmallDisk(t, mib)
	if errors.Is(err, errNotRoot) {
		t.Skip("a file system can be mounted by root on Linux only; internal/store/pebble plays full disks without one")
	} else if err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	return dir
}

var errNotRoot = errors.New("only root can, on Linux")

// maybeSmallDisk is a directory, and why it is not a small disk, nil where it is.
func maybeSmallDisk(t *testing.T, mib string) (dir string, why error) {
	t.Helper()
	dir = t.TempDir()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return dir, errNotRoot
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+mib+"m", "tmpfs", dir).CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir, nil
}

// fill leaves so many KiB of a disk free, and returns how to make room again.
func fill(t *testing.T, dir string, freeKiB uint64) (makeRoom func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for most := make([]byte, 1<<20); ; {
		free, err := pebble.FreeSpace(dir)
		if err != nil || free <= freeKiB<<10 {
			break
		}
		page := most[:min(max(free-freeKiB<<10, 4<<10)&^(4<<10-1), uint64(len(most)))]
		if _, err := f.Write(page); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// indexing is what the status says of the write path.
func (r *running) indexing(key, chain string) (status, reason string, head uint64) {
	r.t.Helper()
	var s struct {
		LatestIndexedBlockNumber uint64
		Indexing                 struct{ Status, Reason string }
	}
	if err := json.Unmarshal(r.get("/v1/"+chain+"/status", key, http.StatusOK), &s); err != nil {
		r.t.Fatal(err)
	}
	return s.Indexing.Status, s.Indexing.Reason, s.LatestIndexedBlockNumber
}

// until polls a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// TestFullDisk: a service that is started on a full disk serves what it has, says
// so, lets the chain on the other disk go on, ends at the first signal, and goes on
// by itself when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel() // it waits for processes
	disk := smallDisk(t, "160")
	full := simnode.New(simnode.Config{Seed: 71, Blocks: 120})
	sepolia := httptest.NewServer(simnode.NewNode(full, simnode.NodeConfig{}))
	defer sepolia.Close()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(disk, filepath.Join(data, "SN_SEPOLIA")); err != nil {
		t.Fatal(err)
	}
	args := []string{"--data", data, "--min-free", "0", "--chain", "SN_SEPOLIA=" + sepolia.URL, "--chain", "SN_MAIN=" + simulated(t, "SN_MAIN", 20)}
	r := startServe(t, args...)
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	r.untilHead(key, 119)
	if err := r.cmd.Process.Kill(); err != nil { // so that its log has to be read
		t.Fatal(err)
	}
	r.cmd.Wait() //nolint:errcheck // it was killed
	makeRoom := fill(t, disk, 0)

	r = startServe(t, args...)
	if code, body := r.once("/v1/SN_SEPOLIA/block/119", key); code != http.StatusOK {
		t.Errorf("a block: %d %.300s", code, body)
	}
	if status, reason, head := r.indexing(key, "SN_SEPOLIA"); status != "degraded" || !strings.Contains(reason, "the disk is full") || head != 119 {
		t.Errorf("status %s (%s), head %d", status, reason, head)
	}
	until(t, "the other chain's blocks", func() bool { _, _, head := r.indexing(key, "SN_MAIN"); return head == 19 })
	r.stop() // at the first signal

	r = startServe(t, args...)
	full.Extend(5)
	makeRoom()
	until(t, "the end of the trouble", func() bool {
		status, _, head := r.indexing(key, "SN_SEPOLIA")
		return status != "degraded" && head == 124
	})

	// And while it runs.
	makeRoom = fill(t, disk, 0)
	until(t, "the full disk", func() bool {
		status, reason, head := r.indexing(key, "SN_SEPOLIA")
		if newest, _ := full.Head(); head == newest { // what was written had room
			full.Extend(20)
		}
		return status == "degraded" && strings.Contains(reason, "the disk is full")
	})
	if code, body := r.once("/v1/SN_SEPOLIA/block/124", key); code != http.StatusOK {
		t.Errorf("a block: %d %.300s", code, body)
	}
	if status, _, _ := r.indexing(key, "SN_MAIN"); status == "degraded" {
		t.Error("the other chain is degraded, too")
	}
	makeRoom()
	newest, _ := full.Head()
	until(t, "the blocks since", func() bool { _, _, head := r.indexing(key, "SN_SEPOLIA"); return head == newest })
	r.stop()
	fsckClean(t, disk)
}

// TestFullDiskOfTheControlDatabase: without it nothing can be served, so the
// program says why and ends.
func TestFullDiskOfTheControlDatabase(t *testing.T) {
	t.Parallel() // it waits for processes
	disk := smallDisk(t, "96")
	data := filepath.Join(disk, "data")
	args := []string{"--data", data, "--min-free", "0", "--node", simulated(t, "SN_MAIN", 3)}
	startServe(t, args...).stop()
	defer fill(t, disk, 0)()
	_, stderr, code := outputOf(t, program(t, append([]string{"serve", "--listen=127.0.0.1:0"}, args...)...))
	if code != exitFailure || !strings.Contains(stderr, "control database") || !strings.Contains(stderr, "is full: make room") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

// TestMinFree: indexing pauses before the disk is full, with a reason, and goes on.
func TestMinFree(t *testing.T) {
	t.Parallel() // it waits for processes
	disk := smallDisk(t, "192")
	chain := simnode.New(simnode.Config{Seed: 72, Blocks: 10})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	data := filepath.Join(disk, "data")
	r := startServe(t, "--data", data, "--min-free", "32MiB", "--node", srv.URL)
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	r.untilHead(key, 9)
	makeRoom := fill(t, disk, 30<<10)
	chain.Extend(1)
	until(t, "the pause", func() bool {
		status, reason, _ := r.indexing(key, "SN_SEPOLIA")
		return status == "degraded" && strings.Contains(reason, "indexing is paused: the disk has") && strings.Contains(reason, "32 MiB are to be kept free")
	})
	if code, body := r.once("/v1/SN_SEPOLIA/block/9", key); code != http.StatusOK {
		t.Errorf("a block: %d %.300s", code, body)
	}
	makeRoom()
	until(t, "the next block", func() bool {
		status, _, head := r.indexing(key, "SN_SEPOLIA")
		return head == 10 && status != "degraded"
	})
	makeRoom = fill(t, disk, 30<<10)
	chain.Extend(1)
	until(t, "the pause", func() bool { status, _, _ := r.indexing(key, "SN_SEPOLIA"); return status == "degraded" })
	r.stop() // a pause does not hold it up
	makeRoom()
	fsckClean(t, filepath.Join(data, "SN_SEPOLIA"))
}

package signer_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
)

// serve runs a server and returns its path and what stops it.
func serve(t *testing.T, s *signer.Signer, uids ...int) (path string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "signer") // a test's own folder has too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a left-over
	path = filepath.Join(dir, "s")
	server, err := signer.Listen(s, signer.ServerOptions{Path: path, PeerUIDs: uids})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return path, stop
}

func newClient(t *testing.T, path string) *signer.Client {
	t.Helper()
	c, err := signer.NewClient("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServer(t *testing.T) {
	b := newBench(t)
	s := b.open()
	path, stop := serve(t, s)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("the socket is %v (%v)", info.Mode(), err)
	}
	client := newClient(t, path)
	if err := client.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
	// Many at once: each gets its own, and it is the one that the signer gives itself.
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			e := b.evidence(uint64(i/2 + 1))
			r, err := client.Sign(t.Context(), e)
			if err != nil {
				t.Error(err)
				return
			}
			if again, err := s.Sign(t.Context(), e); err != nil || again.Signature != r.Signature || r.Evidence.ReceiptID != e.ReceiptID {
				t.Errorf("receipt %d: %v", i, err)
			}
		})
	}
	all.Wait()
	reused := b.evidence(1)
	reused.ClassHash = "0x99"
	if _, err := client.Sign(t.Context(), reused); code(err) != signer.Reused {
		t.Errorf("other evidence: %v", err)
	}
	if _, err := client.Sign(t.Context(), receipt.Evidence{}); code(err) != signer.Malformed {
		t.Errorf("no evidence: %v", err)
	}
	log := grown(t, "a", "b", "c", "d", "e")
	if note, err := client.SignCheckpoint(t.Context(), log.growth(t, 0, 3)); err != nil || !strings.HasPrefix(string(note), "log.example/receipts\n3\n") {
		t.Errorf("%s (%v)", note, err)
	}
	var refused *signer.Refused
	if _, err := client.SignCheckpoint(t.Context(), log.growth(t, 2, 5)); !errors.As(err, &refused) || refused.Code != signer.LogBase || refused.Size != 3 {
		t.Errorf("another base: %v", err)
	}
	if _, err := client.SignCheckpoint(t.Context(), log.growth(t, 3, 5)); err != nil {
		t.Error(err)
	}
	if _, err := client.SignCheckpoint(t.Context(), signer.Growth{}); code(err) != signer.Malformed {
		t.Errorf("no growth: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Sign(ctx, b.evidence(99)); err == nil {
		t.Error("a call that was cancelled succeeded")
	}
	if _, err := b.ring.Revoke("a"); err != nil {
		t.Fatal(err)
	}
	if err := client.Ready(t.Context()); code(err) != signer.NoValidKey {
		t.Errorf("ready with a revoked key: %v", err)
	}
	stop()
	if err := client.Ready(t.Context()); err == nil || code(err) != "" {
		t.Errorf("ready although it ended: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there (%v)", err)
	}
	if _, err := client.Sign(t.Context(), b.evidence(1)); err == nil || code(err) != "" {
		t.Errorf("a server that ended: %v", err)
	}
}

// TestServerBadCalls are calls that no client of ours makes; the server answers the next one.
func TestServerBadCalls(t *testing.T) {
	b := newBench(t)
	path, _ := serve(t, b.open())
	frame := func(content string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...)
	}
	for name, c := range map[string]struct {
		send []byte
		want string // in the answer; empty when there is none
	}{
		"nothing":            {nil, ""},
		"half a length":      {[]byte{0, 0}, ""},
		"no content":         {frame(""), ""},
		"too long":           {binary.BigEndian.AppendUint32(nil, 1<<30), ""},
		"half of it":         {frame("\x01{}")[:5], ""},
		"an unknown call":    {frame("\x07{}"), "malformed"},
		"no JSON":            {frame("\x01hello"), "malformed"},
		"members twice":      {frame(`{"size":1,"size":1}`), "malformed"},
		"a growth of spaces": {frame("\x02   "), "malformed"},
		"no hash":            {frame("\x02" + `{"size":1,"root":"x","oldSize":0,"proof":[]}`), "malformed"},
		"many hashes":        {frame("\x02" + `{"size":1,"root":"` + strings.Repeat("A", 43) + `=","oldSize":0,"proof":["` + strings.Repeat(`x","`, 200) + `x"]}`), "malformed"},
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(c.send)                //nolint:errcheck // it may be gone
		conn.(*net.UnixConn).CloseWrite() //nolint:errcheck // as above
		answer, err := io.ReadAll(conn)   // it is closed after the answer
		if err != nil || !strings.Contains(string(answer), c.want) || c.want == "" && len(answer) > 0 {
			t.Errorf("%s: %q (%v)", name, answer, err)
		}
		conn.Close() //nolint:errcheck // read to its end
	}
	if _, err := newClient(t, path).Sign(t.Context(), b.evidence(1)); err != nil {
		t.Error(err)
	}
}

func TestServerKnowsItsCaller(t *testing.T) {
	b := newBench(t)
	path, _ := serve(t, b.open(), os.Getuid()+1)
	if _, err := newClient(t, path).Sign(t.Context(), b.evidence(1)); err == nil || code(err) != "" {
		t.Errorf("another user got %v", err)
	}
	if data, err := os.ReadFile(b.journal()); err != nil || len(data) > 0 {
		t.Errorf("another user had something signed: %s (%v)", data, err)
	}
}

func TestListen(t *testing.T) {
	b := newBench(t)
	s := b.open()
	file := filepath.Join(b.ring.Dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := signer.Listen(s, signer.ServerOptions{Path: file}); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file in its place: %v", err)
	}
	// What a process before left behind is replaced.
	path, _ := serve(t, s)
	again, err := signer.Listen(s, signer.ServerOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := again.Serve(ctx); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"", "unix:", "/run/x", "tcp:1", "unix:" + strings.Repeat("p", 91)} {
		if _, err := signer.NewClient(address); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}

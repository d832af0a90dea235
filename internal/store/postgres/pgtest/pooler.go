package pgtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
)

// Pooler listens in front of a database and leaves out the settings that a session begins with, as a
// pooler does that was told to ignore them. It returns the address of the database behind it.
func Pooler(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	server := net.JoinHostPort("127.0.0.1", u.Query().Get("port")) // where it listens beside its socket
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // no one comes any more
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go pool(client, server)
		}
	}()
	u.Host, u.RawQuery = l.Addr().String(), "sslmode=disable"
	return u.String()
}

// The words that a client may begin with, beside the version of the protocol.
const (
	wantsTLS    = 80877103
	wantsGSS    = 80877104
	wantsCancel = 80877102
)

func pool(client net.Conn, address string) {
	defer client.Close() //nolint:errcheck // a test's
	first, err := begin(client)
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", address) //nolint:noctx // a test's
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // a test's
	if _, err := server.Write(first); err != nil {
		return
	}
	go func() {
		io.Copy(server, client) //nolint:errcheck // until one of them ends
		server.Close()          //nolint:errcheck // a test's
	}()
	io.Copy(client, server) //nolint:errcheck // until one of them ends
}

// begin reads how a client begins, and returns it without settings.
func begin(client net.Conn) ([]byte, error) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(client, size[:]); err != nil {
			return nil, err
		}
		n := binary.BigEndian.Uint32(size[:])
		if n < 8 || n > 1<<16 {
			return nil, errors.New("no beginning")
		}
		body := make([]byte, n-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return nil, err
		}
		switch binary.BigEndian.Uint32(body) {
		case wantsTLS, wantsGSS:
			if _, err := client.Write([]byte{'N'}); err != nil {
				return nil, err
			}
			continue
		case wantsCancel:
			return append(size[:], body...), nil
		}
		kept := append([]byte(nil), body[:4]...)
		for words := bytes.Split(body[4:], []byte{0}); len(words) > 1 && len(words[0]) > 0; words = words[2:] {
			if name := string(words[0]); name == "user" || name == "database" {
				kept = append(append(append(append(kept, words[0]...), 0), words[1]...), 0)
			}
		}
		kept = append(kept, 0)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(kept)+4)), kept...), nil //nolint:gosec // below 1 << 16
	}
}

package signer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"chainexplorer/internal/verification/receipt"
)

// Client calls the signer of another process on this machine.
type Client struct{ path string }

// NewClient calls the signer at an address such as unix:/run/chainexplorer/signer.sock. It connects with each call.
func NewClient(address string) (*Client, error) {
	path, err := SocketPath(address)
	if err != nil {
		return nil, err
	}
	return &Client{path}, nil
}

// SocketPath is the path of an address.
func SocketPath(address string) (string, error) {
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok || path == "" || len(path) > 90 { // the system takes 100 or so, and the server needs some
		return "", fmt.Errorf("%.120q is not unix: and a path of at most 90 characters", address)
	}
	return path, nil
}

// Sign is Signer.Sign there.
func (c *Client) Sign(ctx context.Context, e receipt.Evidence) (*receipt.Receipt, error) {
	message, err := e.Canonical()
	if err != nil {
		return nil, refuse(Malformed, "the evidence has no canonical form")
	}
	data, err := c.call(ctx, callSign, message)
	if err != nil {
		return nil, err
	}
	r, err := receipt.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("call the signer: its answer: %w", err)
	}
	if got, err := r.Evidence.Canonical(); err != nil || !bytes.Equal(got, message) {
		return nil, errors.New("call the signer: it signed something else")
	}
	return r, nil
}

// Ready is Signer.Ready there. A signer of an earlier version does not know, and is believed to be ready.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.call(ctx, callReady, nil)
	var refused *Refused
	if errors.As(err, &refused) && refused.Code == Malformed {
		return nil
	}
	return err
}

// SignCheckpoint is Signer.SignCheckpoint there.
func (c *Client) SignCheckpoint(ctx context.Context, g Growth) ([]byte, error) {
	message, err := encodeGrowth(g)
	if err != nil {
		return nil, fmt.Errorf("call the signer: %w", err)
	}
	return c.call(ctx, callCheckpoint, message)
}

func (c *Client) call(ctx context.Context, kind byte, content []byte) ([]byte, error) {
	answer, data, err := c.exchange(ctx, kind, content)
	if err != nil {
		return nil, fmt.Errorf("call the signer: %w", err)
	}
	if answer == answerSigned {
		return data, nil
	}
	var r refusedJSON
	if err := json.Unmarshal(data, &r); err != nil || r.Code == "" {
		return nil, errors.New("call the signer: its answer is no answer")
	}
	refused := Refused(r)
	return nil, &refused
}

func (c *Client) exchange(ctx context.Context, kind byte, content []byte) (byte, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.path)
	if err != nil {
		return 0, nil, err
	}
	defer conn.Close()                                                           //nolint:errcheck // the answer is read
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) }) //nolint:errcheck // a socket has deadlines
	defer stop()
	if err := writeFrame(conn, kind, content); err != nil {
		return 0, nil, errors.Join(ctx.Err(), err)
	}
	answer, data, err := readFrame(conn)
	if err != nil {
		return 0, nil, errors.Join(ctx.Err(), err)
	}
	return answer, data, nil
}

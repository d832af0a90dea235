package signer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"chainexplorer/internal/verification/receipt"
)

// maxCalls bounds the connections that wait for the signer.
const maxCalls = 16

// ServerOptions say who may call a signer, and where.
type ServerOptions struct {
	// Path is of the Unix socket, which is made.
	Path string
	// PeerUIDs are the users who may call; this process's own when empty. With others the socket can be
	// opened by everybody, and the kernel's word on who did decides.
	PeerUIDs []int
	Logger   *slog.Logger
}

// Server lets other processes of this machine call a signer.
type Server struct {
	signer   *Signer
	listener *net.UnixListener
	path     string
	uids     []int
	log      *slog.Logger
}

// Listen makes the socket. One that a signer before left behind is replaced: that no other
// one runs is known by the journal.
func Listen(s *Signer, o ServerOptions) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	mode := os.FileMode(0o600)
	if len(o.PeerUIDs) == 0 {
		o.PeerUIDs = []int{os.Getuid()}
	} else if slices.ContainsFunc(o.PeerUIDs, func(uid int) bool { return uid != os.Getuid() }) {
		mode = 0o666
	}
	switch info, err := os.Lstat(o.Path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("signer: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("signer: %s is there, and not a socket", o.Path)
	default:
		if err := os.Remove(o.Path); err != nil {
			return nil, fmt.Errorf("signer: %w", err)
		}
	}
	// Made under another name, so that nobody gets at it with the mode that the system gave it.
	private := fmt.Sprintf("%s.%d", o.Path, os.Getpid())
	os.Remove(private) //nolint:errcheck // of a process before, if at all
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	l.SetUnlinkOnClose(false) // the name is another by then
	if err := errors.Join(os.Chmod(private, mode), os.Rename(private, o.Path)); err != nil {
		l.Close()          //nolint:errcheck // the first error is the one to tell
		os.Remove(private) //nolint:errcheck // as above
		return nil, fmt.Errorf("signer: %w", err)
	}
	return &Server{signer: s, listener: l, path: o.Path, uids: o.PeerUIDs, log: o.Logger}, nil
}

// Serve answers calls until the context ends, and then those that were made.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.listener.Close() }) //nolint:errcheck // ends Accept
	defer stop()
	defer os.Remove(s.path) //nolint:errcheck // the next one would replace it
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, maxCalls)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		c, err := s.listener.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("signer: %w", err)
		}
		running.Go(func() {
			defer func() { <-places }()
			defer c.Close() //nolint:errcheck // the answer is written
			s.answer(c)
		})
	}
}

// answer answers one call. It goes on when the process is asked to end: the time of a call is bounded.
func (s *Server) answer(c *net.UnixConn) {
	c.SetDeadline(time.Now().Add(callTime)) //nolint:errcheck // a socket has deadlines
	uid, err := peerUID(c)
	if err != nil || !slices.Contains(s.uids, uid) {
		s.log.Warn("somebody else called the signer", "uid", uid, "err", err)
		return
	}
	call, content, err := readFrame(c)
	if err != nil {
		s.log.Warn("a call of the signer cannot be read", "err", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	signed, err := s.call(ctx, call, content)
	kind := byte(answerSigned)
	if err != nil {
		refused := &Refused{Code: Unavailable, Reason: "the signer is busy"}
		errors.As(err, &refused)
		if call != callReady { // the one who asks again and again tells it
			s.log.Warn("not signed", "code", refused.Code, "reason", refused.Reason)
		}
		kind = answerRefused
		if signed, err = json.Marshal(refusedJSON(*refused)); err != nil {
			return
		}
	}
	if err := writeFrame(c, kind, signed); err != nil {
		s.log.Warn("an answer of the signer was not taken", "err", err)
	}
}

func (s *Server) call(ctx context.Context, call byte, content []byte) ([]byte, error) {
	switch call {
	case callSign:
		e, err := receipt.ParseEvidence(content)
		if err != nil {
			return nil, refuse(Malformed, "%v", err)
		}
		r, err := s.signer.Sign(ctx, *e)
		if err != nil {
			return nil, err
		}
		s.log.Info("signed a receipt", "receipt", e.ReceiptID, "job", e.JobID, "class", e.ClassHash, "key", r.KeyID)
		return json.Marshal(r)
	case callCheckpoint:
		g, err := parseGrowth(content)
		if err != nil {
			return nil, refuse(Malformed, "%v", err)
		}
		signed, err := s.signer.SignCheckpoint(ctx, g)
		if err == nil {
			s.log.Info("signed a checkpoint", "size", g.Size)
		}
		return signed, err
	case callReady:
		return nil, s.signer.Ready(ctx)
	}
	return nil, refuse(Malformed, "there is no call %d", call)
}

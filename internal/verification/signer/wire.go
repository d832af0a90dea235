package signer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/verification/strictjson"
)

// A connection carries one call: four bytes of length, a byte that says which call, and its
// content in JSON; back come four bytes of length, a byte that says whether it was
// signed, and what was signed or why not.

const (
	callSign       = 1
	callCheckpoint = 2
	callReady      = 3 // without content, and so is its answer

	answerSigned  = 0
	answerRefused = 1
)

const (
	// maxFrame bounds both ways; evidence has about 1,200 bytes.
	maxFrame = 16 << 10
	// callTime bounds a call with the waiting for those before it.
	callTime = 10 * time.Second
)

var errFrame = fmt.Errorf("a message has no content, or more than %d bytes", maxFrame)

func writeFrame(w io.Writer, kind byte, content []byte) error {
	if len(content) >= maxFrame {
		return errFrame
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(content)+1))
	_, err := w.Write(append(append(frame, kind), content...))
	return err
}

func readFrame(r io.Reader) (kind byte, content []byte, err error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 1 || n > maxFrame {
		return 0, nil, errFrame
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return 0, nil, err
	}
	return frame[0], frame[1:], nil
}

// growthJSON is a growth on the wire.
type growthJSON struct {
	Size    int64    `json:"size"`
	Root    string   `json:"root"`
	OldSize int64    `json:"oldSize"`
	Proof   []string `json:"proof"`
}

func encodeGrowth(g Growth) ([]byte, error) {
	out := growthJSON{Size: g.Size, Root: g.Root.String(), OldSize: g.OldSize, Proof: []string{}}
	for _, h := range g.Proof {
		out.Proof = append(out.Proof, h.String())
	}
	return json.Marshal(out)
}

func parseGrowth(data []byte) (g Growth, err error) {
	o, err := strictjson.Parse(data, maxFrame)
	if err != nil {
		return g, err
	}
	if err := o.Exactly("size", "root", "oldSize", "proof"); err != nil {
		return g, err
	}
	size, err := o.Integer("size", 1, strictjson.MaxInteger)
	if err != nil {
		return g, err
	}
	old, err := o.Integer("oldSize", 0, strictjson.MaxInteger)
	if err != nil {
		return g, err
	}
	root, err := o.String("root")
	if err != nil {
		return g, err
	}
	proof, err := o.Strings("proof")
	if err != nil {
		return g, err
	}
	if len(proof) > 128 {
		return g, errors.New("proof: no tree asks for so many hashes")
	}
	g.Size, g.OldSize = int64(size), int64(old)
	if g.Root, err = parseHash(root); err != nil {
		return g, err
	}
	for _, text := range proof {
		h, err := parseHash(text)
		if err != nil {
			return g, err
		}
		g.Proof = append(g.Proof, h)
	}
	return g, nil
}

func parseHash(text string) (tlog.Hash, error) {
	h, err := tlog.ParseHash(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return h, errors.New("a hash is not 32 bytes in base64")
	}
	return h, nil
}

// refusedJSON is a refusal on the wire.
type refusedJSON struct {
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
	Size   int64  `json:"size"`
}

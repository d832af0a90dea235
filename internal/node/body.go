package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"chainexplorer/internal/unpack"
)

// This file reads one bounded body within the budget.

// errNoRoom says that the budget had no room for an answer in time, which is not
// the node's fault.
var errNoRoom = fmt.Errorf("%w: no memory for so many large answers at once", ErrBusy)

// readBody reads the whole body, never more than limit bytes. A body of announced
// length goes into one buffer of that size. Another is read in pieces, the first
// as large as hint, that are put together at the end: nothing is copied while it
// grows.
func readBody(ctx context.Context, res *http.Response, limit, hint int64, h *hold) ([]byte, error) {
	size := res.ContentLength
	var r io.Reader = res.Body
	switch enc := strings.ToLower(res.Header.Get("Content-Encoding")); enc {
	case "", "identity":
		if size > limit {
			return nil, fmt.Errorf("%w: %d bytes announced, %d allowed", ErrTooLarge, size, limit)
		}
	case "gzip":
		z, err := unpack.Gzip(res.Body)
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", ErrMalformed, err)
		}
		r, size = z, -1 // how long it is compressed tells nothing that could be relied on
	default:
		return nil, fmt.Errorf("%w: content encoding %q was not asked for", ErrMalformed, clip(enc, 20))
	}
	if size >= 0 {
		return readAnnounced(ctx, r, size, h)
	}
	return readGrowing(ctx, r, limit, hint, h)
}

func readAnnounced(ctx context.Context, r io.Reader, size int64, h *hold) ([]byte, error) {
	if size > freeBytes {
		if _, err := h.take(ctx, size); err != nil {
			return nil, errNoRoom
		}
	}
	buf := make([]byte, size)
	if _, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return buf, nil
}

func readGrowing(ctx context.Context, r io.Reader, limit, hint int64, h *hold) ([]byte, error) {
	var pieces [][]byte
	total, room := int64(0), int64(freeBytes)
	var held *grant // none while the answer is small
	defer func() {
		if held != nil {
			held.keep(total)
		}
	}()
	piece := make([]byte, 0, min(max(hint+1, 4<<10), freeBytes))
	for {
		n, err := r.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		if total += int64(n); total > limit {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
		}
		if err == io.EOF {
			return joinPieces(append(pieces, piece), total), nil
		}
		if err != nil {
			return nil, err
		}
		if len(piece) < cap(piece) {
			continue
		}
		if total >= room {
			if room *= mediumBytes / freeBytes; room > mediumBytes {
				room = limit + 1
			}
			larger, err := h.take(ctx, room)
			if err != nil {
				return nil, errNoRoom
			}
			if held != nil {
				held.keep(0) // the larger place takes the smaller one's place
			}
			held = larger
		}
		pieces = append(pieces, piece)
		// Pieces grow with what is there already, but not without bound.
		piece = make([]byte, 0, min(total, 4<<20, limit+1-total, room-total))
	}
}

func joinPieces(pieces [][]byte, total int64) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	out := make([]byte, 0, total)
	for i, p := range pieces {
		out = append(out, p...)
		pieces[i] = nil
	}
	return out
}

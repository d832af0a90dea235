package liar

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
)

// Flood is an answer that is larger than any caller wants: a JSON-RPC envelope
// whose result is a long string.
type Flood struct {
	// Bytes is how long the string is. It is made while it is sent.
	Bytes int64
	// Gzip compresses it, whether or not the caller asked for that.
	Gzip bool
	// Length announces the length; otherwise the answer comes in chunks. A
	// compressed answer never announces it.
	Length bool
}

const (
	floodHead = `{"jsonrpc":"2.0","id":1,"result":"`
	floodTail = `"}`
)

func (f *Flood) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var out io.Writer = w
	switch {
	case f.Gzip:
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close() //nolint:errcheck // nobody is left to tell
		out = z
	case f.Length:
		w.Header().Set("Content-Length", strconv.FormatInt(int64(len(floodHead)+len(floodTail))+f.Bytes, 10))
	}
	chunk := bytes.Repeat([]byte{'a'}, 64<<10)
	io.WriteString(out, floodHead) //nolint:errcheck // the loop below sees it
	for left := f.Bytes; left > 0; {
		n := min(left, int64(len(chunk)))
		if _, err := out.Write(chunk[:n]); err != nil || r.Context().Err() != nil {
			return // the caller has had enough
		}
		left -= n
	}
	io.WriteString(out, floodTail) //nolint:errcheck // nobody is left to tell
}

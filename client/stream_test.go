package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/client"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/stream"
)

// cutter cuts answers off after some bytes.
type cutter struct {
	rng  *rand.Rand // of one stream, which asks one thing at a time
	cuts atomic.Int64
}

func (c *cutter) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		res.Body = &cutBody{ReadCloser: res.Body, left: 500 + c.rng.IntN(9000), cuts: &c.cuts}
	}
	return res, err
}

type cutBody struct {
	io.ReadCloser
	left int
	cuts *atomic.Int64
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.cuts.Add(1)
		return 0, errors.New("cut off")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// TestStream follows a chain through forks with a connection that is cut off all the time.
func TestStream(t *testing.T) {
	servertest.Watched(t)
	w := servertest.New(t, 10, func(o *servertest.Options) {
		o.Streams = stream.Options{Every: 2 * time.Millisecond, Heartbeat: 10 * time.Millisecond}
	})
	through := &cutter{rng: rand.New(rand.NewPCG(3, 9))}
	c, err := client.New(client.Options{BaseURL: w.URL, APIKey: w.Key, HTTP: &http.Client{Transport: through}, MaxWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for i := range 8 {
			if i%2 == 1 {
				w.Chain.Fork(2)
			}
			w.Chain.Extend(1)
			w.IndexInto(w.Engine)
		}
		w.Chain.Extend(1) // by which the end is known
		w.IndexInto(w.Engine)
	}()
	from := int64(4)
	var heard []client.BlockItem
	retracted := 0
	for m, err := range c.Chain(servertest.ChainID).Stream(ctx, client.StreamFilter{Kind: "block", FromBlock: &from}) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Retracted() {
			retracted++
			heard = slices.DeleteFunc(heard, func(b client.BlockItem) bool { return b.BlockNumber > m.Block.Number })
			continue
		}
		for _, raw := range m.Items {
			var b client.BlockItem
			if err := json.Unmarshal(raw, &b); err != nil || b.BlockHash != m.Block.Hash {
				t.Fatalf("%s in %+v: %v", raw, m, err)
			}
			heard = append(heard, b)
		}
		if m.Block.Number == 18 { // the newest of all
			break
		}
	}
	for i, b := range heard {
		if want := w.Chain.BlockAt(uint64(4 + i)); b.BlockHash != want.Hash.String() {
			t.Errorf("block %d is told as %d %s", 4+i, b.BlockNumber, b.BlockHash)
		}
	}
	if len(heard) != 15 || through.cuts.Load() == 0 {
		t.Errorf("%d blocks, %d retractions and %d cuts", len(heard), retracted, through.cuts.Load())
	}
	for _, err := range c.Chain(servertest.ChainID).Stream(ctx, client.StreamFilter{Kind: "event"}) {
		if client.Code(err) != "invalid_request" {
			t.Errorf("a filter that asks for nothing: %v", err)
		}
	}
}

package routes

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/relay"
)

// A result is in the memory of one process, and a poll may meet another. That one asks the
// owner, as the caller, with the caller's key, and shows by a digest under the secret of
// their database that it is one of them. The owner hands the answer over and keeps it until
// it is told whether the caller's connection took it; without a word it is given back.
const (
	headerHop    = "X-Service-Prove-Hop"    // a time and a digest
	headerClaim  = "X-Service-Prove-Claim"  // names what was handed over
	headerSettle = "X-Service-Prove-Settle" // that name, and whether it was taken

	hopTime   = 10 * time.Second
	claimTime = 30 * time.Second // more than writing an answer may take
	maxHop    = 32 << 20         // of an answer
	clockSkew = 60               // seconds
)

// errMoved says that the process at an address is not the one that it was.
var errMoved = errors.New("another process is there now")

type hops struct {
	secret []byte
	client *http.Client
	mu     sync.Mutex // guards open
	open   map[string]*relay.Parcel
}

func newHops(secret []byte, client *http.Client) *hops {
	if client == nil {
		// The owner is asked as it is: no proxy, no redirects.
		client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &hops{secret: secret, client: client, open: map[string]*relay.Parcel{}}
}

func (h *hops) sign(id string, at int64) string {
	m := hmac.New(sha256.New, h.secret)
	fmt.Fprintf(m, "hop\x00%s\x00%d", id, at)
	return strconv.FormatInt(at, 10) + "." + hex.EncodeToString(m.Sum(nil))
}

// from says whether a request comes from another process of ours.
func (h *hops) from(in http.Header, id string) bool {
	shown := in.Get(headerHop)
	text, _, _ := strings.Cut(shown, ".")
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return false
	}
	if d := time.Now().Unix() - at; d > clockSkew || d < -clockSkew {
		return false
	}
	return hmac.Equal([]byte(shown), []byte(h.sign(id, at)))
}

// hand gives a parcel to another process, which says later what became of it.
func (h *hops) hand(w http.ResponseWriter, req *http.Request, v *relay.View) {
	var random [16]byte
	rand.Read(random[:]) //nolint:errcheck // never fails
	name := v.ID + "." + hex.EncodeToString(random[:])
	h.mu.Lock()
	h.open[name] = v.Parcel
	h.mu.Unlock()
	time.AfterFunc(claimTime, func() { h.done(name, false) })
	w.Header().Set(headerClaim, name)
	if send(w, req, http.StatusOK, document(v)) != nil {
		h.done(name, false)
	}
}

// done ends a claim, once.
func (h *hops) done(name string, taken bool) {
	h.mu.Lock()
	p := h.open[name]
	delete(h.open, name)
	h.mu.Unlock()
	if p != nil {
		p.Done(taken)
	}
}

// settle takes the word of another process about what it was handed; false when the request
// is about something else.
func (h *hops) settle(in http.Header, id string) bool {
	name, taken, ok := strings.Cut(in.Get(headerSettle), " ")
	if !ok || !strings.HasPrefix(name, id+".") {
		return false
	}
	h.done(name, taken == "taken")
	return true
}

// fetch answers a poll with what another process has.
func (r *routes) fetch(w http.ResponseWriter, req *http.Request, v *relay.View) *kernel.Error {
	later := func(err error) *kernel.Error {
		return kernel.RetryLater(2, err, "The result is held by another process, which cannot be asked right now; look again.")
	}
	if v.Elsewhere.Address == "" {
		return later(errors.New("the process that has a prover result told no address: see --prover-peer-url"))
	}
	text, claim, err := r.hops.ask(req, v)
	if errors.Is(err, errMoved) || !v.Elsewhere.Alive && errors.Is(err, syscall.ECONNREFUSED) {
		// Another process, or none, is where the owner was.
		if err := r.Lost(req.Context(), v.Job); err != nil {
			return r.failure(err)
		}
		send(w, req, http.StatusOK, document(v)) //nolint:errcheck // it can be asked for again
		return nil
	}
	if err != nil {
		return later(err)
	}
	taken := req.Context().Err() == nil && send(w, req, http.StatusOK, text) == nil
	if claim == "" {
		return nil // there was nothing that could be had once
	}
	word := claim + " lost"
	if taken {
		word = claim + " taken"
	}
	if err := r.hops.tell(req, v, word); err != nil {
		r.server.Log.Warn("the owner of a prover result was not told what became of it", "job", v.ID, "err", err)
	}
	return nil
}

func (h *hops) call(ctx context.Context, req *http.Request, v *relay.View, word string) (*http.Response, error) {
	out, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(v.Elsewhere.Address, "/")+path+"/"+v.ID, nil)
	if err != nil {
		return nil, fmt.Errorf("the address of the process that has a prover result: %w", err)
	}
	for _, name := range []string{kernel.HeaderKey, kernel.HeaderKeyShort, kernel.HeaderRequestID} {
		if values := req.Header[name]; len(values) > 0 {
			out.Header[name] = values
		}
	}
	out.Header.Set(headerHop, h.sign(v.ID, time.Now().Unix()))
	if word != "" {
		out.Header.Set(headerSettle, word)
	}
	return h.client.Do(out)
}

// ask gets the job from its owner.
func (h *hops) ask(req *http.Request, v *relay.View) (text []byte, claim string, err error) {
	ctx, cancel := context.WithTimeout(req.Context(), hopTime)
	defer cancel()
	res, err := h.call(ctx, req, v, "")
	if err != nil {
		return nil, "", fmt.Errorf("ask the process that has a prover result: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if res.StatusCode == http.StatusGone {
		return nil, "", errMoved
	}
	if res.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("the process that has a prover result answers with %d", res.StatusCode)
	}
	if text, err = io.ReadAll(io.LimitReader(res.Body, maxHop+1)); err == nil && len(text) > maxHop {
		err = errors.New("it is too long")
	}
	if err != nil {
		return nil, "", fmt.Errorf("read a prover result from the process that has it: %w", err)
	}
	return text, res.Header.Get(headerClaim), nil
}

// tell says what became of a result. The caller may be gone by now.
func (h *hops) tell(req *http.Request, v *relay.View, word string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), hopTime)
	defer cancel()
	res, err := h.call(ctx, req, v, word)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if res.StatusCode != http.StatusNoContent {
		return fmt.Errorf("it answers with %d", res.StatusCode)
	}
	return nil
}

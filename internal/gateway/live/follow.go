package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/felt"
)

var (
	errNotThere = errors.New("block is not there")
	errUnlinked = errors.New("block does not follow the one before it")
	errStale    = errors.New("what was told of the head and what is read differ")
)

// listen keeps what the nodes tell of the head.
func (h *hub) listen() {
	for failures := 1; ; failures++ {
		h.srv.opts.Heads(h.ctx, func(number uint64, hash felt.Felt) {
			failures = 1
			h.mu.Lock()
			h.told = head{number, hash, true}
			h.mu.Unlock()
			poke(h.wake)
		})
		if backoff.Wait(h.ctx, h.retry.After(failures)) != nil {
			return
		}
	}
}

// follow publishes blocks until the hub stops. What fails is tried again later; the
// trail says what was published, so that nothing is published twice or left out.
func (h *hub) follow() {
	defer h.srv.unfollowed(h)
	failures := 0
	for {
		err := h.advance()
		if h.ctx.Err() != nil {
			return
		}
		if err == nil {
			failures = 0
			select {
			case <-h.wake:
			case <-h.ctx.Done():
				return
			}
			continue
		}
		failures++
		h.srv.metrics.failure(h.version.String())
		if failures == 3 {
			h.log.Warn("subscriptions wait for the chain", "error", err)
		}
		if h.rest(failures) != nil {
			return
		}
	}
}

// rest waits after failures. News of the head ends it early, but never at once: the
// nodes may tell more often than they can be asked.
func (h *hub) rest(failures int) error {
	if err := backoff.Wait(h.ctx, h.retry.After(1)); err != nil || failures == 1 {
		return err
	}
	wait := time.NewTimer(h.retry.After(failures))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-h.wake:
	case <-h.ctx.Done():
	}
	return h.ctx.Err()
}

// advance publishes all blocks up to the head that was told of last.
func (h *hub) advance() error {
	for h.ctx.Err() == nil {
		h.mu.Lock()
		told, t := h.told, h.trail
		need := h.need()
		h.mu.Unlock()
		select {
		case <-h.ready:
		default:
			if !told.any {
				return nil
			}
			if err := h.begin(told.number); err != nil {
				return err
			}
			continue
		}
		if told.number < t.next() {
			done, err := h.compare(told, t)
			if done || err != nil {
				return err
			}
			continue
		}
		b, err := h.read(h.ctx, t.next(), need)
		if err != nil {
			return err
		}
		if !t.follows(b.parent) {
			if err := h.reorganise(t); err != nil {
				return err
			}
			continue
		}
		h.publish(b) // or it is read again with more
	}
	return h.ctx.Err()
}

// compare looks whether the chain still has what was published, when the head that was
// told of is not above it. done says that there is nothing to do.
func (h *hub) compare(told head, t trail) (done bool, err error) {
	if t.empty() {
		return true, nil // a fork took all; the head will rise
	}
	tip := t.next() - 1
	mine, _ := t.at(tip)
	if told.number == tip && (told.hash.IsZero() || told.hash == mine) {
		h.shorter = time.Time{}
		return true, nil
	}
	hash, found, err := h.hashOf(tip)
	if err != nil {
		return false, err
	}
	if found && hash == mine {
		// A node that lags told of its head, or what is read lags behind a fork.
		h.shorter = time.Time{}
		return false, errStale
	}
	if !found && told.number < tip {
		return false, h.shrunk(told, t)
	}
	return false, h.reorganise(t)
}

// shrunk deals with a chain that seems to have become shorter. Most often the nodes
// that were further are away for a while: nobody is told that blocks are gone until
// there are others in their place, or they have been missing for long.
func (h *hub) shrunk(told head, t trail) error {
	if h.shorter.IsZero() {
		h.shorter = time.Now()
	}
	if mine, known := t.at(told.number); known && time.Since(h.shorter) < h.srv.limits.Shorter {
		hash, found, err := h.hashOf(told.number)
		if err != nil {
			return err
		}
		if !found || hash == mine {
			return errStale
		}
	}
	h.shorter = time.Time{}
	return h.reorganise(t)
}

// reorganise finds where the chain left the trail and tells of it. When it did not, a
// block was wrong.
func (h *hub) reorganise(t trail) error {
	from, err := t.fork(h.onChain)
	if err != nil {
		return err
	}
	if from == t.next() {
		return errUnlinked
	}
	h.takeBack(from)
	return nil
}

// begin starts the trail at a head and reads a few of the blocks before it, so that a
// fork that comes at once is told of as well as any.
func (h *hub) begin(number uint64) error {
	b, err := h.read(h.ctx, number, headerOnly)
	if err != nil {
		return err
	}
	count := min(uint64(h.srv.limits.Backfill), number)
	before := make([]*block, count)
	var wait sync.WaitGroup
	for i := range before {
		wait.Go(func() {
			h.slots <- struct{}{}
			defer func() { <-h.slots }()
			before[i], _ = h.read(h.ctx, number-1-uint64(i), headerOnly) // the trail is as long as it could be read
		})
	}
	wait.Wait()
	if count > 0 && (before[0] == nil || before[0].hash != b.parent) {
		return errUnlinked // or it could not be read: nothing vouches for the head
	}
	t := trail{first: number, hashes: []felt.Felt{b.hash}}
	parent := b.parent
	for _, older := range before {
		if older == nil || older.hash != parent {
			break
		}
		t.prepend(trail{first: older.number, hashes: []felt.Felt{older.hash}}, h.srv.limits.Remember)
		parent = older.parent
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trail = t
	h.cache.put(b)
	h.moved()
	h.srv.metrics.published(h.version.String(), number)
	close(h.ready)
	return nil
}

// fetch asks for a read, for a bounded time.
func (h *hub) fetch(ctx context.Context, method, params string, at *uint64) (json.RawMessage, int, error) {
	ctx, cancel := context.WithTimeout(ctx, h.srv.limits.Fetch)
	defer cancel()
	text, code, err := h.srv.opts.Fetch(ctx, method, json.RawMessage(params), h.version, at)
	if err != nil {
		return nil, 0, fmt.Errorf("%s %s: %w", method, params, err)
	}
	return text, code, nil
}

const (
	codeBlockNotFound       = 24
	codeTxNotFound          = 29
	codeTooManyKeys         = 34
	codeInvalidSubscription = 66
	codeTooManyAddresses    = 67
	codeTooManyBlocksBack   = 68
	codeInvalidParams       = -32602
)

// read fetches a block of the chain.
func (h *hub) read(ctx context.Context, number uint64, d detail) (*block, error) {
	return h.readBy(ctx, `{"block_number":`+strconv.FormatUint(number, 10)+`}`, &number, d)
}

func (h *hub) readBy(ctx context.Context, id string, number *uint64, d detail) (*block, error) {
	method, params := "starknet_getBlockWithTxHashes", `{"block_id":`+id+`}`
	if d != headerOnly {
		method = "starknet_getBlockWithReceipts"
	}
	asked := params
	if d == withProofFacts {
		asked = `{"block_id":` + id + `,"response_flags":["INCLUDE_PROOF_FACTS"]}`
	}
	text, code, err := h.fetch(ctx, method, asked, number)
	if code == codeInvalidParams && d == withProofFacts {
		// Nodes of the version's first edition do not know the flag: a subscription
		// that needs it is refused when it is made, and the others go on.
		text, code, err = h.fetch(ctx, method, params, number)
	}
	switch {
	case err != nil:
		return nil, err
	case code == codeBlockNotFound:
		return nil, fmt.Errorf("%s: %w", id, errNotThere)
	case code != 0:
		return nil, fmt.Errorf("%s %s: error %d", method, id, code)
	}
	b, err := parseBlock(text, d, h.version)
	if err == nil && number != nil {
		err = b.confirmed(*number)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, id, err)
	}
	return b, nil
}

// hashOf is the hash of a block of the chain as it is now.
func (h *hub) hashOf(number uint64) (felt.Felt, bool, error) {
	b, err := h.read(h.ctx, number, headerOnly)
	if errors.Is(err, errNotThere) {
		return felt.Felt{}, false, nil
	}
	if err != nil {
		return felt.Felt{}, false, err
	}
	return b.hash, true, nil
}

// onChain is hashOf for blocks that must be there, as the head is above them: one that
// is not found is no evidence of a fork.
func (h *hub) onChain(number uint64) (felt.Felt, bool, error) {
	hash, found, err := h.hashOf(number)
	if err != nil || found {
		return hash, found, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if number <= h.told.number {
		return hash, false, fmt.Errorf("%d: %w", number, errNotThere)
	}
	return hash, false, nil
}

package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/felt"
	"github.com/coder/websocket"
)

// This file keeps one subscription to new heads per node alive. It only ever
// updates what is known of the node: the pool decides what the newest head is.

const (
	maxMessageBytes = 1 << 20
	dialTimeout     = 10 * time.Second
)

// follow subscribes and, when the connection ends, subscribes again. While it
// does not stand, the watcher polls the node instead.
func (p *Pool) follow(n *node) {
	warned := false
	for round := 0; ; round++ {
		heard, err := p.subscribe(n)
		n.setLive(false)
		n.wakeUp()
		if p.ctx.Err() != nil {
			return
		}
		if heard {
			round, warned = 0, false
		}
		if !warned {
			p.log.Warn("no subscription to new heads; polling", "node", n.name, "error", err)
			warned = true
		}
		if p.pause(p.ctx, p.backoff(round)) != nil {
			return
		}
	}
}

func (n *node) setLive(live bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.live = live
}

// subscribe holds one connection until it ends. heard says whether the
// subscription stood: only then does the next try come soon.
func (p *Pool) subscribe(n *node) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	// Heads of a node that has not been let in must not count.
	if err := p.ensureIdentity(ctx, n); err != nil {
		return false, err
	}
	dial, done := context.WithTimeout(ctx, dialTimeout)
	defer done()
	conn, _, err := websocket.Dial(dial, n.addr.ws, &websocket.DialOptions{HTTPClient: p.cfg.HTTP})
	if err != nil {
		return false, n.transportError(err)
	}
	defer conn.CloseNow() //nolint:errcheck // nothing to do about it
	conn.SetReadLimit(maxMessageBytes)

	pinged := make(chan struct{})
	go func() {
		defer close(pinged)
		p.keepAlive(ctx, conn, cancel)
	}()
	defer func() { cancel(nil); <-pinged }()

	const question = `{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads","params":{"block_id":"latest"}}`
	if err := conn.Write(dial, websocket.MessageText, []byte(question)); err != nil {
		return false, n.transportError(err)
	}
	for {
		read, done := context.WithTimeout(ctx, p.cfg.WebSocketIdle)
		_, data, err := conn.Read(read)
		done()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return heard, n.transportError(err)
		}
		started, err := p.hear(n, data)
		if err != nil {
			return heard, n.fail("websocket", err)
		}
		heard = heard || started
	}
}

// keepAlive pings so that a connection that died silently is noticed.
func (p *Pool) keepAlive(ctx context.Context, conn *websocket.Conn, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(p.cfg.PingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ping, done := context.WithTimeout(ctx, p.cfg.PingInterval)
		err := conn.Ping(ping)
		done()
		if err != nil {
			cancel(errors.New("ping was not answered"))
			return
		}
	}
}

// hear takes one message: the answer to the subscription (started is then
// true), a new head, or a reorganisation. Others are of no interest.
func (p *Pool) hear(n *node, data []byte) (started bool, err error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Error  json.RawMessage `json:"error"`
		Result json.RawMessage `json:"result"`
		Method string          `json:"method"`
		Params struct {
			Result json.RawMessage `json:"result"`
		} `json:"params"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return false, fmt.Errorf("%w: message: %w", ErrMalformed, err)
	}
	switch m.Method {
	case "":
		r, err := openEnvelope(envelope{id: m.ID, result: m.Result, err: m.Error})
		if err != nil {
			return false, err
		}
		if r.err != nil {
			return false, fmt.Errorf("subscription refused: %w", r.err)
		}
		n.setLive(true)
		p.log.Info("subscribed to new heads", "node", n.name)
		return true, nil
	case "starknet_subscriptionNewHeads":
		h, err := p.parseOwnHead(n, m.Params.Result)
		if err != nil {
			return false, err
		}
		p.told(n, h)
	case "starknet_subscriptionReorg":
		var gone struct {
			From *uint64 `json:"starting_block_number"`
		}
		if err := json.Unmarshal(m.Params.Result, &gone); err != nil || gone.From == nil {
			return false, fmt.Errorf("%w: reorganisation without its first block", ErrMalformed)
		}
		n.rollBack(*gone.From)
		p.announce(true)
		n.wakeUp() // ask for the head that replaced it
	}
	return false, nil
}

// rollBack forgets the blocks from number on.
func (n *node) rollBack(number uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	keep := max(number, 1) - 1
	n.headSeq++
	n.headTime = time.Now()
	if n.headKnown && n.head.Number > keep {
		n.head.Number, n.head.Hash = keep, felt.Felt{}
	}
	n.served = min(n.served, keep)
	n.doubts, n.pushed = doubts{}, 0
}

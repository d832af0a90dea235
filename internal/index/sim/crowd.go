package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
)

// Crowd is several nodes of one chain, some of which may lie. The one with the
// highest head is asked first, as a pool does.
type Crowd struct {
	nodes []index.Source

	mu     sync.Mutex
	blamed map[string]time.Time // until when
	blames []error
}

var _ index.Peers = (*Crowd)(nil)

// quarantineTime is how long a blamed node is not asked.
const quarantineTime = 30 * time.Second

// NewCrowd puts nodes together; they are called 0, 1, 2.
func NewCrowd(nodes ...index.Source) *Crowd {
	return &Crowd{nodes: nodes, blamed: map[string]time.Time{}}
}

func nodeName(i int) string { return fmt.Sprint(i) }

// Blames is what nodes were blamed for.
func (c *Crowd) Blames() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.blames)
}

func (c *Crowd) shunned(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.nodes) > 1 && time.Now().Before(c.blamed[nodeName(i)])
}

// best is the node with the highest head among those that from allows.
func (c *Crowd) best(ctx context.Context, from index.From) (best int, head index.BlockRef, err error) {
	best, err = -1, index.ErrNoOther
	for i, n := range c.nodes {
		name := nodeName(i)
		if from.Only != "" && from.Only != name || slices.Contains(from.Not, name) || from.Only == "" && c.shunned(i) {
			continue
		}
		h, herr := n.Head(ctx)
		if herr != nil {
			err = herr
			continue
		}
		if best < 0 || h.Number > head.Number {
			best, head = i, h
		}
	}
	if best >= 0 {
		err = nil
	}
	return best, head, err
}

// ChainID names the chain.
func (c *Crowd) ChainID(ctx context.Context) (felt.Felt, error) { return c.nodes[0].ChainID(ctx) }

// Head is the highest head.
func (c *Crowd) Head(ctx context.Context) (index.BlockRef, error) {
	_, head, err := c.best(ctx, index.From{})
	return head, err
}

// Fetch asks the node with the highest head.
func (c *Crowd) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	return c.FetchFrom(ctx, number, index.From{})
}

// FetchFrom asks a particular node.
func (c *Crowd) FetchFrom(ctx context.Context, number uint64, from index.From) (index.Raw, error) {
	i, _, err := c.best(ctx, from)
	if err != nil {
		return index.Raw{}, err
	}
	raw, err := c.nodes[i].Fetch(ctx, number)
	raw.Node = nodeName(i)
	return raw, err
}

// HashAt asks the node with the highest head.
func (c *Crowd) HashAt(ctx context.Context, number uint64) (felt.Felt, error) {
	i, _, err := c.best(ctx, index.From{})
	if err != nil {
		return felt.Felt{}, err
	}
	return c.nodes[i].HashAt(ctx, number)
}

// HashesAt asks all.
func (c *Crowd) HashesAt(ctx context.Context, number uint64) []index.NodeHash {
	out := make([]index.NodeHash, len(c.nodes))
	for i, n := range c.nodes {
		out[i].Node = nodeName(i)
		if c.shunned(i) {
			out[i].Err = errors.New("in quarantine")
			continue
		}
		hash, err := n.HashAt(ctx, number)
		switch {
		case err == nil:
			out[i].Hash, out[i].Found = hash, true
		case !errors.Is(err, index.ErrNotFound):
			out[i].Err = err
		}
	}
	return out
}

// L1Accepted asks the node with the highest head.
func (c *Crowd) L1Accepted(ctx context.Context) (index.BlockRef, error) {
	i, _, err := c.best(ctx, index.From{})
	if err != nil {
		return index.BlockRef{}, err
	}
	return c.nodes[i].L1Accepted(ctx)
}

// Class asks the node with the highest head.
func (c *Crowd) Class(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
	return c.ClassFrom(ctx, number, hash, index.From{})
}

// ClassFrom asks a particular node.
func (c *Crowd) ClassFrom(ctx context.Context, number uint64, hash felt.Felt, from index.From) ([]byte, string, error) {
	i, _, err := c.best(ctx, from)
	if err != nil {
		return nil, "", err
	}
	raw, _, err := c.nodes[i].Class(ctx, number, hash)
	return raw, nodeName(i), err
}

// Heads signals nothing: the head is looked at from time to time.
func (c *Crowd) Heads(context.Context) <-chan struct{} { return nil }

// Blame keeps a node away for a while.
func (c *Crowd) Blame(node string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blamed[node] = time.Now().Add(quarantineTime)
	c.blames = append(c.blames, fmt.Errorf("node %s: %w", node, err))
}

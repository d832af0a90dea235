package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/felt"
)

// SpecVersion is a version of the Starknet JSON-RPC specification.
type SpecVersion struct{ Major, Minor, Patch int }

func (v SpecVersion) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

func (v SpecVersion) atLeast(major, minor, patch int) bool {
	if v.Major != major {
		return v.Major > major
	}
	if v.Minor != minor {
		return v.Minor > minor
	}
	return v.Patch >= patch
}

// supported goes by major and minor: patches change wording and optional parts.
func (v SpecVersion) supported() bool { return v.Major == 0 && v.Minor >= 8 && v.Minor <= 10 }

// parseSpecVersion reads "0.9", "0.10.2" and "0.8.0-rc1".
func parseSpecVersion(s string) (v SpecVersion, ok bool) {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "-")
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return v, false
	}
	for i, into := range []*int{&v.Major, &v.Minor, &v.Patch}[:len(parts)] {
		n, err := strconv.ParseUint(parts[i], 10, 16)
		if err != nil {
			return v, false
		}
		*into = int(n)
	}
	return v, true
}

// identity is who a node is.
type identity struct {
	chain felt.Felt
	spec  SpecVersion
	since time.Time
}

// identityTTL is how long a node is believed to be who it was: it may be
// upgraded, or an address may be pointed elsewhere.
const identityTTL = 5 * time.Minute

// ensureIdentity asks the node who it is, unless that is known.
func (p *Pool) ensureIdentity(ctx context.Context, n *node) error {
	known := func() (bool, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.id != nil || n.refused != nil, n.refused
	}
	if ok, err := known(); ok {
		return err
	}
	select {
	case n.identify <- struct{}{}:
		defer func() { <-n.identify }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ok, err := known(); ok {
		return err
	}
	return p.askIdentity(ctx, n)
}

// askIdentity asks for version, chain and head, and lets the node in or not.
func (p *Pool) askIdentity(ctx context.Context, n *node) error {
	mark := n.headMark()
	replies, err := p.exchange(ctx, n, []call{
		{method: "starknet_specVersion"},
		{method: "starknet_chainId"},
		{method: "starknet_blockHashAndNumber"},
	}, p.probeLane())
	if err != nil {
		return err
	}
	id := &identity{since: time.Now()}
	var version, chain string
	for i, into := range []*string{&version, &chain} {
		if e := replies[i].err; e != nil {
			return n.fail("rpc_error", e)
		}
		if err := json.Unmarshal(replies[i].result, into); err != nil {
			return n.fail("malformed", fmt.Errorf("%w: text expected", ErrMalformed))
		}
	}
	if id.chain, err = felt.Parse(chain); err != nil {
		return n.fail("malformed", fmt.Errorf("%w: chain id: %w", ErrMalformed, err))
	}
	refused := p.admit(n, id, version)
	n.mu.Lock()
	if n.id == nil || n.id.spec != id.spec {
		n.noFlags = false
	}
	news := refused != nil && n.refused == nil
	n.id, n.refused = id, refused
	if refused != nil {
		n.id = nil
	}
	n.mu.Unlock()
	if news {
		p.log.Error("node is not used", "node", n.name, "reason", refused)
	}
	if refused != nil {
		return refused
	}
	return p.takeHead(ctx, n, replies[2], mark)
}

// admit checks version and chain. The first node fixes the pool's chain, unless
// the configuration does.
func (p *Pool) admit(n *node, id *identity, version string) error {
	var ok bool
	if id.spec, ok = parseSpecVersion(version); !ok || !id.spec.supported() {
		return &SpecVersionError{Node: n.name, Version: version}
	}
	if want := p.cfg.Chain; !want.IsZero() {
		if id.chain != want {
			return &WrongChainError{Node: n.name, Chain: id.chain, Want: want}
		}
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chainNode == nil {
		p.chain, p.chainNode = id.chain, n
	}
	if p.chain != id.chain && p.chainNode != n {
		return &ChainMismatchError{
			NodeA: p.chainNode.name, ChainA: chainName(p.chain),
			NodeB: n.name, ChainB: chainName(id.chain),
		}
	}
	if p.chain != id.chain {
		return &ChainMismatchError{
			NodeA: n.name + " before", ChainA: chainName(p.chain),
			NodeB: n.name + " now", ChainB: chainName(id.chain),
		}
	}
	return nil
}

func chainName(f felt.Felt) string {
	if s, ok := f.ShortString(); ok {
		return fmt.Sprintf("%s (%s)", s, f)
	}
	return f.String()
}

// identifyAll asks every node that is not known yet, at once. It returns the
// reasons of those that did not answer, by node.
func (p *Pool) identifyAll(ctx context.Context) []error {
	errs := make([]error, len(p.nodes))
	p.each(func(i int, n *node) {
		if n.resting(time.Now()) {
			errs[i] = n.fail("rate_limited", errors.New("asked to be left alone for a while"))
			return
		}
		errs[i] = p.ensureIdentity(ctx, n)
	})
	return errs
}

// misconfigured picks the errors that no retry will mend.
func misconfigured(errs []error) error {
	var bad []error
	for _, err := range errs {
		var chain *ChainMismatchError
		var wrong *WrongChainError
		var spec *SpecVersionError
		if errors.As(err, &chain) || errors.As(err, &wrong) || errors.As(err, &spec) {
			bad = append(bad, err)
		}
	}
	return joined(bad...)
}

// ChainID is the chain that the nodes serve. It fails if two nodes that could
// be asked serve different ones, and waits, within bounds, for a first answer.
func (p *Pool) ChainID(ctx context.Context) (felt.Felt, error) {
	if err := p.known(ctx); err != nil {
		return felt.Felt{}, fmt.Errorf("chain id: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chain, nil
}

// SpecVersions gives the version that each node speaks, by the node's name.
// Nodes that could not be asked are left out; it fails if none could, or if
// one speaks an unknown version.
func (p *Pool) SpecVersions(ctx context.Context) (map[string]SpecVersion, error) {
	if err := p.known(ctx); err != nil {
		return nil, fmt.Errorf("specification version: %w", err)
	}
	out := map[string]SpecVersion{}
	for _, n := range p.nodes {
		n.mu.Lock()
		if n.id != nil {
			out[n.name] = n.id.spec
		}
		n.mu.Unlock()
	}
	return out, nil
}

// known waits until at least one node has said who it is, and reports nodes
// that do not belong.
func (p *Pool) known(ctx context.Context) error {
	for round := 0; ; round++ {
		errs := p.identifyAll(ctx)
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := misconfigured(errs); err != nil {
			return err
		}
		for _, err := range errs {
			if err == nil {
				return nil
			}
		}
		if round+1 >= p.cfg.MaxAttempts {
			return joined(append([]error{ErrNoNode}, errs...)...)
		}
		if err := p.pause(ctx, p.waitTime(round, readOp{}, nil)); err != nil {
			return joined(append([]error{err}, errs...)...)
		}
	}
}

package registry

import (
	"fmt"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// PoolGeneration is a generation of the privacy pool's contract: it tells which
// events a class can emit and how they are laid out.
type PoolGeneration string

// The generations.
const (
	PoolV1  PoolGeneration = "v1"   // roles announce themselves with events of their own
	PoolV2  PoolGeneration = "v2"   // screening, calls of other contracts
	PoolV21 PoolGeneration = "v2.1" // a screening policy per contract instead of a list of the blocked
)

// PoolClass is a class that a privacy pool had, or may get.
type PoolClass struct {
	Hash       felt.Felt      `yaml:"hash"`
	Generation PoolGeneration `yaml:"generation"`
}

// PrivacyPool is a privacy pool: a contract whose events tell what goes in, what
// comes out, and which notes were made and used.
type PrivacyPool struct {
	Address felt.Felt `yaml:"address"`
	Name    string    `yaml:"name"`
	From    uint64    `yaml:"from"` // the block that deployed it
	// Classes are those whose events can be read, by hash. What the pool emits
	// with another is not.
	Classes []PoolClass `yaml:"classes"`
	// FeeToken is what the pool's fee is paid in.
	FeeToken felt.Felt `yaml:"feeToken"`
}

// Generation is that of one of the pool's known classes.
func (p *PrivacyPool) Generation(class felt.Felt) (PoolGeneration, bool) {
	i, found := slices.BinarySearchFunc(p.Classes, class, func(c PoolClass, hash felt.Felt) int { return c.Hash.Cmp(hash) })
	if !found {
		return "", false
	}
	return p.Classes[i].Generation, true
}

// The bounds of a chain's privacy pools: a list of events asks for all pools at once.
const (
	MaxPrivacyPools = 32
	maxPoolClasses  = 256
)

// PrivacyPools lists the privacy pools by address. The caller must not change them.
func (c *Chain) PrivacyPools() []PrivacyPool {
	if c == nil {
		return nil
	}
	return c.privacyPools
}

// withPrivacyPool adds a pool. One with a name is the whole pool and replaces
// what was known of its address; one without only adds classes to a known pool.
func withPrivacyPool(list []PrivacyPool, p PrivacyPool) ([]PrivacyPool, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p.Classes = slices.Clone(p.Classes)
	at, found := slices.BinarySearchFunc(list, p.Address, func(o PrivacyPool, a felt.Felt) int { return o.Address.Cmp(a) })
	switch {
	case p.Name != "":
		if p.FeeToken.IsZero() {
			p.FeeToken = felt.MustParse(addressSTRK)
		}
	case !found:
		return nil, fmt.Errorf("name is missing, and the pool is not known without this entry")
	default:
		known := list[at]
		for _, c := range known.Classes {
			if !slices.ContainsFunc(p.Classes, func(o PoolClass) bool { return o.Hash == c.Hash }) {
				p.Classes = append(p.Classes, c)
			}
		}
		known.Classes = p.Classes
		p = known
	}
	if len(p.Classes) > maxPoolClasses {
		return nil, fmt.Errorf("more than %d classes", maxPoolClasses)
	}
	arrange.By(p.Classes, func(a, b PoolClass) int { return a.Hash.Cmp(b.Hash) })
	if found {
		list[at] = p
		return list, nil
	}
	if len(list) == MaxPrivacyPools {
		return nil, fmt.Errorf("more than %d privacy pools", MaxPrivacyPools)
	}
	return slices.Insert(list, at, p), nil
}

func (p *PrivacyPool) check() error {
	if err := firstOf(nonZero("address", p.Address), text("name", p.Name, false)); err != nil {
		return err
	}
	if p.Name == "" && (p.From != 0 || !p.FeeToken.IsZero()) {
		return fmt.Errorf("name is missing: an entry without one can only add classes")
	}
	if len(p.Classes) == 0 {
		return fmt.Errorf("classes are missing: without any nothing that the pool emits can be read")
	}
	seen := make(map[felt.Felt]bool, len(p.Classes))
	for i, c := range p.Classes {
		switch c.Generation {
		case PoolV1, PoolV2, PoolV21:
		default:
			return fmt.Errorf("classes[%d]: generation %q is none of v1, v2, v2.1", i, clip(c.Generation))
		}
		if err := nonZero("hash", c.Hash); err != nil {
			return fmt.Errorf("classes[%d]: %w", i, err)
		}
		if seen[c.Hash] {
			return fmt.Errorf("classes[%d]: %s is there twice", i, c.Hash)
		}
		seen[c.Hash] = true
	}
	return nil
}

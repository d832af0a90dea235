package registry

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"chainexplorer/internal/felt"
)

// Place is where a value stands in an event: data.0 is the first of the data,
// key.1 the first key behind the selector.
type Place struct {
	Key   bool
	Index int
}

// maxPlace bounds the places of a layout.
const maxPlace = 63

// UnmarshalText reads data.N or key.N.
func (p *Place) UnmarshalText(text []byte) error {
	where, number, _ := strings.Cut(string(text), ".")
	n, err := strconv.Atoi(number)
	if (where != "data" && where != "key") || err != nil || n < 0 || n > maxPlace {
		return fmt.Errorf("%q is no place in an event: want data.N or key.N with N up to %d", clip(text), maxPlace)
	}
	*p = Place{where == "key", n}
	return nil
}

// String is the form that UnmarshalText reads.
func (p Place) String() string {
	if p.Key {
		return "key." + strconv.Itoa(p.Index)
	}
	return "data." + strconv.Itoa(p.Index)
}

// Selector is an event's topic0: a felt, or the name that it is the hash of.
type Selector felt.Felt

// UnmarshalText reads a felt or a name.
func (s *Selector) UnmarshalText(text []byte) error {
	if strings.HasPrefix(string(text), "0x") {
		return (*felt.Felt)(s).UnmarshalText(text)
	}
	if len(text) == 0 || len(text) > maxText {
		return fmt.Errorf("an event needs a selector or a name")
	}
	*s = Selector(felt.Selector(string(text)))
	return nil
}

// NewPool is a pool as its creation event tells it.
type NewPool struct {
	Token0, Token1 felt.Felt
	Contract       *felt.Felt  // of the pool alone
	Identity       []felt.Felt // see Dex.Identity
	Fee            *big.Rat    // in bps; nil when not known
}

// Decode reads a creation event of the exchange. It is false for an event that
// does not have the layout.
func (d *Dex) Decode(keys, data []felt.Felt) (p NewPool, ok bool) {
	if len(keys) != d.Keys || len(data) != d.Data || keys[0] != felt.Felt(d.Event) {
		return p, false
	}
	at := func(p Place) felt.Felt {
		if p.Key {
			return keys[p.Index]
		}
		return data[p.Index]
	}
	p.Token0, p.Token1 = at(d.Token0), at(d.Token1)
	if d.Pool != nil {
		contract := at(*d.Pool)
		p.Contract = &contract
	}
	for _, place := range d.Identity {
		p.Identity = append(p.Identity, at(place))
	}
	switch {
	case d.FixedFeeBps != nil:
		p.Fee = new(big.Rat).SetInt64(int64(*d.FixedFeeBps))
	case d.Fee != nil:
		p.Fee = d.FeeUnit.bps(at(*d.Fee).Big())
	}
	return p, true
}

// bps turns a fee into ten-thousandths.
func (u FeeUnit) bps(n *big.Int) *big.Rat {
	one := map[FeeUnit]*big.Int{FeeBps: big.NewInt(10_000), FeeMillionths: big.NewInt(1_000_000), FeeFraction: new(big.Int).Lsh(big.NewInt(1), 128)}[u]
	return new(big.Rat).SetFrac(new(big.Int).Mul(n, big.NewInt(10_000)), one)
}

// check says what is wrong with a layout.
func (d *Dex) check() error {
	if d.Keys < 1 || d.Keys > maxPlace || d.Data < 0 || d.Data > maxPlace {
		return fmt.Errorf("keys must be 1 to %d and data 0 to %d", maxPlace, maxPlace)
	}
	inside := func(name string, p *Place) error {
		n := d.Data
		if p.Key {
			n = d.Keys
		}
		if p.Index >= n || p.Key && p.Index == 0 {
			return fmt.Errorf("%s: %s is outside an event with %d keys, the selector among them, and %d values", name, p, d.Keys, d.Data)
		}
		return nil
	}
	places := []struct {
		name string
		p    *Place
	}{{"token0", &d.Token0}, {"token1", &d.Token1}, {"pool", d.Pool}, {"fee", d.Fee}}
	for i := range d.Identity {
		places = append(places, struct {
			name string
			p    *Place
		}{"identity", &d.Identity[i]})
	}
	for _, x := range places {
		if x.p == nil {
			continue
		}
		if err := inside(x.name, x.p); err != nil {
			return err
		}
	}
	switch {
	case d.Token0 == d.Token1:
		return fmt.Errorf("token0 and token1 are at the same place")
	case d.Fee != nil && d.FixedFeeBps != nil:
		return fmt.Errorf("give fee or feeBps, not both")
	case (d.Fee == nil) != (d.FeeUnit == ""):
		return fmt.Errorf("fee and feeUnit go together")
	case d.FixedFeeBps != nil && *d.FixedFeeBps > 10_000:
		return fmt.Errorf("feeBps is more than everything")
	case d.FeeUnit != "" && d.FeeUnit != FeeBps && d.FeeUnit != FeeMillionths && d.FeeUnit != FeeFraction:
		return fmt.Errorf("feeUnit %q is none of bps, millionths, fraction_128", d.FeeUnit)
	case d.Kind == PoolContract && d.Pool == nil:
		return fmt.Errorf("a pool_contract needs the place of its pool")
	case d.Kind != PoolContract && (d.Pool != nil || len(d.Identity) == 0):
		return fmt.Errorf("a %s has no contract of its own and needs an identity", d.Kind)
	}
	return nil
}

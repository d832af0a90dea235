// Package request reads what callers hand over to be proven: the block and the Invoke
// transaction. It refuses what the prover would refuse whatever its state, so that no
// caller asks for it over and over, and it tells whether two bodies are the same.
//
// The body holds a viewing private key. So nothing here copies a part of it to where it
// could not be cleared, and no error repeats any of it, names of members included: an
// error has words of our own and a place in bytes.
package request

import (
	"bytes"
	"fmt"
	"hash"
)

// MaxBytes is the largest body.
const MaxBytes = 1 << 20

// Error says what is wrong with a body.
type Error struct {
	Path   string // of a member that there should be; "" for the body itself
	Reason string
	Offset int // in bytes, of what is not JSON; 0 when that tells nothing
}

func (e *Error) Error() string {
	switch {
	case e.Path != "":
		return "body." + e.Path + ": " + e.Reason
	case e.Offset > 0:
		return fmt.Sprintf("body: %s (byte %d)", e.Reason, e.Offset)
	}
	return "body: " + e.Reason
}

// Options are what an operator wants of transactions besides.
type Options struct {
	// Pools, unless empty, are the only senders that are taken, with the one call of
	// themselves that a proof for a privacy pool is made of: Selector.
	Pools    []Word
	Selector Word
}

// Word is a felt, big endian.
type Word = [32]byte

// Request is a body that was found to be in order.
type Request struct {
	doc  document
	root int32
}

// Parse reads a body and checks it. It keeps the body: the caller clears that, after
// Clear.
func Parse(body []byte, o Options) (*Request, error) {
	if len(body) > MaxBytes {
		return nil, &Error{Reason: fmt.Sprintf("it has more than %d bytes", MaxBytes)}
	}
	r := &Request{doc: document{body: body}}
	root, err := r.doc.read()
	if err == nil {
		r.root = root
		err = (&checker{doc: &r.doc, Options: o}).check(root)
	}
	if err != nil {
		r.Clear()
		return nil, err
	}
	return r, nil
}

// Digest writes the body so that bodies that differ in the order of members, in white space
// and in how strings are escaped alone are the same. Numbers are compared as they are spelled.
func (r *Request) Digest(h hash.Hash) { r.doc.digest(h, r.root) }

// Clear forgets the body.
func (r *Request) Clear() { r.doc.clear() }

type checker struct {
	Options
	doc *document
}

func fail(path, format string, args ...any) error {
	return &Error{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// member is the value of a member; none when there is none.
func (c *checker) member(of int32, name string) int32 {
	for i := c.doc.nodes[of].first; i != none; i = c.doc.nodes[i].next {
		if string(c.doc.bytes(c.doc.nodes[i].name)) == name {
			return i
		}
	}
	return none
}

// object is a member that must be an object.
func (c *checker) object(of int32, path, name string) (int32, error) {
	i := c.member(of, name)
	switch {
	case i == none:
		return none, fail(path, "it is missing")
	case c.doc.nodes[i].kind != object:
		return none, fail(path, "it is not an object")
	}
	return i, nil
}

// check holds a body against what the prover takes.
func (c *checker) check(root int32) error {
	if c.doc.nodes[root].kind != object {
		return &Error{Reason: "it is not an object"}
	}
	block, err := c.object(root, "block_id", "block_id")
	if err != nil {
		return err
	}
	tx, err := c.object(root, "transaction", "transaction")
	if err != nil {
		return err
	}
	if c.doc.nodes[root].count != 2 {
		return &Error{Reason: "it has members other than block_id and transaction"}
	}
	at := c.member(block, "block_number")
	switch {
	case at == none:
		return fail("block_id", "it must be {\"block_number\": N}: a proof is made at one finalized block, and tags and hashes are not taken")
	case c.doc.nodes[block].count != 1:
		return fail("block_id", "it has members other than block_number")
	case !c.isBlock(at):
		return fail("block_id.block_number", "it is not a whole number from 0 on, in plain digits")
	}
	return c.checkTransaction(tx)
}

// isBlock says whether a value is a number of 64 bits without sign, fraction or exponent.
func (c *checker) isBlock(i int32) bool {
	n := c.doc.nodes[i]
	if n.kind != number || n.value.end-n.value.start > 19 {
		return false
	}
	return len(bytes.Trim(c.doc.bytes(n.value), "0123456789")) == 0
}

func (c *checker) checkTransaction(tx int32) error {
	for _, f := range []struct{ name, want, words string }{
		{"type", "INVOKE", "only Invoke transactions are proven: it must be INVOKE"},
		{"version", "0x3", "it must be 0x3"},
	} {
		i := c.member(tx, f.name)
		if i == none {
			return fail("transaction."+f.name, "it is missing")
		}
		if n := c.doc.nodes[i]; n.kind != text || string(c.doc.bytes(n.value)) != f.want {
			return fail("transaction."+f.name, "%s", f.words)
		}
	}
	for _, name := range []string{"sender_address", "nonce"} {
		if i := c.member(tx, name); i == none {
			return fail("transaction."+name, "it is missing")
		} else if !c.isFelt(i) {
			return fail("transaction."+name, "it is not a felt in hex")
		}
	}
	for _, name := range []string{"calldata", "signature", "paymaster_data", "account_deployment_data"} {
		if err := c.checkFelts(tx, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"nonce_data_availability_mode", "fee_data_availability_mode"} {
		i := c.member(tx, name)
		if i == none {
			return fail("transaction."+name, "it is missing")
		}
		if n := c.doc.nodes[i]; n.kind != text || string(c.doc.bytes(n.value)) != "L1" && string(c.doc.bytes(n.value)) != "L2" {
			return fail("transaction."+name, "it is neither L1 nor L2")
		}
	}
	for _, name := range []string{"proof", "proof_facts"} {
		if i := c.member(tx, name); i != none && !c.isEmpty(i) {
			return fail("transaction."+name, "it must not be there: it is what is asked for")
		}
	}
	if err := c.checkFees(tx); err != nil {
		return err
	}
	return c.checkPool(tx)
}

func (c *checker) isEmpty(i int32) bool {
	n := c.doc.nodes[i]
	return n.kind == null || n.kind == array && n.count == 0 || n.kind == text && n.value.start == n.value.end
}

func (c *checker) checkFelts(tx int32, name string) error {
	list := c.member(tx, name)
	if list == none {
		return fail("transaction."+name, "it is missing")
	}
	if c.doc.nodes[list].kind != array {
		return fail("transaction."+name, "it is not an array")
	}
	n := 0
	for i := c.doc.nodes[list].first; i != none; i = c.doc.nodes[i].next {
		if !c.isFelt(i) {
			return fail(fmt.Sprintf("transaction.%s[%d]", name, n), "it is not a felt in hex")
		}
		n++
	}
	return nil
}

// checkFees refuses fees: a transaction that is only proven pays none.
func (c *checker) checkFees(tx int32) error {
	if i := c.member(tx, "tip"); i == none {
		return fail("transaction.tip", "it is missing")
	} else if !c.isZero(i) {
		return fail("transaction.tip", "it must be 0x0")
	}
	const path = "transaction.resource_bounds"
	bounds, err := c.object(tx, path, "resource_bounds")
	if err != nil {
		return err
	}
	for _, gas := range []string{"l1_gas", "l2_gas", "l1_data_gas"} {
		at := path + "." + gas
		of, err := c.object(bounds, at, gas)
		if err != nil {
			return err
		}
		price, amount := c.member(of, "max_price_per_unit"), c.member(of, "max_amount")
		switch {
		case price == none:
			return fail(at+".max_price_per_unit", "it is missing")
		case amount == none:
			return fail(at+".max_amount", "it is missing")
		case !c.isZero(price):
			return fail(at+".max_price_per_unit", "it must be 0x0")
		case !c.isHex(amount, 16):
			return fail(at+".max_amount", "it is not a number of 64 bits in hex")
		case gas == "l2_gas" && c.isZero(amount):
			return fail(at+".max_amount", "it must not be 0x0")
		}
	}
	return nil
}

// digits are those of a string in hex, without leading zeros; false when it is none.
func (c *checker) digits(i int32) ([]byte, bool) {
	n := c.doc.nodes[i]
	if n.kind != text {
		return nil, false
	}
	b := c.doc.bytes(n.value)
	if len(b) < 3 || len(b) > 66 || b[0] != '0' || b[1] != 'x' {
		return nil, false
	}
	for _, x := range b[2:] {
		if hexDigit(x) < 0 {
			return nil, false
		}
	}
	return bytes.TrimLeft(b[2:], "0"), true
}

func (c *checker) isHex(i int32, most int) bool {
	b, ok := c.digits(i)
	return ok && len(b) <= most
}

func (c *checker) isZero(i int32) bool { return c.isHex(i, 0) }

// prime is what felts are smaller than, in hex.
const prime = "800000000000011000000000000000000000000000000000000000000000001"

func (c *checker) isFelt(i int32) bool {
	b, ok := c.digits(i)
	if !ok || len(b) > len(prime) {
		return false
	}
	if len(b) < len(prime) {
		return true
	}
	for k, x := range b {
		if d := hexDigit(x) - hexDigit(prime[k]); d != 0 {
			return d < 0
		}
	}
	return false
}

// word is a felt by its value.
func (c *checker) word(i int32) (w Word) {
	b, _ := c.digits(i)
	for k := range b {
		d := byte(hexDigit(b[len(b)-1-k])) //nolint:gosec // four bits
		w[len(w)-1-k/2] |= d << (4 * (k % 2))
	}
	return w
}

// checkPool keeps the relay from being a prover for everybody's anything.
func (c *checker) checkPool(tx int32) error {
	if len(c.Pools) == 0 {
		return nil
	}
	sender := c.word(c.member(tx, "sender_address"))
	known := false
	for _, p := range c.Pools {
		known = known || p == sender
	}
	if !known {
		return fail("transaction.sender_address", "only transactions of a known privacy pool are proven here")
	}
	var head [3]Word
	i := c.doc.nodes[c.member(tx, "calldata")].first
	for k := range head {
		if i == none {
			return fail("transaction.calldata", "it is not one call of the privacy pool's compile_actions")
		}
		head[k] = c.word(i)
		i = c.doc.nodes[i].next
	}
	if head != [3]Word{{31: 1}, sender, c.Selector} {
		return fail("transaction.calldata", "it is not one call of the privacy pool's compile_actions")
	}
	return nil
}

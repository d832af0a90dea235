package simnode

import (
	"bytes"
	"encoding/json"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// place is what a block id means: a block, or the one that is being built on
// top of the head.
type place struct {
	rec     *record
	pending bool // the block being built; rec is the head
}

// number is the block whose state a read sees.
func (p place) number() uint64 { return p.rec.header.Number }

// blockID is the parsed form of a block id.
type blockID struct {
	tag    string
	number *uint64
	hash   *felt.Felt
}

func (b *blockID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &b.tag)
	}
	var object struct {
		Number *uint64    `json:"block_number"`
		Hash   *felt.Felt `json:"block_hash"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&object); err != nil {
		return err
	}
	if (object.Number == nil) == (object.Hash == nil) {
		return failure(codeInvalidParams)
	}
	b.number, b.hash = object.Number, object.Hash
	return nil
}

// block resolves the parameter of a name; missing means latest.
func (c *rpcCall) block(name string) (place, error) {
	id := blockID{tag: "latest"}
	if _, ok := c.args[name]; ok {
		var err error
		if id, err = arg[blockID](c, name); err != nil {
			return place{}, err
		}
	}
	return c.resolve(id)
}

// resolve finds the block of an id, by the rules of the node's version.
func (c *rpcCall) resolve(id blockID) (place, error) {
	head := c.v.head()
	var rec *record
	switch {
	case id.number != nil:
		rec = c.v.at(*id.number)
	case id.hash != nil:
		if found := c.node.chain.recordByHash(*id.hash); found != nil && c.v.at(found.header.Number) == found {
			rec = found
		}
	case id.tag == "latest":
		rec = head
	case c.pendingTag(id.tag):
		if head != nil {
			return place{head, true}, nil
		}
	case id.tag == "l1_accepted" && c.node.cfg.Version >= starknet.V09:
		if n, ok := c.node.chain.l1Head(c.v); ok {
			rec = c.v.at(n)
		}
	default:
		return place{}, failureWith(codeInvalidParams, "unknown block tag")
	}
	if rec == nil {
		return place{}, failure(codeBlockNotFound)
	}
	return place{rec: rec}, nil
}

// pendingTag knows the version's word for the block that is being built.
func (c *rpcCall) pendingTag(tag string) bool {
	if c.node.cfg.Version == starknet.V08 {
		return tag == "pending"
	}
	return tag == "pre_confirmed"
}

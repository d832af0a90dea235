package upstream

import (
	"container/list"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// This file remembers which node gave a continuation token: what it means is that
// node's own affair.

const (
	// tokensKept is how many are remembered; a list that was left for so many others
	// goes on at any node.
	tokensKept = 16 << 10
	// maxToken is how long one may be to be remembered.
	maxToken = 1 << 10
)

// tokens are the latest, by what they were given for.
type tokens struct {
	mu    *sync.Mutex // guards what follows
	nodes map[digest]*list.Element
	order *list.List // of tokenNode, most recently given first
}

type tokenNode struct {
	key  digest
	node string
}

func newTokens() tokens {
	return tokens{mu: new(sync.Mutex), nodes: map[digest]*list.Element{}, order: list.New()}
}

// tokenKey is a page of a list: nodes of one kind give equal tokens for lists that have
// nothing to do with each other.
type tokenKey struct {
	asks  bool   // it is known which list is asked for
	given bool   // with a token
	token string // that one
	list  digest // all else of the filter, but the size of the page
}

// tokenOf reads the filter of starknet_getEvents.
func tokenOf(filter []byte, v starknet.SpecVersion) (k tokenKey) {
	var members []string
	sc := jsonscan.New(filter)
	for more := sc.OpenObject(); more; more = sc.NextMember() {
		switch name := string(sc.Key()); name {
		case "continuation_token":
			if !sc.Null() {
				k.token, k.given = string(sc.String()), true
			}
		case "chunk_size":
			sc.Skip()
		default:
			members = append(members, name+":"+tight(sc.Raw()))
		}
	}
	if sc.End(); sc.Err() != nil || len(k.token) > maxToken {
		return tokenKey{}
	}
	slices.Sort(members)
	k.asks = true
	k.list = sha256.Sum256([]byte(v.String() + "\n" + strings.Join(members, "\n")))
	return k
}

// tight is a JSON value without white space around its parts.
func tight(value []byte) string {
	var s sum
	s.tight(value)
	d := s.digest()
	return string(d[:])
}

func (k tokenKey) with(token string) digest {
	return sha256.Sum256(append(k.list[:], token...))
}

// node is who gave the token.
func (t *tokens) node(k tokenKey) (name string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	el := t.nodes[k.with(k.token)]
	if el == nil {
		return "", false
	}
	t.order.MoveToFront(el)
	return el.Value.(tokenNode).node, true
}

// remember notes who gave the token of a page, if the list goes on.
func (t *tokens) remember(k tokenKey, told node.Told) {
	var token string
	sc := jsonscan.New(told.Result)
	for more := sc.OpenObject(); more; more = sc.NextMember() {
		if string(sc.Key()) != "continuation_token" {
			sc.Skip()
		} else if !sc.Null() {
			token = string(sc.String())
		}
	}
	if sc.Err() != nil || token == "" || len(token) > maxToken {
		return
	}
	key := k.with(token)
	t.mu.Lock()
	defer t.mu.Unlock()
	if el := t.nodes[key]; el != nil {
		el.Value = tokenNode{key, told.Node}
		t.order.MoveToFront(el)
		return
	}
	t.nodes[key] = t.order.PushFront(tokenNode{key, told.Node})
	if t.order.Len() > tokensKept {
		delete(t.nodes, t.order.Remove(t.order.Back()).(tokenNode).key)
	}
}

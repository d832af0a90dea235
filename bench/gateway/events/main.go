// Command events measures starknet_getEvents for a rare key over a whole chain: from
// the index, and by the scan that a node without an index of keys makes. It prints the
// ratio of the two, which answer the same.
//
//	go run ./bench/gateway/events -blocks 10000
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/own"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble"
)

func main() {
	blocks := flag.Int("blocks", 10_000, "blocks of the chain")
	tx := flag.Int("tx", 4, "transactions a block")
	times := flag.Int("times", 20, "how often each side is asked")
	flag.Parse()
	if err := run(context.Background(), *blocks, *tx, *times); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}

const version = starknet.V010

func run(ctx context.Context, blocks, tx, times int) error {
	c := simnode.New(simnode.Config{Seed: 5, Blocks: blocks, TxPerBlock: tx})
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // in memory
	head, _ := c.Head()
	err = simsource.Follow(ctx, engine, c, head, func(o *index.Options) { o.NoClasses = true })
	if err != nil {
		return err
	}
	key, position, events, err := rare(c)
	if err != nil {
		return err
	}
	keys := make([][]felt.Felt, position+1)
	for i := range keys {
		keys[i] = []felt.Felt{}
	}
	keys[position] = []felt.Felt{key}
	params, err := json.Marshal(map[string]any{"filter": map[string]any{
		"from_block": map[string]any{"block_number": 0}, "to_block": map[string]any{"block_number": head}, "keys": keys, "chunk_size": 1000}})
	if err != nil {
		return err
	}

	x := own.New(own.Options{Store: engine, Head: func() (uint64, felt.Felt, bool) { return head, c.BlockAt(head).Hash, true }})
	m := method.Lookup("starknet_getEvents")
	ours, mine, err := measure(times, func() ([]byte, error) {
		args, err := m.Bind(params, version)
		if err != nil {
			return nil, err
		}
		result, code, done, err := x.Answer(ctx, m, args, version, m.MaxAnswer)
		if err == nil && (!done || code != 0) {
			err = fmt.Errorf("the index did not answer: code %d", code)
		}
		return result, err
	})
	if err != nil {
		return err
	}
	node := simnode.NewNode(c, simnode.NodeConfig{Version: version})
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"starknet_getEvents","params":%s}`, params)
	theirs, told, err := measure(times, func() ([]byte, error) {
		rec := httptest.NewRecorder()
		node.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)))
		return rec.Body.Bytes(), nil
	})
	if err != nil {
		return err
	}
	if a, b := count(mine), count(told); a != events || b != events {
		return fmt.Errorf("%d events from the index and %d from the node, of %d", a, b, events)
	}
	fmt.Printf("%d events of a rare key among all of %d blocks of %d transactions\n", events, blocks, tx)
	fmt.Printf("scan of a node   %10v  1.00\nfrom the index   %10v  %.4f (%.0f times as fast)\n", theirs, ours, float64(ours)/float64(theirs), float64(theirs)/float64(ours))
	return nil
}

// rare finds a key that few events have behind their selector, and how many.
func rare(c *simnode.Chain) (key felt.Felt, position, events int, err error) {
	type at struct {
		key      felt.Felt
		position int
	}
	seen := map[at]int{}
	head, _ := c.Head()
	for n := range head + 1 {
		for _, r := range c.BlockAt(n).Receipts {
			for _, e := range r.Events {
				for i := 1; i < len(e.Keys); i++ {
					seen[at{e.Keys[i], i}]++
				}
			}
		}
	}
	var all []at
	for k, n := range seen {
		if n == 3 {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b at) int { return a.key.Cmp(b.key) })
	if len(all) == 0 {
		return key, 0, 0, errors.New("no key of the chain is rare: it needs more blocks")
	}
	k := all[len(all)/2]
	return k.key, k.position, seen[k], nil
}

// measure is the median time of an answer, and the answer.
func measure(times int, ask func() ([]byte, error)) (time.Duration, []byte, error) {
	var took []time.Duration
	var answer []byte
	for range times {
		start := time.Now()
		var err error
		if answer, err = ask(); err != nil {
			return 0, nil, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2], answer, nil
}

// count is how many events an answer has, alone or in its envelope.
func count(answer []byte) int {
	type page struct {
		Events []json.RawMessage `json:"events"`
	}
	var a struct {
		page
		Result page `json:"result"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return -1
	}
	return len(a.Events) + len(a.Result.Events)
}

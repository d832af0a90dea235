// Command subscribers measures what idle subscribers of the JSON-RPC gateway cost, and
// how long a new head takes to reach the last of them. Clients are a process of their
// own, over loopback, so that their memory is not counted. They connect to the whole
// service, with a key, or with -bare to what serves subscriptions alone.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"chainexplorer/bench/gateway/service"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

func main() {
	count := flag.Int("n", 5000, "subscribers")
	blocks := flag.Int("blocks", 20, "new heads to measure")
	bare := flag.Bool("bare", false, "without the service around it: no keys, limits, bounds or node connections")
	crowd := flag.String("crowd", "", "address to be the clients of; set by the command itself, as is -key")
	key := flag.String("key", "", "")
	flag.Parse()
	var err error
	if *crowd != "" {
		err = beCrowd(*crowd, *key, *count)
	} else {
		err = run(*count, *blocks, *bare)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// beCrowd connects and subscribes, and prints for each block when the last client had
// it, once all have it.
func beCrowd(address, key string, count int) error {
	var mu sync.Mutex
	seen := map[uint64]int{}
	out := bufio.NewWriter(os.Stdout)
	take := func(text []byte) {
		var m struct {
			Params struct {
				Result struct {
					Number uint64 `json:"block_number"`
				} `json:"result"`
			} `json:"params"`
		}
		now := time.Now()
		if json.Unmarshal(text, &m) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if seen[m.Params.Result.Number]++; seen[m.Params.Result.Number] == count {
			fmt.Fprintf(out, "%d %d\n", m.Params.Result.Number, now.UnixNano())
			out.Flush() //nolint:errcheck // the reader is gone then
		}
	}
	gate := make(chan struct{}, 64) // connections being made
	options := &websocket.DialOptions{HTTPHeader: http.Header{}}
	if key != "" {
		options.HTTPHeader.Set("X-Service-Api-Key", key)
	}
	for range count {
		gate <- struct{}{}
		go func() {
			conn, _, err := websocket.Dial(context.Background(), "ws://"+address, options)
			if err != nil {
				log.Fatal(err)
			}
			if err := conn.Write(context.Background(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads"}`)); err != nil {
				log.Fatal(err)
			}
			if _, _, err := conn.Read(context.Background()); err != nil { // the id
				log.Fatal(err)
			}
			<-gate
			for {
				_, text, err := conn.Read(context.Background())
				if err != nil {
					return
				}
				take(text)
			}
		}()
	}
	select {}
}

func run(count, blocks int, bare bool) error {
	chain := simnode.Config{Blocks: 100, TxPerBlock: 5}
	if bare {
		return serveBare(simnode.New(chain), count, blocks)
	}
	s, err := service.New(service.Options{Chain: chain, Sockets: count})
	if err != nil {
		return err
	}
	defer s.Close()
	return measure(s.Chain, s.Gateway+s.Path+"/ws", s.Key, count, blocks)
}

func serveBare(chain *simnode.Chain, count, blocks int) error {
	node := simnode.NewNode(chain, simnode.NodeConfig{})
	server := live.New(live.Options{
		Heads: func(ctx context.Context, tell func(uint64, felt.Felt)) {
			for {
				changed := chain.Changed()
				n, _ := chain.Head()
				tell(n, chain.BlockAt(n).Hash)
				select {
				case <-changed:
				case <-ctx.Done():
					return
				}
			}
		},
		Fetch: func(ctx context.Context, method string, params json.RawMessage, _ starknet.SpecVersion, _ *uint64) (json.RawMessage, int, error) {
			return fetch(ctx, node, method, params)
		},
	})
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:errcheck // it ends with the command
		server.Serve(w, r, live.Client{Version: starknet.V010, Answer: func(context.Context, []byte) ([]byte, func()) { return nil, nil }, Admit: func() error { return nil }})
	}))
	return measure(chain, listener.Addr().String()+"/", "", count, blocks)
}

func measure(chain *simnode.Chain, address, key string, count, blocks int) error {
	before, goroutines := memory(), runtime.NumGoroutine()
	crowd := exec.Command(os.Args[0], "-crowd", address, "-key", key, "-n", strconv.Itoa(count))
	crowd.Stderr = os.Stderr
	pipe, err := crowd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := crowd.Start(); err != nil {
		return err
	}
	defer crowd.Wait()         //nolint:errcheck // it was killed
	defer crowd.Process.Kill() //nolint:errcheck // it ends either way
	lines := bufio.NewScanner(pipe)
	if !lines.Scan() { // all have the head that there was
		return fmt.Errorf("the clients ended: %w", lines.Err())
	}
	used := memory() - before
	fmt.Printf("subscribers                    %d\n", count)
	fmt.Printf("memory of each                 %.1f KiB\n", float64(used)/float64(count)/1024)
	fmt.Printf("goroutines of each             %.2f\n", float64(runtime.NumGoroutine()-goroutines)/float64(count))
	var delays []time.Duration
	for range blocks {
		began := time.Now()
		chain.Extend(1)
		if !lines.Scan() {
			return fmt.Errorf("the clients ended: %w", lines.Err())
		}
		fields := strings.Fields(lines.Text())
		at, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
		if err != nil {
			return err
		}
		delays = append(delays, time.Unix(0, at).Sub(began))
	}
	slices.Sort(delays)
	fmt.Printf("new head to the last of them   median %v, worst %v\n", delays[len(delays)/2].Round(time.Millisecond), delays[len(delays)-1].Round(time.Millisecond))
	fmt.Printf("notifications a second         %.0f\n", float64(count)/delays[len(delays)/2].Seconds())
	return nil
}

// memory is what is in use after a collection: the heap and stacks.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// answer keeps what a node would write to the network.
type answer struct {
	header http.Header
	body   []byte
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(int)     {}
func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

func fetch(ctx context.Context, node *simnode.Node, method string, params json.RawMessage) (json.RawMessage, int, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	a := &answer{header: http.Header{}}
	node.ServeHTTP(a, r)
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.body, &m); err != nil {
		return nil, 0, err
	}
	if m.Error != nil {
		return nil, m.Error.Code, nil
	}
	return m.Result, 0, nil
}

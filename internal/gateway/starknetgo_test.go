package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	junofelt "github.com/NethermindEth/juno/core/felt"
	goaccount "github.com/NethermindEth/starknet.go/account"
	"github.com/NethermindEth/starknet.go/client"
	"github.com/NethermindEth/starknet.go/rpc"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

// patience is how long a client waits for what must happen.
const patience = 20 * time.Second

func theirs(f felt.Felt) *junofelt.Felt { return new(junofelt.Felt).SetBytes(f[:]) }

func ours(f *junofelt.Felt) felt.Felt { return felt.Felt(f.Bytes()) }

// goClient is starknet.go behind the gateway, and beside it before the node.
type goClient struct {
	*servertest.World
	ctx     context.Context
	url     string
	through map[string]*rpc.Provider // by where the key is
	truth   *rpc.Provider
}

func newGoClient(t *testing.T, version string) *goClient {
	t.Helper()
	w := servertest.NewSpeaking(t, 24, starknet.V010, starknet.V09)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := &goClient{World: w, ctx: ctx, url: w.URL + "/rpc/" + version + "/" + servertest.ChainID, through: map[string]*rpc.Provider{}}
	open := func(url string, options ...client.ClientOption) *rpc.Provider {
		p, err := rpc.NewProvider(ctx, url, options...)
		if version == "v0_9" && err != nil || version != "v0_9" && !errors.Is(err, rpc.ErrIncompatibleVersion) {
			t.Fatalf("%s: %v", version, err)
		}
		return p
	}
	c.through["address"] = open(c.url + "/" + w.Key)
	c.through["header"] = open(c.url, client.WithHeader("X-Service-Api-Key", w.Key))
	var err error
	if c.truth, err = rpc.NewProvider(ctx, w.NodeURLs[starknet.V09]); err != nil { // one of 0.10 refuses calls in its old form
		t.Fatal(err)
	}
	return c
}

// same makes a call through the gateway, which answers as the node does.
func same[T any](c *goClient, name string, call func(p *rpc.Provider) (T, error)) T {
	c.T.Helper()
	want, err := call(c.truth)
	if err != nil {
		c.T.Fatalf("%s: the node: %v", name, err)
	}
	for way, p := range c.through {
		if got, err := call(p); err != nil || jsonOf(c.T, got) != jsonOf(c.T, want) {
			c.T.Errorf("%s, key by %s: %v\n got %.2000s\nwant %.2000s", name, way, err, jsonOf(c.T, got), jsonOf(c.T, want))
		}
	}
	return want
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// refused makes a call that fails with an error of the specification.
func refused[T any](c *goClient, name string, want *rpc.RPCError, call func(p *rpc.Provider) (T, error)) {
	c.T.Helper()
	for way, p := range c.through {
		var got *rpc.RPCError
		if _, err := call(p); !errors.As(err, &got) || got.Code != want.Code || got.Message != want.Message {
			c.T.Errorf("%s, key by %s: %v, want %v", name, way, err, want)
		}
	}
}

// TestStarknetGo runs starknet.go through the gateway: reads, pages of events, a
// transfer and subscriptions, each answer equal to the node's.
func TestStarknetGo(t *testing.T) {
	servertest.Watched(t)
	for version := range spoken {
		t.Run(version, func(t *testing.T) {
			c := newGoClient(t, version)
			sender, receiver := payers(c.World)
			c.reads(sender, receiver)
			c.events()
			c.transfers(sender, receiver)
			if version == "v0_9" { // a notification with a member that is new in 0.10 ends its subscriptions
				c.subscriptions()
			}
		})
	}
}

func (c *goClient) reads(sender, receiver felt.Felt) {
	c.T.Helper()
	ctx, latest := c.ctx, rpc.WithBlockTag(rpc.BlockTagLatest)
	top, _ := c.Chain.Head()
	if id := same(c, "chain", func(p *rpc.Provider) (string, error) { return p.ChainID(ctx) }); id != servertest.ChainID {
		c.T.Errorf("the chain is %s", id)
	}
	if n := same(c, "head", func(p *rpc.Provider) (uint64, error) { return p.BlockNumber(ctx) }); n != top {
		c.T.Errorf("the head is %d, want %d", n, top)
	}
	same(c, "head with hash", func(p *rpc.Provider) (*rpc.BlockHashAndNumberOutput, error) { return p.BlockHashAndNumber(ctx) })
	same(c, "syncing", func(p *rpc.Provider) (rpc.SyncStatus, error) { return p.Syncing(ctx) })
	for _, id := range []rpc.BlockID{latest, rpc.WithBlockNumber(0), rpc.WithBlockNumber(top - 1), rpc.WithBlockHash(theirs(c.Chain.BlockAt(3).Header.Hash))} {
		same(c, "block with hashes", func(p *rpc.Provider) (any, error) { return p.BlockWithTxHashes(ctx, id) })
		same(c, "block with transactions", func(p *rpc.Provider) (any, error) { return p.BlockWithTxs(ctx, id) })
		same(c, "block with receipts", func(p *rpc.Provider) (any, error) { return p.BlockWithReceipts(ctx, id) })
		same(c, "number of transactions", func(p *rpc.Provider) (uint64, error) { return p.BlockTransactionCount(ctx, id) })
		same(c, "state update", func(p *rpc.Provider) (*rpc.StateUpdateOutput, error) { return p.StateUpdate(ctx, id) })
	}
	for _, tx := range c.Chain.BlockAt(top).Transactions {
		hash := theirs(tx.Hash)
		same(c, "transaction", func(p *rpc.Provider) (*rpc.BlockTransaction, error) { return p.TransactionByHash(ctx, hash) })
		same(c, "receipt", func(p *rpc.Provider) (*rpc.TransactionReceiptWithBlockInfo, error) {
			return p.TransactionReceipt(ctx, hash)
		})
		same(c, "status", func(p *rpc.Provider) (*rpc.TxnStatusResult, error) { return p.TransactionStatus(ctx, hash) })
	}
	same(c, "transaction by place", func(p *rpc.Provider) (*rpc.BlockTransaction, error) {
		return p.TransactionByBlockIDAndIndex(ctx, latest, 0)
	})
	nonce := same(c, "nonce", func(p *rpc.Provider) (*junofelt.Felt, error) { return p.Nonce(ctx, latest, theirs(sender)) })
	if want, _ := c.Chain.NonceAt(sender, top); ours(nonce) != felt.FromUint64(want) {
		c.T.Errorf("the nonce is %v, want %d", nonce, want)
	}
	class := same(c, "class hash", func(p *rpc.Provider) (*junofelt.Felt, error) { return p.ClassHashAt(ctx, latest, theirs(sender)) })
	if want, _ := c.Chain.ClassAt(sender, top); want.Hash != ours(class) {
		c.T.Errorf("the class is %v, want %s", class, want.Hash)
	}
	same(c, "class at", func(p *rpc.Provider) (rpc.ClassOutput, error) { return p.ClassAt(ctx, latest, theirs(sender)) })
	same(c, "class", func(p *rpc.Provider) (rpc.ClassOutput, error) { return p.Class(ctx, latest, class) })
	same(c, "storage", func(p *rpc.Provider) (string, error) {
		return p.StorageAt(ctx, theirs(strkToken), "ERC20_total_supply", latest)
	})
	checkBalance(c.World, receiver, top, c.balance(receiver, latest))

	unknown := theirs(felt.FromUint64(0x123))
	refused(c, "unknown transaction", rpc.ErrHashNotFound, func(p *rpc.Provider) (any, error) { return p.TransactionByHash(ctx, unknown) })
	refused(c, "unknown receipt", rpc.ErrHashNotFound, func(p *rpc.Provider) (any, error) { return p.TransactionReceipt(ctx, unknown) })
	refused(c, "unknown block", rpc.ErrBlockNotFound, func(p *rpc.Provider) (any, error) { return p.BlockWithTxs(ctx, rpc.WithBlockNumber(top+1000)) })
	refused(c, "unknown contract", rpc.ErrContractNotFound, func(p *rpc.Provider) (any, error) { return p.ClassHashAt(ctx, latest, unknown) })
	refused(c, "unknown class", rpc.ErrClassHashNotFound, func(p *rpc.Provider) (any, error) { return p.Class(ctx, latest, unknown) })
}

func (c *goClient) balance(holder felt.Felt, at rpc.BlockID) (words []felt.Felt) {
	c.T.Helper()
	call := rpc.FunctionCall{ContractAddress: theirs(strkToken), EntryPointSelector: theirs(felt.Selector("balance_of")), Calldata: []*junofelt.Felt{theirs(holder)}}
	for _, word := range same(c, "balance", func(p *rpc.Provider) ([]*junofelt.Felt, error) { return p.Call(c.ctx, call, at) }) {
		words = append(words, ours(word))
	}
	return words
}

// events reads a list in pages, each with the token of the one before.
func (c *goClient) events() {
	c.T.Helper()
	pages := 0
	all := same(c, "events", func(p *rpc.Provider) (all []rpc.EmittedEvent, err error) {
		input := rpc.EventsInput{
			EventFilter:       rpc.EventFilter{FromBlock: rpc.WithBlockNumber(0), ToBlock: rpc.WithBlockTag(rpc.BlockTagLatest), Address: theirs(strkToken), Keys: transferKey},
			ResultPageRequest: rpc.ResultPageRequest{ChunkSize: 7},
		}
		for pages = 0; pages == 0 || input.ContinuationToken != ""; pages++ {
			page, err := p.Events(c.ctx, input)
			if err != nil {
				return nil, err
			}
			all = append(all, page.Events...)
			input.ContinuationToken = page.ContinuationToken
		}
		return all, nil
	})
	if pages < 4 || len(all) < 22 {
		c.T.Errorf("%d events on %d pages tell nothing of pages", len(all), pages)
	}
}

var transferKey = [][]*junofelt.Felt{{theirs(felt.Selector("Transfer"))}}

// watched is a keystore that sees the hashes which starknet.go computes.
type watched struct {
	*goaccount.MemKeystore
	signed []*big.Int
}

func (k *watched) Sign(ctx context.Context, id string, digest *big.Int) (r, s *big.Int, err error) {
	k.signed = append(k.signed, digest)
	return k.MemKeystore.Sign(ctx, id, digest)
}

func (c *goClient) socket() *rpc.WsProvider {
	c.T.Helper()
	socket, err := rpc.NewWebsocketProvider(c.ctx, strings.Replace(c.url, "http", "ws", 1), client.WithHeader("X-Service-Api-Key", c.Key))
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(socket.Close)
	return socket
}

// transfers sends a transfer, and follows it into a block.
func (c *goClient) transfers(sender, receiver felt.Felt) {
	c.T.Helper()
	t, ctx := c.T, c.ctx
	top, _ := c.Chain.Head()
	keys := &watched{MemKeystore: goaccount.SetNewMemKeystore("0x1", big.NewInt(0x1234567))}
	payer, err := goaccount.NewAccount(c.through["address"], theirs(sender), "0x1", keys, goaccount.CairoV2)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := payer.BuildAndSendInvokeTxn(ctx, []rpc.InvokeFunctionCall{{ContractAddress: theirs(strkToken), FunctionName: "transfer",
		CallData: []*junofelt.Felt{theirs(receiver), theirs(felt.FromUint64(4321)), theirs(felt.Zero)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if computed := new(junofelt.Felt).SetBigInt(keys.signed[len(keys.signed)-1]); !computed.Equal(sent.Hash) {
		t.Errorf("the transfer is %s, starknet.go computes %s", sent.Hash, computed)
	}
	same(c, "status of what waits", func(p *rpc.Provider) (*rpc.TxnStatusResult, error) { return p.TransactionStatus(ctx, sent.Hash) })
	statuses := make(chan *rpc.NewTxnStatus)
	subscription, err := c.socket().SubscribeTransactionStatus(ctx, statuses, sent.Hash)
	if err != nil {
		t.Fatal(err)
	}
	defer subscription.Unsubscribe()
	if s := next(c, subscription, statuses); s.Status.FinalityStatus != rpc.TxnStatusReceived {
		t.Errorf("the status is %s", s.Status.FinalityStatus)
	}
	grow(c.World)
	if s := next(c, subscription, statuses); s.Status.FinalityStatus != rpc.TxnStatusAcceptedOnL2 {
		t.Errorf("the status is %s", s.Status.FinalityStatus)
	}
	receipt, err := payer.WaitForTransactionReceipt(ctx, sent.Hash, time.Millisecond)
	if err != nil || uint64(receipt.BlockNumber) != top+1 || receipt.ExecutionStatus != rpc.TxnExecutionStatusSUCCEEDED {
		t.Fatalf("the receipt of the transfer: %v %v", receipt, err)
	}
	checkTransfer(c.World, ours(sent.Hash), sender, receiver, 4321)
	checkBalance(c.World, receiver, top+1, c.balance(receiver, rpc.WithBlockTag(rpc.BlockTagLatest)))
	same(c, "transfer", func(p *rpc.Provider) (*rpc.BlockTransaction, error) { return p.TransactionByHash(ctx, sent.Hash) })
}

// subscriptions hears of blocks and events that were there before and of new ones, until it has heard enough.
func (c *goClient) subscriptions() {
	c.T.Helper()
	t, ctx, socket := c.T, c.ctx, c.socket()
	top, _ := c.Chain.Head()
	heads, events := make(chan *rpc.BlockHeader), make(chan *rpc.EmittedEventWithFinalityStatus)
	from := top - 1
	ofHeads, err := socket.SubscribeNewHeads(ctx, heads, rpc.SubscriptionBlockID{Number: &from})
	if err != nil {
		t.Fatal(err)
	}
	c.nextHead(ofHeads, heads, top-1)
	c.nextHead(ofHeads, heads, top)
	ofEvents, err := socket.SubscribeEvents(ctx, events, &rpc.EventSubscriptionInput{FromAddress: theirs(strkToken), Keys: transferKey, SubBlockID: rpc.SubscriptionBlockID{Number: &from}})
	if err != nil {
		t.Fatal(err)
	}
	c.nextEvents(ofEvents, events, top-1)
	c.nextEvents(ofEvents, events, top) // the transfer's among them
	grow(c.World)
	c.nextHead(ofHeads, heads, top+1)
	c.nextEvents(ofEvents, events, top+1)
	ofHeads.Unsubscribe()
	grow(c.World)
	c.nextEvents(ofEvents, events, top+2)
	ofEvents.Unsubscribe()
	select {
	case h := <-heads:
		t.Errorf("block %d is told after the subscription has ended", h.Number)
	default:
	}
}

// next waits for a notification.
func next[T any](c *goClient, s *client.ClientSubscription, from <-chan T) (got T) {
	c.T.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	select {
	case got = <-from:
	case err := <-s.Err():
		c.T.Fatalf("the subscription ends: %v", err)
	case <-deadline.C:
		c.T.Fatal("nothing is told")
	}
	return got
}

func (c *goClient) nextHead(s *client.ClientSubscription, heads <-chan *rpc.BlockHeader, number uint64) {
	c.T.Helper()
	got := next(c, s, heads)
	block, err := c.truth.BlockWithTxHashes(c.ctx, rpc.WithBlockNumber(number))
	if err != nil {
		c.T.Fatal(err)
	}
	if want := jsonOf(c.T, block.(*rpc.BlockTxHashes).BlockHeader); jsonOf(c.T, got) != want {
		c.T.Errorf("the head is\n%s, want\n%s", jsonOf(c.T, got), want)
	}
}

func (c *goClient) nextEvents(s *client.ClientSubscription, events <-chan *rpc.EmittedEventWithFinalityStatus, block uint64) {
	c.T.Helper()
	page, err := c.truth.Events(c.ctx, rpc.EventsInput{
		EventFilter:       rpc.EventFilter{FromBlock: rpc.WithBlockNumber(block), ToBlock: rpc.WithBlockNumber(block), Address: theirs(strkToken), Keys: transferKey},
		ResultPageRequest: rpc.ResultPageRequest{ChunkSize: 1000},
	})
	if err != nil || len(page.Events) == 0 {
		c.T.Fatalf("%d events in block %d: %v", len(page.Events), block, err)
	}
	for i := range page.Events {
		got := next(c, s, events)
		if want := jsonOf(c.T, page.Events[i]); jsonOf(c.T, got.EmittedEvent) != want || got.FinalityStatus != rpc.TxnFinalityStatusAcceptedOnL2 {
			c.T.Errorf("the event is %s\n%s, want\n%s", got.FinalityStatus, jsonOf(c.T, got.EmittedEvent), want)
		}
	}
}

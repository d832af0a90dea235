package walk_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/web/walk"
)

// place is a page of the demo. Whoever adds a page adds a line.
type place struct {
	name string
	path func(f *facts) string
	// explorer pages show the chain: they can be shared, read by programs and without
	// scripts, and are small.
	explorer bool
}

// in is a page of the chain itself.
func in(path string) func(*facts) string {
	return func(f *facts) string { return "/" + f.chain + path }
}

func at(path string) func(*facts) string { return func(*facts) string { return path } }

// places are the pages that are walked. Those below {chain} are walked on both chains.
var places = []place{
	{"home", at("/"), true},
	{"a chain", func(f *facts) string { return "/" + f.chain }, true},
	{"blocks", func(f *facts) string { return "/" + f.chain + "/blocks" }, true},
	{"transactions", func(f *facts) string { return "/" + f.chain + "/txs" }, true},
	{"search", at("/search?q=s"), true},
	{"search for nothing", at("/search?q=0xdead00dead"), false},
	{"block", func(f *facts) string { return fmt.Sprintf("/%s/block/%d", f.chain, f.block) }, true},
	{"transaction", func(f *facts) string { return fmt.Sprintf("/%s/tx/%s", f.chain, f.tx) }, true},
	{"reverted transaction", func(f *facts) string { return fmt.Sprintf("/%s/tx/%s", f.chain, f.reverted) }, true},
	{"trace of a transaction", func(f *facts) string { return fmt.Sprintf("/%s/tx/%s/trace", f.chain, f.tx) }, false},
	{"calls of a transaction", func(f *facts) string { return fmt.Sprintf("/%s/tx/%s/calls", f.chain, f.tx) }, true},
	{"transfers of a transaction", func(f *facts) string { return fmt.Sprintf("/%s/tx/%s/transfers", f.chain, f.tx) }, true},
	{"events of a transaction", func(f *facts) string { return fmt.Sprintf("/%s/tx/%s/events", f.chain, f.tx) }, true},
	{"block as JSON", func(f *facts) string { return fmt.Sprintf("/%s/block/%d?as=json", f.chain, f.block) }, false},
	{"messages", in("/messages"), true},
	{"message", func(f *facts) string { return "/" + f.chain + "/message/" + f.message }, true},
	{"privacy pool", in("/privacy-pool"), true},
	{"deposits into the privacy pool", in("/privacy-pool/deposits"), true},
	{"events of the privacy pool", in("/privacy-pool/events"), true},
	{"contract", func(f *facts) string { return "/" + f.chain + "/contract/" + f.token }, true},
	{"reading a contract", func(f *facts) string {
		return "/" + f.chain + "/contract/" + f.token + "/read?function=balance_of&arg0=" + f.sender
	}, false},
	{"events of a contract", func(f *facts) string { return "/" + f.chain + "/contract/" + f.token + "/events?event=Transfer" }, true},
	{"classes of a contract", func(f *facts) string { return "/" + f.chain + "/contract/" + f.token + "/classes" }, true},
	{"classes", in("/classes"), true},
	{"class", func(f *facts) string { return "/" + f.chain + "/class/" + f.class }, true},
	{"events", in("/events?event=Approval"), true},
	{"search for events", in("/events"), false},
	{"address", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender }, true},
	{"balance of an address at a block", func(f *facts) string {
		return fmt.Sprintf("/%s/address/%s?block=%d&token=%s", f.chain, f.sender, f.block, f.token)
	}, true},
	{"holdings", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/holdings" }, true},
	{"activity", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/activity" }, true},
	{"transfers of an address", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/transfers?direction=out" }, true},
	{"transactions of an address", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/transactions" }, true},
	{"deployments of an address", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/deployments" }, true},
	{"approvals of an address", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/approvals" }, true},
	{"balance by a contract", func(f *facts) string { return "/" + f.chain + "/address/" + f.sender + "/balance?token=" + f.token }, false},
	{"tokens", in("/tokens"), false},
	{"token", func(f *facts) string { return "/" + f.chain + "/token/" + f.token }, true},
	{"transfers of a token", func(f *facts) string { return "/" + f.chain + "/token/" + f.token + "/transfers" }, true},
	{"supply of a token", func(f *facts) string { return "/" + f.chain + "/token/" + f.token + "/supply" }, false},
	{"holders of a token", func(f *facts) string { return "/" + f.chain + "/token/" + f.token + "/holders" }, false},
	{"pools of a token", func(f *facts) string { return "/" + f.chain + "/token/" + f.token + "/pools" }, false},
	{"status", at("/status"), false},
	{"guides", at("/docs"), false},
	{"API reference", at("/docs/api"), false},
	{"a family of the reference", at("/docs/reference/messages"), false},
	{"a guide", at("/docs/api/finality"), false},
	{"verification", at("/verification"), false},
	{"look-up of a class", func(f *facts) string { return "/verification?chain=" + f.chain + "&q=" + f.class }, false},
	{"check of a receipt", at("/verify-receipt"), false},
	{"sign-in", at("/login"), false},
	{"nothing", at("/none"), false},
}

// coming are parts of addresses whose pages are linked to and are not there yet.
var coming = []string{}

// facts are what there is to see on a chain of the demo.
type facts struct {
	chain                string
	head                 uint64
	block                uint64 // below the head, with transactions
	blockHash            string
	tx, reverted, sender string
	token, symbol        string
	class, message       string
}

const feeToken = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"

func factsOf(t *testing.T, d *walk.Demo, chain string) *facts {
	t.Helper()
	read := func(path string, into any) {
		t.Helper()
		if err := d.JSON(t.Context(), "/v1/"+chain+path, into); err != nil {
			t.Fatal(err)
		}
	}
	f := &facts{chain: chain, token: feeToken}
	var block struct {
		BlockNumber  uint64
		BlockHash    string
		Transactions []struct{ TxHash, FromAddress string }
	}
	read("/block/latest?tx_limit=1", &block)
	f.head = block.BlockNumber
	for n := f.head - 3; f.tx == ""; n-- {
		read(fmt.Sprintf("/block/%d?tx_limit=1", n), &block)
		if len(block.Transactions) > 0 {
			f.block, f.blockHash, f.tx, f.sender = block.BlockNumber, block.BlockHash, block.Transactions[0].TxHash, block.Transactions[0].FromAddress
		}
	}
	var list struct {
		Items []struct{ TxHash, ExecutionStatus, MessageHash, ClassHash string }
	}
	read("/txs?limit=100", &list)
	for _, i := range list.Items {
		if i.ExecutionStatus == "REVERTED" {
			f.reverted = i.TxHash
		}
	}
	if f.reverted == "" {
		f.reverted = f.tx
	}
	read("/messages?limit=1", &list)
	f.message = list.Items[0].MessageHash
	read("/classes?limit=1", &list)
	f.class = list.Items[0].ClassHash
	var token struct{ Symbol string }
	read("/token/"+feeToken, &token)
	f.symbol = token.Symbol
	return f
}

// search is something to paste, and how the address that it leads to ends.
type search struct{ kind, query, leads string }

func searches(f *facts) []search {
	return []search{
		{"number", strconv.FormatUint(f.block, 10), fmt.Sprintf("/%s/block/%d", f.chain, f.block)},
		{"block", f.blockHash, fmt.Sprintf("/%s/block/%d", f.chain, f.block)},
		{"transaction", f.tx, "/" + f.chain + "/tx/" + f.tx},
		{"address", f.sender, "/" + f.chain + "/address/" + f.sender},
		{"padded address", "0x0" + f.sender[2:], "/" + f.chain + "/address/" + f.sender},
		{"class", f.class, "/" + f.chain + "/class/" + f.class},
		{"symbol", strings.ToLower(f.symbol), "/" + f.chain + "/token/" + f.token},
	}
}

// list is a list that goes on over pages: at least so many rows, on so many pages.
type list struct {
	path         string
	least, pages int
}

func lists(f *facts) []list {
	return []list{
		{fmt.Sprintf("/%s/block/%d", f.chain, f.block), 1, 1},
		{"/" + f.chain + "/contract/" + f.token + "/events", 30, 2},
		{"/" + f.chain + "/blocks", 50, 2},
		{"/" + f.chain + "/txs", 50, 2},
		{"/" + f.chain + "/classes", 20, 1},
		{"/" + f.chain + "/messages", 5, 1},
		{"/" + f.chain + "/address/" + f.sender + "/transfers", 5, 1},
		{"/" + f.chain + "/address/" + f.sender + "/transactions", 5, 1},
		{"/" + f.chain + "/address/" + f.sender + "/activity", 5, 1},
		{"/" + f.chain + "/token/" + feeToken + "/transfers", 100, 2},
		{"/" + f.chain + "/events?contract=" + feeToken, 100, 2},
		{"/" + f.chain + "/privacy-pool/events", 5, 1},
	}
}

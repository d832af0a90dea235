package pages_test

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// TestHoldingsAreTrue compares what pages say that accounts have, at the head and at older
// blocks, with the chain: every token that somebody has is there, and nothing else.
func TestHoldingsAreTrue(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	fungible := map[string]felt.Felt{}
	for _, token := range w.Chain.Tokens(truthBlocks - 1) {
		if token.Standard == simnode.ERC20 && token.Lie == 0 {
			fungible[token.Address.String()] = token.Address
		}
	}
	for _, a := range w.Chain.Accounts(30) {
		for _, block := range []uint64{truthBlocks - 1, 41, 20} {
			shown := map[string]string{}
			for path, pages := fmt.Sprintf("/address/%s/holdings?block=%d", a, block), 0; path != ""; w.onwards(&pages) {
				s := w.reads(path)
				for _, row := range s.rows["tokens"] {
					if _, twice := shown[row["Token"][0]]; twice {
						t.Errorf("%s: %s is there twice", path, row["Token"][0])
					}
					shown[row["Token"][0]] = row["Balance"][0]
				}
				_, path, _ = strings.Cut(s.next, "/"+chainID)
			}
			began := map[string]bool{}
			for _, token := range w.Chain.Tokens(block) {
				began[token.Address.String()] = true
			}
			for text, address := range fungible {
				want := w.Chain.BalanceAt(address, a, block)
				got, there := shown[text]
				switch {
				case there && !began[text]:
					t.Errorf("%s at %d: %s is %q, and came later", a, block, text, got)
				case want.Sign() == 0 && there && got != "unknown", want.Sign() != 0 && !there:
					t.Errorf("%s at %d: %s is %q, want %s", a, block, text, got, want)
				case there && got != "unknown" && got != want.String():
					t.Errorf("%s at %d: %s is %q, want %s", a, block, text, got, want)
				}
			}
			if len(shown) == 0 && block == truthBlocks-1 {
				t.Errorf("%s at %d: nothing is shown", a, block)
			}
		}
	}
}

// TestAddressPage compares the first page of accounts, tokens and of an address that nobody
// used with the API.
func TestAddressPage(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for _, a := range []string{w.busiest(), w.Chain.Tokens(10)[0].Address.String(), "0x5", "0x1234567"} {
		var summary api.AddressSummary
		w.Get("/address/"+a, &summary)
		s := w.reads("/address/" + a)
		s.is(t, "Transactions", *summary.TransactionCount)
		s.is(t, "Token transfers", *summary.TransferCount)
		if summary.FirstActivityBlock == nil {
			if s.texts["First seen"] != "never" || s.texts["Last seen"] != "never" {
				t.Errorf("%s: seen %q and %q", a, s.texts["First seen"], s.texts["Last seen"])
			}
			continue
		}
		s.is(t, "First seen", *summary.FirstActivityBlock)
		if got := s.facts["Last seen"]; len(got) == 0 || got[0] != fmt.Sprint(*summary.LatestActivityBlock) {
			t.Errorf("%s: last seen %q", a, got)
		}
		var activity api.ActivityPage
		w.Get("/address/"+a+"/activity?limit=10", &activity)
		rows := s.rows["activity"]
		if len(rows) != len(activity.Items) {
			t.Fatalf("%s: %d rows of %d", a, len(rows), len(activity.Items))
		}
		for i, x := range activity.Items {
			if !slices.Equal(rows[i]["Transaction"], []string{x.TxHash.String()}) || x.Amount != nil && x.TokenID == nil && !slices.Contains(rows[i]["What"], *x.Amount) || x.Counterparty != nil && !x.Counterparty.IsZero() && !slices.Contains(rows[i]["What"], x.Counterparty.String()) {
				t.Errorf("%s: item %d is %v, want %+v", a, i, rows[i], x)
			}
		}
	}
}

// TestBalanceChart: the numbers behind the chart are the balances after the blocks in which
// they changed.
func TestBalanceChart(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	a := w.busiest()
	var token felt.Felt
	most := 0
	for _, x := range w.Chain.Tokens(truthBlocks - 1) {
		var moved api.TransferPage
		w.Get("/address/"+a+"/transfers?limit=100&token="+x.Address.String(), &moved)
		if x.Standard == simnode.ERC20 && x.Lie == 0 && x.Decimals == 18 && len(moved.Items) > most {
			token, most = x.Address, len(moved.Items)
		}
	}
	for _, block := range []uint64{truthBlocks - 1, 30} {
		page := w.page(fmt.Sprintf("/address/%s?token=%s&block=%d", a, token, block))
		_, table, ok := strings.Cut(page, `id="balance-chart`)
		if !ok {
			t.Fatalf("no chart in %s", clip(page))
		}
		changes := 0
		before := new(big.Int)
		for n := range block + 1 {
			now := w.Chain.BalanceAt(token, felt.MustParse(a), n)
			if now.Cmp(before) == 0 {
				continue
			}
			changes, before = changes+1, now
			if text := plainDecimal(now, 18); !strings.Contains(strings.ReplaceAll(table, ",", ""), text) {
				t.Errorf("the chart up to %d lacks %s of block %d", block, text, n)
			}
		}
		if changes < 3 {
			t.Fatalf("%d changes tell little", changes)
		}
	}
}

func plainDecimal(n *big.Int, places int) string {
	text := n.String()
	for len(text) <= places {
		text = "0" + text
	}
	return strings.TrimSuffix(strings.TrimRight(text[:len(text)-places]+"."+text[len(text)-places:], "0"), ".")
}

// TestAddressLists pages to the end of each list of an address, under filters, and compares
// with the API: no row twice, none missing.
func TestAddressLists(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	a := w.busiest()
	collect := func(path, section, label string) (out []string) {
		t.Helper()
		for pages := 0; path != ""; w.onwards(&pages) {
			s := w.reads(path)
			for _, row := range s.rows[section] {
				out = append(out, strings.Join(row[label], " "))
			}
			_, path, _ = strings.Cut(s.next, "/"+chainID)
		}
		return out
	}
	for _, filter := range []string{"", "direction=in", "direction=out&type=erc20&since=&until=", "type=erc721", "since=2026-01-01&until=2026-01-01"} {
		var want []string
		api := strings.NewReplacer("&since=&until=", "", "since=2026-01-01&until=2026-01-01", "timestampFrom=2026-01-01T00:00:00Z&timestampTo=2026-01-01T23:59:59Z").Replace(filter)
		for _, x := range w.allTransfers("/address/" + a + "/transfers?" + api) {
			want = append(want, x.TxHash.String())
		}
		if got := collect("/address/"+a+"/transfers?"+filter, "transfers", "Transaction"); !slices.Equal(got, want) {
			t.Errorf("%s: %d transfers, want %d", filter, len(got), len(want))
		}
	}
	var summary api.AddressSummary
	w.Get("/address/"+a, &summary)
	txs := collect("/address/"+a+"/transactions", "transactions", "Hash")
	if uint64(len(txs)) != *summary.TransactionCount || len(slices.Compact(slices.Sorted(slices.Values(txs)))) != len(txs) {
		t.Errorf("%d transactions, want %d, each once", len(txs), *summary.TransactionCount)
	}
	if all := collect("/address/"+a+"/activity", "activity", "What"); uint64(len(all)) != *summary.TotalActivityCount {
		t.Errorf("%d items of activity, want %d", len(all), *summary.TotalActivityCount)
	}
	if sent := collect("/address/"+a+"/activity?type=transfer_out", "activity", "What"); len(sent) == 0 || len(sent) >= int(*summary.TransferCount) {
		t.Errorf("%d transfers went, of %d", len(sent), *summary.TransferCount)
	}
}

// TestAddressRefused tells what is wrong, and sends other spellings to the one page.
func TestAddressRefused(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for path, status := range map[string]int{"/address/x": 400, "/address/0x5?block=99999": 404, "/address/0x5?block=x": 400, "/address/0x5?token=x": 400, "/address/0x5/holdings?cursor=x": 400,
		"/address/0x5/transfers?since=yesterday": 400, "/address/0x5/transfers?token=x": 400, "/address/0x5/activity?type=x": 400, "/address/0x5/transactions?type=x": 400, "/address/0x5/balance?token=x": 400} {
		if page := w.look("/"+chainID+path, status); !strings.Contains(page, "/docs/") {
			t.Errorf("%s: no help in %s", path, clip(page))
		}
	}
	r := w.Do(http.MethodGet, "/"+chainID+"/address/0x0005/transfers?direction=in", "")
	if to := r.Header.Get("Location"); r.StatusCode != http.StatusPermanentRedirect || to != "/"+chainID+"/address/0x5/transfers?direction=in" {
		t.Errorf("another spelling: %d to %q", r.StatusCode, to)
	}
}

// TestLiveBalance holds what contracts say against what is indexed.
func TestLiveBalance(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	a, asked := w.busiest(), 0
	for _, token := range w.Chain.Tokens(20)[:4] {
		if token.Standard != simnode.ERC20 || token.Lie != 0 {
			continue
		}
		asked++
		want := w.Chain.BalanceAt(token.Address, felt.MustParse(a), 40).String()
		s := w.reads(fmt.Sprintf("/address/%s/balance?token=%s&block=40", a, token.Address))
		if got := s.facts["The contract says"]; len(got) < 3 || got[0] != want || got[2] != "40" {
			t.Errorf("%s: %q, want %s", token.Address, got, want)
		}
		if text := s.texts["They"]; text != "" && text != "agree" {
			t.Errorf("%s: %q", token.Address, text)
		}
	}
	if asked == 0 {
		t.Error("no token was asked")
	}
	if page := w.page("/address/" + a + "/balance?token=" + a); !strings.Contains(page, `class="notice bad"`) {
		t.Error("an account is asked as a token, and answers")
	}
}

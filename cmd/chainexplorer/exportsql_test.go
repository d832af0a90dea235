package main

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// whole is the number that the sums of an amount's parts make.
func whole(t *testing.T, e52, e26, e0 *string) string {
	t.Helper()
	sum := new(big.Int)
	for _, part := range []*string{e52, e26, e0} {
		n, ok := new(big.Int).SetString(*part, 10)
		if !ok {
			t.Fatalf("a sum is %q", *part)
		}
		sum.Mul(sum, new(big.Int).Exp(big.NewInt(10), big.NewInt(26), nil)).Add(sum, n)
	}
	return sum.String()
}

// checkTotals holds counts and fees against the chain.
func (x *exportWorld) checkTotals(t *testing.T, counts []*string, fees [][]*string) {
	t.Helper()
	var txs, events, messages int
	sums := map[string]*big.Int{"FRI": new(big.Int), "WEI": new(big.Int)}
	for n := range x.head + 1 {
		b := x.chain.BlockAt(n)
		txs += len(b.Transactions)
		for i := range b.Receipts {
			events += len(b.Receipts[i].Events)
			unit := sums[b.Receipts[i].FeeUnit.String()]
			unit.Add(unit, b.Receipts[i].ActualFee.Big())
		}
	}
	messages = len(x.chain.Messages(0, x.head))
	for i, want := range []int{int(x.head) + 1, txs, events, messages, events} {
		if got := *counts[i]; got != strconv.Itoa(want) {
			t.Errorf("count %d is %s, want %d", i, got, want)
		}
	}
	for _, row := range fees {
		want := sums[*row[0]].String()
		if *row[1] != want || whole(t, row[4], row[3], row[2]) != want {
			t.Errorf("fees in %s are %s, want %s", *row[0], *row[1], want)
		}
	}
}

// checkTokens holds transfers and balances against the API, and balances against the chain.
func (x *exportWorld) checkTokens(t *testing.T, transfers, balances [][]*string) {
	t.Helper()
	counts, held := map[string]string{}, map[[2]string]string{}
	for _, row := range transfers {
		counts[*row[0]] = *row[1]
		if row[5] != nil && whole(t, row[2], row[3], row[4]) != *row[5] {
			t.Errorf("the parts of what %s moved do not make %s", *row[0], *row[5])
		}
	}
	for _, row := range balances {
		sum := *row[3]
		if whole(t, row[5], row[6], row[7]) != sum {
			t.Errorf("the parts of a balance do not make %s", sum)
		}
		if *row[2] == "erc721" {
			sum = *row[4]
		}
		held[[2]string{*row[0], *row[1]}] = sum
	}
	indexed := 0
	for _, p := range x.pairs {
		answer := x.answers["token/"+p[0]+"/balance-of/"+p[1]]
		if told, ok := answer["indexedBalance"].(map[string]any); ok {
			indexed++
			if held[p] != told["balanceRaw"] {
				t.Errorf("transfers tell that %v has %s, the API says %v", p, held[p], told)
			}
		}
		if held[p] != answer["balanceRaw"] {
			t.Errorf("%v has %s, the API says %v", p, held[p], answer)
		}
		token := x.answers["token/"+p[0]]
		if count := fmt.Sprint(token["transferCount"]); counts[p[0]] != count {
			t.Errorf("%s has %s transfers, the API says %s", p[0], counts[p[0]], count)
		}
	}
	if indexed < 10 {
		t.Errorf("%d of %d balances are too few to tell anything", indexed, len(x.pairs))
	}
}

// checkSamples holds rows against answers of the API.
func (x *exportWorld) checkSamples(t *testing.T, blocks, transactions, events [][]*string) {
	t.Helper()
	rows := map[string][]*string{}
	for _, row := range slices.Concat(blocks, transactions) {
		rows[*row[0]] = row[1:]
	}
	logs := map[string]string{} // of transactions that have some
	for _, row := range events {
		logs[*row[0]] = *row[1]
	}
	join := func(list any, by string) string {
		var out []string
		for _, v := range list.([]any) {
			out = append(out, v.(string))
		}
		return strings.Join(out, by)
	}
	sampled := 0
	for path, a := range x.answers {
		var want []any
		kind, name, _ := strings.Cut(path, "/")
		switch kind {
		case "block":
			at, err := time.Parse(time.RFC3339, a["timestampIso"].(string))
			if err != nil {
				t.Fatal(err)
			}
			want = []any{a["blockHash"], a["parentHash"], a["stateRoot"], fmt.Sprint(a["txCount"]), fmt.Sprint(a["eventCount"]), strconv.FormatInt(at.Unix(), 10),
				a["l2GasPrice"].(map[string]any)["priceInFri"]}
		case "tx":
			receipt := a["receipt"].(map[string]any)
			fee, _ := new(big.Int).SetString(strings.TrimPrefix(receipt["actualFeeAmount"].(string), "0x"), 16)
			want = []any{a["txType"], a["executionStatus"], a["nonce"], a["fromAddress"], a["toAddress"], fee.String(), receipt["actualFeeUnit"], join(a["calldata"], " ")}
			var list []string
			for _, l := range a["logs"].([]any) {
				l := l.(map[string]any)
				list = append(list, fmt.Sprintf("%s %s %s", l["address"], join(l["keys"], ","), join(l["data"], ",")))
			}
			if got := logs[name]; got != strings.Join(list, ";") {
				t.Errorf("the events of %s are %q", name, got)
			}
		default:
			continue
		}
		sampled++
		row := rows[name]
		if len(row) != len(want) {
			t.Fatalf("%s has no row", path)
		}
		for i := range want {
			if text(row[i]) != want[i] {
				t.Errorf("column %d of %s is %v, the API says %v", i, path, text(row[i]), want[i])
			}
		}
	}
	if sampled != 6 {
		t.Errorf("%d samples", sampled)
	}
}

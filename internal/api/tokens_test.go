package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

// TestTransfersAgainstTruth compares random filters with the chain, before and
// after forks.
func TestTransfersAgainstTruth(t *testing.T) {
	skipRaced(t)
	w := newWorld(t, 80)
	rng := rand.New(rand.NewPCG(7, 7))
	found := 0
	for round := range 3 {
		all := w.moves()
		for range 25 {
			found += w.compareTransfers(rng, all)
		}
		w.Chain.Fork(8 + 20*round)
		w.Chain.Extend(3)
		w.CatchUp()
	}
	if found < 2000 {
		t.Errorf("only %d transfers were compared", found)
	}
}

// typeNames are all names of a type.
var typeNames = map[simnode.Standard][]string{
	simnode.ERC20: {"erc20", "fungible", "ft", "ERC20"}, simnode.ERC721: {"erc721", "nft"}, simnode.ERC1155: {"erc1155", "multitoken"},
}

// compareTransfers makes one random request that is sure to be legal.
func (w *world) compareTransfers(rng *rand.Rand, all []moved) int {
	w.T.Helper()
	q := url.Values{}
	keep := []func(m *moved) bool{}
	filter := func(f func(m *moved) bool) { keep = append(keep, f) }
	pick := func() *moved { return &all[rng.IntN(len(all))] }
	if rng.IntN(3) > 0 {
		var list []felt.Felt
		for range 1 + rng.IntN(3) {
			list = append(list, pick().to, pick().from)
		}
		for _, a := range list {
			q.Add("address", spell(rng, a))
		}
		direction := []string{"", "any", "in", "out"}[rng.IntN(4)]
		if direction != "" {
			q.Set("direction", direction)
		}
		filter(func(m *moved) bool {
			return direction != "in" && slices.Contains(list, m.from) || direction != "out" && slices.Contains(list, m.to)
		})
	}
	if rng.IntN(3) == 0 {
		var list []felt.Felt
		for range 1 + rng.IntN(4) {
			list = append(list, pick().token.Address)
			q.Add("token", spell(rng, list[len(list)-1]))
		}
		filter(func(m *moved) bool { return slices.Contains(list, m.token.Address) })
	}
	if rng.IntN(3) == 0 {
		kind := pick().token.Standard
		q.Set("type", typeNames[kind][rng.IntN(len(typeNames[kind]))])
		filter(func(m *moved) bool { return m.token.Standard == kind })
	}
	if rng.IntN(4) == 0 {
		_, symbol, _ := w.wantNames(pick().token)
		if symbol == nil || symbol == "" {
			symbol = "no such symbol"
		}
		q.Set("symbol", strings.ToUpper(symbol.(string)))
		filter(func(m *moved) bool {
			_, s, _ := w.wantNames(m.token)
			return s != nil && strings.EqualFold(s.(string), symbol.(string))
		})
	}
	if rng.IntN(4) == 0 {
		since := pick().block.Timestamp + uint64(rng.IntN(3)) - 1
		// Half a second before it is no second of a block.
		q.Set("timestampFrom", []string{fmt.Sprint(since), iso(since), strings.TrimSuffix(iso(since-1), "Z") + ".5Z"}[rng.IntN(3)])
		filter(func(m *moved) bool { return m.block.Timestamp >= since })
	}
	if rng.IntN(4) == 0 {
		m := pick()
		kind := m.block.Transactions[m.tx].Type
		q.Set("invocationType", strings.ToLower(kind.String()))
		if kind.String() == "INVOKE" && rng.IntN(2) == 0 {
			q.Set("invocationType", "execute")
		}
		filter(func(m *moved) bool { return m.block.Transactions[m.tx].Type == kind })
	}
	if rng.IntN(3) == 0 {
		from, to := pick().block.Number, pick().block.Number
		from, to = min(from, to), max(from, to)
		q.Set("from_block", fmt.Sprint(from))
		q.Set("to_block", fmt.Sprint(to))
		filter(func(m *moved) bool { return m.block.Number >= from && m.block.Number <= to })
	}
	want := []object{}
	for i := range all {
		if !slices.ContainsFunc(keep, func(f func(*moved) bool) bool { return !f(&all[i]) }) {
			want = append(want, w.wantTransfer(&all[i], true))
		}
	}
	got := w.transferPages(q, 20+rng.IntN(100))
	body, err := json.Marshal(got)
	if err != nil {
		w.T.Fatal(err)
	}
	if got == nil {
		body = []byte("[]")
	}
	if d := difference(want, body); d != "" {
		w.T.Fatalf("transfers?%s: %s", q.Encode(), d)
	}
	return len(want)
}

// TestTransferRequests: what is refused, and why.
func TestTransferRequests(t *testing.T) {
	w := newWorld(t, 30)
	strk := w.Chain.Tokens(0)[0].Address.String()
	many := url.Values{}
	for i := range 129 {
		many.Add("token", fmt.Sprintf("0x%x", i+1))
	}
	var p page
	w.Get("/transfers?limit=2", &p)
	cursor := *p.NextCursor
	for _, c := range []struct {
		path string
		code kernel.Code
		says string
	}{
		{"/transfers?direction=in", kernel.CodeInvalidRequest, "needs an address"},
		{"/transfers?direction=up&address=0x1", kernel.CodeInvalidRequest, "direction"},
		{"/transfers?type=erc777", kernel.CodeInvalidRequest, "erc777"},
		{"/transfers?invocationType=magic", kernel.CodeInvalidRequest, "magic"},
		{"/transfers?timestampFrom=yesterday", kernel.CodeInvalidRequest, "timestampFrom"},
		{"/transfers?timestampTo=tomorrow", kernel.CodeInvalidRequest, "timestampTo"},
		{"/transfers?timestampFrom=1767225601&timestampTo=2026-01-01T00:00:00Z", kernel.CodeInvalidRequest, "query.timestampFrom: it is after timestampTo."},
		{"/address/0x1/transfers?timestampFrom=2026-01-01T00:00:00.5Z&timestampTo=2026-01-01T00:00:00Z", kernel.CodeInvalidRequest, "query.timestampFrom: it is after timestampTo."},
		{"/transfers?from_block=9&to_block=8", kernel.CodeInvalidRequest, "above"},
		{"/transfers?from_block=-1", kernel.CodeInvalidRequest, "from_block"},
		{"/transfers?limit=ten", kernel.CodeInvalidRequest, "limit"},
		{"/transfers?address=STRK", kernel.CodeInvalidRequest, "address"},
		{"/transfers?" + many.Encode(), kernel.CodeInvalidRequest, "128"},
		{"/transfers?cursor=abc", kernel.CodeInvalidCursor, ""},
		{"/transfers?type=erc20&cursor=" + cursor, kernel.CodeInvalidCursor, ""},
		{"/token/" + strk + "/transfers?cursor=" + cursor, kernel.CodeInvalidCursor, ""},
		{"/token/STRK", kernel.CodeInvalidRequest, "token"},
		{"/token/STRK/transfers", kernel.CodeInvalidRequest, "token"},
		{"/token/0x1", kernel.CodeNotFound, ""},
	} {
		r := w.Do(http.MethodGet, "/v1/"+chainID+c.path, w.Key)
		if e := r.Envelope(); e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %d %s", c.path, r.StatusCode, r.Body)
		}
	}
	for _, path := range []string{"/token/0x1/transfers", "/transfers?symbol=nobody", "/transfers?timestampFrom=2030-01-01T00:00:00Z", "/transfers?symbol=STRK&token=0x1", "/transfers?type=unknown&token=" + strk} {
		w.Get(path, &p)
		if len(p.Items) > 0 {
			t.Errorf("%s has %d items", path, len(p.Items))
		}
	}
	w.Chain.Fork(29)
	w.Chain.Extend(1)
	w.CatchUp()
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/transfers?limit=2&cursor="+cursor, w.Key); r.Envelope().Code != kernel.CodeInvalidCursor {
		t.Errorf("a cursor into a block that is gone: %d %s", r.StatusCode, r.Body)
	}
}

// TestSummaryStates walks through the states of a summary.
func TestSummaryStates(t *testing.T) {
	w := newWorld(t, 20)
	usdc := w.Chain.Tokens(0)[2].Address
	get := func() (s api.TokenSummary) {
		w.Get("/token/"+usdc.String(), &s)
		return s
	}
	set := func(address felt.Felt, m *token.Metadata) {
		t.Helper()
		lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b := &store.Batch{Epoch: lease.Epoch}
		if b.Delete(token.MetadataKey(address)); m != nil {
			b.Put(token.MetadataKey(address), m.Encode())
		}
		if err := w.Engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := w.Engine.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	known := func() (m *token.Metadata) {
		t.Helper()
		err := w.Engine.View(t.Context(), func(r store.Reader) error {
			list, err := token.MetadataOf(context.Background(), r, []felt.Felt{usdc})
			m = list[0]
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := known()
	if s := get(); s.SummaryCacheStatus != "current" || s.TotalSupplyRaw == nil || *s.Symbol != "USDC" || *s.TransferCount == 0 {
		t.Errorf("a token that was asked: %+v", s)
	}
	set(usdc, nil)
	if s := get(); s.SummaryCacheStatus != "computed" || s.TotalSupplyRaw != nil || s.Symbol != nil || s.Decimals != nil || *s.TransferCount == 0 || s.Standard != "erc20" {
		t.Errorf("a token that was not asked yet: %+v", s)
	}
	set(usdc, &token.Metadata{Failures: 3})
	if s := get(); s.SummaryCacheStatus != "computed" || s.MetadataUpdatedAtISO != nil {
		t.Errorf("a token that does not answer: %+v", s)
	}
	orphaned := *m
	orphaned.BlockHash = felt.FromUint64(1)
	set(usdc, &orphaned)
	if s := get(); s.SummaryCacheStatus != "stale" || s.TotalSupplyRaw != nil || s.TotalSupplyBlockNumber != nil || *s.Symbol != "USDC" || *s.TransferCount == 0 {
		t.Errorf("a token that was asked at a block that is gone: %+v", s)
	}
	early := *m // before the last mint or burn
	early.Block, early.BlockHash = 2, w.Chain.BlockAt(2).Hash
	if w.Chain.SupplyAt(usdc, 2).Cmp(w.Chain.SupplyAt(usdc, 19)) == 0 {
		t.Fatal("the supply did not move")
	}
	set(usdc, &early)
	if s := get(); s.SummaryCacheStatus != "stale" || s.TotalSupplyRaw == nil || *s.TotalSupplyBlockNumber != 2 {
		t.Errorf("a token whose supply moved since it was asked: %+v", s)
	}
	quiet := felt.FromUint64(0x777)
	set(quiet, m)
	var s api.TokenSummary
	w.Get("/token/"+quiet.String(), &s)
	if s.SummaryCacheStatus != "metadata_only" || s.TransferCount != nil || s.DistinctFromCount != nil || s.DistinctToCount != nil || s.LatestTransferBlock != nil ||
		s.SummaryCacheUpdatedAtISO != nil || s.TotalSupplyRaw == nil {
		t.Errorf("a token without transfers: %+v", s)
	}
	set(quiet, &token.Metadata{Known: true, Block: m.Block, BlockHash: m.BlockHash})
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+quiet.String(), w.Key); r.StatusCode != http.StatusNotFound {
		t.Errorf("a contract that knows nothing of tokens: %d %s", r.StatusCode, r.Body)
	}
}

// TestNodeTakenAway: nothing of this asks a node.
func TestNodeTakenAway(t *testing.T) {
	w := newWorld(t, 20)
	w.Source.Pool.Close()
	var s api.TokenSummary
	w.Get("/token/"+w.Chain.Tokens(0)[0].Address.String(), &s)
	supply, ok := new(big.Int).SetString(*s.TotalSupplyRaw, 10)
	if !ok || supply.Cmp(w.Chain.SupplyAt(s.TokenAddress, *s.TotalSupplyBlockNumber)) != 0 {
		t.Errorf("supply is %s", *s.TotalSupplyRaw)
	}
	var p page
	w.Get("/transfers?symbol=strk&limit=5", &p)
	if len(p.Items) != 5 {
		t.Errorf("%d transfers", len(p.Items))
	}
}

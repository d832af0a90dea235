// Command client calls the API through a client that was generated from its document.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"client/explorer"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	key := func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-Service-Api-Key", os.Getenv("SERVICE_API_KEY"))
		return nil
	}
	c, err := explorer.NewClientWithResponses(os.Getenv("SERVICE_BASE_URL"), explorer.WithRequestEditorFn(key))
	if err != nil {
		return err
	}
	chain, token := os.Getenv("SERVICE_CHAIN"), os.Getenv("TOKEN")

	status, err := c.GetStatusWithResponse(ctx, explorer.GetStatusParamsChain(chain))
	if err != nil || status.JSON200 == nil {
		return fmt.Errorf("status: %v: %v", err, status)
	}
	head := *status.JSON200.LatestIndexedBlockNumber
	limit := 2
	block, err := c.GetBlockWithResponse(ctx, explorer.GetBlockParamsChain(chain), fmt.Sprint(head), &explorer.GetBlockParams{TxLimit: &limit})
	if err != nil || block.JSON200 == nil {
		return fmt.Errorf("block: %v: %v", err, block)
	}
	var hashes []string
	for _, tx := range block.JSON200.Transactions {
		hashes = append(hashes, tx.TxHash)
	}
	tx, err := c.GetTransactionWithResponse(ctx, explorer.GetTransactionParamsChain(chain), hashes[0], nil)
	if err != nil || tx.JSON200 == nil {
		return fmt.Errorf("tx: %v: %v", err, tx)
	}
	first := tx.JSON200.Logs[0]

	search := explorer.SearchEventsParams{Address: &[]string{token, first.Address}, Topic0: &[]string{*first.Topic0}, Limit: &limit}
	events := []any{}
	for range 2 {
		page, err := c.SearchEventsWithResponse(ctx, explorer.SearchEventsParamsChain(chain), &search)
		if err != nil || page.JSON200 == nil {
			return fmt.Errorf("events: %v: %v", err, page)
		}
		for _, e := range page.JSON200.Items {
			events = append(events, []any{e.TxHash, e.LogIndex, e.EventName})
		}
		search.Cursor = page.JSON200.NextCursor
	}
	summary, err := c.GetTokenWithResponse(ctx, explorer.GetTokenParamsChain(chain), token)
	if err != nil || summary.JSON200 == nil {
		return fmt.Errorf("token: %v: %v", err, summary)
	}
	none, err := c.GetTransactionWithResponse(ctx, explorer.GetTransactionParamsChain(chain), "0x1", nil)
	if err != nil || none.JSON404 == nil {
		return fmt.Errorf("unknown tx: %v: %v", err, none)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"chain": status.JSON200.ChainId, "head": head, "lastFork": status.JSON200.LastFork,
		"blockHash": block.JSON200.BlockHash, "time": block.JSON200.TimestampIso.Unix(), "transactions": hashes,
		"fee": tx.JSON200.Receipt.ActualFeeAmount, "type": tx.JSON200.TxType, "logs": tx.JSON200.LogCount,
		"events": events,
		"token":  summary.JSON200.TokenAddress, "newest": summary.JSON200.LatestTransferBlock, "transfers": summary.JSON200.TransferCount,
		"unknown": none.JSON404.Code,
	})
}

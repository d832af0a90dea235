package client_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"chainexplorer/client"
)

// The newest block, and what is in it.
func ExampleChain_GetBlock() {
	chain, err := client.FromEnv() // SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_CHAIN
	if err != nil {
		log.Fatal(err)
	}
	block, err := chain.GetBlock(context.Background(), "latest", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(block.BlockNumber, block.TxCount == int64(len(block.Transactions)))
	// Output: 44 true
}

// All transfers of a token, page by page.
func ExampleChain_SearchEventsAll() {
	chain, err := client.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	query := &client.SearchEventsQuery{
		Address: []string{"0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"},
		Topic0:  []string{"0x99cd8bde557814842a3121e8ddfd433a539b8c9f14bf31ebf108d12e6196e9"}, // Transfer
		Limit:   100,
	}
	names := map[string]bool{}
	for event, err := range chain.SearchEventsAll(context.Background(), query) {
		if err != nil {
			log.Fatal(err)
		}
		names[*event.EventName] = true
	}
	fmt.Println(names)
	// Output: map[Transfer:true]
}

// Failures have codes to branch on.
func ExampleError() {
	chain, err := client.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	_, err = chain.GetTransaction(context.Background(), "0x1234", nil)
	switch client.Code(err) {
	case "not_found":
		fmt.Println("no such transaction")
	case "unauthorized":
		fmt.Println("the key is not one")
	default:
		fmt.Println(err)
	}
	// Output: no such transaction
}

// New blocks as they come, and what forks took back.
func ExampleChain_FollowBlocks() {
	chain, err := client.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	from := int64(40)
	for change, err := range chain.FollowBlocks(context.Background(), client.FollowOptions{From: &from}) {
		if err != nil {
			log.Fatal(err)
		}
		if change.Undone {
			fmt.Println("forget everything after block", change.Upto.Number)
			continue
		}
		for _, block := range change.Items {
			fmt.Println(block.BlockNumber, strings.HasPrefix(block.BlockHash, "0x"))
		}
		break
	}
	// Output:
	// 40 true
	// 41 true
	// 42 true
	// 43 true
	// 44 true
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chainexplorer/client"
	"chainexplorer/internal/get"
	"chainexplorer/internal/mcp"
)

// mcpCommand offers a service to an agent on the same machine.
type mcpCommand struct {
	get.Service
}

// Help is shown by mcp --help.
func (mcpCommand) Help() string {
	return "An agent starts this command and talks to it by its standard input and output. It asks the service with SERVICE_API_KEY, and has only tools that read."
}

// Run answers until the agent hangs up.
func (c *mcpCommand) Run(ctx context.Context) error {
	service, err := c.Client()
	if err != nil {
		return err
	}
	server := mcp.NewServer(mcp.Options{Version: version(), Default: c.Chain}, func(ctx context.Context, o *client.Operation, values url.Values) (json.RawMessage, error) {
		return service.Call(ctx, o, values)
	})
	err = server.Run(ctx, &sdk.StdioTransport{})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil // as it is meant to end
	}
	if err != nil {
		return fmt.Errorf("talk to the agent: %w", err)
	}
	return nil
}

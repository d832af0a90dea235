// Package api is the REST routes of the chains: for each family its inputs, its rows
// and its handlers, which parse, ask one query of internal/explorer, and render.
//
// routes.go lists the families; New registers them with a kernel, which does all
// that routes have in common. An indexed route opens one view of the store. A live
// one asks a node besides, pinned to one block, within a number of places of its own.
package api

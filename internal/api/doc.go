// Package api is the HTTP kernel and the handlers of the REST API.
//
// One table of routes (routes.go lists it, route.go says what an entry is)
// yields routing, authentication, limits, the OpenAPI document and the
// reference pages. A request passes, in this order:
//
//	request id → recover → route → CORS → authenticate → authorise → limit →
//	cached answer? → parse and validate → handle → encode
//
// Every answer has a request id; every failure is the envelope of errors.go.
// Handlers hold no chain logic: they parse, call one query of
// internal/explorer, and render.
//
// Costs: a request reads its key from memory, takes one mutex for its rate
// limit, opens one view of the store, and buffers its answer once. Answers that
// can never change (finalized blocks and transactions) are kept, encoded and
// bounded by bytes, so that a repeated read costs neither store nor encoder.
package api

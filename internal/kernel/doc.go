// Package kernel is what every HTTP surface of the service stands on.
//
// One table of routes (route.go says what an entry is) yields routing,
// authentication, limits, the OpenAPI document and the reference pages. A request
// passes, in this order:
//
//	request id → recover → route → CORS → authenticate → authorise → limit →
//	cached answer? → parse and validate → handle → encode
//
// Every answer has a request id; every failure is the envelope of errors.go. What is
// registered beside the table, such as pages, passes the lanes of lanes.go.
//
// Costs: a request reads its key from memory, takes one mutex for its rate
// limit, and buffers its answer once. Answers that can never change (finalized
// blocks and transactions) are kept, encoded and bounded by bytes, so that a
// repeated read costs neither store nor encoder.
package kernel

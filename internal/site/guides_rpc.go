package site

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/web"
)

// rpcGuide is the reference of the JSON-RPC gateway, made from its table.
func (s *Site) rpcGuide(at setting) []web.Section {
	out := []web.Section{
		{ID: "endpoints", Title: "Endpoints", Blocks: s.rpcEndpoints(at)},
		{ID: "classes", Title: "Classes", Blocks: []web.Block{
			docText("Every call draws on a budget as many requests as it costs, and `X-Service-Rpc-Class` of a single call names its class. A batch pays for every call in it."),
			docTable([]string{"Class", "Scopes", "Budget", "Methods"}, rpcClasses()...),
		}},
		{ID: "refusals", Title: "Errors of the gateway", Blocks: []web.Block{
			docText("`error.data` has `code`, `requestId`, `service` and `httpStatus`, and `retryAfterSeconds` where waiting helps. In a batch HTTP says 200; `httpStatus` is what the call would have been answered with alone."),
			docTable([]string{"error.code", "error.data.code", "HTTP", "Cause", "What to do"}, rpcRefusals()...),
		}},
		{ID: "node-errors", Title: "Errors of the specification", Blocks: []web.Block{
			docText("They are passed on as a node gave them, with status 200. Branch on the code: texts differ between nodes."),
			docTable([]string{"error.code", "Name", "Meaning", "error.data"}, rpcNodeErrors()...),
		}},
	}
	for _, m := range method.All() {
		out = append(out, s.rpcMethod(at, m))
	}
	return out
}

func (s *Site) rpcEndpoints(at setting) []web.Block {
	serving := "This deployment does not serve them."
	switch {
	case s.routes.RPC.WebSocket:
		serving = "This deployment serves them all."
	case s.routes.RPC.Enabled:
		serving = "This deployment serves them without the WebSocket."
	}
	newest := method.Versions()[0]
	return []web.Block{
		docText("The methods of Starknet's JSON-RPC specification, from our index where it holds the exact answer and from nodes where not. %s The [guide](/docs/guide/rpc) has the rules; `%s` answers with an OpenRPC document.", serving, method.Discover),
		docTable([]string{"Address", "For"},
			[]string{"`POST " + at.origin + at.chainPath("/rpc") + "`", "Calls and batches, in version " + newest.String() + ". The key is in the header `" + kernel.HeaderKey + "`."},
			[]string{"`POST " + at.origin + "/rpc/" + method.PathVersion(newest) + "/" + escape(at.examples.Chain) + "`", "The same in one version: " + rpcVersions() + "."},
			[]string{"`.../<key>`", "Either address with the key behind it, for clients that cannot send headers. Such an address is a secret."},
			[]string{"`" + at.chainPath("/rpc/ws") + "`", "WebSocket: subscriptions, and ordinary calls."}),
	}
}

func rpcVersions() string {
	var names []string
	for _, v := range method.Versions() {
		names = append(names, "`"+method.PathVersion(v)+"`")
	}
	return strings.Join(names, ", ")
}

func rpcClasses() (rows [][]string) {
	at := map[method.Class]int{}
	for _, m := range method.All() {
		link := "[" + m.Name + "](#" + m.Name + ")"
		if i, seen := at[m.Class]; seen {
			rows[i][3] += ", " + link
			continue
		}
		at[m.Class] = len(rows)
		rows = append(rows, []string{"`" + string(m.Class) + "`", codeList(m.Scopes()), "`" + m.Class.Budget() + "`", link})
	}
	return rows
}

func rpcRefusals() (rows [][]string) {
	for _, r := range method.Refusals() {
		rows = append(rows, []string{"`" + strconv.Itoa(r.Code) + "`", "`" + r.Name + "`", strconv.Itoa(r.Status), r.Cause, r.Cure})
	}
	return rows
}

func rpcNodeErrors() (rows [][]string) {
	for _, e := range method.NodeErrors() {
		meaning := e.Meaning
		if e.Since > 0 {
			meaning += " Since " + e.Since.String() + "."
		}
		rows = append(rows, []string{"`" + strconv.Itoa(e.Code) + "`", e.Name, meaning, e.Data})
	}
	return rows
}

// rpcMethod is the section of one method.
func (s *Site) rpcMethod(at setting, m *method.Method) web.Section {
	cost := "1 request"
	if m.Cost > 1 {
		cost = fmt.Sprintf("%d requests", m.Cost)
	}
	facts := []string{
		fmt.Sprintf("Class `%s`; scopes %s; costs %s of the budget `%s`.", m.Class, codeList(m.Scopes()), cost, m.Class.Budget()),
		fmt.Sprintf("An answer has up to %s bytes; a larger one is refused as `%s`. Kept: %s.", web.Group(uint64(m.MaxAnswer)), m.TooLarge, rpcKept(m.Keep)),
	}
	switch {
	case m.Since > 0:
		facts = append(facts, "Since version "+m.Since.String()+".")
	case m.Until > 0:
		facts = append(facts, "Up to version "+m.Until.String()+".")
	}
	if m.Push != "" {
		facts = append(facts, fmt.Sprintf("Over WebSocket. Answers with an id, and sends `%s` with %s, and `%s` when blocks are gone.", m.Push, rpcType(m.Pushed), method.Reorg))
	}
	out := web.Section{ID: m.Name, Title: m.Name, Blocks: []web.Block{docText("%s", m.Summary), docList(facts...)}}
	if len(m.Params) > 0 {
		var rows [][]string
		for _, p := range m.Params {
			needed := "no"
			if p.Required {
				needed = "yes"
			}
			meaning := p.Summary
			if p.Since > 0 {
				meaning += " Since " + p.Since.String() + "."
			}
			rows = append(rows, []string{"`" + p.Name + "`", rpcType(p.Schema), needed, meaning})
		}
		out.Blocks = append(out.Blocks, docTable([]string{"Parameter", "Type", "Required", "Meaning"}, rows...))
	}
	result := "Answer: " + rpcType(m.Result) + "."
	if len(m.Errors) > 0 {
		var names []string
		for _, code := range m.Errors {
			e, _ := method.ErrorOf(code)
			names = append(names, fmt.Sprintf("%d %s", code, e.Name))
		}
		result += " Errors: " + strings.Join(names, ", ") + "."
	}
	return web.Section{ID: out.ID, Title: out.Title, Blocks: append(out.Blocks, docText("%s", result), s.rpcExample(at, m))}
}

// rpcKept says for how long an answer is true.
func rpcKept(k method.Keep) string {
	switch k {
	case method.Always:
		return "always"
	case method.OfBlock:
		return "once the block is final"
	case method.OfBlockStatus:
		return "once the block is accepted on L1"
	case method.OfTransaction:
		return "once the block of the transaction is final"
	case method.OfTransactionStatus:
		return "once the transaction is accepted on L1"
	case method.OfClass:
		return "once the class was found"
	}
	return "never"
}

// rpcType is a schema in a word or two; the OpenRPC document has the rest.
func rpcType(sc *method.Schema) string {
	switch {
	case sc.Ref != "":
		return "`" + sc.RefName() + "`"
	case sc.Type == "array" && sc.Items != nil:
		return "list of " + rpcType(sc.Items)
	}
	return sc.Type
}

// rpcExample is a call that works as pasted: over HTTP as a command where the gateway
// is served, otherwise the message alone. Signed transactions are the reader's own.
func (s *Site) rpcExample(at setting, m *method.Method) web.Block {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + m.Name + `","params":` + rpcParams(at, m) + `}`
	if m.Stream() || m.Class == method.Write || !s.routes.RPC.Enabled {
		return docSample(body)
	}
	return at.request(curl(at.origin, at.chainPath("/rpc"))+` -H "Content-Type: application/json" -d '`+body+`'`, http.StatusOK)
}

// rpcParams are parameters by name, from what is known to be on the chain.
func rpcParams(at setting, m *method.Method) string {
	block := `{"block_number":` + at.examples.Block + `}`
	values := map[string]string{
		"block_id": block, "transaction_hash": `"` + at.examples.Tx + `"`, "contract_address": `"` + api.FeeToken + `"`, "class_hash": `"` + at.examples.Class + `"`,
		"key": `"0x1"`, "index": "0", "request": `{"contract_address":"` + api.FeeToken + `","entry_point_selector":"` + decimalsSelector + `","calldata":[]}`,
		"filter":       `{"from_block":` + block + `,"to_block":` + block + `,"chunk_size":5}`,
		"transactions": "[]", "simulation_flags": "[]", "subscription_id": `"..."`,
		"message":            `{"from_address":"0x` + strings.Repeat("0", 39) + `1","to_address":"` + api.FeeToken + `","entry_point_selector":"` + decimalsSelector + `","payload":[]}`,
		"invoke_transaction": `{"type":"INVOKE","version":"0x3", ...}`, "declare_transaction": `{"type":"DECLARE","version":"0x3", ...}`,
		"deploy_account_transaction": `{"type":"DEPLOY_ACCOUNT","version":"0x3", ...}`,
	}
	switch m.Name {
	case "starknet_estimateFee":
		values["request"] = "[]"
	case "starknet_getMessagesStatus":
		values["transaction_hash"] = `"0x1"` // of L1; nobody sent it
	case "starknet_getStorageProof":
		values["block_id"] = `"latest"` // nodes keep no older tries
	}
	var parts []string
	for _, p := range m.ParamsIn(starknet.V010) {
		if p.Required {
			parts = append(parts, `"`+p.Name+`":`+values[p.Name])
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// rpcLimits are the rows of the limits that hold for the gateway.
func rpcLimits() [][]string {
	n := func(v int64) string { return web.Group(uint64(v)) }
	return [][]string{
		{"Calls of a batch", n(wire.MaxBatch), "`" + wire.BatchTooLarge + "`"},
		{"Answers of a batch together", n(method.MaxBatchBytes) + " bytes", "`" + wire.BatchResponseTooLarge + "`"},
		{"Targets of a storage proof", n(method.MaxProofTargets), "`" + wire.TooManyProofTargets + "`"},
		{"Answer with storage proofs", n(method.MaxProofBytes) + " bytes", "`" + method.ProofTooLarge + "`"},
		{"Compiled class", n(method.MaxCasmBytes) + " bytes", "`" + method.CasmTooLarge + "`"},
		{"Trace", n(method.MaxTraceBytes) + " bytes", "`" + method.TraceTooLarge + "`"},
	}
}

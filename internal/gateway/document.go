package gateway

import (
	"encoding/json"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// document is the answer to rpc.discover, written once for each version.
func (s *served) document(v starknet.SpecVersion, live bool) json.RawMessage {
	if text, ok := s.documents.Load(v); ok {
		return text.(json.RawMessage)
	}
	text := json.RawMessage(method.Document(v, method.About{
		Title: "JSON-RPC of " + s.ID, Server: s.address + "/rpc/" + method.PathVersion(v) + "/" + s.ID, Docs: s.docs, Live: live}))
	s.documents.Store(v, text)
	return text
}

// errorObject is an error of the specification, as a node would tell it.
func errorObject(code int) json.RawMessage {
	known, _ := method.ErrorOf(code)
	text, err := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, known.Message})
	if err != nil {
		panic(err) // a number and a text always encode
	}
	return text
}

package site

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
)

// What programs that make clients of the document want to know of an operation
// beyond what Huma tells. Schemas of parameters are copied before they are changed:
// requests are judged by the handlers, which say more when they refuse and clamp
// where a client would be refused.

// answersFile has an answer of every operation, written by the tests from answers
// that they compared in full.
//
//go:embed answers.json
var answersFile []byte

// answerExample is an answer with its status.
type answerExample struct {
	Status string          `json:"status"`
	Body   json.RawMessage `json:"body"`
}

var answerExamples = func() map[string]answerExample {
	m := map[string]answerExample{}
	if err := json.Unmarshal(answersFile, &m); err != nil {
		panic(fmt.Sprintf("site: answers.json: %v", err))
	}
	return m
}()

// feltParameters take a felt, or several.
var feltParameters = func() map[string]bool {
	m := map[string]bool{"tx_hash": true, "txHash": true, "class_hash": true, "address": true, "contract": true, "contractAddress": true,
		"token": true, "selector": true, "key": true, "keys": true}
	for i := range 16 {
		m[fmt.Sprintf("topic%d", i)] = true
	}
	return m
}()

// feltFields of request bodies take a felt, or several.
var feltFields = map[string]bool{"addresses": true, "hashes": true, "ownerAddress": true, "tokenAddresses": true, "blockHash": true}

const (
	// feltPattern is how a felt may be spelled in a request.
	feltPattern = "^0[xX][0-9a-fA-F]{1,64}$"
	// hashPattern is a hash of the other layer in an answer.
	hashPattern = "^0x[0-9a-f]{64}$"
)

// pageSize is what a list returns unless asked, and the most that it returns.
type pageSize struct{ usual, most int }

// pageSizes are those of the handlers, by operation.
var pageSizes = map[string]pageSize{
	"discoverAssets":          {api.DefaultAssets, api.MaxAssets},
	"getBlock":                {api.DefaultTxs, api.MaxTxPreview},
	"getClass":                {api.DefaultPage, api.MaxClasses},
	"getMessage":              {api.MaxMessagePage, api.MaxMessagePage},
	"getTransaction":          {api.DefaultLogs, api.MaxLogs},
	"listAddressActivity":     {api.DefaultAddressPage, api.MaxAddressPage},
	"listAddressTransactions": {api.DefaultAddressPage, api.MaxAddressPage},
	"listAddressTransfers":    {api.DefaultTransferPage, api.MaxTransferPage},
	"listBlockTransactions":   {api.DefaultPage, api.MaxBlockTxs},
	"listBlocks":              {api.DefaultPage, api.MaxBlocks},
	"listBridgeSignals":       {api.DefaultMessagePage, api.MaxMessagePage},
	"listClasses":             {api.DefaultClasses, api.MaxClasses},
	"listContractClasses":     {api.DefaultPage, api.MaxClasses},
	"listContractEvents":      {api.DefaultEventPage, api.MaxEventPage},
	"listContractMessages":    {api.DefaultMessagePage, api.MaxMessagePage},
	"listMessages":            {api.DefaultMessagePage, api.MaxMessagePage},
	"listTokenHolders":        {api.DefaultHolderPage, api.MaxHolderPage},
	"listTokenPools":          {api.DefaultPoolPage, api.MaxPoolPage},
	"listTokenTransfers":      {api.DefaultTransferPage, api.MaxTransferPage},
	"listTransactions":        {api.DefaultPage, api.MaxFeed},
	"listTransfers":           {api.DefaultTransferPage, api.MaxTransferPage},
	"screenTokenHolders":      {api.DefaultHolderPage, api.MaxHolderPage},
	"searchEvents":            {api.DefaultEventPage, api.MaxEventPage},
}

// describeService says who and what the document is about.
func (s *Site) describeService(o *huma.OpenAPI) {
	contact := "/docs"
	if s.BaseURL != "" {
		contact = strings.TrimSuffix(s.BaseURL, "/") + contact
	}
	o.Info.Contact = &huma.Contact{Name: "The operator of this service", URL: contact}
	o.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	for _, r := range s.Entries() {
		if !slices.ContainsFunc(o.Tags, func(t *huma.Tag) bool { return t.Name == r.Family }) {
			o.Tags = append(o.Tags, &huma.Tag{Name: r.Family, Description: api.FamilyPurposes[r.Family]})
		}
	}
	for _, name := range []string{"Message", "BridgeSignal"} {
		for _, field := range []string{"messageHash", "l1Hash"} {
			if p := o.Components.Schemas.Map()[name].Properties[field]; p != nil {
				p.Pattern = hashPattern
			}
		}
	}
}

// describeBody says how the felts of a request body are spelled. Huma holds bodies
// against the same schemas, with the patterns that they had when the route was
// registered; those that come later are for readers alone. The handlers refuse
// what is no felt, and say why.
func describeBody(schemas huma.Registry, sc *huma.Schema) {
	if sc.Ref != "" {
		sc = schemas.SchemaFromRef(sc.Ref)
	}
	for name, p := range sc.Properties {
		switch {
		case feltFields[name] && p.Items != nil:
			p.Items.Pattern = feltPattern
		case feltFields[name]:
			p.Pattern = feltPattern
		}
	}
}

// describeOperation completes one operation.
func describeOperation(schemas huma.Registry, op *huma.Operation) {
	// Both spellings make one name in every language: one is described, both are taken.
	op.Parameters = slices.DeleteFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "keys[]" })
	for _, p := range op.Parameters {
		if p.Schema == nil {
			continue
		}
		switch size, paged := pageSizes[op.OperationID]; {
		case paged && p.Schema.Type == huma.TypeInteger && strings.HasSuffix(strings.ToLower(p.Name), "limit"):
			sc := *p.Schema
			least, most := 1.0, float64(size.most)
			sc.Default, sc.Minimum, sc.Maximum = size.usual, &least, &most
			p.Schema = &sc
		case feltParameters[p.Name]:
			sc := *p.Schema
			if sc.Items != nil {
				items := *sc.Items
				items.Pattern = feltPattern
				sc.Items = &items
			} else {
				sc.Pattern = feltPattern
			}
			p.Schema = &sc
		}
	}
	if op.RequestBody != nil {
		describeBody(schemas, op.RequestBody.Content[kernel.JSONType].Schema)
	}
	example := answerExamples[op.OperationID]
	if r := op.Responses[example.Status]; r != nil && r.Content[kernel.JSONType] != nil {
		r.Content[kernel.JSONType].Example = example.Body
	}
}

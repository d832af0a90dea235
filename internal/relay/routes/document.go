package routes

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/kernel"
)

// ProverRequest is the body of a submission, for the documents.
type ProverRequest struct {
	BlockID     ProverBlock    `json:"block_id" doc:"The block whose state the proof is about."`
	Transaction map[string]any `json:"transaction" doc:"An Invoke transaction of version 0x3, signed, with all its members. Prices and tip are 0x0, l2_gas.max_amount is not; proof and proof_facts are left out."`
}

// ProverBlock names a block.
type ProverBlock struct {
	BlockNumber int64 `json:"block_number" minimum:"0" doc:"Number of a finalized block that the prover accepts. What the transaction depends on must be there by then."`
}

// ProverResult is the result for the documents.
type ProverResult struct {
	Proof          string          `json:"proof" doc:"The proof, in base64."`
	ProofFacts     []string        `json:"proof_facts" doc:"Felts that the proof is about."`
	L2ToL1Messages []ProverMessage `json:"l2_to_l1_messages" doc:"Messages that the transaction sends."`
	AdditionalData map[string]any  `json:"additional_data,omitempty" doc:"Of a screened deposit: signature with issued_at, sig_r and sig_s. The attestation is refused on chain 300 seconds after issued_at."`
}

// ProverMessage is a message that a proven transaction sends.
type ProverMessage struct {
	FromAddress string   `json:"from_address" doc:"The contract that sends it."`
	ToAddress   string   `json:"to_address" doc:"To whom."`
	Payload     []string `json:"payload" doc:"Its felts."`
}

const exampleBody = `{"block_id":{"block_number":1500000},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1"],"signature":["0x1","0x2"],"nonce":"0x0","tip":"0x0",` +
	`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},` +
	`"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}`

func schemaOf[T any](s *kernel.Server, name string) *huma.Schema {
	return s.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, name)
}

func content(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{kernel.JSONType: {Schema: schema}}
}

func answers(r *kernel.Route, good map[int]string, job *huma.Schema) map[string]*huma.Response {
	out := map[string]*huma.Response{}
	for status, words := range good {
		out[strconv.Itoa(status)] = &huma.Response{Description: words, Content: content(job)}
	}
	for _, status := range append([]int{400, 401, 403, 429, 500, 503}, r.Statuses...) {
		out[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: content(&huma.Schema{Ref: "#/components/schemas/Envelope"})}
	}
	return out
}

func submitOperation(s *kernel.Server, r *kernel.Route) *huma.Operation {
	least, most := 16, 128
	return &huma.Operation{
		Parameters: []*huma.Param{{Name: headerKey, In: "header", Required: true, Example: "6f1c2d3e-transfer-0001",
			Description: "Chosen by the caller, for the workspace: 16 to 128 graphic ASCII characters without spaces and double quotes. The same key finds the same job again; it is refused with another body.",
			Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: `^[!#-~]{16,128}$`}}},
		RequestBody: &huma.RequestBody{Required: true, Description: "What is handed to the prover, as it is: at most 1 MiB, without a Content-Encoding.", Content: content(schemaOf[ProverRequest](s, "ProverRequest"))},
		Responses:   answers(r, map[int]string{http.StatusAccepted: "Accepted: the job is new", http.StatusOK: "OK: the job that the same key and body made before"}, schemaOf[ProverJob](s, "ProverJob")),
	}
}

func lookOperation(s *kernel.Server, r *kernel.Route) *huma.Operation {
	return &huma.Operation{
		Parameters: []*huma.Param{{Name: "jobId", In: "path", Required: true, Description: "Id of the job.", Example: "prv_0123456789abcdef01234567", Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses:  answers(r, map[int]string{http.StatusOK: "OK"}, schemaOf[ProverJob](s, "ProverJob")),
	}
}

// documentResult puts the result into the schema of a job. It is the prover's: what it adds
// to it is passed on, and so is not forbidden.
func documentResult(s *kernel.Server) {
	ref := schemaOf[ProverResult](s, "ProverResult")
	all := s.OpenAPI().Components.Schemas.Map()
	all["ProverResult"].AdditionalProperties = true
	all["ProverMessage"].AdditionalProperties = true
	all["ProverJob"].Properties["result"] = ref
}

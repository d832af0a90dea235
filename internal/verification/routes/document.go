package routes

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/kernel"
)

// VerificationPackage is Package V1 for the documents.
type VerificationPackage struct {
	SelectedClassHash string `json:"selectedClassHash" doc:"The declared class that the source is to reproduce: a felt other than 0." example:"0x123abc"`
	UploadDigest      string `json:"uploadDigest" pattern:"^sha256:[0-9a-f]{64}$" doc:"SHA-256 of the exact bytes of the archive."`
	UploadByteLength  int64  `json:"uploadByteLength" minimum:"1" maximum:"10485760" doc:"How many bytes the archive has. 12345, 12345.0 and 12345e0 are the same."`
	ToolchainPolicyID string `json:"toolchainPolicyId" doc:"What it is built with: service-exact-v25."`
	PackageName       string `json:"packageName" doc:"The Scarb package."`
	BuildProfile      string `json:"buildProfile" enum:"release" doc:"Always release."`
	TargetName        string `json:"targetName" doc:"The target of the package."`
	TargetKind        string `json:"targetKind" enum:"starknet-contract" doc:"Always starknet-contract."`
	ArtifactID        string `json:"artifactId" doc:"The contract's artifact."`
	ModulePath        string `json:"modulePath" doc:"The contract's module, such as counter::counter::Counter."`
	SourceVisibility  string `json:"sourceVisibility" enum:"private,public" doc:"Neither publishes the source."`
	RetentionPolicyID string `json:"retentionPolicyId" enum:"private-24h-v1,private-7d-v1,public-30d-v1" doc:"How long the source is kept: of a private one a day or seven, of a public one thirty days."`
}

// documentCreate says what the body is, which the handler reads itself.
func documentCreate(s *kernel.Server) {
	op := s.OpenAPI().Paths["/v1/{chain}/verification-jobs"].Post
	schema := s.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[VerificationPackage](), true, "VerificationPackage")
	op.RequestBody = &huma.RequestBody{Required: true, Description: "Package V1: these twelve fields and no other.", Content: map[string]*huma.MediaType{kernel.JSONType: {Schema: schema}}}
	op.Responses["201"] = &huma.Response{Description: "Created: the job is new", Content: op.Responses["200"].Content}
}

// uploadOperation describes the upload.
func uploadOperation(r *kernel.Route) *huma.Operation {
	text := &huma.Schema{Type: huma.TypeString}
	failure := map[string]*huma.MediaType{kernel.JSONType: {Schema: &huma.Schema{Ref: "#/components/schemas/Envelope"}}}
	op := &huma.Operation{
		Parameters: []*huma.Param{{Name: "chain", In: "path", Required: true, Description: "The chain, such as SN_MAIN.", Schema: text},
			{Name: "jobId", In: "path", Required: true, Description: "Id of the job.", Schema: text}},
		RequestBody: &huma.RequestBody{Required: true, Description: "The archive, at most 10 MiB.", Content: map[string]*huma.MediaType{gzipType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}},
		Responses: map[string]*huma.Response{"200": {Description: "OK: the source is stored",
			Content: map[string]*huma.MediaType{kernel.JSONType: {Schema: &huma.Schema{Ref: "#/components/schemas/VerificationJob"}}}}},
	}
	for _, status := range append([]int{400, 401, 403, 429, 500, 503}, r.Statuses...) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: failure}
	}
	return op
}

func examplePackage(class string) string {
	return `{"selectedClassHash":"` + class + `","uploadDigest":"sha256:` + exampleDigest + `","uploadByteLength":12345,"toolchainPolicyId":"service-exact-v25","packageName":"counter",` +
		`"buildProfile":"release","targetName":"counter","targetKind":"starknet-contract","artifactId":"counter_Counter","modulePath":"counter::counter::Counter",` +
		`"sourceVisibility":"private","retentionPolicyId":"private-24h-v1"}`
}

const exampleDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

type receiptAnswer struct{ Body VerificationReceipt }

// VerificationReceipt is the receipt for the documents.
type VerificationReceipt struct {
	SchemaVersion string               `json:"schemaVersion" doc:"Always service-portable-verification-receipt-v1."`
	Algorithm     string               `json:"algorithm" doc:"Always Ed25519."`
	KeyID         string               `json:"keyId" doc:"The key of the trust document that signed."`
	Evidence      VerificationEvidence `json:"evidence" doc:"What is signed, in its canonical form by RFC 8785."`
	Signature     string               `json:"signature" doc:"The signature, as unpadded base64url."`
}

// VerificationEvidence is what a receipt says.
type VerificationEvidence struct {
	JobID               string                  `json:"jobId" doc:"The job that it came of."`
	ChainID             string                  `json:"chainId" doc:"The chain that the class is declared on."`
	ClassHash           string                  `json:"classHash" doc:"The class that was reproduced."`
	ReceiptID           uint64                  `json:"receiptId" doc:"Number of the receipt. Numbers may be missing between two."`
	Verification        string                  `json:"verification" doc:"Always verified_exact."`
	SourceArchiveDigest string                  `json:"sourceArchiveDigest" doc:"SHA-256 of the archive that was built."`
	ToolchainPolicyID   string                  `json:"toolchainPolicyId" doc:"What it was built with."`
	CandidateDigest     string                  `json:"candidateDigest" doc:"SHA-256 of the class that was built."`
	Declaration         VerificationDeclaration `json:"declaration" doc:"Where the class was declared."`
	ProofScope          string                  `json:"proofScope" doc:"Always exact_source_rebuild_equals_finalized_declared_class."`
	NotProofOf          []string                `json:"notProofOf" doc:"What the receipt does not say."`
	IssuedAt            string                  `json:"issuedAt" doc:"When it was signed, as the signer says."`
}

// VerificationDeclaration is where a class was declared.
type VerificationDeclaration struct {
	BlockNumber       uint64 `json:"blockNumber" doc:"The block, which was finalized by then."`
	BlockHash         string `json:"blockHash" doc:"Hash of the block."`
	TransactionHash   string `json:"transactionHash" doc:"The transaction that declared the class."`
	CompiledClassHash string `json:"compiledClassHash" doc:"The compiled class hash that it named."`
}

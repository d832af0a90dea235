package method

// Limits of the contract. That of the calls of a batch is wire.MaxBatch.
const (
	// MaxBatchBytes bounds the answers of a batch together.
	MaxBatchBytes = 16 * mib

	// MaxProofTargets is how many things one call can have proven: classes, contracts
	// and storage cells together.
	MaxProofTargets = 32
	// MaxProofClasses, MaxProofContracts and MaxProofKeys bound each kind: classes,
	// contracts (as such, and as those whose cells are asked for), cells of a contract.
	MaxProofClasses   = 8
	MaxProofContracts = 8
	MaxProofKeys      = 16

	// MaxCasmBytes and MaxTraceBytes bound one answer.
	MaxCasmBytes  = casmBytes
	MaxTraceBytes = traceBytes
	// MaxProofBytes bounds the answer with proofs.
	MaxProofBytes = proofBytes
)

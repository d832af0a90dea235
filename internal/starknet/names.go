package starknet

// The wire names of the small types.

// String returns the type's wire name.
func (t TxType) String() string {
	switch t {
	case Invoke:
		return "INVOKE"
	case Declare:
		return "DECLARE"
	case Deploy:
		return "DEPLOY"
	case DeployAccount:
		return "DEPLOY_ACCOUNT"
	case L1Handler:
		return "L1_HANDLER"
	}
	return "UNKNOWN"
}

// String returns the status's wire name.
func (s BlockStatus) String() string {
	switch s {
	case AcceptedOnL2:
		return "ACCEPTED_ON_L2"
	case AcceptedOnL1:
		return "ACCEPTED_ON_L1"
	}
	return "UNKNOWN"
}

// String returns the mode's wire name.
func (m DAMode) String() string {
	switch m {
	case DACalldata:
		return "CALLDATA"
	case DABlob:
		return "BLOB"
	}
	return "UNKNOWN"
}

// String returns the mode's wire name.
func (m TxDAMode) String() string {
	if m == TxDAL2 {
		return "L2"
	}
	return "L1"
}

// String returns the unit's wire name.
func (u FeeUnit) String() string {
	switch u {
	case Wei:
		return "WEI"
	case Fri:
		return "FRI"
	}
	return "UNKNOWN"
}

// String returns the status's wire name.
func (s ExecutionStatus) String() string {
	switch s {
	case Succeeded:
		return "SUCCEEDED"
	case Reverted:
		return "REVERTED"
	}
	return "UNKNOWN"
}

package build_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/NethermindEth/starknet.go/contracts"
	"github.com/NethermindEth/starknet.go/hash"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/sample"
)

// TestArtifactsAreReadStrictly: what is not exactly what a compiler writes is no class.
func TestArtifactsAreReadStrictly(t *testing.T) {
	good, err := build.ReadArtifact(sample.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	if own, err := good.Class.Hash(); err != nil || own != sample.ClassHash || good.ClassHash != own {
		t.Errorf("the shipped class has the hash %s: %v", own, err)
	}
	if !strings.HasPrefix(good.Class.ABI, `[{"type": "impl", "name": `) || strings.Contains(good.Class.ABI, "\n") {
		t.Errorf("the ABI is spelled %.60q", good.Class.ABI)
	}
	// Others who declare classes spell its ABI the same way.
	var peer contracts.ContractClass
	if err := json.Unmarshal(sample.Artifact, &peer); err != nil {
		t.Fatal(err)
	}
	if theirs := felt.Felt(hash.ClassHash(&peer).Bytes()); theirs != good.ClassHash {
		t.Errorf("a client of the chain would declare it as %s", theirs)
	}
	text := string(sample.Artifact)
	for name, c := range map[string][2]string{
		"another member":    {`"contract_class_version"`, `"more": 1, "contract_class_version"`},
		"a member twice":    {`"contract_class_version"`, `"abi": [], "contract_class_version"`},
		"capitals":          {`"contract_class_version"`, `"Contract_class_version"`},
		"a version":         {`"contract_class_version": "0.1.0"`, `"contract_class_version": 1`},
		"a long version":    {`"contract_class_version": "0.1.0"`, `"contract_class_version": "` + strings.Repeat("1", 40) + `"`},
		"a padded felt":     {`"0x1"`, `"0x01"`},
		"a decimal felt":    {`"0x1"`, `"1"`},
		"a felt too large":  {`"0x1"`, `"0x800000000000011000000000000000000000000000000000000000000000001"`},
		"a number":          {`"0x1"`, `1`},
		"a kind":            {`"L1_HANDLER"`, `"L1_HANDLERS"`},
		"an ABI as text":    {`"abi": [`, `"abi": "[]", "x": [`},
		"something behind":  {text[len(text)-1:], text[len(text)-1:] + "{}"},
		"an index":          {`"function_idx": 0`, `"function_idx": -1`},
		"an index too high": {`"function_idx": 0`, `"function_idx": 4294967296`},
	} {
		bad := strings.Replace(text, c[0], c[1], 1)
		if name == "something behind" {
			bad = text + "{}"
		}
		if bad == text {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if r, err := build.ReadArtifact([]byte(bad)); err == nil {
			t.Errorf("%s: was read as %s", name, r.ClassHash)
		}
	}
}

func FuzzArtifact(f *testing.F) {
	f.Add(sample.Artifact)
	f.Add([]byte(`{"sierra_program":["0x1"],"sierra_program_debug_info":null,"contract_class_version":"0.1.0","entry_points_by_type":{"EXTERNAL":[{"selector":"0x1","function_idx":0}],"L1_HANDLER":[],"CONSTRUCTOR":[]},"abi":[{"a":"\\\" , :"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := build.ReadArtifact(data)
		if err != nil {
			return
		}
		if r.ClassHash == (felt.Felt{}) || len(r.CandidateDigest) != len("sha256:")+64 {
			t.Errorf("%+v", r)
		}
	})
}

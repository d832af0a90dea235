package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet/jsonscan"
)

// errProofTargets says that more is to be proven than one call may ask for.
var errProofTargets = fmt.Errorf("a call proves at most %d targets: %d classes, %d contracts, and the cells of %d contracts, %d each",
	method.MaxProofTargets, method.MaxProofClasses, method.MaxProofContracts, method.MaxProofContracts, method.MaxProofKeys)

var errProofBlock = errors.New("block_id: a proof is of a block that is there: latest, a number or a hash")

// checkProof bounds what a call of starknet_getStorageProof asks for, by counting and
// without looking at values. Every occurrence of a member counts, whichever of two of
// one name a node would look at.
func checkProof(args method.Args) error {
	var tag string
	if json.Unmarshal(args["block_id"], &tag) == nil && (strings.EqualFold(tag, "pending") || strings.EqualFold(tag, "pre_confirmed")) {
		return errProofBlock
	}
	classes, err := elements(args["class_hashes"])
	if err != nil {
		return fmt.Errorf("class_hashes: %w", err)
	}
	contracts, err := elements(args["contract_addresses"])
	if err != nil {
		return fmt.Errorf("contract_addresses: %w", err)
	}
	storages, cells, most, err := storageKeys(args["contracts_storage_keys"])
	if err != nil {
		return fmt.Errorf("contracts_storage_keys: %w", err)
	}
	if classes > method.MaxProofClasses || contracts > method.MaxProofContracts || storages > method.MaxProofContracts || most > method.MaxProofKeys ||
		classes+contracts+cells > method.MaxProofTargets {
		return errProofTargets
	}
	return nil
}

// elements counts those of an array of texts; nothing is an empty one.
func elements(text []byte) (n int, err error) {
	if len(text) == 0 {
		return 0, nil
	}
	s := jsonscan.New(text)
	n = texts(&s)
	return n, s.Err()
}

// texts counts those of the array that is next. Anything else in it is refused: what
// counts for one here might be many for a node.
func texts(s *jsonscan.Scanner) (n int) {
	for more := s.OpenArray(); more; more = s.NextElement() {
		s.String()
		n++
	}
	return n
}

// storageKeys counts contracts, their keys together, and the most that one has.
func storageKeys(text []byte) (contracts, keys, most int, err error) {
	if len(text) == 0 {
		return 0, 0, 0, nil
	}
	s := jsonscan.New(text)
	for more := s.OpenArray(); more; more = s.NextElement() {
		contracts++
		own := 0
		for member := s.OpenObject(); member; member = s.NextMember() {
			// Some readers take names for the same that differ in case.
			if !strings.EqualFold(string(s.Key()), "storage_keys") {
				s.Skip()
				continue
			}
			own += texts(&s)
		}
		keys += own
		most = max(most, own)
	}
	return contracts, keys, most, s.Err()
}

package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// transactionHash is the hash of the transaction that a write sends. It is an error
// wherever a node might read the transaction otherwise than we do: a hash that is
// wrong is worse than none.
func transactionHash(m *method.Method, args method.Args, id felt.Felt) (felt.Felt, error) {
	if len(m.Params) == 0 {
		return felt.Felt{}, errors.New("no transaction is sent")
	}
	raw := args[m.Params[0].Name]
	s := jsonscan.New(raw)
	checkNames(&s, raw)
	if s.End(); s.Err() != nil {
		return felt.Felt{}, fmt.Errorf("transaction: %w", s.Err())
	}
	t, err := starknet.DecodeBroadcast(raw)
	if err != nil {
		return felt.Felt{}, err
	}
	if sent := sends[m.Name]; t.Type != sent {
		return felt.Felt{}, fmt.Errorf("%s sends no transaction of type %s", m.Name, t.Type)
	}
	return t.ComputeHash(id)
}

var sends = map[string]starknet.TxType{
	"starknet_addInvokeTransaction":        starknet.Invoke,
	"starknet_addDeclareTransaction":       starknet.Declare,
	"starknet_addDeployAccountTransaction": starknet.DeployAccount,
}

// checkNames fails when an object has a name twice, at any depth: readers differ in
// which of the two counts. Names that differ in case alone are the same to some.
func checkNames(s *jsonscan.Scanner, data []byte) {
	rest := bytes.TrimLeft(data[min(s.Offset(), len(data)):], " \t\r\n")
	switch {
	case s.Err() != nil:
	case bytes.HasPrefix(rest, []byte("{")):
		seen := map[string]bool{}
		for more := s.OpenObject(); more; more = s.NextMember() {
			name := strings.ToLower(string(s.Key()))
			if seen[name] {
				s.Fail(errors.New("a name is there twice"))
				return
			}
			seen[name] = true
			checkNames(s, data)
		}
	case bytes.HasPrefix(rest, []byte("[")):
		for more := s.OpenArray(); more; more = s.NextElement() {
			checkNames(s, data)
		}
	default:
		s.Skip()
	}
}

package contract

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Made is a contract that a transaction deployed.
type Made struct {
	Address felt.Felt
	At      explorer.Position
	*Deployment
}

// MadeBy lists the contracts that transactions are known to have deployed: those that a
// universal deployer announced and that the state of their block bears out, and accounts
// that deployed themselves. receipts are those of the transactions at these places; the
// last contract of each comes first. One round trip, if there is any.
func MadeBy(ctx context.Context, r store.Reader, at []explorer.Position, receipts []*starknet.Receipt) (out []Made, err error) {
	var addresses []felt.Felt
	for i, rec := range receipts {
		for j := len(rec.Events) - 1; j >= 0; j-- {
			if address, _, ok := readDeployer(&rec.Events[j]); ok {
				out, addresses = append(out, Made{Address: address, At: at[i]}), append(addresses, address)
			}
		}
		if !rec.ContractAddress.IsZero() {
			out, addresses = append(out, Made{Address: rec.ContractAddress, At: at[i]}), append(addresses, rec.ContractAddress)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	found, err := Identities(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	sound := out[:0]
	for i, m := range out {
		if d := found[i].Deployment; d != nil && d.Kind != UnknownDeployment && d.Block == m.At.Block && d.Tx == m.At.Index {
			m.Deployment = d
			sound = append(sound, m)
		}
	}
	return sound, nil
}

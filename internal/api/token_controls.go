package api

import (
	"context"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/authority"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// maxControlEvidence bounds the evidence that is shown; what it led to is not.
const maxControlEvidence = 100

// TokenControls are the control facts of a token.
type TokenControls struct {
	ChainID      string            `json:"chainId"`
	TokenAddress felt.Felt         `json:"tokenAddress"`
	Indexed      bool              `json:"indexed"`
	ReasonCode   string            `json:"reasonCode" enum:"materialized_controls_snapshot,controls_snapshot_missing"`
	Snapshot     *ControlsSnapshot `json:"snapshot" doc:"Null while the class of the contract could not be read."`
}

// ControlsSnapshot is what is known at a block.
type ControlsSnapshot struct {
	SupplyControl     SupplyControl     `json:"supplyControl"`
	TransferControl   TransferControl   `json:"transferControl"`
	MetadataAdmin     MetadataAdmin     `json:"metadataAdmin"`
	UpgradeControl    UpgradeControl    `json:"upgradeControl"`
	Paused            *bool             `json:"paused" doc:"As last announced; null when nothing was."`
	Roles             []ControlRole     `json:"roles" doc:"Roles that were granted and not revoked since."`
	Evidence          []ControlEvidence `json:"evidence" doc:"What the facts follow from, newest first: events, classes, entry points."`
	EvidenceTruncated bool              `json:"evidenceTruncated"`
	ClassHash         felt.Felt         `json:"classHash"`
	AsOfBlock         uint64            `json:"asOfBlock"`
	AsOfBlockHash     felt.Felt         `json:"asOfBlockHash"`
	Source            string            `json:"source" enum:"indexed_events_and_class_abi"`
	AsOfTimestampISO  string            `json:"asOfTimestampIso" format:"date-time" doc:"Time of that block."`
	IndexedAtISO      string            `json:"indexedAtIso" format:"date-time" doc:"When this process first saw the index at asOfBlock: what the snapshot is made of had been written by then."`
}

// SupplyControl tells who can make more of the token.
type SupplyControl struct {
	Status string     `json:"status" enum:"fixed,mintable,minter_detected,unknown"`
	Actor  *felt.Felt `json:"actor"`
}

// TransferControl tells who can stop transfers.
type TransferControl struct {
	Status string     `json:"status" enum:"pausable,freezable,blocklist_detected,not_detected,unknown"`
	Actor  *felt.Felt `json:"actor"`
}

// MetadataAdmin tells who administers the contract.
type MetadataAdmin struct {
	Status string     `json:"status" enum:"admin_detected,renounced,unknown"`
	Actor  *felt.Felt `json:"actor"`
}

// UpgradeControl tells who can replace the code.
type UpgradeControl struct {
	Status string     `json:"status" enum:"proxy_admin_detected,immutable_class,unknown"`
	Actor  *felt.Felt `json:"actor"`
}

// ControlRole is a role that an account holds.
type ControlRole struct {
	Role           felt.Felt `json:"role"`
	Name           *string   `json:"name" doc:"Null when the role is not the hash of a known name."`
	Account        felt.Felt `json:"account"`
	GrantedAtBlock uint64    `json:"grantedAtBlock"`
}

// ControlEvidence is one thing that facts follow from.
type ControlEvidence struct {
	Kind        string     `json:"kind" enum:"ownership_transferred,role_granted,role_revoked,paused,unpaused,upgraded,class_deployed,class_replaced,entry_point"`
	BlockNumber *uint64    `json:"blockNumber" doc:"Null for what the class itself tells."`
	TxHash      *felt.Felt `json:"txHash" doc:"Of events."`
	LogIndex    *uint32    `json:"logIndex" doc:"Of events."`
	Role        *felt.Felt `json:"role"`
	Account     *felt.Felt `json:"account"`
	ClassHash   *felt.Felt `json:"classHash"`
	Name        *string    `json:"name" doc:"The power that an entry point gives."`
}

func (s *Routes) tokenControlRoutes() {
	kernel.Register(s.Server, kernel.Route{ID: "getTokenControls", Method: http.MethodGet, Path: "/v1/{chain}/token/{token}/controls", Family: "Tokens",
		Summary: "Read who controls a token",
		Description: "Owner, roles, pausing, minting and upgradability, from indexed events, the history of the contract's class and its ABI. " +
			"`immutable_class` is said only where the code itself cannot replace or delegate its class, and `fixed` where, besides, no function is known by a name that mints and no mint was announced since the block of the class. " +
			"`not_detected` and `unknown` claim nothing.",
		Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnClock, Statuses: []int{http.StatusNotFound}}, s.getTokenControls)
}

func (s *Routes) getTokenControls(ctx context.Context, in *struct {
	ChainInput
	TokenPath
}) (*body[TokenControls], error) {
	address, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	out := &body[TokenControls]{TokenControls{ChainID: in.Chain, TokenAddress: address, ReasonCode: "controls_snapshot_missing"}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		if err := knownToken(ctx, c, r, address, state.Head.Number); err != nil {
			return err
		}
		found, err := authority.Read(ctx, r, address, state.Head.Number)
		if err != nil {
			return err
		}
		if found == nil || found.ABI == nil {
			return nil
		}
		out.Body.Indexed, out.Body.ReasonCode = true, "materialized_controls_snapshot"
		out.Body.Snapshot = renderControls(found, &state.Head, c.sightedAt(&state.Head))
		return nil
	})
	return out, err
}

// knownToken refuses what nobody can call a token: not in the registry, no
// transfers, and not by the ABI of its class.
func knownToken(ctx context.Context, c *Chain, r explorer.Reader, address felt.Felt, head uint64) error {
	is, err := token.IsKnown(ctx, r, c.Registry, address, head)
	if err == nil && !is {
		return kernel.Fail(kernel.CodeNotFound, "No indexed token has the address %s.", address)
	}
	return err
}

func renderControls(c *authority.Controls, head *chain.Head, seen time.Time) *ControlsSnapshot {
	out := &ControlsSnapshot{
		SupplyControl: SupplyControl(c.Supply), TransferControl: TransferControl(c.Transfer), MetadataAdmin: MetadataAdmin(c.Metadata),
		UpgradeControl: UpgradeControl(c.Upgrade), Paused: c.Paused, Roles: []ControlRole{}, ClassHash: c.Class,
		AsOfBlock: head.Number, AsOfBlockHash: head.Hash, Source: "indexed_events_and_class_abi", AsOfTimestampISO: kernel.TimestampISO(head.Timestamp), IndexedAtISO: instantISO(seen),
	}
	for i := range c.Roles {
		r := &c.Roles[i]
		out.Roles = append(out.Roles, ControlRole{r.Role, some(r.Name), r.Account, r.Block})
	}
	// Events and classes, each newest first, joined in that order.
	changes := c.Classes
	for i := 0; i < len(c.Announcements) || len(changes) > 0; {
		if i == len(c.Announcements) || len(changes) > 0 && changes[0].Block > c.Announcements[i].Block {
			kind := "class_replaced"
			if changes[0].Deployed {
				kind = "class_deployed"
			}
			out.Evidence = append(out.Evidence, ControlEvidence{Kind: kind, BlockNumber: &changes[0].Block, ClassHash: &changes[0].Class})
			changes = changes[1:]
			continue
		}
		a := &c.Announcements[i]
		out.Evidence = append(out.Evidence, ControlEvidence{Kind: string(a.Kind), BlockNumber: &a.Block, TxHash: &a.TxHash, LogIndex: &a.Log,
			Role: a.Role, Account: a.Account, ClassHash: a.Class})
		i++
	}
	out.EvidenceTruncated = !c.Complete
	if len(out.Evidence) > maxControlEvidence {
		out.Evidence, out.EvidenceTruncated = out.Evidence[:maxControlEvidence], true
	}
	for _, name := range c.PowerNames() {
		out.Evidence = append(out.Evidence, ControlEvidence{Kind: "entry_point", ClassHash: &out.ClassHash, Name: &name})
	}
	return out
}

package pages

import (
	"html/template"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
)

// fact is a question and its answer in words.
type fact struct {
	Question string
	Answer   template.HTML
}

// controlWords say who has which power over a token.
func (l *look) controlWords(s *api.ControlsSnapshot) []fact {
	if s == nil {
		return nil
	}
	by := func(a *felt.Felt, nobody template.HTML) template.HTML {
		if a == nil {
			return nobody
		}
		return ", by " + l.Address(a) + "."
	}
	const open = "; who may is not known."
	supply := l.Unknown("Neither events nor the class tell.")
	switch s.SupplyControl.Status {
	case "fixed":
		supply = "No. No function is known by a name that mints, nothing was minted since the code is what it is, and it cannot be replaced."
	case "mintable":
		supply = "Yes" + by(s.SupplyControl.Actor, open)
	case "minter_detected":
		supply = "Yes" + by(s.SupplyControl.Actor, ".")
	}
	transfers := l.Unknown("Neither events nor the class tell.")
	switch s.TransferControl.Status {
	case "pausable":
		transfers = "Yes, all of them" + by(s.TransferControl.Actor, open)
	case "freezable":
		transfers = "Yes, those of single holders" + by(s.TransferControl.Actor, open)
	case "blocklist_detected":
		transfers = "Yes, addresses can be barred" + by(s.TransferControl.Actor, open)
	case "not_detected":
		transfers = "No function that does was found, which proves nothing."
	}
	if s.Paused != nil && *s.Paused {
		transfers += " <strong>As last announced, they are paused.</strong>"
	} else if s.Paused != nil {
		transfers += " As last announced, they are not paused."
	}
	admin := l.Unknown("No event tells.")
	switch s.MetadataAdmin.Status {
	case "admin_detected":
		admin = "Somebody" + by(s.MetadataAdmin.Actor, "; who is not known.")
		if s.MetadataAdmin.Actor != nil {
			admin = l.Address(s.MetadataAdmin.Actor)
		}
	case "renounced":
		admin = "Nobody: the last owner gave it up."
	}
	upgrade := l.Unknown("Neither events nor the class tell.")
	switch s.UpgradeControl.Status {
	case "proxy_admin_detected":
		upgrade = "Yes" + by(s.UpgradeControl.Actor, open)
	case "immutable_class":
		upgrade = "No. The code itself cannot replace or delegate its class."
	}
	return []fact{{"Can more be made?", supply}, {"Can transfers be stopped?", transfers}, {"Who administers it?", admin}, {"Can the code be replaced?", upgrade}}
}

// evidenceWords name what facts follow from.
var evidenceWords = map[string]string{
	"ownership_transferred": "ownership was transferred", "role_granted": "a role was granted", "role_revoked": "a role was revoked", "paused": "paused", "unpaused": "unpaused",
	"upgraded": "an upgrade was announced", "class_deployed": "deployed with a class", "class_replaced": "the class was replaced", "entry_point": "the class has a function",
}

// Evidence is a piece of evidence as the cells of a row.
func (l *look) Evidence(e *api.ControlEvidence) template.HTML {
	dash := template.HTML(`<span class="soft">–</span>`)
	words := template.HTML(template.HTMLEscapeString(evidenceWords[e.Kind])) //nolint:gosec // escaped
	if e.Name != nil {
		words += " " + nameHTML(*e.Name)
	}
	who := dash
	switch {
	case e.Account != nil:
		who = l.Address(e.Account)
	case e.ClassHash != nil:
		who = l.Class(e.ClassHash)
	}
	block, tx := dash, dash
	if e.BlockNumber != nil {
		block = l.Block(e.BlockNumber)
	}
	if e.TxHash != nil {
		tx = l.Tx(e.TxHash)
	}
	return `<td data-label="What"><span>` + words + `</span></td><td data-label="Who or which">` + who + `</td><td data-label="Block">` + block + `</td><td data-label="Transaction">` + tx + `</td>`
}

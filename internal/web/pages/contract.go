package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer/authority"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// epochsShown is how many classes of its history a contract's page shows.
const epochsShown = 10

// contractHead is what all pages of a contract begin with.
type contractHead struct {
	C    *api.Contract
	Who  *api.Attribution
	Tabs []tab
}

// tab leads to a page of the same thing.
type tab struct {
	Text, Href string
	Here       bool
}

// contractView is the data of a contract's page.
type contractView struct {
	L *look
	contractHead
	Source  template.HTML
	Upgrade template.HTML
	Rules   *authority.Controls
	History template.HTML
	ABI     abiView
}

// contractOf asks for the contract that the path names.
func (l *look) contractOf(here string) (contractHead, error) {
	var h contractHead
	var err error
	if h.C, err = ask[api.Contract](l, "getContract", nil, l.r.PathValue("address")); err != nil {
		return h, err
	}
	address := h.C.Address.String()
	if h.Who, err = ask[api.Attribution](l, "getAddressAttribution", nil, address); err != nil {
		return h, err
	}
	for _, t := range [][2]string{{"Overview", ""}, {"Read", "/read"}, {"Events", "/events"}, {"Classes", "/classes"}} {
		h.Tabs = append(h.Tabs, tab{t[0], l.Href("contract", address) + t[1], t[1] == here})
	}
	h.Tabs = append(h.Tabs, tab{Text: "Address", Href: l.Href("address", address)})
	if h.C.IsToken != nil && *h.C.IsToken {
		h.Tabs = append(h.Tabs, tab{Text: "Token", Href: l.Href("token", address)})
	}
	return h, nil
}

// Picture tells the contract from others at a glance.
func (h contractHead) Picture() template.HTML { return chart.Identicon(h.C.Address[:]) }

// called is a contract in a few words, for titles: what somebody vouches for, or its
// address. What a contract calls itself is no name.
func (h contractHead) called() string {
	if h.Who.Known && h.Who.Label != nil {
		name, _ := cleanName(*h.Who.Label)
		return name
	}
	return shorten(h.C.Address.String())
}

// Kind is what the contract is, in words.
func (h contractHead) Kind() string {
	switch {
	case h.C.TypeLabel == nil:
		return "contract"
	case *h.C.TypeLabel == "account" && h.C.AccountKind != nil:
		return "account by " + makerOf(*h.C.AccountKind)
	case *h.C.TypeLabel == "token" && h.C.TokenKind != nil && *h.C.TokenKind != "unknown":
		return standardWords(*h.C.TokenKind)
	}
	return *h.C.TypeLabel
}

func (l *look) contractTrail(h contractHead, deep bool) []web.Link {
	trail := []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Classes", Href: l.Href("classes")}}
	if deep {
		trail = append(trail, web.Link{Text: "Contract " + h.called(), Href: l.Href("contract", h.C.Address)})
	}
	return trail
}

// contractPage says what a contract can do, who can change it, and whether its source is
// known. Rows read: the contract, ten classes of its history, its class, and what it
// announced of its owners (see package authority).
func contractPage(l *look) (*sheet, error) {
	h, err := l.contractOf("")
	if err != nil {
		return nil, err
	}
	v := &contractView{L: l, contractHead: h, Source: l.source(&h.C.SourceFacts, h.C.ClassHash)}
	if v.Rules, err = authority.Read(l.ctx, l.reader, h.C.Address, l.state.Head.Number); err != nil {
		return nil, err
	}
	v.Upgrade = l.upgradeWords(v.Rules)
	var described *class.Description
	if h.C.IsToken != nil && *h.C.IsToken {
		l.shows("getTokenControls", nil, h.C.Address.String())
	}
	if h.C.ClassHash != nil {
		l.shows("getClass", url.Values{"instanceLimit": {"1"}}, h.C.ClassHash.String())
		l.shows("getContractEntrypoints", url.Values{"block_tag": {"latest"}}, h.C.Address.String())
		if described, err = class.Describe(l.ctx, l.reader, *h.C.ClassHash); err != nil {
			return nil, err
		}
	}
	if described == nil {
		kernel.RequestOf(l.ctx).Vouch(false) // the class may still come
	}
	v.ABI = abiOf(described, l.Href("contract", h.C.Address, "read"))
	if v.History, err = l.history(h.C.Address); err != nil {
		return nil, err
	}
	return &sheet{title: "Contract " + h.called(),
		description: fmt.Sprintf("Contract %s on %s: what it can do, who can change it, and whether its source is known.", h.C.Address, l.Chain),
		trail:       l.contractTrail(h, false), name: "contract.html", data: v}, nil
}

// history draws the classes that a contract had.
func (l *look) history(address felt.Felt) (template.HTML, error) {
	list, err := ask[api.ContractClassPage](l, "listContractClasses", url.Values{"limit": {strconv.Itoa(epochsShown)}}, address.String())
	if err != nil {
		return "", err
	}
	c := chart.Timeline{ID: "classes", Title: "Classes that it had, newest first", From: 0, To: float64(l.state.Head.Number), FromLabel: "block 0", ToLabel: "block " + web.Group(l.state.Head.Number)}
	for _, e := range list.Items {
		what := map[string]string{"deployed": "Deployed", "replaced": "Replaced", "genesis": "There before the first block"}[e.Change]
		note := sourceWords(&e.SourceFacts)
		if e.Current {
			note = "current · " + note
		}
		c.Events = append(c.Events, chart.Event{At: float64(e.FromBlock), When: "Block " + web.Group(e.FromBlock) + ", " + minute(e.FromISO), Name: what + " with class " + shorten(e.ClassHash.String()), Href: l.Href("class", e.ClassHash), Note: note})
	}
	out, err := c.HTML()
	if err != nil {
		return "", err
	}
	if list.NextCursor != nil {
		out += template.HTML(`<p><a href="` + l.Href("contract", address, "classes") + `">All classes</a></p>`) //nolint:gosec // hex digits
	}
	return out, nil
}

// minute is a time without its seconds, where it only says when about.
func minute(iso string) string {
	if len(iso) < len("2006-01-02T15:04") {
		return iso
	}
	return strings.Replace(iso[:len("2006-01-02T15:04")], "T", " ", 1) + " UTC"
}

// sourceWords is what speaks for the source of a class, in a few words.
func sourceWords(f *api.SourceFacts) string {
	switch f.VerificationTier {
	case "verified_exact":
		return "source verified"
	case "abi_declared":
		return "ABI declared, source not proven"
	}
	return "nothing known of its source"
}

// source is the badge of that for a class, which opens to what it rests on. The class is nil
// where it is not known.
func (l *look) source(f *api.SourceFacts, class *felt.Felt) template.HTML {
	if l.served.Proofs == nil && f.VerificationTier == "abi_declared" {
		return badge("soft", "ABI declared", "The class was declared with the ABI that is shown. Receipts of this chain are not read here: whether its source was proven is not known.")
	}
	switch f.VerificationTier {
	case "verified_exact":
		return badge("good", sourceWords(f), "Somebody gave the source, and this service rebuilt it to exactly this class. A signed receipt of that is in the transparency log. It says nothing of what the code does, nor of how a contract was set up.")
	case "abi_declared":
		if l.Withdrawn(class) != nil {
			return withdrawnBadge()
		}
		return badge("soft", sourceWords(f), "The class was declared with the ABI that is shown. Nobody proved to this service which source it was made of.")
	}
	return badge("warn", "source unknown", "Neither a source was proven, nor is there an ABI that can be read.")
}

// Verification is the page that tells what is known of the source of a class or a contract.
func (l *look) Verification(f felt.Felt) string {
	return withQuery(verificationPath, url.Values{"chain": {l.Chain}, "q": {f.String()}})
}

// Proof is where the evidence of a receipt is; "" where there is none.
func (l *look) Proof(f api.SourceFacts) string {
	if f.VerificationEvidenceDigest == nil {
		return ""
	}
	return "/receipt-log/proof/" + strings.TrimPrefix(*f.VerificationEvidenceDigest, "sha256:")
}

// upgradeWords says who may replace the code.
func (l *look) upgradeWords(c *authority.Controls) template.HTML {
	switch {
	case c == nil:
		return l.Unknown("No indexed block tells what class the contract has.")
	case c.Upgrade.Status == authority.ImmutableClass:
		return `<span data-value="immutable_class">Nobody. The code has no way to replace its class, and runs no code of other classes.</span>`
	case c.Upgrade.Status == authority.ProxyAdminDetected && c.Upgrade.Actor != nil:
		return `<span data-value="proxy_admin_detected">` + l.Address(c.Upgrade.Actor) + `, as far as the contract announced who holds which role. The code can be replaced.</span>`
	case c.Upgrade.Status == authority.ProxyAdminDetected:
		return `<span data-value="proxy_admin_detected">The code can be replaced. By whom is not known: the contract announced no owner and no role that tells.</span>`
	case c.ABI == nil:
		return l.Unknown("") + `: the code of the class has not been fetched.`
	}
	return l.Unknown("") + `: neither is the code known to be able to replace its class, nor can that be ruled out.`
}

// Owner is who the contract announced as its owner.
func (v *contractView) Owner() template.HTML {
	switch {
	case v.Rules == nil || v.Rules.Owner == nil:
		return v.L.Unknown("") + `: no event of the contract tells of one.`
	case v.Rules.Owner.IsZero():
		return `given up: the last announced owner is zero`
	}
	return v.L.Address(v.Rules.Owner) + `, as last announced`
}

// Paused says whether the contract announced that it stands still; "" where it never did.
func (v *contractView) Paused() string {
	switch {
	case v.Rules == nil || v.Rules.Paused == nil:
		return ""
	case *v.Rules.Paused:
		return "yes"
	}
	return "no"
}

// classesView is the data of the page of a contract's classes.
type classesView struct {
	L *look
	contractHead
	Rows  []api.ContractClass
	Pager pager
}

// Words say what speaks for a class.
func (v *classesView) Words(c api.ContractClass) string { return sourceWords(&c.SourceFacts) }

// contractClassesPage lists the classes that a contract had. Rows read: one for each shown.
func contractClassesPage(l *look) (*sheet, error) {
	h, err := l.contractOf("/classes")
	if err != nil {
		return nil, err
	}
	list, err := ask[api.ContractClassPage](l, "listContractClasses", l.limited("limit", 25), h.C.Address.String())
	if err != nil {
		return nil, err
	}
	return &sheet{title: "Classes of contract " + h.called(), description: fmt.Sprintf("The classes that contract %s on %s has had.", h.C.Address, l.Chain),
		trail: l.contractTrail(h, true), name: "contractclasses.html", data: &classesView{l, h, list.Items, l.pagerOf(list.NextCursor)}}, nil
}

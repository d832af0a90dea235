package api

// AddressKind is what stands at an address, in words.
type AddressKind struct {
	TypeLabel        *string `json:"typeLabel" enum:"account,token,contract,system,not_deployed" doc:"system: the protocol keeps the address for itself."`
	TypeLabelSource  *string `json:"typeLabelSource" enum:"indexed_account_kind" doc:"Null unless the class, or a transaction that it sent, tells that it is an account."`
	AccountKind      *string `json:"accountKind" doc:"Family of the account's class in the registry, such as argent or openzeppelin. Null for what is no account, for classes that the registry does not have, and for proxies."`
	ClassLabel       *string `json:"classLabel" doc:"Official name of the class."`
	ClassLabelSource *string `json:"classLabelSource" enum:"official_class_registry"`
}

func (f *facts) kind(c *Chain) AddressKind {
	word := f.typeLabel(c)
	out := AddressKind{TypeLabel: &word}
	if word == "account" {
		out.TypeLabelSource = some("indexed_account_kind")
	}
	if f.Current == nil {
		return out
	}
	if name, ok := c.Registry.ClassName(f.Current.Class); ok {
		out.ClassLabel, out.ClassLabelSource = &name, some("official_class_registry")
	}
	if family, ok := c.Registry.AccountKind(f.Current.Class); ok && word == "account" {
		out.AccountKind = &family
	}
	return out
}

// typeLabel is a word for what is at an address.
func (f *facts) typeLabel(c *Chain) string {
	is, token := f.isAccount(), ""
	if f.deployed() {
		token, _ = f.tokenKind(c)
	}
	switch {
	case is != nil && *is:
		return "account"
	case f.reserved():
		return "system"
	case !f.deployed():
		return "not_deployed"
	case token != "":
		return "token"
	default:
		return "contract"
	}
}

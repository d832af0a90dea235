package authority

import (
	"slices"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
)

// settle concludes the facts from what was read.
func (c *Controls) settle() {
	c.hold()
	c.Upgrade = c.upgrade()
	c.Supply = c.supply()
	c.Transfer = c.transfer()
	c.Metadata = c.metadata()
}

// hold goes through the announcements, newest first: the newest about a thing
// is the one that holds.
func (c *Controls) hold() {
	type held struct{ role, account felt.Felt }
	seen := map[held]bool{}
	for i := range c.Announcements {
		a := &c.Announcements[i]
		switch a.Kind {
		case OwnershipTransferred:
			if c.Owner == nil {
				c.Owner = a.Account
			}
		case Paused, Unpaused:
			if c.Paused == nil {
				paused := a.Kind == Paused
				c.Paused = &paused
			}
		case RoleGranted, RoleRevoked:
			if h := (held{*a.Role, *a.Account}); !seen[h] {
				seen[h] = true
				if a.Kind == RoleGranted {
					c.Roles = append(c.Roles, Role{*a.Role, roleNames[*a.Role], *a.Account, a.Block})
				}
			}
		}
	}
}

// holder is who was last granted one of the roles and still has it.
func (c *Controls) holder(names []string) *felt.Felt {
	for i := range c.Roles {
		if slices.Contains(names, c.Roles[i].Name) {
			return &c.Roles[i].Account
		}
	}
	return nil
}

// owner is the owner, unless there is none.
func (c *Controls) owner() *felt.Felt {
	if c.Owner == nil || c.Owner.IsZero() {
		return nil
	}
	return c.Owner
}

func firstOf(list ...*felt.Felt) *felt.Felt {
	for _, f := range list {
		if f != nil {
			return f
		}
	}
	return nil
}

// can reports whether the class is known to have a power.
func (c *Controls) can(p class.Powers) bool {
	return c.ABI != nil && c.ABI.PowersKnown && c.ABI.Powers.Has(p)
}

// transparent says that the class's own entry points are all there is: they are
// known, and no door passes calls on to other code.
func (c *Controls) transparent() bool {
	return c.ABI != nil && c.ABI.PowersKnown && !c.ABI.Proxy && !c.ABI.Powers.Has(class.Delegates)
}

func (c *Controls) upgrade() Fact {
	replaced := len(c.Classes) > 0 && !c.Classes[0].Deployed
	announced := slices.ContainsFunc(c.Announcements, func(a Announcement) bool { return a.Kind == Upgraded })
	switch {
	case c.can(class.Upgrades), c.can(class.Replaces), c.ABI != nil && c.ABI.Proxy, c.ABI == nil && (replaced || announced):
		return Fact{ProxyAdminDetected, firstOf(c.holder(upgraderRoles), c.owner(), c.holder(adminRoles))}
	case c.transparent() && c.ABI.Kind == class.Sierra:
		return Fact{Status: ImmutableClass}
	}
	return Fact{Status: Unknown}
}

func (c *Controls) supply() Fact {
	minter := c.holder(minterRoles)
	switch {
	case minter != nil:
		return Fact{MinterDetected, minter}
	case c.can(class.Mints):
		return Fact{Mintable, c.owner()}
	case c.transparent() && c.Upgrade.Status == ImmutableClass && c.ABI.Token != 0:
		// No function is known by a name that mints, and none can come. Whether
		// one of another name did is for Read to look up.
		return Fact{Status: Fixed}
	}
	return Fact{Status: Unknown}
}

func (c *Controls) transfer() Fact {
	actor := firstOf(c.holder(pauserRoles), c.owner(), c.holder(adminRoles))
	switch {
	case c.can(class.Blocks):
		return Fact{BlocklistDetected, actor}
	case c.can(class.Freezes):
		return Fact{Freezable, actor}
	case c.can(class.Pauses), c.Paused != nil:
		return Fact{Pausable, actor}
	case c.transparent():
		return Fact{Status: NotDetected}
	}
	return Fact{Status: Unknown}
}

func (c *Controls) metadata() Fact {
	if admin := firstOf(c.owner(), c.holder(adminRoles)); admin != nil {
		return Fact{AdminDetected, admin}
	}
	if c.Owner != nil && c.Complete && len(c.Roles) == 0 && !c.silent() {
		return Fact{Status: Renounced} // the last thing that was heard of an owner
	}
	return Fact{Status: Unknown}
}

// silent says that the class has roles of which nothing was heard: they may be announced in a
// way that is not understood, such as below the selector of a component.
func (c *Controls) silent() bool {
	return c.can(class.Roles) && !slices.ContainsFunc(c.Announcements, func(a Announcement) bool { return a.Role != nil })
}

// PowerNames lists what the class's code can do, in words.
func (c *Controls) PowerNames() (names []string) {
	if c.ABI == nil {
		return nil
	}
	for _, p := range []struct {
		power class.Powers
		name  string
	}{
		{class.Mints, "mint"}, {class.Pauses, "pause"}, {class.Freezes, "freeze"}, {class.Blocks, "blocklist"}, {class.Upgrades, "upgrade"},
		{class.Owned, "owner"}, {class.Roles, "roles"}, {class.Replaces, "replace_class"}, {class.Delegates, "library_call"},
	} {
		if c.can(p.power) {
			names = append(names, p.name)
		}
	}
	if c.ABI.Proxy {
		names = append(names, "proxy")
	}
	return names
}

package class

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// Powers say what the functions of a class let somebody do with a token beyond
// moving what is theirs. They are told by names of entry points, which nobody has
// to keep to: a power that is set was seen, one that is not may still be there
// under another name. Replaces and Delegates are exact, and hold for Sierra
// classes alone.
type Powers uint16

// The powers.
const (
	Mints     Powers = 1 << iota // makes more of the token
	Pauses                       // stops all transfers
	Freezes                      // stops the transfers of one address
	Blocks                       // keeps a list of addresses that are shut out
	Upgrades                     // has a function that replaces the code
	Owned                        // has an owner
	Roles                        // has roles
	Replaces                     // the code can replace its own class
	Delegates                    // the code can run code of other classes as its own
	powersEnd
)

// Has reports whether all of the powers are set.
func (p Powers) Has(q Powers) bool { return p&q == q }

// powerDoors are the names under which powers are known, in both spellings.
var powerDoors = func() map[felt.Felt]Powers {
	doors := map[felt.Felt]Powers{}
	for power, names := range map[Powers][]string{
		Mints:    {"mint", "permissioned_mint", "permissionedMint", "mint_to", "mintTo"},
		Pauses:   {"pause", "unpause"},
		Freezes:  {"freeze", "freeze_account", "freezeAccount", "unfreeze", "is_frozen", "isFrozen"},
		Blocks:   {"blacklist", "blocklist", "un_blacklist", "unBlacklist", "un_blocklist", "is_blacklisted", "isBlacklisted", "is_blocklisted", "isBlocklisted", "block_address", "add_to_blacklist", "add_to_blocklist"},
		Upgrades: {"upgrade", "upgrade_to", "upgradeTo", "upgrade_and_call", "replace_to", "replaceTo", "add_new_implementation", "add_implementation", "set_implementation", "setImplementation", "_set_implementation"},
		Owned:    {"owner", "transfer_ownership", "transferOwnership"},
		Roles:    {"has_role", "hasRole", "grant_role", "grantRole"},
	} {
		for _, n := range names {
			doors[felt.Selector(n)] = power
		}
	}
	return doors
}()

// The syscalls by which a Sierra program changes its own class, or runs another
// one. A program names what it uses by short strings.
var (
	syscallReplace = felt.MustShortString("replace_class_syscall")
	syscallLibrary = felt.MustShortString("library_call_syscall")
)

func powersOf(c *starknet.Class) (p Powers) {
	var external []starknet.EntryPoint
	if c.Sierra != nil {
		external = c.Sierra.EntryPoints.External
		for i := range c.Sierra.Program {
			switch c.Sierra.Program[i] {
			case syscallReplace:
				p |= Replaces
			case syscallLibrary:
				p |= Delegates
			}
		}
	} else {
		external = c.Cairo0.EntryPoints.External
	}
	for i := range external {
		p |= powerDoors[external[i].Selector]
	}
	return p
}

package api

import "chainexplorer/internal/registry"

// What only tests need of the inside.

// SetRegistry makes the routes know other things of a chain. Nothing may be asked
// meanwhile.
func (s *Routes) SetRegistry(id string, c *registry.Chain) { s.Chains[id].Registry = c }

//go:build amd64 || arm64

package sandbox

// Unfiltered takes the filter of system calls away, so that a test sees what holds without it.
func (s *Sandbox) Unfiltered() { s.unfiltered = true }

// Groups are the folders in which it makes control groups.
func (s *Sandbox) Groups() map[string]string { return s.groups.parents }

// FindGroups looks for control groups in a made-up system.
func FindGroups(dir, proc, root string) (parents map[string]string, v2 bool, err error) {
	g, err := findCgroups(dir, proc, root)
	if err != nil {
		return nil, false, err
	}
	return g.parents, g.v2, nil
}

// MakeGroup makes a group in a made-up system.
func MakeGroup(dir, name string, l Limits) error {
	g, err := findCgroups(dir, "/proc/self", "/")
	if err != nil {
		return err
	}
	made, err := g.create(name, &l)
	if err != nil {
		return err
	}
	return made.add(4711)
}

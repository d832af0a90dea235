package cairoproject

import "slices"

// lockfile is what matters of a Scarb.lock.
type lockfile struct{ packages map[string]lockedPackage }

type lockedPackage struct {
	version      string
	elsewhere    bool // it has a source other than a path
	dependencies []string
	twice        bool
}

func (r *reader) lockfile() (*lockfile, error) {
	data, err := r.read(lockName, maxLockfile)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, refuse(LockfileMissing, "there is no Scarb.lock at the root")
	}
	t, err := parse(data)
	if err != nil {
		return nil, err
	}
	packages, ok := list(t["package"])
	if !ok || t["version"] != int64(1) {
		return nil, refuse(Unsupported, "the lock file is not of version 1")
	}
	l := &lockfile{packages: map[string]lockedPackage{}}
	for _, p := range packages {
		name, _ := p["name"].(string)
		version, ok := p["version"].(string)
		deps, err := texts(p["dependencies"])
		if name == "" || !ok || err != nil {
			return nil, refuse(Invalid, "the lock file is not one of Scarb's")
		}
		_, elsewhere := p["source"]
		_, twice := l.packages[name]
		l.packages[name] = lockedPackage{version, elsewhere, deps, twice}
	}
	return l, nil
}

// has says whether a crate of the tree is what was locked.
func (l *lockfile) has(c *Crate) error {
	p, there := l.packages[c.Name]
	if !there || p.twice || p.elsewhere || p.version != c.Version {
		return refuse(Incomplete, "the lock file does not fit the packages of the tree")
	}
	for _, d := range c.Dependencies {
		if !slices.Contains(p.dependencies, d) {
			return refuse(Incomplete, "the lock file does not fit the dependencies of the packages")
		}
	}
	return nil
}

package main

import "strings"

// expectation is a reason for which a test may be skipped.
type expectation struct {
	reason string // what the reason begins with, as the test gives it
	why    string // why it is no loss, or none that CI could repair
}

func (e expectation) matches(reason string) bool { return strings.HasPrefix(reason, e.reason) }

// expected is all that CI lets pass. Whatever 'make tools' installs is not on it.
var expected = []expectation{
	{"TEST_CITUS_URL is not set", "a cluster is not started by the tests; PostgreSQL alone is"},
	{"the cluster has one worker", "nor can it be enlarged by them"},
	{"the toolchain of a development node is not there", "programs by others, larger than the sources; the simulated node is always there"},
	{"docker compose is not there", "the compose file is then read by the other tests alone"},
	{"a file system can be mounted by root on Linux only", "full disks are played in internal/store/pebble"},
	{"no file system can be mounted here", "full disks are played in internal/store/pebble"},
	{"sequential and long: run without the race detector", "run again without it"},
	{"the goroutines of a shorter test: run without the race detector", "run again without it"},
	{"days of virtual time: run without the race detector", "run again without it"},
	{"curve arithmetic: run without the race detector", "run again without it"},
	{"the engine's clock cannot be moved", "a server keeps its own time; another engine is tested"},
	{"the store cannot be open twice", "one process owns the directory; the other engine is tested"},
	{"nothing of that kind is written", "of the kinds of files, opening writes some"},
}

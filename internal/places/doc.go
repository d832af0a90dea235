// Package places lets the processes on one control database share what a workspace may
// have at work at once.
//
// A process holds some of a workspace's places and lets requests in by counting in
// memory. Once a second, off the path of requests, it renews what it holds of all
// workspaces in one round trip: twice what it used at most just before, at least an
// eighth of all places. When another process is short of places nobody holds more than
// it uses, and who has more than its even part gives up the rest as requests end. So a
// process that serves a workspace alone gets all its places, and places move to where
// the requests are within about two seconds.
//
// What the processes hold of a workspace never adds up to more than its limit: the
// database grants under a lock, a process gives up in memory before it says so, and it
// lets nobody in for longer than term after it last asked, while the database
// keeps its places for the time of a request longer. What a process holds that was
// killed comes back then. Two things are beyond this: while the database does not
// answer each process lets in as many as the limit, as with budgets, since a failure of
// ours must not become the clients'; and a crash of PostgreSQL forgets who holds what
// until they renew it, at most term later.
//
// Costs: a request takes one mutex more, and no memory. It waits for the database, one
// round trip, when it is the first of its workspace for half a minute, and when more
// than twice as many come at once as a second before: that is once for each doubling.
// A second costs one statement per process, whatever the traffic, for up to 500
// workspaces. Where all places are taken the database is asked five times a second at
// most for a workspace.
//
// A control database in a file has one process, which counts exactly without this.
package places

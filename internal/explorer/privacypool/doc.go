// Package privacypool reads what privacy pools say in public: what goes in, what
// comes out, which notes were made, which nullifiers were used.
//
// A pool's contract is replaced from time to time, and events are read by the class
// that was in force where they stand: see Decode. The registry says which pools
// there are and which classes can be read. What a pool emits with a class that the
// registry does not know keeps its name, its keys and its data, and says no more.
//
// Lists of events are read from the index of events as they are asked for: nothing is
// kept for them, and forks need no care. Costs of a page, however long the history is:
// one search for the events (event.Search, by pairs of pool and selector, which are
// lists of their own); one scan of class history for each pool, one search for upgrades,
// and one for each block of the page that replaced a class; for the amounts of open notes
// one round trip more; for fees another, and for each pool two searches of settings or,
// where they changed more than 64 times within the page, up to eight.
//
// Nothing here tells who owns a note, which deposit a withdrawal came from, or how
// many notes of a kind are left: the events do not, and sums of them would pretend to.
package privacypool

package hash

// CanEight says whether this processor permutes eight states at once.
func CanEight() bool { return eight }

// OneAtATime has every state permuted alone until what it returns is called.
func OneAtATime() (undo func()) {
	could := eight
	eight = false
	return func() { eight = could }
}

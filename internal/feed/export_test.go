package feed

// SmallParts makes parts of n items, so that ordinary blocks have several.
func (r *Reader) SmallParts(n int) { r.part = n }

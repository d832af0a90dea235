package wire

// Counter watches a body while it arrives, so that a batch with too many calls is
// refused at the first one too many. It knows no more of JSON than where strings and
// brackets are: whether it is JSON is for Parse to say.
type Counter struct {
	depth   int
	items   int
	array   bool // the body is one
	started bool
	str     bool // inside a string
	escaped bool
	inItem  bool
}

// Write takes the next bytes. It is an io.Writer that never fails.
func (c *Counter) Write(b []byte) (int, error) {
	for _, x := range b {
		c.next(x)
	}
	return len(b), nil
}

// Exceeded says that there are more calls than a batch may have.
func (c *Counter) Exceeded() bool { return c.array && c.items > MaxBatch }

func (c *Counter) next(x byte) {
	if c.str {
		switch {
		case c.escaped:
			c.escaped = false
		case x == '\\':
			c.escaped = true
		case x == '"':
			c.str = false
		}
		return
	}
	switch x {
	case ' ', '\n', '\r', '\t':
		return
	}
	if !c.started {
		c.started, c.array = true, x == '['
		if c.array {
			c.depth = 1
			return
		}
	}
	if c.array && c.depth == 1 {
		if x == ',' {
			c.inItem = false
			return
		}
		if x != ']' && !c.inItem {
			c.inItem = true
			c.items++
		}
	}
	switch x {
	case '"':
		c.str = true
	case '[', '{':
		c.depth++
	case ']', '}':
		c.depth--
	}
}

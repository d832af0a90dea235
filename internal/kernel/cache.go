package kernel

import (
	"container/list"
	"sync"

	"chainexplorer/internal/explorer/chain"
)

// answers keeps encoded answers, bounded by bytes, least recently used ones
// leaving first. There are two: of answers that can never change, and of answers
// that hold until the next block. Even the first are forever only within one fork
// epoch: the key holds the number of forks that the chain went through, so that
// a fork below the finalized tier orphans everything at once. The key of the
// second holds all that the index's state follows from, and where an answer follows
// from more than blocks, how often the index was written to.
type answers struct {
	max int

	mu    sync.Mutex // guards what follows
	size  int
	byKey map[answerKey]*list.Element
	order list.List // of *kept, most recently used first
}

// answerOverhead is what an answer takes besides its bytes.
const answerOverhead = 200

type answerKey struct {
	chain string
	at    chain.Revision // of answers that can never change, with the forks alone
	path  string
	query string
	// written is what was written to the index, of answers that also follow from what comes beside
	// the blocks; zero of the others.
	written uint64
}

type kept struct {
	key    answerKey
	answer *answer
	size   int
}

func newAnswers(max int) *answers {
	return &answers{max: max, byKey: map[answerKey]*list.Element{}}
}

// fits says whether an answer of a size would be kept.
func (a *answers) fits(k *answerKey, size int) bool {
	return size+len(k.path)+len(k.query)+answerOverhead <= a.max/16
}

func (a *answers) get(k answerKey) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	el := a.byKey[k]
	if el == nil {
		return nil
	}
	a.order.MoveToFront(el)
	return el.Value.(*kept).answer
}

// put keeps an answer. One that is kept forever is compressed here, so that its
// size is known; the others when somebody asks for it.
func (a *answers) put(k answerKey, ans *answer) {
	if ans.forever {
		ans.zip()
	}
	size := len(ans.plain.body) + len(ans.zipped.body)
	if !a.fits(&k, size) {
		return
	}
	size += len(k.path) + len(k.query) + answerOverhead
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byKey[k] != nil {
		return
	}
	a.byKey[k] = a.order.PushFront(&kept{k, ans, size})
	a.size += size
	for a.size > a.max {
		old := a.order.Remove(a.order.Back()).(*kept)
		delete(a.byKey, old.key)
		a.size -= old.size
	}
}

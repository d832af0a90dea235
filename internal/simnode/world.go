package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// id is an address in short form. Ids are handed out in order of first use and
// never reach the chain's content, so they may differ between equal chains.
type id uint32

type balanceKey struct {
	token  int // index in world.tokens
	holder id
}

type nftKey struct {
	token  int
	number uint64
}

type multiKey struct {
	token  int
	number uint64
	holder id
}

// counter names a number that the chain counts.
type counter uint8

const (
	countL1Nonce counter = iota
	countVariants
	countOldVariants
	countPoolEra
	countMigrated
	countHostile
	countPoolFee
	countPoolPaused
	countPoolCollector // 1 when the collector of fees was announced
)

// account is a contract that can send transactions.
type account struct {
	id      id
	address felt.Felt
	cairo0  bool
	key     felt.Felt
}

type pair struct {
	id     id
	token0 int
	token1 int
	lp     int // its own liquidity token
}

type ekuboPool struct {
	token0, token1   int
	fee, tickSpacing felt.Felt
}

type ekuboState struct {
	reserve [2]amount
	tick    int64
}

// note is a privacy pool note with what the chain hides: token, amount, owner.
type note struct {
	id     felt.Felt
	token  int
	amount amount
	owner  id
}

// world is the state of all contracts, with its history. The chain's lock
// guards it.
type world struct {
	cfg  Config
	net  contracts.Network
	cat  *contracts.Catalogue
	keep bool

	addresses []felt.Felt
	ids       map[felt.Felt]id
	cells     map[id]felt.Felt // storage cell of an address's balance
	holders   map[int][]id     // every address that ever touched a token
	holds     map[balanceKey]struct{}

	classOf  *history[id, *contracts.Class]
	implOf   *history[id, *contracts.Class] // behind the old proxy
	declared *history[felt.Felt, *contracts.Class]
	compiled *history[felt.Felt, felt.Felt]
	nonces   *history[id, uint64]
	counts   *history[counter, uint64]

	accounts list[*account]
	tokens   list[*Token]
	tokenAt  *history[id, int] // 1 + index
	balances *history[balanceKey, amount]
	supplies *history[int, amount]

	nftOwners *history[nftKey, id]
	nftNext   *history[int, uint64]
	multi     *history[multiKey, amount]

	pairs    list[*pair]
	reserves *history[int, [2]amount]
	ekubo    list[*ekuboPool]
	ekuboNow *history[int, ekuboState]

	messages list[Message]

	notes      list[note]
	spent      *history[int, bool]
	viewingKey *history[id, felt.Felt]
	poolFacts  list[PoolFact]
	poolFees   list[PoolFee]
	protected  *history[int, amount]
}

func newWorld(cfg Config, keep bool) *world {
	w := &world{
		cfg: cfg, net: contracts.NetworkOf(cfg.ChainID), cat: contracts.Classes(), keep: keep,
		ids: map[felt.Felt]id{}, cells: map[id]felt.Felt{}, holders: map[int][]id{}, holds: map[balanceKey]struct{}{},

		// A deployment differs from a replacement by what was there before.
		classOf: newHistory[id, *contracts.Class](true), implOf: newHistory[id, *contracts.Class](keep),
		declared: newHistory[felt.Felt, *contracts.Class](keep), compiled: newHistory[felt.Felt, felt.Felt](keep),
		nonces: newHistory[id, uint64](keep), counts: newHistory[counter, uint64](keep),
		tokenAt:  newHistory[id, int](keep),
		balances: newHistory[balanceKey, amount](keep), supplies: newHistory[int, amount](keep),
		nftOwners: newHistory[nftKey, id](keep), nftNext: newHistory[int, uint64](keep), multi: newHistory[multiKey, amount](keep),
		reserves: newHistory[int, [2]amount](keep), ekuboNow: newHistory[int, ekuboState](keep),
		spent: newHistory[int, bool](keep), viewingKey: newHistory[id, felt.Felt](keep), protected: newHistory[int, amount](keep),
	}
	w.intern(felt.Zero) // id 0 is nobody
	return w
}

// nobody is the zero address: where tokens come from and go to.
const nobody id = 0

func (w *world) intern(a felt.Felt) id {
	if i, ok := w.ids[a]; ok {
		return i
	}
	i := id(len(w.addresses))
	w.addresses = append(w.addresses, a)
	w.ids[a] = i
	return i
}

func (w *world) address(i id) felt.Felt { return w.addresses[i] }

// tables are all parts of the world that a fork cuts back.
func (w *world) tables() []interface{ rollback(uint64) } {
	return []interface{ rollback(uint64) }{
		w.classOf, w.implOf, w.declared, w.compiled, w.nonces, w.counts, &w.accounts, &w.tokens, w.tokenAt, w.balances,
		w.supplies, w.nftOwners, w.nftNext, w.multi, &w.pairs, w.reserves, &w.ekubo, w.ekuboNow, &w.messages, &w.notes,
		w.spent, w.viewingKey, &w.poolFacts, &w.poolFees, w.protected,
	}
}

// rollback forgets everything at or above a block.
func (w *world) rollback(from uint64) {
	for _, t := range w.tables() {
		t.rollback(from)
	}
	// A token index may come back as another token.
	for i := range w.holders {
		if i >= w.tokens.len() {
			for _, h := range w.holders[i] {
				delete(w.holds, balanceKey{i, h})
			}
			delete(w.holders, i)
		}
	}
}

// endBlock lets a streamed chain forget.
func (w *world) endBlock() {
	if w.keep {
		return
	}
	for _, t := range w.tables() {
		if h, ok := t.(interface{ endBlock() }); ok {
			h.endBlock()
		}
	}
	w.messages = list[Message]{}
	w.poolFacts, w.poolFees = list[PoolFact]{}, list[PoolFee]{}
}

var balancesVariable = felt.Selector("ERC20_balances")

// balanceCell is where a token keeps an address's balance. All tokens here use
// the same variable, so one cell per holder is computed and remembered.
func (w *world) balanceCell(h id) felt.Felt {
	if c, ok := w.cells[h]; ok {
		return c
	}
	c := starknet.Pedersen(balancesVariable, w.address(h))
	w.cells[h] = c
	return c
}

// setBalance records a balance and who ever held the token.
func (w *world) setBalance(block uint64, token int, h id, a amount) {
	k := balanceKey{token, h}
	if _, ok := w.holds[k]; !ok {
		w.holds[k] = struct{}{}
		w.holders[token] = append(w.holders[token], h)
	}
	w.balances.set(block, k, a)
}

func (w *world) balance(token int, h id) amount { return w.balances.get(balanceKey{token, h}) }

// token returns the index of the token at an address.
func (w *world) tokenIndex(a felt.Felt) (int, bool) {
	i, ok := w.ids[a]
	if !ok {
		return 0, false
	}
	n := w.tokenAt.get(i)
	return n - 1, n > 0
}

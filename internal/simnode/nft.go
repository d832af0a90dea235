package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// newCollection deploys an ERC-721 or ERC-1155 contract.
func (b *builder) newCollection(from *account, standard Standard, layout contracts.Layout) {
	cat := b.w.cat
	var class *contracts.Class
	var calldata []felt.Felt
	name, symbol := "Starknet Simulated Beings", "BEING"
	switch {
	case standard == ERC721 && layout == contracts.Keyed:
		class = cat.ERC721Keyed
		calldata = append(constructorText(class, name), constructorText(class, symbol)...)
		calldata = append(append(calldata, felt.EncodeByteArray([]byte("ipfs://simulated/"))...), from.address)
	case standard == ERC721:
		class, name, symbol = cat.ERC721Legacy, "Ekubo Position", "EkuPo"
		calldata = append(constructorText(class, name), constructorText(class, symbol)...)
	case layout == contracts.Keyed:
		class, name, symbol = cat.ERC1155Keyed, "", ""
		calldata = felt.EncodeByteArray([]byte("https://example.org/{id}.json"))
	default:
		class, name, symbol = cat.ERC1155Legacy, "", ""
		calldata = felt.EncodeByteArray([]byte("https://example.org/old/{id}.json"))
	}
	b.viaDeployer(from, contracts.CurrentUDC, class, calldata, func(address felt.Felt) {
		b.addToken(&Token{Address: address, Standard: standard, Name: name, Symbol: symbol, owner: from.id})
	})
}

// collection is a random token of a standard.
func (b *builder) collection(standard Standard) (int, bool) {
	n := b.w.tokens.len()
	for i, start := 0, b.r.intn(n); i < n; i++ {
		if k := (start + i) % n; b.token(k).Standard == standard {
			return k, true
		}
	}
	return 0, false
}

// emitNFT is a Transfer or Approval of one NFT in the collection's layout.
func (b *builder) emitNFT(token int, selector felt.Felt, from, to id, number uint64) {
	t, n := b.token(token), felt.FromUint64(number)
	f, g := b.w.address(from), b.w.address(to)
	if b.layout(token) == contracts.Keyed {
		b.emit(t.Address, b.felts(selector, f, g, n, felt.Zero), b.felts())
		return
	}
	b.emit(t.Address, b.felts(selector), b.felts(f, g, n, felt.Zero))
}

// doNFT mints a new NFT, passes one on or burns it.
func (b *builder) doNFT(from *account) {
	token, ok := b.collection(ERC721)
	if !ok {
		b.doTransfer(from)
		return
	}
	t := b.token(token)
	if total := b.w.nftNext.get(token); total > 0 && b.r.chance(0.6) {
		for range 12 {
			number := uint64(b.r.intn(int(total)))
			if b.w.nftOwners.get(nftKey{token, number}) != from.id {
				continue
			}
			to, door := b.somebody(), contracts.SelFnTransferFrom
			if b.r.chance(0.1) {
				to, door = nobody, contracts.SelFnBurn
			}
			b.call(t.Address, door, from.address, b.w.address(to), felt.FromUint64(number), felt.Zero)
			if b.r.chance(0.2) {
				b.emitNFT(token, contracts.SelApproval, from.id, nobody, number)
			}
			b.w.nftOwners.set(b.number, nftKey{token, number}, to)
			b.emitNFT(token, contracts.SelTransfer, from.id, to, number)
			b.done()
			return
		}
	}
	number := b.w.nftNext.get(token)
	b.w.nftNext.set(b.number, token, number+1)
	b.call(t.Address, contracts.SelFnMint, from.address, felt.FromUint64(number), felt.Zero)
	b.w.nftOwners.set(b.number, nftKey{token, number}, from.id)
	b.emitNFT(token, contracts.SelTransfer, nobody, from.id, number)
	b.done()
}

// doMulti mints, moves or burns ERC-1155 amounts, one id or several at once.
func (b *builder) doMulti(from *account) {
	token, ok := b.collection(ERC1155)
	if !ok {
		b.doTransfer(from)
		return
	}
	t := b.token(token)
	count := 1
	if b.r.chance(0.35) {
		count = 2 + b.r.intn(3)
	}
	numbers, values := make([]uint64, count), make([]amount, count)
	first := uint64(b.r.intn(6))
	sender, to := from.id, b.somebody()
	if b.r.chance(0.1) {
		to = nobody
	}
	for i := range count {
		numbers[i] = first + uint64(i)
		have := b.w.multi.get(multiKey{token, numbers[i], from.id})
		values[i] = have.part(1 + b.r.intn(1<<16))
		if have.isZero() {
			sender = nobody
		}
	}
	for i := range count {
		if sender == nobody {
			values[i] = amountOf(uint64(1 + b.r.intn(1000)))
			to = from.id
		} else {
			k := multiKey{token, numbers[i], sender}
			b.w.multi.set(b.number, k, b.w.multi.get(k).sub(values[i]))
		}
		if to != nobody {
			k := multiKey{token, numbers[i], to}
			b.w.multi.set(b.number, k, b.w.multi.get(k).add(values[i]))
		}
	}
	b.emitMulti(t, token, from.id, sender, to, numbers, values)
	b.done()
}

func (b *builder) emitMulti(t *Token, token int, operator, from, to id, numbers []uint64, values []amount) {
	w := b.w
	parties := []felt.Felt{w.address(operator), w.address(from), w.address(to)}
	selector, door := contracts.SelTransferSingle, contracts.SelFnSafeTransferFrom
	var body []felt.Felt
	if len(numbers) == 1 {
		body = []felt.Felt{felt.FromUint64(numbers[0]), felt.Zero, values[0].low(), values[0].high()}
	} else {
		selector, door = contracts.SelTransferBatch, contracts.SelFnSafeBatchTransferFrom
		n := felt.FromUint64(uint64(len(numbers)))
		body = append(body, n)
		for _, number := range numbers {
			body = append(body, felt.FromUint64(number), felt.Zero)
		}
		body = append(body, n)
		for _, v := range values {
			body = append(body, v.low(), v.high())
		}
	}
	if from == nobody {
		door = contracts.SelFnMint
	}
	b.call(t.Address, door, append(append([]felt.Felt{parties[1], parties[2]}, body...), felt.Zero)...)
	if b.layout(token) == contracts.Keyed {
		b.emit(t.Address, b.felts(selector, parties[0], parties[1], parties[2]), b.felts(body...))
		return
	}
	b.emit(t.Address, b.felts(selector), b.felts(append(parties, body...)...))
}

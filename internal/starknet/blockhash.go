package starknet

// Block hashes by the rules of every version so far.

import (
	"encoding/binary"

	"chainexplorer/internal/felt"
)

// The words that start a block hash and its parts.
var (
	blockHashPrefix0 = felt.MustShortString("STARKNET_BLOCK_HASH0")
	blockHashPrefix1 = felt.MustShortString("STARKNET_BLOCK_HASH1")
	gasPricesPrefix  = felt.MustShortString("STARKNET_GAS_PRICES0")
)

// ComputeBlockHash is the block's hash by the rules of its version. For
// blocks before 0.13.2 these are the rules since 0.7; Verify knows where a
// network's older blocks end and hashes those by the rules of their time.
func ComputeBlockHash(h *Header, c Commitments) (felt.Felt, error) {
	version, err := knownVersion(h.StarknetVersion)
	if err != nil {
		return felt.Felt{}, err
	}
	if version.before(v0_13_2) {
		return pedersenBlockHash(h, &c, h.Sequencer), nil
	}
	return poseidonBlockHash(h, &c, version), nil
}

func poseidonBlockHash(h *Header, c *Commitments, version protocolVersion) felt.Felt {
	var p poseidon
	if version.before(v0_13_4) {
		p.add(&blockHashPrefix0)
	} else {
		p.add(&blockHashPrefix1)
	}
	p.addUint64(h.Number)
	p.add(&h.NewRoot)
	p.add(&h.Sequencer)
	p.addUint64(h.Timestamp)
	counts := packCounts(c, h.DAMode)
	p.add(&counts)
	p.add(&c.StateDiff)
	p.add(&c.Transactions)
	p.add(&c.Events)
	p.add(&c.Receipts)
	if version.before(v0_13_4) {
		addGasPrices(&p, &h.L1GasPrice, &h.L1DataGasPrice)
	} else {
		var prices poseidon
		prices.add(&gasPricesPrefix)
		addGasPrices(&prices, &h.L1GasPrice, &h.L1DataGasPrice, &h.L2GasPrice)
		e := prices.sum()
		p.addElement(&e)
	}
	text, err := felt.FromShortString(h.StarknetVersion)
	if name, ok := text.ShortString(); err != nil || !ok || name != h.StarknetVersion {
		return felt.Felt{} // no block has such a version, nor this hash
	}
	p.add(&text)
	p.addUint64(0)
	p.add(&h.ParentHash)
	return p.sumFelt()
}

func addGasPrices(p *poseidon, prices ...*GasPrice) {
	for _, price := range prices {
		p.add(&price.InWei)
		p.add(&price.InFri)
	}
}

// packCounts puts the three counts and the data availability bit into a felt.
func packCounts(c *Commitments, mode DAMode) (f felt.Felt) {
	binary.BigEndian.PutUint64(f[0:], c.TransactionCount)
	binary.BigEndian.PutUint64(f[8:], c.EventCount)
	binary.BigEndian.PutUint64(f[16:], c.StateDiffLength)
	if mode == DABlob {
		f[24] = 0x80
	}
	return f
}

// pedersenBlockHash holds for blocks from 0.7 to before 0.13.2.
func pedersenBlockHash(h *Header, c *Commitments, sequencer felt.Felt) felt.Felt {
	e := pedersenElements(
		elementFromUint64(h.Number), toElement(&h.NewRoot), toElement(&sequencer), elementFromUint64(h.Timestamp),
		elementFromUint64(c.TransactionCount), toElement(&c.Transactions),
		elementFromUint64(c.EventCount), toElement(&c.Events),
		element{}, element{}, // protocol version and extra data, never used
		toElement(&h.ParentHash),
	)
	return fromElement(&e)
}

// firstBlockHash holds for blocks before 0.7: most fields were still zero,
// and the chain id took part.
func firstBlockHash(h *Header, c *Commitments, chainID felt.Felt) felt.Felt {
	e := pedersenElements(
		elementFromUint64(h.Number), toElement(&h.NewRoot), element{}, element{},
		elementFromUint64(c.TransactionCount), toElement(&c.Transactions),
		element{}, element{}, element{}, element{},
		toElement(&chainID), toElement(&h.ParentHash),
	)
	return fromElement(&e)
}

// blockHashes are the hashes that the block may have: one, or for old blocks
// one for each sequencer that may have made a block that names none. Which
// rules hold for a block without a version depends on the network; known is
// false where the network's past is not.
func blockHashes(h *Header, c *Commitments, chainID felt.Felt, version protocolVersion) (hashes []felt.Felt, known bool) {
	if !version.before(v0_13_2) {
		return []felt.Felt{poseidonBlockHash(h, c, version)}, true
	}
	past, ok := histories[chainID]
	if !ok && version == (protocolVersion{}) {
		return nil, false
	}
	if h.Number < past.first07 {
		return []felt.Felt{firstBlockHash(h, c, chainID)}, true
	}
	hashes = []felt.Felt{pedersenBlockHash(h, c, h.Sequencer)}
	if h.Sequencer.IsZero() && h.Number < past.settled {
		hashes = append(hashes, pedersenBlockHash(h, c, past.sequencer))
	}
	return hashes, true
}

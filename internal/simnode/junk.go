package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// junkContract emits events that look like a token's, a pool's or an
// exchange's and are not: wrong sizes, impossible numbers, hostile text.
var junkContract = felt.Selector("simulated junk emitter")

var maxFelt = felt.MustParse("0x800000000000011000000000000000000000000000000000000000000000000")

const junkKinds = 15

func (b *builder) doJunk() {
	random := func(n int) []felt.Felt {
		out := make([]felt.Felt, n)
		for i := range out {
			out[i] = b.r.felt()
		}
		return out
	}
	var keys, data []felt.Felt
	transfer := func(nk, nd int) { keys, data = append([]felt.Felt{contracts.SelTransfer}, random(nk-1)...), random(nd) }
	text := func(s string) felt.Felt { return felt.MustShortString(s) }
	switch b.r.intn(junkKinds) {
	case 0:
		transfer(1, 3)
	case 1:
		transfer(2, 3)
	case 2:
		transfer(1, 5)
	case 3:
		transfer(3, 3)
	case 4:
		data = random(2) // no key at all
	case 5:
		transfer(1, 0)
	case 6: // halves of an amount that do not fit 128 bits
		keys = []felt.Felt{contracts.SelTransfer, b.r.felt(), b.r.felt()}
		data = []felt.Felt{maxFelt, maxFelt}
	case 7: // as large as the chain allows
		transfer(50, 300)
	case 8:
		keys, data = []felt.Felt{contracts.SelTransferSingle}, random(5)
	case 9:
		keys = []felt.Felt{felt.Selector("Named")}
		data = []felt.Felt{text("<img src=x onerror=alert(1)>"), text("\x1b[2J\x07"), text("' OR 1=1 --"), text("\xff\xfe")}
	case 10: // lengths that promise more than there is
		keys = []felt.Felt{contracts.SelTransferBatch}
		data = append(random(3), maxFelt, b.r.felt())
	case 11: // an impostor of the pool
		keys, data = []felt.Felt{contracts.SelDeposit, b.r.felt(), contracts.STRK}, []felt.Felt{units(1_000_000, 18).low()}
	case 12:
		transfer(6, 0)
	case 13: // an impostor of a pair
		keys, data = []felt.Felt{contracts.SelSwap}, random(10)
	default:
		transfer(4, 4)
	}
	b.call(junkContract, contracts.SelFnEmit, append(append([]felt.Felt{felt.FromUint64(uint64(len(keys)))}, keys...), felt.Zero)...)
	b.emit(junkContract, b.felts(keys...), b.felts(data...))
	b.done()
}

// revertReasons are what failed transactions say.
var revertReasons = []string{
	"Error in the called contract (0x3e8): Execution failed. Failure reason: 0x753235365f737562204f766572666c6f77 ('u256_sub Overflow').",
	"Transaction execution has failed:\n0: Error in the called contract (contract address: 0x2, class hash: 0x1, selector: 0x15d40a3d6ca2ac30f4031e42be28da9b056fef9bb7357ac5e85627ee876e5ad):\nExecution failed. Failure reason:\n(0x454e545259504f494e545f4641494c4544 ('ENTRYPOINT_FAILED')).\n",
	"Insufficient ERC20 allowance",
	"NON_ZERO_VALUE",
	"<script>alert('revert')</script> \u202e 'quoted' \"twice\" \\ back",
	"Out of gas",
	"ERC20: insufficient balance",
}

package metadata

import (
	"context"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

const (
	// followBlocks is how many blocks are looked at for replaced classes in one commit: a row each, in one round trip.
	followBlocks = 256
	// upgradePause is how long a token that replaces its class again and again is left alone.
	upgradePause = catchUpRefresh
)

// followUpgrades makes tokens due whose classes were replaced since the last look. It does not look back: not at what came
// before its first look, nor at what was caught up with, nor below the last of several forks. Such tokens are asked
// when they are due.
func (j *Job) followUpgrades(ctx context.Context, r store.Reader, b *store.Batch, state *chain.State) (more bool, err error) {
	was, some, err := token.UpgradesNow(ctx, r)
	if err != nil {
		return false, err
	}
	u, end := was, state.Head.Number+1
	if u.Forks != state.Fork.Count {
		u.Next, u.Forks = min(u.Next, state.Fork.Ancestor+1), state.Fork.Count
	}
	if !some || behind(state) || u.Next+againBlocks < end {
		u.Next = end
	}
	to := min(end, u.Next+followBlocks)
	if err := j.upgraded(ctx, r, b, u.Next, to); err != nil {
		return false, err
	}
	if u.Next = to; u != was || !some {
		b.Put(token.UpgradesKey, u.Encode())
	}
	return to < end, nil
}

// upgraded makes tokens due whose classes the blocks from one up to another replace, and that were read before.
func (j *Job) upgraded(ctx context.Context, r store.Reader, b *store.Batch, from, to uint64) error {
	var numbers []uint64
	for n := from; n < to; n++ {
		numbers = append(numbers, n)
	}
	diffs, err := block.StatesOf(ctx, r, numbers)
	if err != nil {
		return err
	}
	last := map[felt.Felt]uint64{} // block that replaced the class of a contract
	var contracts []felt.Felt
	for i := range diffs {
		for _, c := range diffs[i].Replaced {
			if _, there := last[c.Address]; !there {
				contracts = append(contracts, c.Address)
			}
			last[c.Address] = numbers[i]
		}
	}
	known, err := token.MetadataOf(ctx, r, contracts)
	if err != nil {
		return err
	}
	for i, m := range known {
		if m == nil || !m.Known || m.Block >= last[contracts[i]] {
			continue
		}
		due := m.Time + seconds(upgradePause)
		if due >= m.Due {
			continue
		}
		b.Delete(token.QueueKey(m.Due, contracts[i]))
		b.Put(token.QueueKey(due, contracts[i]), nil)
		m.Due = due
		b.Put(token.MetadataKey(contracts[i]), m.Encode())
	}
	return nil
}

package further

import (
	"fmt"

	"github.com/zofl/zofl/papers/ideas"
	prices "github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
)

// otherArms lists what other authors' methods do, beside plain DeComFL. Of each the arm has what
// the method is about, and else the recipe's settings.
func otherArms() []arm {
	other := func(name, title, equal, costs string, a ideas.Arm) arm {
		if equal != "" {
			name, title = name+"-"+equal, title+", equal "+equal
		}
		return arm{name: name, title: title, equal: equal, costs: costs, Arm: a}
	}
	decomfl, feedsign := ideas.Arm{Other: ideas.DeComFL}, ideas.Arm{Other: ideas.FeedSign}
	list := []arm{
		other("decomfl", "DeComFL: shared directions, SGD", "", "", decomfl),
		other("feedsign", "FeedSign: the same, a vote a direction", "", "", feedsign),
		other("decomfl", "DeComFL", "bytes", "more queries", decomfl),
		other("feedsign", "FeedSign", "bytes", "more queries", feedsign),
		other("one-bit", "own directions, one bit a scalar", "", "", ideas.Arm{Other: ideas.OneBit}),
	}
	for _, percent := range []int{30, 10, 1} {
		list = append(list, other(fmt.Sprint("mask-", percent), fmt.Sprintf(
			"Meerkat: %d %% of the elements, told free", percent), "", "",
			ideas.Arm{Mask: float64(percent) / 100}))
	}
	for _, n := range []int{3, 5} {
		list = append(list, other(fmt.Sprint("apart-", n), fmt.Sprintf(
			"FedSPZO: %d of 10 directions of the last layer alone", n), "", "less computing",
			ideas.Arm{Apart: n}))
	}
	warm := ideas.Arm{Warm: 10}
	return append(list,
		other("warm", "ZOWarmUp: 10 rounds by gradients first", "", "vectors", warm),
		other("warm", "ZOWarmUp: 10 rounds by gradients first", "bytes", "", warm))
}

// sharedPrice returns the bytes of a device for a round of directions that all devices share.
func (x *trial) sharedPrice(dim, scalars int, o ideas.Other) (float64, error) {
	p, err := preset.Unbound("decomfl", "further", uint64(dim))
	if err != nil {
		return 0, err
	}
	p.Members, p.Target, p.Perturbations = 100, 10, uint32(scalars)
	preset.Fit(p)
	c := prices.Of(p, prices.Input{Round: 1000, IDLen: 8})
	n := float64(c.Down.Socket) + float64(c.Up.Socket)/10
	if o == ideas.FeedSign { // a bit in place of a scalar, up and down
		n -= 1.1 * float64(p.Precision.Bytes(scalars)-(scalars+7)/8)
	}
	return n, nil
}

package run

import (
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
)

// An Order says which minibatches a client takes from its share.
type Order uint8

const (
	// Draws makes a client draw each minibatch with a seed of its own, without replacement.
	Draws Order = 0
	// Walk makes a client take its share in order, epoch after epoch, like a PyTorch loader without
	// shuffling; the last minibatch of an epoch is shorter. An app may do the same, because the
	// minibatch depends only on how many minibatches this client has taken before.
	Walk Order = 1
)

// A picker returns the samples of a minibatch.
type picker interface {
	pick(b objective.Batch) []int
}

// picker returns the picker for a share from which the client has already taken this many
// minibatches.
func (o Order) picker(share []int, taken uint64) picker {
	if o == Walk {
		return &walk{share: share, taken: taken}
	}
	return draw{data.NewBatcher(share)}
}

type draw struct{ *data.Batcher }

func (d draw) pick(b objective.Batch) []int { return d.Pick(b.Size, b.Seed) }

// A walk takes the minibatches of [Walk] from a share.
type walk struct {
	share []int
	taken uint64 // minibatches before the current one
	n     uint64 // record and step of the current one; 0: none yet
	step  int
}

// pick returns the current minibatch again for the step that took it, so that all queries of a
// step, and repetitions of a round, get the same minibatch. For any other step, pick returns the
// next minibatch.
func (w *walk) pick(b objective.Batch) []int {
	if w.n != 0 && (b.N != w.n || b.Step != w.step) {
		w.taken++
	}
	w.n, w.step = b.N, b.Step
	size := b.Size
	if size == 0 || size >= len(w.share) {
		return w.share
	}
	batches := (len(w.share) + size - 1) / size
	first := int(w.taken%uint64(batches)) * size
	return w.share[first:min(first+size, len(w.share))]
}

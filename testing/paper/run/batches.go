package run

import (
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/testing/models"
)

// An Order says which minibatches a client takes of its share.
type Order uint8

const (
	// Draws: a minibatch is drawn anew by its seed, without replacement.
	Draws Order = 0
	// Walk: the share is walked through in its order, epoch after epoch, as a
	// loader of torch does that does not shuffle; the last minibatch of an epoch has
	// what is left. An app is free to: which minibatch it is depends on how many
	// this client has taken before, and on nothing else.
	Walk Order = 1
)

// A picker names the samples of a minibatch.
type picker interface {
	pick(b objective.Batch) []int
}

// picker returns the order over a share of which so many minibatches were taken.
func (o Order) picker(share []int, taken uint64) picker {
	if o == Walk {
		return &walk{share: share, taken: taken}
	}
	return draw{models.NewBatcher(share)}
}

type draw struct{ *models.Batcher }

func (d draw) pick(b objective.Batch) []int { return d.Pick(b.Size, b.Seed) }

// A walk goes through a share.
type walk struct {
	share []int
	taken uint64 // minibatches before the present one
	n     uint64 // record and step that the present one is of; 0: there is none
	step  int
}

// pick returns the present minibatch for the step that it is of, so that all
// queries of a step and a round that is asked again see the same one, and the next
// for any other step.
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

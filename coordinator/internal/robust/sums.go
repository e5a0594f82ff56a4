package robust

import (
	"math"

	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Sums limit the means of sums under masks, where nobody sees a single contribution: a mean is at
// most Plan.Bound times as long as earlier means. Sums are a function of a log's records, including
// undone records, so coordinators that have read the same log cut alike.
//
// The usual length is the median of the last means' lengths, and at least a quarter of the largest
// such median so far. A mean that was cut counts as one of the usual length, and any other mean as
// at most twice as long. So a device that lies in every round does not raise the limit by that, and
// a device that lies just below the limit raises it by a factor of 2 in 8 rounds.
type Sums struct {
	Cuts uint64 // means that were cut

	plan     *plan.Plan     // with the changes so far; nil before record 1
	lengths  median.Running // as far as they count
	n        int            // means so far
	scalars  int            // of a mean
	steepest float64        // largest median so far
}

const (
	// growth is how many times the usual length a mean counts at most.
	growth = 2
	// nearly is the part of the limit from which on a mean counts as cut: a record rounds its scalars.
	nearly = 0.9
)

// Note notes the next record of a log that begins with first.
func (s *Sums) Note(first, record []byte) {
	if s.plan == nil {
		r, err := wire.DecodeRecord(first)
		if err != nil || r.Plan == nil {
			return
		}
		s.plan = r.Plan
	}
	r, err := wire.DecodeRecord(record)
	switch {
	case err != nil:
	case r.Kind == wire.KindChange:
		r.Change.Apply(s.plan)
	case r.Kind == wire.KindRound && len(r.Round.Terms) > 0:
		s.add(s.plan.TermPrecision().Read(r.Round.Terms[0].Scalars, int(s.plan.Steps),
			int(r.Round.Perturbations)))
	}
}

func (s *Sums) add(means []float32) {
	length, usual := lengthOf(means), s.usual()
	switch {
	case !(length > 0):
		return
	case usual > 0 && s.plan.Bound > 0 && length >= nearly*float64(s.plan.Bound)*usual:
		length = usual
	case usual > 0:
		length = min(length, growth*usual)
	}
	s.lengths.Add(length)
	s.n, s.scalars = s.n+1, len(means)
	s.steepest = max(s.steepest, s.lengths.Value())
}

// usual returns the usual length of a mean, or 0 before the first one.
func (s *Sums) usual() float64 {
	below := (min(s.n, median.Window) + 1) / 2
	return max(length{s.lengths.Value(), below * s.scalars}.safe(), s.steepest/room)
}

// Cut scales means down to bound times the usual length. Before the first mean there is no usual
// length, and Cut changes nothing.
func (s *Sums) Cut(bound float32, means []float32) {
	most, length := float64(bound)*s.usual(), lengthOf(means)
	if most == 0 || math.IsInf(most, 1) || !(length > most) {
		return
	}
	s.Cuts++
	for i, v := range means {
		means[i] = float32(float64(v) * (most / length))
	}
}

package replica

import (
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A transport is the part of a replica that depends on the plan's transport: what a round's record
// holds, and how the record changes the state. No change record can change the transport, so the
// replica chooses the transport once.
type transport interface {
	// check refuses terms, weights and objects that the plan cannot have made.
	check(r *Replica, n uint64, round *wire.Round) error
	// add makes a round pending.
	add(r *Replica, n uint64, round *wire.Round)
}

// A scalarTransport is a transport whose rounds hold scalars along seeded directions.
type scalarTransport interface {
	// addTerms makes a round's own terms pending, and returns how many terms each step has.
	addTerms(r *Replica, n uint64, round *wire.Round) int
}

func transportOf(p *plan.Plan) transport {
	switch {
	case p.Transport == plan.Relay:
		return relayTransport{}
	case p.Transport == plan.DenseVectors:
		return denseTransport{}
	case p.ServerRule == plan.ServerCMA:
		return evolutionTransport{}
	}
	return meanTransport{}
}

// dense reports whether the run's records name objects.
func (r *Replica) dense() bool { return r.transport == denseTransport{} }

// meanTransport: a round holds the mean scalars along shared directions.
type meanTransport struct{}

func (meanTransport) check(r *Replica, n uint64, round *wire.Round) error {
	return r.checkScalars(n, round, false)
}

func (t meanTransport) add(r *Replica, n uint64, round *wire.Round) { r.addScalars(n, round, t) }

func (meanTransport) addTerms(r *Replica, n uint64, round *wire.Round) int {
	if r.pool != nil {
		r.addPooled(n, round)
	}
	return r.addMeans(n, round)
}

// relayTransport: a round holds every contributor's scalars along that contributor's own
// directions.
type relayTransport struct{}

func (relayTransport) check(r *Replica, n uint64, round *wire.Round) error {
	return r.checkScalars(n, round, true)
}

func (t relayTransport) add(r *Replica, n uint64, round *wire.Round) { r.addScalars(n, round, t) }

func (relayTransport) addTerms(r *Replica, n uint64, round *wire.Round) int {
	return r.addRelayed(n, round, int(r.plan.Steps))
}

// denseTransport: a round names an object, the mean of the devices' vectors.
type denseTransport struct{}

func (denseTransport) add(r *Replica, n uint64, round *wire.Round) { r.addDense(n, round) }

func (denseTransport) check(r *Replica, _ uint64, round *wire.Round) error {
	switch {
	case len(round.Object) != wire.ObjectLen:
		return fmt.Errorf("an object's digest of %d bytes, want %d: %w",
			len(round.Object), wire.ObjectLen, wire.ErrValue)
	case len(round.Terms) > 0:
		return fmt.Errorf("%d terms with transport=%v: %w",
			len(round.Terms), plan.DenseVectors, wire.ErrValue)
	case len(round.Slots) > 0 || len(round.Weights) > 0 || round.Population > 0:
		return fmt.Errorf("%d slots, %d weights, a population of %d with transport=%v: %w",
			len(round.Slots), len(round.Weights), round.Population,
			plan.DenseVectors, wire.ErrValue)
	}
	return nil
}

// addRelayed adds every contributor's terms, and returns how many terms each step has. Within a
// step the terms are in the order of the record's terms, then by perturbation. A scalar g counts as
// g w/(W P), computed in float64 and rounded once. w is the weight of its contributor, W the sum of
// the weights, and P the number of perturbations of the term's record.
func (r *Replica) addRelayed(n uint64, round *wire.Round, steps int) (terms int) {
	total := uint64(len(round.Terms))
	if len(round.Weights) > 0 {
		total = 0
		for _, w := range round.Weights {
			total += uint64(w)
		}
	}
	for k := range steps {
		terms = 0
		for i := range round.Terms {
			t := &round.Terms[i]
			block := r.block(round, t, k)
			whole := float64(total * uint64(len(block))) // exact: below 2^51
			weight := 1.0
			if len(round.Weights) > 0 {
				weight = float64(round.Weights[i])
			}
			for q, g := range block {
				a := float32(float64(float64(g)*weight) / whole)
				r.addTerm(a, r.tempDirection(n-t.Back, k, q, t.Source), terms == 0)
				terms++
			}
		}
	}
	return terms
}

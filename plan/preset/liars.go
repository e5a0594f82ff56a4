package preset

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
)

// mostAsked is how many devices for each liar a round asks, if the plan has as many members: among
// five, the four others suffice.
const mostAsked = 5

// Liars sets what holds against this many lying devices of a round. In a plan with Roots these are
// a bound and trust, see [plan.Plan].Trust. In other plans they are shared directions, whose
// contributions the coordinator mixes with their nearest, and a trimmed mean. The trimmed mean cuts
// off all liars even if no more than a quorum contributes, so Liars raises Target, Quorum and Trim
// as far as that needs.
//
// Call Liars after [Few] and before [Fit], with the names of the fields that the author has set.
// Liars keeps these, and returns a [*plan.Error] if the plan cannot hold with one of them. fields
// are the names of all fields that Fit must keep.
func Liars(p *plan.Plan, liars uint32, set ...string) (fields []string, err error) {
	if err := unheld(p, liars, set); err != nil {
		return set, err
	}
	a := author{set}
	give(&a, "step_after", &p.StepAfter, 0) // one round's directions are too few to outvote liars
	if len(p.Roots) > 0 {
		give(&a, "bound", &p.Bound, 1.5)
		give(&a, "trust", &p.Trust, 200)
		give(&a, "target", &p.Target, max(p.Target, p.Members))
		return a.set, nil
	}
	give(&a, "target", &p.Target, max(p.Target, min(p.Members, mostAsked*liars)))
	give(&a, "quorum", &p.Quorum, max(p.Quorum, min(2*liars+1, p.Target), (3*p.Target+3)/4))
	give(&a, "liars", &p.Liars, liars)
	give(&a, "bound", &p.Bound, 1.5)
	if p.Weights != plan.Equal { // a trimmed mean has none, and liars would claim large ones
		give(&a, "weights", &p.Weights, plan.Equal)
	}
	give(&a, "aggregator", &p.Aggregator, plan.TrimmedMean)
	give(&a, "trim", &p.Trim, trimOf(liars, p.Quorum))
	return a.set, tooFew(p, liars)
}

// An author has set these fields.
type author struct{ set []string }

func (a *author) has(name string) bool { return slices.Contains(a.set, name) }

// give sets a field that the author has not set.
func give[T any](a *author, name string, field *T, value T) {
	if !a.has(name) {
		*field, a.set = value, append(a.set, name)
	}
}

// trimOf returns the share of contributors by which a trimmed mean of a quorum cuts off all liars
// at either end.
func trimOf(liars, quorum uint32) float32 {
	return float32(math.Ceil(1e4*float64(liars)/float64(max(quorum, 1))) / 1e4)
}

// unheld returns an error if a field of the plan lets nothing hold against liars.
func unheld(p *plan.Plan, liars uint32, set []string) error {
	refuse := func(field string, value any, remedy string) error {
		return &plan.Error{Field: field, Value: value, Remedy: remedy}
	}
	fits := p.Preset == "zofl" && !slices.ContainsFunc(set, func(name string) bool {
		return slices.Contains([]string{"sharing", "transport", "groups"}, name)
	})
	switch {
	case liars == 0:
		return refuse("liars", liars, "give 1 or more, or leave out --liars")
	case p.Secure > 0:
		return refuse("secure", "sum", "the coordinator sees no device's own scalars, so nothing "+
			"holds against liars: leave out --liars, or set secure=none")
	case p.DPClip > 0:
		return refuse("dp_clip", p.DPClip, "it bounds how far one device moves a round, and its "+
			"noise is that of a plain mean: leave out --liars, or dp_clip")
	case p.Transport == plan.DenseVectors:
		return refuse("transport", p.Transport, "vectors are summed as they arrive, so nothing "+
			"holds against liars: set transport=mean, or take --preset zofl-shared")
	case p.Transport != plan.Mean && !fits:
		return refuse("sharing", p.Sharing, "scalars along own directions cannot be compared, so "+
			"nothing holds against liars: set sharing=shared transport=mean, or take --preset "+
			"zofl-shared")
	case p.Roster == plan.OpenRoster:
		return refuse("roster", p.Roster, "one liar can join under many ids: set roster=dense")
	case 2*uint64(liars) >= uint64(p.Members):
		return refuse("liars", liars, fmt.Sprintf("of %d members half or more would lie, and "+
			"nothing tells them from the others: give at most %d, or set members=%d", p.Members,
			(max(p.Members, 1)-1)/2, 2*liars+1))
	}
	return nil
}

// tooFew returns an error if a field that the author has set lets liars through.
func tooFew(p *plan.Plan, liars uint32) error {
	switch quorum := 2*liars + 1; {
	case p.Target < quorum:
		return &plan.Error{Field: "target", Value: p.Target, Remedy: fmt.Sprintf("a round of %d can "+
			"have %d liars, and more of its devices must be honest: set target=%d", p.Target, liars,
			quorum)}
	case p.Quorum < quorum:
		return &plan.Error{Field: "quorum", Value: p.Quorum, Remedy: fmt.Sprintf("a round that closes "+
			"with %d can have %d liars, and more of its devices must be honest: set quorum=%d", p.Quorum,
			liars, quorum)}
	case p.Liars < liars:
		return &plan.Error{Field: "liars", Value: p.Liars, Remedy: fmt.Sprintf("it is below --liars: "+
			"set liars=%d, or leave it out", liars)}
	case p.Aggregator != plan.TrimmedMean:
		return &plan.Error{Field: "aggregator", Value: p.Aggregator, Remedy: "it does not hold: set " +
			"aggregator=trimmed-mean, or leave it out"}
	case uint32(float32(p.Trim*float32(p.Quorum))) < liars:
		return &plan.Error{Field: "trim", Value: p.Trim, Remedy: fmt.Sprintf("of a quorum of %d it "+
			"cuts off fewer than %d: set trim=%v, or leave it out", p.Quorum, liars,
			trimOf(liars, p.Quorum))}
	}
	return nil
}

package preset

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

// Default is the preset of a run of which nothing is known.
const Default = "zofl"

// curved is the preset that learns how the loss curves.
const curved = "cma"

// These are the limits of [Choose], in parameters. The tables of docs/choose.md have the
// measurements.
const (
	mostCurved = 100       // learning the curvature pays up to here
	leastLarge = 1_000_000 // from here on, directions of each device's own cost too much
)

// Known is what an author knows before a run. The zero value of each field means that it is not
// known, or not so.
type Known struct {
	Dim uint64 // parameters

	// Evaluations of the loss, and Seconds, are what a device can spend on the run. LossSeconds is how
	// long one evaluation takes. Seconds without LossSeconds say nothing.
	Evaluations          uint64
	Seconds, LossSeconds float64

	Noise     bool // at the same parameters and data the loss differs from one evaluation to the next
	Unlike    bool // devices have unlike data, such as other labels
	Minibatch bool // a loss is over some of a device's samples, others in each round
	Cohort    bool // a round asks some of the devices only, or anybody may join
	Boxes     bool // parameters have limits
	Liars     bool // some devices may lie
	Private   bool // scalars get noise for differential privacy
}

// KnownOf returns what the fields say that an author has set in a plan of the preset [Default]. set
// names these fields.
func KnownOf(p *plan.Plan, set ...string) Known {
	a := author{set}
	asked := !a.has("target") && !a.has("over_sample") || p.Sampled(p.Members) >= p.Members
	return Known{
		Dim:       p.Dim,
		Minibatch: a.has("batch") && p.Batch > 0,
		Cohort:    p.Roster == plan.OpenRoster || !asked,
		Boxes:     len(p.Boxes) > 0,
		Private:   p.DPClip > 0,
	}
}

// A Choice is a preset, and in a few words why it suits what is known.
type Choice struct{ Preset, Why string }

// Choose returns the preset that suits what is known: among those that can run, the one that ended
// lowest at equal evaluations in the tables of docs/choose.md.
func Choose(k Known) Choice {
	few := k.Dim > 0 && k.Dim <= mostCurved
	switch {
	case k.Liars:
		return Choice{Default, "some devices may lie, and this preset has the defenses"}
	case few && k.Private:
		return Choice{Default, "noise for privacy hides which candidate is better; cma would rank them"}
	case few && k.Cohort:
		return Choice{Default, "a round asks only some of the devices; cma would need them all"}
	case few && k.Minibatch:
		return Choice{Default, "minibatches are another loss each round; cma would need one loss"}
	case few:
		return Choice{curved, fmt.Sprintf("of %d parameters it can learn how the loss curves", k.Dim)}
	case k.Boxes:
		return Choice{"fzoos", "it keeps within limits, also of more than 100 parameters"}
	case k.Dim >= leastLarge:
		return Choice{"zofl-shared", "with millions of parameters, directions of a device's own take " +
			"too long to replay"}
	}
	return Choice{Default, "it finds its own step, and suits most losses"}
}

package plan

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
)

// usualDelta is dp_delta of a plan with --epsilon that sets none.
const usualDelta = 1e-5

// budget sets the noise of a plan so that its rounds stay within --epsilon. If the user set
// dp_noise too, budget keeps that noise, and returns an error if the rounds exceed --epsilon.
func (f *planFlags) budget(p *plan.Plan, set []string) error {
	switch {
	case math.IsNaN(f.epsilon) || f.epsilon < 0 || math.IsInf(f.epsilon, 1):
		return cli.Usage(fmt.Errorf("--epsilon %v: give a finite number above 0", f.epsilon))
	case f.epsilon == 0:
		return nil
	case p.DPClip == 0:
		return &plan.Error{Field: "dp_clip", Value: p.DPClip, Remedy: "--epsilon needs it: set " +
			"the norm to which a device's scalars of a round are cut, about what they usually have"}
	case p.Rounds == 0:
		return &plan.Error{Field: "rounds", Value: p.Rounds,
			Remedy: "--epsilon needs an end, because each round spends privacy: set rounds"}
	}
	p.DPDelta = cmp.Or(p.DPDelta, usualDelta)
	least := dp.NoiseFor(p, f.epsilon)
	switch {
	case !slices.Contains(set, "dp_noise"):
		p.DPNoise = least
		f.fitted = fmt.Sprintf(" dp_noise=%v is the least for --epsilon %v.", least, f.epsilon)
	case p.DPNoise < least:
		return &plan.Error{Field: "dp_noise", Value: p.DPNoise, Remedy: fmt.Sprintf("its %d "+
			"rounds spend more than --epsilon %v: set fewer rounds or dp_noise=%v, or leave dp_noise "+
			"out", p.Rounds, f.epsilon, least)}
	}
	return nil
}

// explainNoise says what a plan's noise hides, and what it costs.
func (f *planFlags) explainNoise(out io.Writer, p *plan.Plan) {
	device, coordinator := p.Noisy()
	if !device && !coordinator {
		return
	}
	from := "From all but the device itself, noise"
	own := dpnoise.Multiplier(p.DPNoise, p.DPOf, p.Quorum) * float64(p.DPClip)
	each := own / math.Sqrt(float64(p.Target))
	switch {
	case coordinator:
		from, each = "From all but the device and the coordinator, noise", own/float64(p.Target)
	case p.DPOf == dpnoise.OfSum:
		from = fmt.Sprintf("From a coordinator that follows the protocol, and from who reads its "+
			"log, the noise of a sum of %s", terminal.Count(p.Quorum, "device"))
	}
	spent := "Each round spends privacy, and the plan sets no rounds."
	if b := dp.Planned(p); b != nil {
		spent = fmt.Sprintf("Its %s spend %v, of a device that takes part in each.",
			terminal.Count(p.Rounds, "round"), b)
	}
	spent += f.fitted
	fmt.Fprintf(out, "\n%s\n", cli.Wrapped(fmt.Sprintf("Privacy: %s hides what one device's data "+
		"do. %s The price is accuracy: a device's scalars are cut to a norm of %g together, and each "+
		"scalar of a mean of %s has noise with a standard deviation of %.3g.",
		from, spent, p.DPClip, terminal.Count(p.Target, "device"), each), cli.TextWidth))
}

package plan

import (
	"fmt"
	"io"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/wire/secagg"
)

// explainSecure says what secure aggregation hides, and what it costs.
func explainSecure(out io.Writer, p *plan.Plan, in cost.Input) {
	if !p.Summed() {
		return
	}
	devices, c := int(p.Sampled(plan.MaxMembers)), cost.Secure(p, in)
	coding, _ := secagg.Codings(p, devices)
	threshold := secagg.Threshold(devices, p.Quorum)
	fmt.Fprintf(out, "\n%s\n", cli.Wrapped(fmt.Sprintf("Secure aggregation: The coordinator learns "+
		"the sum of a round's scalars, of its losses, and who took part. It learns no device's own, "+
		"unless at least %d of a device's %d neighbors, itself included, tell it theirs. A device "+
		"sends %s. A round of %d comes to its "+
		"sum while %d of each neighborhood stay, so %d may leave in any step; below that it is begun "+
		"anew. A coordinator that tells devices different lists of who left can have the sum of %s. "+
		"Scalars are cut to %g, and the mean has an error of at most %.2g. Nobody can "+
		"bound or trace what a single device adds.",
		threshold, c.Degree+1, steps(p, c), devices, threshold,
		c.Degree+1-threshold, fewest(p, devices, threshold), coding.Range, coding.Error(1)),
		cli.TextWidth))
}

// steps says how many bytes a device sends and receives in a round.
func steps(p *plan.Plan, c secagg.Cost) string {
	messages, tag, tags := "four", "", ""
	if p.SecureLists > 0 {
		messages = "five"
		tag = fmt.Sprintf(", %d of a tag", c.Up[secagg.StepAgree])
		tags = fmt.Sprintf(", %d", c.Down[secagg.StepAgree])
	}
	return fmt.Sprintf("%s messages a round in place of one, with %d bytes of keys, %d of shares, "+
		"%d of masked scalars%s and %d of shares again, and gets %d, %d%s and %d", messages,
		c.Up[secagg.StepKeys], c.Up[secagg.StepShares], c.Up[secagg.StepMask], tag,
		c.Up[secagg.StepUnmask], c.Down[secagg.StepShares], c.Down[secagg.StepMask], tags,
		c.Down[secagg.StepUnmask])
}

// fewest says how few devices' contributions a dishonest coordinator can get the sum of, and how to
// raise that number.
func fewest(p *plan.Plan, devices, threshold int) string {
	degree, _ := secagg.Graph(devices)
	switch sum := secagg.SmallestSum(devices, threshold); {
	case p.SecureLists > 0:
		return fmt.Sprintf("%d devices, and of no fewer: devices agree on the lists", threshold)
	case sum > 1:
		return fmt.Sprintf("%d devices, and of no fewer", sum)
	case degree+1 < devices:
		return "a single device"
	}
	return "a single device; make the plan with --secret and secure_lists=agreed, or set quorum to " +
		"three quarters of the devices asked"
}

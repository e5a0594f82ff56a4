package plan

import (
	"errors"
	"fmt"
	"io"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/wire/secagg"
)

// trusts refuses a plan that makes a run with secure=sum without a secret, unless the user asked
// for that by name. Plans that others made stay readable.
func (f *planFlags) trusts(p *plan.Plan, makes bool) error {
	open := p.Summed() && !p.Private()
	switch {
	case open && makes && !f.trust:
		return &plan.Error{Field: "secure", Value: "sum", Remedy: "without a secret the coordinator " +
			"can pose as all other devices, and read each device's own scalars: give --secret FILE, " +
			"and the file to each device; or --trust-coordinator if devices trust it not to"}
	case f.trust && !open:
		return errors.New("--trust-coordinator is for plans with secure=sum and without a secret: " +
			"leave it out")
	}
	return nil
}

// explainSecure says what secure aggregation hides, and what it costs.
func explainSecure(out io.Writer, p *plan.Plan, in cost.Input) {
	if !p.Summed() {
		return
	}
	devices, c := int(p.Sampled(plan.MaxMembers)), cost.Secure(p, in)
	coding, _ := secagg.Codings(p, devices)
	threshold := secagg.Threshold(devices, p.Quorum)
	fmt.Fprintf(out, "\n%s\n", cli.Wrapped(fmt.Sprintf("Secure aggregation: %s A device "+
		"sends %s. A round of %d comes to its "+
		"sum while %d of each neighborhood stay, so %d may leave in any step; below that it is begun "+
		"anew. %s "+
		"Scalars are cut to %g, and the mean has an error of at most %.2g. Nobody can "+
		"trace what a single device adds.",
		learns(p, c, threshold), steps(p, c), devices, threshold,
		c.Degree+1-threshold, lies(p, devices, threshold), coding.Range, coding.Error(1)),
		cli.TextWidth))
}

// learns says what a coordinator that follows the protocol learns.
func learns(p *plan.Plan, c secagg.Cost, threshold int) string {
	text := "A coordinator that follows the protocol learns the sum of a round's scalars, of its " +
		"losses, and who took part. "
	if p.Private() {
		return text + fmt.Sprintf("It learns no device's own, unless at least %d of a device's %d "+
			"neighbors, itself included, tell it theirs.", threshold, c.Degree+1)
	}
	return text + "It learns no device's own."
}

// lies says what a coordinator that does not follow the protocol can learn.
func lies(p *plan.Plan, devices, threshold int) string {
	if !p.Private() {
		return "The plan has no secret, so a coordinator that does not follow the protocol can pose as " +
			"all other devices, and read each device's own scalars: no device can notice that."
	}
	return fmt.Sprintf("A coordinator that tells devices different lists of who left can have the "+
		"sum of %s.", fewest(p, devices, threshold))
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

// fewest says how few devices' contributions a dishonest coordinator can get the sum of in a
// private run, and how to raise that number.
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
	return "a single device; make the plan with secure_lists=agreed, or set quorum to three " +
		"quarters of the devices asked"
}

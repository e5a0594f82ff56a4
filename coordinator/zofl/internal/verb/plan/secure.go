package plan

import (
	"fmt"
	"io"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/masked"
	"github.com/zofl/zofl/wire/secagg"
)

// explainSecure says what secure aggregation hides, and what it costs.
func explainSecure(out io.Writer, p *wire.Plan) {
	if !masked.On(p) {
		return
	}
	devices := int(p.Sampled(wire.MaxMembers))
	scalars := int(p.Steps) * int(p.PerturbationsAt(1))
	c := secagg.Price(devices, scalars+1)
	coding, _ := masked.Codings(p, devices)
	threshold := masked.Threshold(devices, p.Quorum)
	fmt.Fprintf(out, "\n%s\n", cli.Wrapped(fmt.Sprintf("Secure aggregation: The coordinator learns "+
		"the sum of a round's scalars, of its losses, and who took part. It learns no device's own, "+
		"unless at least %d of a device's %d neighbors, itself included, tell it theirs. A device "+
		"sends four messages a round in place of one, with %d bytes of keys, %d of shares, %d of "+
		"masked scalars and %d of shares again, and gets %d, %d and %d. A round of %d comes to its "+
		"sum while %d of each neighborhood stay, so %d may leave in any step; below that it is begun "+
		"anew. A coordinator that tells devices different lists of who left can have the sum of %s. "+
		"Scalars are cut to %g, and the mean has an error of at most %.2g. Nobody can "+
		"bound or trace what a single device adds.",
		threshold, c.Degree+1, c.Up[secagg.StepKeys], c.Up[secagg.StepShares],
		c.Up[secagg.StepMask], c.Up[secagg.StepUnmask], c.Down[secagg.StepShares],
		c.Down[secagg.StepMask], c.Down[secagg.StepUnmask], devices, threshold,
		c.Degree+1-threshold, fewest(devices, threshold), coding.Range, coding.Error(1)),
		cli.TextWidth))
}

// fewest says how small a sum a coordinator that lies can have, and how to make it larger.
func fewest(devices, threshold int) string {
	sum := secagg.SmallestSum(devices, threshold)
	if sum > 1 {
		return fmt.Sprintf("%d devices, and of no fewer", sum)
	}
	if degree, _ := secagg.Graph(devices); degree+1 < devices {
		return "a single device"
	}
	return "a single device; set quorum to three quarters of the devices asked"
}

package main

import (
	"fmt"
	"io"
	"math"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/dp"
)

// explainNoise says what a plan's noise hides, and what it costs.
func explainNoise(out io.Writer, p *wire.Plan) {
	device, coordinator := p.Noisy()
	if !device && !coordinator {
		return
	}
	from, share := "From all but the device itself, noise", math.Sqrt(float64(p.Target))
	if coordinator {
		from, share = "From all but the device and the coordinator, noise", float64(p.Target)
	}
	spent := "Each round spends privacy, and the plan sets no rounds."
	if b := dp.Planned(p); b != nil {
		spent = fmt.Sprintf("Its %d rounds spend %v, of a device that takes part in each.",
			p.Rounds, b)
	}
	each := float64(p.DPNoise) * float64(p.DPClip) / share
	fmt.Fprintf(out, "\nPrivacy: %s\n", wrapped(fmt.Sprintf("%s hides what one device's data do. %s "+
		"The price is accuracy: a device's scalars are cut to a norm of %g together, and each "+
		"scalar of a mean of %d devices has noise with a standard deviation of %.3g.",
		from, spent, p.DPClip, p.Target, each), warningWidth))
}

package replica

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
)

// applyServerRule applies the server rule to a block's move x - base.
func (r *Replica) applyServerRule(b *parts) {
	p := &r.plan
	if p.ServerRule == wire.ServerMean {
		return
	}
	delta := b.v
	mathx.Sub(delta, b.x, b.base)
	copy(b.x, b.base)
	c := mathx.Adaptive{Alpha: p.ServerStep, Beta1: p.ServerBeta1, Beta2: p.ServerBeta2,
		Epsilon: p.ServerEpsilon}
	switch p.ServerRule {
	case wire.ServerSGD:
		mathx.Axpy(b.x, p.ServerStep, delta)
	case wire.ServerMomentum:
		mathx.Momentum(b.moment, p.ServerBeta1, 1, delta)
		mathx.Axpy(b.x, p.ServerStep, b.moment)
	case wire.ServerAdam:
		mathx.AdamStep(b.x, b.moment, b.second, c, delta)
	case wire.ServerAMSGrad:
		mathx.AdaptiveStep(b.x, b.moment, b.second, b.peak, c, delta)
	case wire.ServerYogi:
		mathx.YogiStep(b.x, b.moment, b.second, c, delta)
	case wire.ServerSign:
		mathx.SignStep(b.x, p.ServerStep, delta)
	}
}

package mobile

import (
	"cmp"
	"runtime"

	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/plan"
)

// A Consent says whether this device takes part in a plan that fits MemoryLimit.
type Consent interface {
	// Accept returns an error, or throws an exception, to refuse a plan; the text is the reason. The
	// client calls it with the run's plan before it allocates anything for that plan. If it refuses,
	// Run ends with [CodePlan]. The client calls it again when a change altered the plan. While it
	// refuses, the device follows the run and declines rounds, and OnFault receives the reason with
	// [CodePolicy]. Return soon: to ask the user, refuse, and call Run again later.
	Accept(plan *Plan) error
}

// A Plan is what a run asks of a device.
type Plan struct {
	plan    plan.Plan
	flat    bool // the objective is in simple mode
	workers int
}

// Dim is the number of parameters.
func (p *Plan) Dim() int64 { return int64(p.plan.Dim) }

// BatchSize is the number of samples of a minibatch; 0 means all of this device's data.
func (p *Plan) BatchSize() int64 { return int64(p.plan.Batch) }

// Steps is the number of local steps of a round.
func (p *Plan) Steps() int64 { return int64(p.plan.Steps) }

// Queries is how many losses a usual round asks for. The coordinator may ask for other numbers, but
// never for more than fit into a reply.
func (p *Plan) Queries() int64 {
	return int64(p.plan.Queries(p.plan.Perturbations))
}

// DeadlineMilliseconds is the time that a round has.
func (p *Plan) DeadlineMilliseconds() int64 { return int64(p.plan.Deadline) }

// Memory is how many bytes the client allocates for the plan, at most: see [Config].MemoryLimit.
func (p *Plan) Memory() int64 {
	if p.plan.Dim == 0 {
		return 0 // a binding's constructor made p
	}
	return int64(footprint.Bytes(&p.plan, footprint.Device{Flat: p.flat, Workers: p.workers}))
}

// Private says whether the run has a secret run key.
func (p *Plan) Private() bool { return p.plan.Private() }

// SetConsent sets the Consent that judges plans; nil: the client accepts all that fit MemoryLimit.
func (c *Config) SetConsent(consent Consent) {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	c.callbacks.consent = consent
}

// accept asks the app's Consent whether the device accepts a plan.
func (d *device) accept(p *plan.Plan) error {
	flat := held(d.callbacks, func() bool { return d.whole != nil })
	workers := cmp.Or(d.workers, runtime.GOMAXPROCS(0))
	seen := &Plan{*p, flat, workers}
	d.seen.Store(seen)
	consent := held(d.callbacks, func() Consent { return d.consent })
	if consent == nil {
		return nil
	}
	return reason(consent.Accept(seen))
}

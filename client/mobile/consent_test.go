package mobile

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A consenter is a Consent that is a function.
type consenter func(*Plan) error

func (f consenter) Accept(p *Plan) error { return f(p) }

// The Consent receives what a plan asks of this device. If the Consent refuses the plan, the client
// refuses it too.
func TestConsent(t *testing.T) {
	plan := &plan.Plan{
		Dim: 1 << 20, Scheme: prng.Scheme, KeyCheck: make(plan.Bytes, 32),
		ProbeFields:  plan.ProbeFields{Batch: 64, Steps: 3, Perturbations: 5, Difference: plan.Central},
		RoundsFields: plan.RoundsFields{Deadline: 30_000},
	}
	refusal, memory := errors.New("on a phone?"), map[bool]int64{}
	for _, blocks := range []bool{false, true} {
		cfg := config()
		if blocks {
			cfg.SetBlockObjective(blockBowl{})
		}
		cfg.SetConsent(consenter(func(p *Plan) error {
			if p.Dim() != 1<<20 || p.BatchSize() != 64 || p.Steps() != 3 || p.Queries() != 30 ||
				p.DeadlineMilliseconds() != 30_000 || !p.Private() {
				t.Errorf("the app sees %+v", p)
			}
			memory[blocks] = p.Memory()
			return refusal
		}))
		c := made(t, cfg)
		if cfg.callbacks.consent != nil {
			t.Error("the Config keeps the app's object")
		}
		if err := c.device.accept(plan); !errors.Is(err, refusal) {
			t.Errorf("got %v, want the app's reason", err)
		}
		c.Stop()
		if err := c.device.accept(plan); err != nil {
			t.Errorf("after Stop: %v", err)
		}
	}
	if got := memory[false] - memory[true]; got != 4<<20 {
		t.Errorf("simple mode takes %d bytes more, want the model's", got)
	}
	empty := config()
	empty.SetConsent(consenter(func(*Plan) error { return errors.New("") }))
	if err := made(t, empty).device.accept(plan); err != errSilent {
		t.Errorf("an exception without a message: %v", err)
	}
}

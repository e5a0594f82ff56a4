package coordinator

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// checkPayload returns an error if the broker refuses frames as large as the plan's. Before a
// connection is up, the client does not know the broker's limit, so New and Run both call
// checkPayload.
func checkPayload(cfg *Config, plan *plan.Plan) error {
	got := bus.MaxPayload(cfg.Bus)
	if got <= 0 {
		return nil
	}
	signature := uint64(0)
	if cfg.Key != nil {
		signature = uint64(signed.Len)
	}
	if need := valid.FrameBytes(plan) + signature; uint64(got) < need {
		return fmt.Errorf("%w: the broker takes messages of %d bytes, and the plan's rounds need %d, "+
			"for records of up to %d: set its max_payload to %d%s", ErrConfig, got, need,
			valid.RecordBytes(plan), wire.MaxFrame, shorter(*plan, uint64(got)-min(signature, uint64(got))))
	}
	return nil
}

// shorter returns which fields of a plan to change so that its frames have at most most bytes. It
// returns "" if that does not suffice.
func shorter(p plan.Plan, most uint64) string {
	budget := uint64(p.AnnounceBudget)
	p.AnnounceBudget = 0
	if need := valid.FrameBytes(&p); need <= most {
		return fmt.Sprintf(", or announce_budget to %d", min(budget, most-need))
	}
	p.Target, p.Steps, p.Perturbations = 1, 1, 1
	if valid.FrameBytes(&p) <= most {
		return ", or announce_budget to 0, and lower target, steps or perturbations"
	}
	return ""
}

// announceBare sends an announcement without its records if the announcement with the records is
// longer than the broker accepts. Devices then ask for the records.
func (c *Coordinator) announceBare(frame []byte, cause error) error {
	a, err := wire.DecodeAnnouncement(frame)
	if !errors.Is(cause, bus.ErrTooLong) || err != nil || a.Records.Len() == 0 {
		return c.unsent(frame, cause)
	}
	a.Records = wire.Records{}
	return c.announce(a.Append(nil))
}

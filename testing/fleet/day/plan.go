package day

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
)

// runName is the name of the run of every day.
const runName = "day"

// NewPlan returns the plan of a day of devices phones: decomfl on the digits, P = 10. A round lasts
// at most a minute, wants replies of a tenth of all phones and accepts a fiftieth. The run key
// depends on the seed. To compare plans, change the returned plan, and set it in [Config].
func NewPlan(seed uint64, devices int) (*plan.Plan, error) {
	p, err := preset.Unbound("decomfl", runName, Dim)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl day"), seed))
	p.RunKey = key[:]
	p.Distribution, p.Perturbations, p.Mu = plan.Rademacher, 10, 1e-3
	p.StepSize, p.Batch = 0.02, 32
	p.Target = uint32(max(devices/10, 2))
	p.Quorum = uint32(max(devices/50, 1))
	p.Members = p.Target
	p.OverSample = 1.5
	p.Deadline, p.Reannounce, p.MaxAttempts = 60_000, 20_000, 8
	p.DigestEvery = 64
	p.Rounds = 0
	return p, plancheck.Validate(p)
}

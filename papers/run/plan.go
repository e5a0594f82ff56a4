package run

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// Plan returns a preset's plan for a number of clients, of which each round asks the number
// asked. Run name and run key depend on name and seed. In every round the coordinator waits for
// all devices that it asks, as in the papers' simulations: no round closes early, and the
// deadline is an hour. Devices do not evaluate the model; only the harness does.
//
// The caller may change the rest of the preset: estimator, update, schedules.
func Plan(method, name string, seed uint64, dim, clients, asked int) (*plan.Plan, error) {
	p, err := preset.Unbound(method, fmt.Sprintf("%s-%d", name, seed), uint64(dim))
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl paper\x00"+name+"\x00"), seed))
	p.RunKey = key[:]
	p.Members, p.Target, p.Quorum, p.OverSample = uint32(clients), uint32(asked), uint32(asked), 1
	p.Deadline = uint32(time.Hour / time.Millisecond)
	// A bus in memory loses no message, so the coordinator need not repeat announcements.
	p.Reannounce = uint32(time.Minute / time.Millisecond)
	p.EvalEvery = 0
	return p, nil
}

package dashboard

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/fleet/crowd"
)

// Plan returns the plan of a run of simulated devices on a listed roster. Each round asks target
// devices.
func Plan(devices, target int, rounds uint64) (*plan.Plan, error) {
	p, err := preset.Unbound("decomfl", "fleet", 16)
	if err != nil {
		return nil, err
	}
	p.RunKey, p.Steps, p.Perturbations = make(plan.Bytes, 32), 1, 10
	p.StepSize, p.Diverge, p.Batch = 1e-6, 0, 0
	p.Members, p.Target, p.Quorum = uint32(devices), uint32(target), uint32(max(1, target/2))
	p.Deadline, p.Reannounce, p.Rounds = 60_000, 60_000, rounds
	p.EvalEvery, p.DigestEvery, p.Metrics = 0, 0, nil
	return p, plancheck.Validate(p)
}

// A Fleet is the simulated devices of a run. The devices join, and answer announcements with random
// scalars.
type Fleet struct {
	crowd.Members

	think atomic.Int64 // see Think
	ids   []string     // by slot
}

// Join connects to a broker, lets all members of the plan join, and answers rounds until the
// connection is closed.
func (f *Fleet) Join(ctx context.Context, url string) (*nats.Conn, error) {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return nil, err
	}
	f.Bus, f.Rand = bus.NATS(nc), rand.New(rand.NewPCG(1, 2))
	f.ids = make([]string, f.Plan.Members)
	ids := make([]string, len(f.ids))
	for i := range ids {
		ids[i] = fmt.Sprintf("device-%05d", i)
	}
	joined := make(chan struct{})
	_, err = f.Bus.Subscribe(subjects.Announce(f.Plan.Run, 0), func(m bus.Message) {
		<-joined // the last join begins round 1
		f.hear(m.Data)
	})
	if err == nil {
		err = f.Members.Join(ctx, ids, func(id string, slot uint32) { f.ids[slot] = id })
	}
	close(joined)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

// Think sets how long devices take to answer, from the next announcement on.
func (f *Fleet) Think(d time.Duration) { f.think.Store(int64(d)) }

// hear answers an announcement for all devices that the announcement asks.
func (f *Fleet) hear(frame []byte) {
	a, tip, isNew := f.Hear(frame)
	if !isNew {
		return
	}
	answer := func() {
		for slot, id := range f.ids {
			if a.Cohort.Has(f.Plan.Run, a.N, a.Attempt, uint32(slot), id) {
				loss := 0.3 + 2*math.Exp(-float64(a.N)/2000) + 0.2*math.Abs(f.Rand.NormFloat64())
				_ = f.Reply(id, a, tip, float32(loss))
			}
		}
	}
	if d := time.Duration(f.think.Load()); d > 0 {
		time.AfterFunc(d, answer) // the coordinator sends no other announcement before the answer
		return
	}
	answer()
}

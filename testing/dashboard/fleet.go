package dashboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// Plan returns the plan of a run of simulated devices on a listed roster, of which each round asks
// target.
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

// A Fleet is simulated devices of a run: ids that join, and send random scalars when they are
// asked. None evaluates a loss or keeps a model.
type Fleet struct {
	Plan *plan.Plan

	think atomic.Int64 // see Think
	nc    *nats.Conn
	ids   []string // by slot
	rng   *rand.Rand
	n     uint64
	round uint64
	again uint32
	frame []byte
}

// Join connects to a broker, lets all members of the plan join, and answers rounds until the
// connection is closed.
func (f *Fleet) Join(ctx context.Context, url string) (*nats.Conn, error) {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return nil, err
	}
	f.nc, f.ids, f.rng = nc, make([]string, f.Plan.Members), rand.New(rand.NewPCG(1, 2))
	joined := make(chan struct{})
	_, err = nc.Subscribe(subjects.Announce(f.Plan.Run, 0), func(m *nats.Msg) {
		<-joined // the last join begins round 1
		f.hear(m)
	})
	if err == nil {
		err = f.joinAll(ctx)
	}
	close(joined)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

// Think says how long devices take to answer, from the next announcement on.
func (f *Fleet) Think(d time.Duration) { f.think.Store(int64(d)) }

// joinAll lets all devices join, many at a time.
func (f *Fleet) joinAll(ctx context.Context) error {
	const atOnce = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, atOnce)
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(f.ids); i = next.Add(1) - 1 {
				if err := f.join(ctx, fmt.Sprintf("device-%05d", i)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

func (f *Fleet) join(ctx context.Context, id string) error {
	request := (&wire.JoinRequest{}).Append(nil)
	for {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		m, err := f.nc.RequestWithContext(limited, subjects.Join(f.Plan.Run, id), request)
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if err != nil {
			return err
		}
		reply, err := wire.DecodeJoinReply(m.Data)
		switch {
		case err != nil:
			return err
		case reply.Status != wire.JoinOK || int(reply.Slot) >= len(f.ids):
			return fmt.Errorf("%s may not join: %v, slot %d: %s", id, reply.Status, reply.Slot, reply.Reason)
		}
		f.ids[reply.Slot] = id
		return nil
	}
}

// hear answers an announcement for all devices that it asks. It ignores a repetition.
func (f *Fleet) hear(m *nats.Msg) {
	a, err := compact.Decode(m.Data)
	if err != nil || a.State != wire.Open || a.N == f.n && a.Attempt == f.again {
		return
	}
	if a.N != f.n {
		f.round++
	}
	f.n, f.again = a.N, a.Attempt
	var last []byte
	a.Records.Each(func(record []byte) bool { last = record; return true })
	tip := a.Tip
	if !a.Compact() {
		tip = wire.HashRecord(last).Tip()
	}
	answer := func() {
		for slot, id := range f.ids {
			if a.Cohort.Has(f.Plan.Run, a.N, a.Attempt, uint32(slot), id) {
				f.reply(id, &a.Announcement, tip)
			}
		}
	}
	if d := time.Duration(f.think.Load()); d > 0 {
		time.AfterFunc(d, answer) // no other announcement comes before
		return
	}
	answer()
}

// reply sends a device's contribution. Its loss falls over the rounds, with noise.
func (f *Fleet) reply(id string, a *wire.Announcement, tip wire.Tip) {
	block := make([]float32, a.Perturbations)
	for i := range block {
		block[i] = float32(f.rng.NormFloat64())
	}
	loss := 0.3 + 2*math.Exp(-float64(f.round)/2000) + 0.2*math.Abs(f.rng.NormFloat64())
	r := wire.Reply{Kind: wire.Contribution, N: a.N, Tip: tip, Weight: 1, Loss: float32(loss),
		Values: f.Plan.Precision.Append(nil, block...)}
	f.frame = r.Append(f.frame[:0])
	_ = f.nc.Publish(subjects.Reply(f.Plan.Run, subjects.Shard(id, f.Plan.Shards), id), f.frame)
}

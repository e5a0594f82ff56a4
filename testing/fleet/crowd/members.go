package crowd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// Members are simulated devices of a run, which share one bus. Members evaluate no loss and keep no
// model. One goroutine calls the methods of Members, except Join.
type Members struct {
	Bus  bus.Bus
	Plan *plan.Plan
	Rand *rand.Rand // draws the scalars
	Liar string     // the device whose scalars are a hundred times as large; "": none

	n       uint64 // of the last announcement
	attempt uint32
	frame   []byte
	values  wire.Scalars
	block   []float32
}

// Join sends every device's request to join, many at a time. Join calls placed for each device that
// has a slot, from many goroutines.
func (m *Members) Join(ctx context.Context, ids []string,
	placed func(id string, slot uint32)) error {
	const atOnce = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, atOnce)
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(ids); i = next.Add(1) - 1 {
				slot, err := m.ask(ctx, ids[i])
				if err != nil {
					failed <- fmt.Errorf("%s: %w", ids[i], err)
					return
				}
				placed(ids[i], slot)
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// ask sends one device's request to join, and repeats the request until the coordinator answers.
func (m *Members) ask(ctx context.Context, id string) (slot uint32, err error) {
	subject, frame := subjects.Join(m.Plan.Run, id), (&wire.JoinRequest{}).Append(nil)
	for {
		// The coordinator answers no request before record 1 is stored.
		limited, cancel := context.WithTimeout(ctx, time.Second)
		b, err := m.Bus.Request(limited, subject, frame)
		cancel()
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case errors.Is(err, bus.ErrNoResponders):
			time.Sleep(time.Millisecond)
			continue
		case err != nil:
			continue
		}
		reply, err := wire.DecodeJoinReply(b)
		if err == nil && reply.Status != wire.JoinOK {
			err = fmt.Errorf("refused: %s", reply.Reason)
		}
		return reply.Slot, err
	}
}

// Hear reads an announcement. isNew is false if the announcement opens no round, or if Members
// heard it before: then every device that answers has answered already. A contribution needs the
// tip.
func (m *Members) Hear(frame []byte) (a *wire.Announcement, tip wire.Tip, isNew bool) {
	read, err := compact.Decode(frame)
	if err != nil || read.State != wire.Open || read.N == m.n && read.Attempt == m.attempt {
		return nil, tip, false
	}
	m.n, m.attempt = read.N, read.Attempt
	if tip = read.Tip; !read.Compact() {
		var last []byte
		read.Records.Each(func(record []byte) bool { last = record; return true })
		tip = wire.HashRecord(last).Tip()
	}
	return &read.Announcement, tip, true
}

// Reply sends a contribution with random scalars.
func (m *Members) Reply(id string, a *wire.Announcement, tip wire.Tip, loss float32) error {
	factor := 1.0
	if id == m.Liar {
		factor = 100
	}
	m.values = m.values[:0]
	for range m.Plan.Steps {
		m.block = m.block[:0]
		for range a.Perturbations {
			m.block = append(m.block, float32(factor*m.Rand.NormFloat64()))
		}
		m.values = m.Plan.Precision.Append(m.values, m.block...)
	}
	r := wire.Reply{Kind: wire.Contribution, N: a.N, Tip: tip, Weight: 1, Loss: loss,
		Values: m.values}
	m.frame = r.Append(m.frame[:0])
	return m.Bus.Publish(subjects.Reply(m.Plan.Run, subjects.Shard(id, m.Plan.Shards), id), m.frame)
}

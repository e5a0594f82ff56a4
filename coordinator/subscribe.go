package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/internal/subjects"
)

// checkWithin bounds the wait for the broker's answer to a subscription.
const checkWithin = 5 * time.Second

// subscribe fills the queues from the bus.
func (c *Coordinator) subscribe(ctx context.Context) error {
	type queue struct {
		subject string
		arrive  func(bus.Message)
	}
	queues := []queue{
		{subjects.AllReplies(c.run), func(m bus.Message) { c.arrive(engine.InReply, m) }},
		{subjects.AllJoins(c.run), func(m bus.Message) { c.arrive(engine.InJoin, m) }},
		{subjects.AllCatchUps(c.run), c.catchUps.Arrive},
	}
	if c.objects != nil {
		queues = append(queues, queue{subjects.AllUploads(c.run), c.arriveUpload},
			queue{subjects.AllObjects(c.run), c.objects.Arrive})
	}
	if c.core.Plan.Summed() {
		queues = append(queues, queue{subjects.AllSteps(c.run),
			func(m bus.Message) { c.arrive(engine.InStep, m) }})
	}
	if c.snapshots != nil {
		queues = append(queues, queue{subjects.AllSnapshots(c.run), c.snapshots.Arrive})
	}
	for _, q := range queues {
		sub, err := c.cfg.Bus.Subscribe(q.subject, q.arrive)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.subs = append(c.subs, sub)
		c.mu.Unlock()
		if err := c.heard(ctx, q.subject); err != nil {
			return err
		}
	}
	return nil
}

// heard returns an error if the broker refuses a subscription, because a coordinator that does not
// hear its devices waits for ever. If the broker does not answer in time, heard returns nil.
func (c *Coordinator) heard(ctx context.Context, subject string) error {
	limited, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	err := bus.Check(limited, c.cfg.Bus, subject)
	if errors.Is(err, bus.ErrPermission) || errors.Is(err, bus.ErrSubscriptions) {
		return err
	}
	return nil
}

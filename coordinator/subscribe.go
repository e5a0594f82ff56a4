package coordinator

import (
	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/subjects"
)

// An arrival is a message that waits for the core.
type arrival struct {
	kind engine.InputKind
	msg  bus.Message
}

// subscribe fills the queues from the bus.
func (c *Coordinator) subscribe() error {
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
	}
	return nil
}

// arrive queues a message for the core. It drops messages longer than a frame, so that the queue's
// memory is bounded.
func (c *Coordinator) arrive(kind engine.InputKind, m bus.Message) (queued bool) {
	if len(m.Data) > wire.MaxFrame {
		c.garbled.Add(1)
		return false
	}
	select {
	case c.arrivals <- arrival{kind, m}:
		return true
	default:
		c.overflow.Add(1)
		return false
	}
}

// arriveUpload queues a piece of a vector, unless the queued pieces would take more memory than
// Config.UploadMemory.
func (c *Coordinator) arriveUpload(m bus.Message) {
	size := int64(len(m.Data))
	if c.pieces.Add(size) > int64(max(c.cfg.UploadMemory, wire.MaxFrame)) {
		c.pieces.Add(-size)
		c.overflow.Add(1)
		return
	}
	if !c.arrive(engine.InUpload, m) {
		c.pieces.Add(-size)
	}
}

// left notes that an arrival is no longer queued.
func (c *Coordinator) left(a arrival) {
	if a.kind == engine.InUpload {
		c.pieces.Add(-int64(len(a.msg.Data)))
	}
}

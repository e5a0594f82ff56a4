package coordinator

import (
	"strings"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// catchUpHead is more than a catch-up reply takes without its records.
const catchUpHead = 64

// serveCatchUps answers requests for records from the log, on a goroutine of
// its own: devices that missed much do not slow rounds down.
func (c *Coordinator) serveCatchUps(quit <-chan struct{}) {
	for {
		select {
		case <-quit:
			return
		case m := <-c.requests:
			c.serveCatchUp(m)
		}
	}
}

func (c *Coordinator) serveCatchUp(m bus.Message) {
	request, err := wire.DecodeCatchUpRequest(m.Data)
	if err != nil || !answerable(m.Reply) {
		c.garbled.Add(1)
		return
	}
	reply, err := readRecords(c.cfg.Log, request.From, request.MaxBytes)
	if err != nil {
		c.cfg.Logger.Error("catch-up", "from", request.From, "err", err)
		return
	}
	if err := c.cfg.Bus.Publish(m.Reply, reply.Append(nil)); err != nil {
		c.cfg.Logger.Warn("not sent", "err", err)
		return
	}
	c.served.Add(1)
}

// answerable says whether an answer may be published to a subject that a device
// chose: neither the run's own subjects nor the server's.
func answerable(subject string) bool {
	return subject != "" && !strings.HasPrefix(subject, "zo.") && !strings.HasPrefix(subject, "$")
}

// readRecords returns the records from an index on that fit a reply of about
// most bytes; at least one, if there is one.
func readRecords(log Log, from, most uint64) (wire.CatchUpReply, error) {
	reply := wire.CatchUpReply{From: from, Last: log.Last()}
	room := int(min(most, wire.MaxFrame)) - catchUpHead
	err := log.Read(from, func(_ uint64, record []byte) bool {
		room -= len(record) + binHead
		if room < 0 && reply.Records.Len() > 0 {
			return false
		}
		reply.Records.Add(record)
		return true
	})
	return reply, err
}

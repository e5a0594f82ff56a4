package main

import (
	"context"
	"sync/atomic"

	"github.com/zofl/zofl/bus"
)

// A tally counts the messages for the coordinator that devices pass to the bus.
type tally struct {
	replies, requests atomic.Uint64
}

func (t *tally) sum() uint64 { return t.replies.Load() + t.requests.Load() }

// A counting bus counts a device's messages. A device publishes and requests only for the
// coordinator.
type counting struct {
	bus.Bus
	tally *tally
}

var _ bus.Checker = counting{}

func (c counting) Publish(subject string, data []byte) error {
	err := c.Bus.Publish(subject, data)
	if err == nil {
		c.tally.replies.Add(1)
	}
	return err
}

func (c counting) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	c.tally.requests.Add(1)
	return c.Bus.Request(ctx, subject, data)
}

func (c counting) Check(ctx context.Context, subject string) error {
	return bus.Check(ctx, c.Bus, subject)
}

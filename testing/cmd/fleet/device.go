package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// connecting is how many connections a fleet opens at once: each connection waits for a greeting.
const connecting = 8

// A fleet is a set of running devices.
type fleet struct {
	tally   tally
	clients []*client.Client
	traffic []*broker.Traffic // nil: the bus has no socket
	running sync.WaitGroup
	errs    list[error]
}

// nothing is a loss that costs nothing.
func nothing(context.Context, []float32, objective.Batch) (float64, error) { return 0, nil }

// startFleet connects devices and then runs them all.
func startFleet(ctx context.Context, o *options, n network, run string) (*fleet, error) {
	f := &fleet{
		clients: make([]*client.Client, o.devices), traffic: make([]*broker.Traffic, o.devices),
	}
	var opening sync.WaitGroup
	next := make(chan int)
	for range connecting {
		opening.Go(func() {
			for i := range next {
				if err := f.open(o, n, run, i); err != nil {
					f.errs.add(err)
				}
			}
		})
	}
	for i := range f.clients {
		next <- i
	}
	close(next)
	opening.Wait()
	if errs := f.errs.all(); len(errs) > 0 {
		return nil, errs[0]
	}
	for i, c := range f.clients {
		f.running.Go(func() {
			// Devices with one shared context would contend for its lock. In production each device has its
			// own context.
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			if err := c.Run(ctx); err != nil {
				f.errs.add(fmt.Errorf("device %d: %w", i, err))
			}
		})
	}
	return f, nil
}

// open connects device i and makes its client.
func (f *fleet) open(o *options, n network, run string, i int) error {
	id := fmt.Sprintf("d%d", i)
	b, traffic, err := n.connect(id)
	if err != nil {
		return err
	}
	f.traffic[i] = traffic
	f.clients[i], err = client.New(client.Config{
		Bus: bus.Bus(counting{b, &f.tally}), Run: run, ID: id, Workers: 1,
		Objective: objective.Func(dim, nothing),
	})
	return err
}

// bytes returns the bytes on the sockets of all devices.
func (f *fleet) bytes() (up, down int64) {
	for _, t := range f.traffic {
		if t != nil {
			up, down = up+t.Up(), down+t.Down()
		}
	}
	return up, down
}

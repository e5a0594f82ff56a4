package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
)

// A fleet is a broker, a coordinator and devices in one process. In the field, the broker, the
// coordinator and each device would be machines of their own.
type fleet struct {
	plan    *plan.Plan
	broker  *broker.Broker
	devices []*device
	joined  chan struct{}
}

// Tune leads a run of a plan, with a device for each plate, until the plan is done.
func Tune(ctx context.Context, plan *plan.Plan, plates []Plate, seed uint64) (*Outcome, error) {
	began := time.Now()
	f := &fleet{plan: plan, joined: make(chan struct{}, len(plates))}
	dir, err := os.MkdirTemp("", "zofl-pid-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	log, err := filelog.Open(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if f.broker, err = broker.Run(broker.Config{}); err != nil {
		return nil, err
	}
	defer f.broker.Shutdown()
	defer f.disconnect()
	if err := f.connect(plates, seed); err != nil {
		return nil, err
	}
	if err := f.lead(ctx, log); err != nil {
		return nil, err
	}
	return f.outcome(time.Since(began))
}

func (f *fleet) connect(plates []Plate, seed uint64) error {
	for i, plate := range plates {
		d, err := newDevice(f.broker, f.plan.Run, i, plate, seed)
		if err != nil {
			return err
		}
		f.devices = append(f.devices, d)
	}
	return nil
}

func (f *fleet) disconnect() {
	for _, d := range f.devices {
		d.conn.Close()
	}
}

// lead runs the coordinator and the devices, until all devices have received the end of the run
// or a device has failed.
func (f *fleet) lead(ctx context.Context, log runlog.Log) error {
	nc, _, err := f.broker.Connect("coordinator")
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := coordinator.New(ctx, coordinator.Config{
		Conn: nc, Plan: f.plan, Log: log, Recorder: report.RecorderFunc(f.record),
		Linger: time.Minute, // ended earlier, once the devices have ended
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var leader, devices sync.WaitGroup
	leader.Go(func() {
		if err := c.Run(ctx); err != nil {
			cancel(err)
		}
	})
	f.start(ctx, &devices, cancel)
	devices.Wait()
	cause := context.Cause(ctx)
	cancel(errDone)
	leader.Wait()
	return cause
}

var errDone = errors.New("done")

// start lets the devices join one after another, so that their slots, and the random
// numbers that depend on them, are the same in every run of a seed.
func (f *fleet) start(ctx context.Context, devices *sync.WaitGroup,
	cancel context.CancelCauseFunc) {
	for _, d := range f.devices {
		devices.Go(func() {
			if err := d.client.Run(ctx); err != nil {
				cancel(err)
			}
		})
		select {
		case <-f.joined:
		case <-ctx.Done():
			return
		}
	}
}

// record follows the coordinator's events.
func (f *fleet) record(e report.Event) error {
	switch e.Kind {
	case report.Joined:
		f.joined <- struct{}{}
	case report.RunPaused:
		return fmt.Errorf("the run paused: %s", e.Reason)
	}
	return nil
}

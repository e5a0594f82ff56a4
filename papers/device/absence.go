package device

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/fleet/traffic"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// here is the number of records that a client has before it leaves.
const here = 2

// absence lets a client fetch the first records of an ended run, leave, and come back when the
// log has this many more records. absence returns the traffic from the client's return until the
// client has all records. This traffic contains no announcements, because the coordinator makes
// none in this time.
func absence(ctx context.Context, r *run.Result, dim int, missed uint64) (run.Traffic, error) {
	plan, err := firstPlan(ctx, r.Log)
	if err != nil {
		return run.Traffic{}, err
	}
	memory := bus.NewMemory()
	defer memory.Close()
	a := &absentee{}
	a.client, err = client.New(client.Config{
		Bus: memory, Run: plan.Run, ID: "c0", Objective: objective.Func(dim, constant),
		Workers: 1, RetryMax: 100 * time.Millisecond, Recorder: client.RecorderFunc(a.record),
	})
	if err != nil {
		return run.Traffic{}, err
	}
	var t run.Totals
	for _, n := range []uint64{here, here + missed} {
		log, err := prefix(ctx, r.Log, n)
		if err != nil {
			return run.Traffic{}, err
		}
		if t, err = a.visit(ctx, memory, log, plan, n); err != nil {
			return run.Traffic{}, err
		}
	}
	return t.Other, nil
}

func constant(context.Context, []float32, objective.Batch) (float64, error) { return 0, nil }

// An absentee is a client that leaves as soon as it has a given record.
type absentee struct {
	client *client.Client
	until  uint64 // record at which it leaves
}

var errThere = errors.New("the client has its records")

func (a *absentee) record(p client.Progress) error {
	if p.N >= a.until {
		return errThere
	}
	return nil
}

// visit runs a coordinator on a log, and the client until it has record n.
func (a *absentee) visit(ctx context.Context, memory *bus.Memory, log runlog.Log,
	plan *plan.Plan, n uint64) (run.Totals, error) {
	a.until = n
	meter := traffic.New(memory, 1, plan)
	lead, err := coordinator.New(ctx, coordinator.Config{Bus: meter, Plan: plan, Log: log, Linger: -1})
	if err != nil {
		return run.Totals{}, err
	}
	announced := make(chan struct{})
	var once sync.Once
	sub, err := memory.Subscribe(subjects.Announce(plan.Run, 0),
		func(bus.Message) { once.Do(func() { close(announced) }) })
	if err != nil {
		return run.Totals{}, err
	}
	defer sub.Unsubscribe()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var leading sync.WaitGroup
	leading.Go(func() {
		if err := lead.Run(ctx); err != nil {
			cancel(err)
		}
	})
	select {
	case <-announced:
		err = a.client.Run(ctx)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	cancel(errThere)
	leading.Wait()
	if !errors.Is(err, errThere) {
		return run.Totals{}, err
	}
	return meter.Totals(), nil
}

// firstPlan returns the plan in a log.
func firstPlan(ctx context.Context, log runlog.Log) (plan *plan.Plan, err error) {
	fault := log.Read(ctx, 1, func(_ uint64, record []byte) bool {
		var r wire.Record
		r, err = wire.DecodeRecord(record)
		plan = r.Plan
		return false
	})
	return plan, errors.Join(fault, err)
}

// prefix returns a log with the first n records and all members.
func prefix(ctx context.Context, log runlog.Log, n uint64) (*runlog.Memory, error) {
	first := &runlog.Memory{}
	members, err := log.Members()
	if err == nil {
		err = first.AddMembers(ctx, members)
	}
	if err != nil {
		return nil, err
	}
	var failed error
	err = log.Read(ctx, 1, func(at uint64, record []byte) bool {
		failed = first.Append(ctx, at, record)
		return failed == nil && at < n
	})
	return first, errors.Join(err, failed)
}

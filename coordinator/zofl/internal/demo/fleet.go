package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// connect connects the devices, each with a connection of its own.
func (r *run) connect() error {
	for i, share := range r.images.shares {
		d, err := r.device(fmt.Sprintf("d%d", i), share)
		if err != nil {
			return err
		}
		r.devices = append(r.devices, d)
	}
	return nil
}

func (r *run) device(id string, share []int) (*device, error) {
	d := &device{}
	var err error
	if d.conn, d.traffic, err = r.broker.Connect(id); err != nil {
		return nil, err
	}
	d.client, err = client.New(client.Config{
		Conn: d.conn, Run: r.plan.Run, ID: id,
		Objective: r.images.loss(share),
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			d.queries.Store(p.Queries)
			return nil
		}),
	})
	return d, err
}

func (r *run) disconnect() {
	for _, d := range r.devices {
		d.conn.Close()
	}
}

// traffic returns the bytes that all devices have sent and received.
func (r *run) traffic() (up, down int64) {
	for _, d := range r.devices {
		up += d.traffic.Up()
		down += d.traffic.Down()
	}
	return up, down
}

// together runs the coordinator and the devices until all devices have seen the end of the run or
// one of them fails.
func (r *run) together(ctx context.Context, c *coordinator.Coordinator) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var devices, lead sync.WaitGroup
	lead.Go(func() {
		if err := c.Run(ctx); err != nil {
			cancel(err)
		}
	})
	for _, d := range r.devices {
		devices.Go(func() {
			if err := d.client.Run(ctx); err != nil {
				cancel(err)
			}
		})
		r.awaitJoin(ctx)
	}
	devices.Wait()
	cause := context.Cause(ctx)
	cancel(errDone)
	lead.Wait()
	return cause
}

// awaitJoin waits until another device has joined. The coordinator gives slots in the order of
// joining, and a device's own directions depend on its slot. Because the devices join one after the
// other, all demos with the same seed make the same model. With an open roster, which has no slots,
// awaitJoin returns at once.
func (r *run) awaitJoin(ctx context.Context) {
	if r.plan.Roster == plan.OpenRoster {
		return
	}
	select {
	case <-r.joined:
	case <-ctx.Done():
	}
}

var errDone = errors.New("demo: done")

// result compares all replicas, and evaluates the model on the test set.
func (r *run) result(ctx context.Context, log runlog.Log) (*Result, error) {
	witness, err := source.Replay(ctx, source.Stored(log, nil), source.Config{})
	if err != nil {
		return nil, fmt.Errorf("demo: replay of the log: %w", err)
	}
	res := &Result{
		Plan: r.plan, Note: r.note,
		Method: r.plan.Preset, Rounds: witness.Rounds(), Clients: len(r.devices),
		Parameters: len(witness.Params()), Replicas: len(r.devices) + 1, ReplicasAgree: true,
		Ended: witness.Ended().Reason.String(),
	}
	for _, d := range r.devices {
		n, digest := d.client.Digest()
		res.ReplicasAgree = res.ReplicasAgree && n == witness.N() && digest == witness.Digest()
		res.Queries += d.queries.Load()
	}
	up, down := r.traffic()
	share := float64(len(r.devices)) * float64(max(witness.Rounds(), 1))
	res.BytesUp, res.BytesDown = float64(up)/share, float64(down)/share
	res.Loss, res.Accuracy = softmax.Evaluate(r.images.test, witness.Params(), 2)
	first, err := source.Replay(ctx, source.Stored(log, nil), source.Config{At: 1})
	if err != nil {
		return nil, fmt.Errorf("demo: record 1 of the log: %w", err)
	}
	res.LossBefore, res.AccuracyBefore = softmax.Evaluate(r.images.test, first.Params(), 2)
	return res, nil
}

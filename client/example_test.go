package client_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// This device's loss has two parameters and only returns numbers.
func Example() {
	network := bus.NewMemory() // an app calls nats.Connect and sets Config.Conn
	defer network.Close()
	go lead(network, 100)

	device, err := client.New(client.Config{
		Bus: network, Run: "demo", ID: "phone-1",
		Objective: objective.Func(2, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			a, b := float64(x[0])-3, float64(x[1])+1
			return a*a + b*b, nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := device.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	model := make([]float32, 2)
	n, err := device.Params(model)
	fmt.Printf("after record %d: %.2f %v\n", n, model, err)
	// Output: after record 102: [3.00 -1.00] <nil>
}

// squares sets losses to sum (x_i - 3)^2 at all points. squares holds a block of each point, and
// never the whole model.
func squares(_ context.Context, x *objective.Points, _ objective.Batch, losses []float64) error {
	blocks := make([][4096]float32, x.Len()) // an engine keeps them
	dst := make([][]float32, x.Len())
	clear(losses)
	for off := 0; off < x.Dim(); off += 4096 {
		for i := range dst {
			dst[i] = blocks[i][:min(4096, x.Dim()-off)]
		}
		if err := x.Read(dst, off); err != nil {
			return err
		}
		for i, block := range dst {
			losses[i] += squaresOf(block)
		}
	}
	return nil
}

func squaresOf(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v-3) * float64(v-3)
	}
	return sum
}

// This device's engine reads each block of the model once a step, for all points of the step.
func ExampleMany() {
	network := bus.NewMemory()
	defer network.Close()
	go lead(network, 100)

	device, err := client.New(client.Config{
		Bus: network, Run: "demo", ID: "phone-1", Workers: 1,
		Objective: objective.Many(2, squares),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := device.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	model := make([]float32, 2)
	n, err := device.Params(model)
	fmt.Printf("after record %d: %.2f %v\n", n, model, err)
	// Output: after record 102: [3.00 3.00] <nil>
}

// The operating system may kill this device's process. The app owns the connection and the store.
func Example_phone() {
	run := func(url, dir, id string, loss objective.Objective) error {
		store, err := client.OpenStore(dir)
		if err != nil {
			return err
		}
		defer store.Close()
		conn, err := nats.Connect(url, client.ConnectOptions(id)...)
		if err != nil {
			return err
		}
		defer conn.Close()
		device, err := client.New(client.Config{Conn: conn, Run: "demo", ID: id, Objective: loss,
			Store: store})
		if err != nil {
			return err
		}
		return device.Run(context.Background())
	}
	_ = run
}

// lead is a coordinator for one device that makes a round of each reply. Programs use package
// coordinator.
func lead(network bus.Bus, rounds uint64) {
	plan := &plan.Plan{
		Run: "demo", Scheme: prng.Scheme, RunKey: bytes.Repeat([]byte{1}, 32), Dim: 2,
		ProbeFields: plan.ProbeFields{
			Distribution: plan.Normal, Difference: plan.Central, Mu: 1e-3, Steps: 1, Perturbations: 10,
		},
		LocalFields:     plan.LocalFields{Rule: plan.SGD, StepSize: 0.1},
		AggregateFields: plan.AggregateFields{MaxWeight: 1, MaxScalar: 1e6},
		RoundsFields: plan.RoundsFields{
			Members: 1, Target: 1, OverSample: 1, Quorum: 1, Deadline: 30_000, MaxAttempts: 1,
			Reannounce: 5000, Shards: 1,
		},
	}
	replies := make(chan wire.Reply, 64)
	last := wire.Record{N: 1, Prev: wire.Genesis("demo"), Epoch: 1, Kind: wire.KindPlan, Plan: plan}
	first := last.Append(nil)
	network.Subscribe(subjects.AllJoins("demo"), func(m bus.Message) {
		network.Publish(m.Reply, (&wire.JoinReply{Last: 1, Plan: first}).Append(nil))
	})
	network.Subscribe(subjects.AllReplies("demo"), func(m bus.Message) {
		if r, err := wire.DecodeReply(m.Data); err == nil {
			replies <- r
		}
	})
	for again := time.Tick(10 * time.Millisecond); ; {
		record := last.Append(nil)
		a := wire.Announcement{
			N: last.N + 1, Epoch: 1, Left: 30_000, Cohort: wire.Cohort{Sampled: 1, Members: 1},
			StepSize: plan.StepSize, Perturbations: plan.Perturbations,
		}
		a.Records.Add(record)
		if network.Publish(subjects.Announce("demo", 0), a.Append(nil)) != nil {
			return // the device is done
		}
		select {
		case <-again:
		case r := <-replies:
			if r.N != last.N+1 {
				continue // to a repeated announcement
			}
			last = wire.Record{N: r.N, Prev: wire.HashRecord(record), Epoch: 1,
				Kind: wire.KindRound, Round: &wire.Round{
					Round: r.N - 1, StepSize: plan.StepSize,
					Perturbations: plan.Perturbations, Contributors: 1,
					Terms: []wire.Term{{Scalars: r.Values}},
				}}
			if r.N == rounds+2 {
				last.Kind, last.Round, last.End = wire.KindEnd, nil,
					&wire.End{Reason: wire.EndRounds}
			}
		}
	}
}

package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// A device is a plate with its computer, and holds the code that an app writes around a client.
type device struct {
	plate   Plate
	random  *rand.Rand // noise of the readings, different in each experiment
	conn    *nats.Conn
	traffic *broker.Traffic
	client  *client.Client

	experiments uint64
	points      []Point // the fleet's parameters after each round
}

// A Point is the parameters of a run after a round.
type Point struct {
	Round uint64
	X     []float32
}

func newDevice(b *broker.Broker, run string, i int, plate Plate, seed uint64) (*device, error) {
	d := &device{plate: plate, random: rand.New(rand.NewPCG(seed, uint64(i)+100))}
	start := Vector(SIMC(Nominal))
	id := fmt.Sprintf("plate-%d", i)
	var err error
	if d.conn, d.traffic, err = b.Connect(id); err != nil {
		return nil, err
	}
	d.client, err = client.New(client.Config{
		Conn: d.conn, Run: run, ID: id, Initial: start, Workers: 1,
		Objective: objective.Func(len(start), d.try),
		Recorder:  client.RecorderFunc(d.record),
	})
	if err != nil {
		d.conn.Close()
	}
	return d, err
}

// try is the loss: one experiment on the plate. A real device replaces it.
func (d *device) try(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	g, err := GainsOf(x)
	if err != nil {
		return 0, err
	}
	d.experiments++
	return Loss(d.plate.Run(g, d.random)), nil
}

// record stores the fleet's parameters after each round, on the client's goroutine. A
// device in the field would decline a round whose experiment failed; here that is a bug and
// ends the run.
func (d *device) record(p client.Progress) error {
	if p.Declined != 0 {
		return p.Err
	}
	x := make([]float32, len(knobs))
	n, err := d.client.Params(x)
	if err != nil || n == 0 || n != p.N ||
		len(d.points) > 0 && d.points[len(d.points)-1].Round == p.Round {
		return err
	}
	d.points = append(d.points, Point{p.Round, x})
	return nil
}

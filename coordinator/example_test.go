package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan/preset"
)

// A coordinator leads three devices, each of which knows one point, to their mean.
func Example() {
	network := bus.NewMemory() // a program calls nats.Connect and sets Config.Conn
	defer network.Close()
	plan, err := preset.New("decomfl", "points", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan.Members, plan.Target, plan.Quorum = 3, 3, 2
	plan.Rounds, plan.StepSize = 300, 0.05
	lead, err := coordinator.New(context.Background(), coordinator.Config{
		Bus: network, Plan: plan,
		Log:    &runlog.Memory{}, // filelog.Open has one that outlives the process
		Linger: 10 * time.Millisecond,
		Recorder: report.RecorderFunc(func(e report.Event) error {
			if e.Kind == report.RunEnded {
				fmt.Printf("record %d ends the run after %d rounds\n", e.N, e.Round)
			}
			return nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var devices sync.WaitGroup
	for i := range 3 {
		devices.Go(func() { follow(network, i) })
	}
	if err := lead.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	devices.Wait()
	// Unordered output:
	// record 302 ends the run after 300 rounds
	// device 0 has the model [1.00 2.00]
	// device 1 has the model [1.00 2.00]
	// device 2 has the model [1.00 2.00]
}

// follow runs a device that computes only the loss of its own point.
func follow(network bus.Bus, i int) {
	px, py := float64(i), float64(2*i)
	device, err := client.New(client.Config{
		Bus: network, Run: "points", ID: fmt.Sprint("device-", i), RetryMax: time.Second,
		Objective: objective.Func(2, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			a, b := float64(x[0])-px, float64(x[1])-py
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
	device.Params(model)
	fmt.Printf("device %d has the model %.2f\n", i, model)
}

package plainrun

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
)

const (
	dim     = 20
	devices = 3
)

var rounds = flag.Uint64("rounds", 40, "how many rounds a run has")

// TestRun is the run that the gates examine: three devices train with each preset, in memory,
// without an error.
func TestRun(t *testing.T) {
	for _, name := range preset.Names() {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { run(t, name) }) })
	}
}

func run(t *testing.T, name string) {
	network, log := bus.NewMemory(), &runlog.Memory{}
	defer network.Close()
	plan := planOf(t, name)
	lead, err := coordinator.New(t.Context(), coordinator.Config{Bus: network, Plan: plan, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1+devices)
	go func() { ended <- lead.Run(t.Context()) }()
	synctest.Wait() // so that devices find it
	for i := range devices {
		device, err := client.New(client.Config{Bus: network, Run: plan.Run, ID: fmt.Sprint("d", i),
			Workers: 1, Objective: objective.Func(dim, bowl.Of(i))})
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- device.Run(t.Context()) }()
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func planOf(t *testing.T, name string) *plan.Plan {
	plan, err := preset.Unbound(name, "plain", dim)
	if err != nil {
		t.Fatal(err)
	}
	plan.Members, plan.Target, plan.Quorum = devices, devices, devices
	plan.Rounds, plan.RunKey = *rounds, make([]byte, 32)
	// Small values make the run quick: a surrogate of thousands of features takes seconds.
	plan.Features, plan.Window = min(plan.Features, 8), min(plan.Window, 16)
	plan.Steps, plan.Perturbations = min(plan.Steps, 2), min(plan.Perturbations, 4)
	return plan
}

package wire_test

import (
	"fmt"

	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// The program makes a plan from a preset, changes and checks the plan, and makes record 1 from it.
// The hash of record 1 identifies the run's log.
func Example() {
	plan, err := preset.Unbound("decomfl", "mnist", 7850)
	if err != nil {
		fmt.Println(err)
		return
	}
	copy(plan.RunKey, "a random key; fixed here to print") // in place of a random one

	plan.Mu = 0
	fmt.Println(valid.Plan(plan))
	if err := planfile.Set(plan, "mu", "1e-3"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(valid.Plan(plan))

	record := (&wire.Record{
		N: 1, Prev: wire.Genesis("mnist"), Epoch: 1,
		Kind: wire.KindPlan, Plan: plan,
	}).Append(nil)
	fmt.Println(len(record), "bytes, hash", wire.HashRecord(record))

	decoded, err := wire.DecodeRecord(record)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := decoded.Plan
	fmt.Println(p.Rule, p.Difference, p.Queries(p.Perturbations))
	// Output:
	// plan: mu = 0: probe distance in parameter units: choose 1e-18..1e+18
	// <nil>
	// 155 bytes, hash 2426896987106c1326194467cd185431
	// sgd forward 11
}

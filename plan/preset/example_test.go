package preset_test

import (
	"fmt"

	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
)

// The program makes a plan from the preset of a method, changes fields for the run, and then checks
// the plan.
func Example() {
	plan, err := preset.New("zofl", "digits", 7850)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan.Members, plan.Rounds = 4, 500
	preset.Few(plan) // rounds ask no more devices than the run has
	fmt.Println("members", plan.Members, "target", plan.Target, "quorum", plan.Quorum)
	fmt.Println("can run:", plancheck.Validate(plan) == nil)
	fmt.Println("warnings:", len(preset.Warnings(plan)))

	plan.Quorum = 5
	fmt.Println(plancheck.Validate(plan))
	// Output:
	// members 4 target 4 quorum 2
	// can run: true
	// warnings: 0
	// plan: quorum = 5: a round closes at its target of 4: choose at most that; set quorum=4
}

package wiretest

import "fmt"

// unused are fields that plans had before the first release, with a value that they took. Their
// numbers stay unknown for ever.
var unused = []field{
	{20, Array(Array(Uint(100), Float(0.5)))}, // step_schedule
	{69, Uint(1)},    // kernel
	{73, Uint(1)},    // window_of
	{83, Uint(1)},    // staleness
	{84, Float(10)},  // staleness_a
	{85, Uint(2)},    // staleness_b
	{87, Uint(5)},    // warmup
	{88, Uint(1000)}, // horizon
}

// unusedChoices are choices that plans had then, of fields that are still there.
var unusedChoices = []field{
	{19, Uint(3)}, // step_decay=linear
}

// unusedFields adds a plan for each unused field.
func unusedFields(fault func(name, expect, comment string, number uint64, v Value)) {
	for _, f := range unused {
		fault(fmt.Sprintf("unused-%d", f.number), "upgrade", "a field that is not used any more",
			f.number, f.value)
	}
	for _, f := range unusedChoices {
		fault(fmt.Sprintf("unused-%d-%x", f.number, []byte(f.value)), "upgrade",
			"a choice that is not used any more", f.number, f.value)
	}
}

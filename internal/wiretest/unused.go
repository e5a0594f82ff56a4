package wiretest

import "fmt"

// unused are fields that plans had before the first release, with a value that they took. Their
// numbers stay unknown for ever.
var unused = []field{
	{69, Uint(1)},   // kernel
	{73, Uint(1)},   // window_of
	{83, Uint(1)},   // staleness
	{84, Float(10)}, // staleness_a
	{85, Uint(2)},   // staleness_b
}

// unusedFields adds a plan for each of them.
func unusedFields(fault func(name, expect, comment string, number uint64, v Value)) {
	for _, f := range unused {
		fault(fmt.Sprintf("unused-%d", f.number), "upgrade", "a field that is not used any more",
			f.number, f.value)
	}
}

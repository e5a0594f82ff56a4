package gather

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// Fields returns the names of the fields that a change sets.
func Fields(change *plan.Change) (names []string) {
	for _, f := range plan.Fields() {
		if slices.Contains(change.Fields, f.Number) {
			names = append(names, f.Name)
		}
	}
	return names
}

package gather

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

// Fields returns the names of the fields that a change sets.
func Fields(change *wire.Change) (names []string) {
	for _, f := range wire.Fields() {
		if slices.Contains(change.Fields, f.Number) {
			names = append(names, f.Name)
		}
	}
	return names
}

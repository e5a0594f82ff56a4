package valid_test

import (
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/preset"
)

// planOf returns the plan of a preset, for run mnist over 100 parameters.
func planOf(t testing.TB, name string) *wire.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

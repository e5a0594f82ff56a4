// Package isatest runs a test once with every instruction set that the machine has.
package isatest

import (
	"os"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/isa"
)

// Intended is the environment variable with the name of the instruction set that a run of the tests
// must use. check.sh sets this variable. So tests fail on a machine without the instruction set, or
// in a build without the assembly, instead of silently testing less.
const Intended = "ZOFL_ISA"

// Each runs test as a subtest for each level of the machine, with all kernels at that level. Each
// fails if the machine does not have the level that the environment variable names.
func Each(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	want := isa.Generic
	if name := os.Getenv(Intended); name != "" {
		var err error
		if want, err = isa.Parse(name); err != nil {
			t.Fatalf("%s: %v", Intended, err)
		}
	}
	if has := isa.Levels(); !slices.Contains(has, want) {
		t.Errorf("this build and machine have %v, the run is meant to test %v: set %s=%v to test "+
			"less",
			has, want, Intended, isa.Best())
	}
	for _, level := range isa.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			before := isa.Use(level)
			defer isa.Use(before)
			test(t)
		})
	}
}

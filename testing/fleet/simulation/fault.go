package simulation

import (
	"slices"
	"strings"

	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// A fault is an event that disturbs the run, or a command of an operator.
type fault struct {
	name string
	fits func(*scenario.Scenario) bool // nil: it fits all scenarios
	do   func(*world, *party) bool     // applies it to a party; false: it was not possible
}

// faults are all kinds of faults. Each list is in the file of its faults.
var faults = slices.Concat(crashes, cuts, diskFaults, commands, logFaults, rots)

// fitting returns, for each fault, a function that says which scenarios the fault fits; nil means
// all.
func fitting() (fits []func(*scenario.Scenario) bool) {
	for _, f := range faults {
		fits = append(fits, f.fits)
	}
	return fits
}

// often is the probability per step of the fault that a focused seed has.
const often = 0.1

// focus leaves a scenario only the faults of some names, and makes them frequent. The name "core"
// makes only a core heal at the end. focus reports whether all these faults fit the scenario.
func focus(s *scenario.Scenario, names string) bool {
	s.Fault, s.Faults, s.Core = often, nil, false
	for _, name := range strings.Split(names, ",") {
		at := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		switch {
		case name == "core":
			s.Core = true
			continue
		case at < 0:
			panic("simulation: no fault is called " + name)
		case faults[at].fits != nil && !faults[at].fits(s):
			return false
		}
		s.Faults = append(s.Faults, at)
	}
	return true
}

// strike applies one of the scenario's faults to a party, and reports whether that was possible.
func (w *world) strike() bool {
	if len(w.scenario.Faults) == 0 {
		return false
	}
	f := faults[w.scenario.Faults[w.rng.IntN(len(w.scenario.Faults))]]
	if !f.do(w, w.parties[w.rng.IntN(len(w.parties))]) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count("fault " + f.name)
	return true
}

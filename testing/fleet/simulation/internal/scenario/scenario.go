// Package scenario draws the content of a simulator's seed: parties, a plan, and the rates of
// faults. The losses of the devices are such that a sum of slopes shows which devices are in the
// sum.
package scenario

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/secagg"
)

// RunName is the run of every simulation.
const RunName = "sim"

// Mu is the probe distance: a power of two, so that a loss of mu*v gives a slope of exactly v.
const Mu = 1.0 / 1024

// A Scenario is what a seed determines before the run begins: the parties, the plan, and the rates
// of faults.
type Scenario struct {
	Plan         *plan.Plan
	Devices      int
	Coordinators int
	Weights      []uint32    // of the devices
	Radix        float64     // device i contributes radix^i, see Slope
	Late         int         // number of devices that start in the middle of the run
	Old          int         // number of devices of an earlier version
	Liar         string      // the device that lies in secure aggregation; "": none
	Lie          secagg.Step // in which it lies
	LieOnce      bool        // in StepUnmask: about one device only
	Witness      bool        // a passive replica provides reference digests
	Shared       bool        // the log is a server's, not a file
	Stored       bool        // devices have disks
	Checkpoints  uint64      // records between their checkpoints
	Snapshots    uint64      // records between snapshots of the witness; 0: none
	Horizon      uint64      // most records that devices replay
	Linger       time.Duration
	Steps        int // events of the scheduler before it ends all faults
	Slow         float64
	Decline      float64
	Piece        int // most bytes of a vector in a frame; 0: the production limit
	Uploads      int // most bytes of vectors that have arrived in part; 0: the production limit

	Drop, Double, Delay float64 // probability per message
	LogFault            float64 // probability per operation of a shared log
	Fault               float64 // probability per step
	Core                bool    // only some parties heal at the end
	Faults              []int   // kinds of faults that this seed has, by their index
}

// Draw draws the scenario of a seed. fits says, for each kind of fault, which scenarios the fault
// fits; nil means all.
func Draw(rng *rand.Rand, fits []func(*Scenario) bool) (*Scenario, error) {
	s := &Scenario{
		Devices:      3 + rng.IntN(4),
		Coordinators: 1,
		Radix:        4,
		Linger:       -1,
		Steps:        60 + rng.IntN(240),
		Shared:       rng.IntN(2) == 0,
	}
	if rng.IntN(8) == 0 {
		s.Devices = 8
	}
	if s.Shared && rng.IntN(3) > 0 {
		s.Coordinators = 2
	}
	if rng.IntN(4) == 0 {
		s.Linger = 0
	}
	if rng.IntN(3) == 0 {
		s.Late = 1 + rng.IntN(2)
	}
	s.Stored, s.Checkpoints = rng.IntN(4) > 0, Pick[uint64](rng, 1, 2, 64)
	s.Snapshots, s.Horizon = Pick[uint64](rng, 0, 2, 3), Pick[uint64](rng, 0, 1, 3)
	s.Witness = rng.IntN(3) == 0
	s.Slow = Pick(rng, 0, 0.05, 0.3)
	s.Decline = Pick(rng, 0, 0, 0.02, 0.1)
	s.Drop = Pick(rng, 0, 0.02, 0.1, 0.3)
	s.Double = Pick(rng, 0, 0.02, 0.2)
	s.Delay = Pick(rng, 0, 0.02, 0.1)
	s.LogFault = Pick(rng, 0, 0.05, 0.3)
	s.Fault = Pick(rng, 0.01, 0.03, 0.1)
	for i, fits := range fits {
		// Every seed lacks some kinds of faults, so that the other kinds have more effect.
		if rng.IntN(3) > 0 && (fits == nil || fits(s)) {
			s.Faults = append(s.Faults, i)
		}
	}
	s.Core = rng.IntN(4) == 0
	err := s.drawPlan(rng)
	if err == nil && s.plain() && rng.IntN(3) == 0 {
		s.Old = 1 + rng.IntN(2)
	}
	return s, err
}

// plain reports whether the plan needs no tails of frames.
func (s *Scenario) plain() bool {
	p := s.Plan
	return p.Control == plan.NoControl && p.Sharing != plan.GroupDirections && p.Late == 0 &&
		p.MuAuto == 0 && p.StepAuto == 0 && p.Secure == 0
}

// Pick draws one of several values.
func Pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// DeviceName is the id of device i.
func DeviceName(i int) string { return fmt.Sprintf("d%d", i) }

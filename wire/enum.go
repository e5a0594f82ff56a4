package wire

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/prng"
)

// The plan's choices. On the wire each is its number, in files its name.
// Numbers of choices to come are in SPEC.md.

// Sharing says whether all devices probe the same directions.
type Sharing uint8

// SharedDirections: every device probes the directions of the record, so that
// scalars can be averaged.
const SharedDirections Sharing = 0

// Distribution is that of a direction's elements.
type Distribution prng.Distribution

const (
	Normal     = Distribution(prng.Normal)
	Rademacher = Distribution(prng.Rademacher)
)

// Difference is the finite difference that estimates a directional derivative.
type Difference uint8

const (
	// Forward: g = (f(x + mu z) - f(x)) / mu, P+1 queries a step.
	Forward Difference = 1
	// Central: g = (f(x + mu z) - f(x - mu z)) / (2 mu), 2P queries a step.
	Central Difference = 2
)

// Rule is how a step's estimate v = (1/P) sum_p g_p z_p moves the state.
type Rule uint8

const (
	// SGD: x -= eta v.
	SGD Rule = 1
	// Momentum: m = beta m + (1-beta) v, x -= eta m; DeComFL (8)-(9).
	Momentum Rule = 2
	// TorchMomentum: m = beta m + v, x -= eta m; what torch.optim.SGD does
	// with dampening 0. Steps are 1/(1-beta) times those of Momentum.
	TorchMomentum Rule = 3
)

// Initial says where the parameters of record 1 come from.
type Initial uint8

const (
	// Seeded: from the plan's segments; zero where there are none.
	Seeded Initial = 0
	// Given: by the app; every device checks them against InitialDigest.
	Given Initial = 1
)

// Fill says how a segment is seeded.
type Fill uint8

const (
	Zero Fill = 0
	// UniformFill: scale * u, u uniform in [-1, 1].
	UniformFill Fill = 1
	// NormalFill: scale * z, z standard normal.
	NormalFill Fill = 2
)

// StepDecay is the schedule of the step size between the points of
// StepSchedule; r is the round, from 1.
type StepDecay uint8

const (
	Constant StepDecay = 0
	// InverseSqrt: step / sqrt(r).
	InverseSqrt StepDecay = 1
)

// Transport is what travels in a record.
type Transport uint8

// Mean: the mean of the contributors' scalars along shared directions.
const Mean Transport = 0

// Aggregator is how scalars of several devices become one.
type Aggregator uint8

// WeightedMean: exact, rounded once.
const WeightedMean Aggregator = 0

// Weights are the contributors' weights in the mean.
type Weights uint8

const (
	Equal     Weights = 0 // 1/|C_r|, as in DeComFL
	BySamples Weights = 1 // by the samples each device says it used
)

// Roster is who may take part.
type Roster uint8

const (
	// Dense: devices have slots; a cohort has exactly as many as it should.
	Dense Roster = 0
	// OpenRoster: no slots; devices select themselves by a threshold.
	OpenRoster Roster = 1
)

// StopWhen is the side of StopValue on which StopMetric ends the run.
type StopWhen uint8

const (
	Above StopWhen = 0
	Below StopWhen = 1
)

// names of each choice, by number; "" is no choice.
var (
	sharingNames      = []string{"shared"}
	distributionNames = []string{"", "normal", "rademacher"}
	differenceNames   = []string{"", "forward", "central"}
	ruleNames         = []string{"", "sgd", "momentum", "torch-momentum"}
	initialNames      = []string{"seeded", "given"}
	fillNames         = []string{"zero", "uniform", "normal"}
	stepDecayNames    = []string{"constant", "inverse-sqrt"}
	transportNames    = []string{"mean"}
	aggregatorNames   = []string{"weighted-mean"}
	weightsNames      = []string{"equal", "samples"}
	rosterNames       = []string{"dense", "open"}
	stopWhenNames     = []string{"above", "below"}
)

func (v Sharing) String() string      { return enumName(sharingNames, int(v)) }
func (v Distribution) String() string { return enumName(distributionNames, int(v)) }
func (v Difference) String() string   { return enumName(differenceNames, int(v)) }
func (v Rule) String() string         { return enumName(ruleNames, int(v)) }
func (v Initial) String() string      { return enumName(initialNames, int(v)) }
func (v Fill) String() string         { return enumName(fillNames, int(v)) }
func (v StepDecay) String() string    { return enumName(stepDecayNames, int(v)) }
func (v Transport) String() string    { return enumName(transportNames, int(v)) }
func (v Aggregator) String() string   { return enumName(aggregatorNames, int(v)) }
func (v Weights) String() string      { return enumName(weightsNames, int(v)) }
func (v Roster) String() string       { return enumName(rosterNames, int(v)) }
func (v StopWhen) String() string     { return enumName(stopWhenNames, int(v)) }

func (v Fill) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
func (v *Fill) UnmarshalText(b []byte) error {
	n, err := enumValue(fillNames, string(b))
	*v = Fill(n)
	return err
}

func enumName(names []string, v int) string {
	if v < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}

func enumValue(names []string, s string) (uint8, error) {
	for i, name := range names {
		if name == s && s != "" {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("%q is not one of %s", s, enumList(names))
}

func enumList(names []string) string {
	var known []string
	for _, name := range names {
		if name != "" {
			known = append(known, name)
		}
	}
	return strings.Join(known, ", ")
}
